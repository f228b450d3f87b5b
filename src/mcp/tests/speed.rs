//! What the client costs: `cargo test --release -p selkie-mcp speed -- --ignored --nocapture` prints it, beside the same
//! server spoken to through bare pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desk::Desk;

const CALLS: usize = 2_000;
const TOOLS: usize = 1_000;
/// Answers a call at once; what it lists is read before.
const SERVER: &str = r#"
import json, sys
tools = open(sys.argv[1]).read()
for line in sys.stdin:
    asked = json.loads(line)
    method = asked["method"]
    if method == "tools/call":
        result = '{"content":[{"type":"text","text":"yes"}]}'
    elif method == "tools/list":
        result = '{"tools":' + tools + '}'
    elif method == "initialize":
        result = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}'
    elif "id" in asked:
        print('{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no"}}' % asked["id"], flush=True)
        continue
    else:
        continue
    print('{"jsonrpc":"2.0","id":%d,"result":%s}' % (asked["id"], result), flush=True)
"#;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a benchmark: cargo test --release -p selkie-mcp speed -- --ignored --nocapture"]
async fn speed() {
    let folder = tempfile::TempDir::new().unwrap();
    let tool = |n: usize| {
        let description = format!("Does number {n}. {}", "And says what came of it. ".repeat(4));
        let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
        json!({ "name": format!("tool_{n}"), "description": description, "inputSchema": schema })
    };
    let list: Vec<Value> = (0..TOOLS).map(tool).collect();
    let script = folder.path().join("server.py");
    std::fs::write(&script, SERVER).unwrap();
    let tools = folder.path().join("tools.json");
    std::fs::write(&tools, json!(list).to_string()).unwrap();

    let line = format!("python3 {} {}", script.display(), tools.display());
    let bare = bare(&line);
    let desk = Desk::running(&line).open();
    assert_eq!(desk.connections().list("robin").await.unwrap().offer.tools.len(), TOOLS);
    let mut listed = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        desk.connections().list("robin").await.unwrap();
        listed.push(began.elapsed());
    }
    let mut called = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        desk.call_named("tool_7").await.unwrap();
        called.push(began.elapsed());
    }
    desk.connections().end().await;
    println!(
        "a call: {:?}, through bare pipes {:?} (medians of {CALLS})",
        median(called),
        median(bare)
    );
    println!("a list of {TOOLS} tools: {:?} (median of 20)", median(listed));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The same calls as a client would make them that looks at nothing.
fn bare(line: &str) -> Vec<Duration> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = Command::new(words[0]);
    let mut server =
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut times = Vec::new();
    for n in 0..CALLS {
        let began = Instant::now();
        let params = json!({ "name": "tool_7", "arguments": { "x": 1 } });
        let call = json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params });
        input.write_all(format!("{call}\n").as_bytes()).unwrap();
        output.read_line(&mut String::new()).unwrap();
        times.push(began.elapsed());
    }
    drop(input);
    server.wait().unwrap();
    times
}
