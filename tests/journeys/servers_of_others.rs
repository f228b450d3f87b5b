//! Servers that others wrote, each through a whole task: the package is agreed to, and the bot calls one of its tools.
//! `tests/run` fetches PyPI's clock, `tests/run --outside` the others as well.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::agree;
use crate::support::world::World;

/// The folder that `tests/run` has made: a virtual environment, and packages of Node.
const FOLDER: &str = "SELKIE_OUTSIDE";

/// One server, and a call that shows that it works.
struct Case {
    name: &'static str,
    /// What starts it, seen from the packages' folder.
    program: &'static str,
    args: Vec<String>,
    env: Value,
    call: String,
    /// What stands in the answer.
    part: &'static str,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PyPI's mcp-server-time: tests/run --clock"]
async fn a_clock_of_others_tells_the_time() {
    let world = World::offline().await;
    answers(world, &[clock()]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs packages of npm and PyPI: tests/run --outside"]
async fn servers_of_others_answer_a_call_each() {
    let world = World::offline().await;
    let own = |name: &str| {
        let folder = world.home.folder().join("state/servers").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    };
    let git = own("git");
    let done = Command::new("git").args(["init", "--quiet"]).arg(&git).status().expect("git");
    assert!(done.success());
    let files = own("filesystem");
    fs::write(files.join("teapot.txt"), "short and stout").expect("a file");
    let page = world.playground.url();
    let entities =
        json!([{ "name": "Ada", "entityType": "person", "observations": ["drinks tea"] }]);
    let cases = [
        clock(),
        python(
            "git",
            "mcp_server_git",
            "git_status",
            json!({ "repo_path": git }),
            "No commits yet",
        ),
        Case {
            // The page is the playground's, and it reads no private address unless told to.
            args: ["-m", "mcp_server_fetch", "--allow-private-ips"].map(str::to_owned).into(),
            ..python(
                "web",
                "mcp_server_fetch",
                "fetch",
                json!({ "url": page, "raw": true, "max_length": 900 }),
                "<title>",
            )
        },
        node("everything", vec![], "echo", json!({ "message": "hello" }), "Echo: hello"),
        node(
            "filesystem",
            vec![files.display().to_string()],
            "read_text_file",
            json!({ "path": files.join("teapot.txt") }),
            "short and stout",
        ),
        Case {
            // Without it, it writes where its package lies.
            env: json!({ "MEMORY_FILE_PATH": own("memory").join("memory.jsonl") }),
            ..node(
                "memory",
                vec![],
                "create_entities",
                json!({ "entities": entities }),
                "drinks tea",
            )
        },
        node(
            "sequential-thinking",
            vec![],
            "sequentialthinking",
            json!({
                "thought": "First, boil water.", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
            }),
            "thoughtHistoryLength",
        ),
    ];
    answers(world, &cases).await;
}

fn clock() -> Case {
    let arguments = json!({ "timezone": "Asia/Tokyo" });
    python("clock", "mcp_server_time", "get_current_time", arguments, "+09:00")
}

/// A module of the virtual environment: its programs name the folder that they were made in.
fn python(
    name: &'static str,
    module: &str,
    tool: &str,
    arguments: Value,
    part: &'static str,
) -> Case {
    let args = ["-m", module].map(str::to_owned).into();
    let call = format!("call {name}__{tool} {arguments}");
    Case { name, program: "venv/bin/python", args, env: json!({}), call, part }
}

fn node(
    name: &'static str,
    args: Vec<String>,
    tool: &str,
    arguments: Value,
    part: &'static str,
) -> Case {
    let script = format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
    let script = folder().join(script).display().to_string();
    let args = std::iter::once(script).chain(args).collect();
    Case { program: "node", args, ..python(name, "", tool, arguments, part) }
}

/// Agrees to all of them, and lets the bot make each one's call.
async fn answers(mut world: World, cases: &[Case]) {
    let servers: serde_json::Map<String, Value> = cases.iter().map(server).collect();
    world.home.set("mcp", json!({ "servers": servers }));
    world.home.set("sandbox", json!({ "read": [folder(), interpreter()] }));
    for case in cases {
        agree(&world, case.name);
    }
    let _daemon = world.daemon();
    for case in cases {
        world.ask("/reset").await;
        let answer = world.ask(&case.call).await;
        assert!(answer.contains(case.part), "{}: {answer}", case.name);
        println!("{}: {}", case.name, answer.lines().next().unwrap_or_default());
    }
}

fn server(case: &Case) -> (String, Value) {
    let program = folder().join(case.program);
    let of = json!({ "command": program, "args": case.args, "env": case.env, "class": "read", "timeout": "60s" });
    (case.name.to_owned(), of)
}

/// Where the virtual environment's Python has its own files.
fn interpreter() -> PathBuf {
    let python = fs::canonicalize(folder().join("venv/bin/python")).expect("a Python");
    python.ancestors().nth(2).expect("a prefix").to_owned()
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, not the daemon's")]
fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("tests/run --outside sets it").into()
}
