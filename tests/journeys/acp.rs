//! Another program's agent works for a task: what it asks in the middle of its work is asked like any approval, while it
//! waits; and it ends with its task.

use std::fs;

use selkie_playground::telegram::{ADA, MessageView, PRIVATE};
use serde_json::{Value, json};

use crate::support::rows::{number, texts};
use crate::support::terminal::AtTerminal;
use crate::support::world::World;

/// Asks whether it may remove something, and says what it was told.
const AGENT: &str = r#"
read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'
read -r line
echo '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1","title":"rm -r build","kind":"execute"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
read -r line
case "$line" in *'"yes"'*) said=removed;; *'"no"'*) said=kept;; *) said=cancelled;; esac
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"build is '$said'"}}}}'
echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'
read -r line
"#;

const RECEIPTS: &str = "SELECT count(*) FROM part WHERE message IS NOT NULL";

const SPAWN: &str = r#"call acp_spawn {"agent": "robin", "task": "tidy up"}"#;

async fn world() -> World {
    let mut world = World::offline().await;
    let script = world.home.folder().join("agent.sh");
    fs::write(&script, AGENT).expect("a script");
    let robin = json!({ "command": "sh", "args": [script.to_string_lossy()] });
    world.home.set("acp", json!({ "agents": { "robin": robin } }));
    world
}

async fn asked(world: &World) -> MessageView {
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    world.within("a request", world.telegram().wait_for(PRIVATE, buttons)).await
}

async fn tap(world: &World, request: &MessageView, label: &str) -> String {
    let query = world.telegram().tap(ADA, ADA, request.id, label).expect("a button");
    world.within("an answer to the tap", world.telegram().tap_answer(&query)).await
}

async fn said(world: &World, part: &str) -> String {
    let said = |m: &MessageView| m.from.is_bot && m.keyboard.is_none() && m.text.contains(part);
    world.within(part, world.telegram().wait_for(PRIVATE, said)).await.text
}

async fn closed(world: &World, request: &MessageView) -> String {
    let closed = |m: &MessageView| m.id == request.id && m.edited;
    world.within("its outcome", world.telegram().wait_for(PRIVATE, closed)).await.text
}

fn states(world: &World) -> Vec<String> {
    texts(&world.home, "SELECT state FROM approval ORDER BY id")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_done_when_somebody_allows_it() {
    let world = world().await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, SPAWN);
    let request = asked(&world).await;
    assert!(request.text.contains("May I let the agent robin run a command?"), "{}", request.text);
    assert!(request.text.contains("rm -r build"), "{}", request.text);
    assert!(request.text.contains("within 10 minutes"), "{}", request.text);
    let tasks = texts(&world.home, "SELECT state FROM task");
    assert_eq!(tasks, ["running"], "it keeps its worker and its process");
    assert_eq!(tap(&world, &request, "Approve").await, "✔ Approved by Ada Lovelace");
    said(&world, "build is removed").await;
    assert_eq!(states(&world), ["consumed"]);
    // What an agent has said is others' words: the next call would itself ask first.
    world.ask("/reset").await;
    let request = {
        world.telegram().say(PRIVATE, ADA, SPAWN);
        let newer = |m: &MessageView| m.from.is_bot && m.keyboard.is_some() && m.id > request.id;
        world.within("a request", world.telegram().wait_for(PRIVATE, newer)).await
    };
    assert_eq!(tap(&world, &request, "Deny").await, "✖ Denied by Ada Lovelace");
    let told = said(&world, "build is kept").await;
    assert!(told.contains("rejected: Ada Lovelace denied it"), "{told}");
    assert_eq!(states(&world), ["consumed", "denied"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_approved_at_the_machine_too() {
    let world = world().await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, SPAWN);
    let request = asked(&world).await;
    let code = request.text.rsplit_once("approve ").expect("a code").1[..6].to_owned();
    let listed = world.home.run(&["approvals", "list", "--json"]);
    assert!(listed.1.contains("rm -r build"), "{listed:?}");
    let (status, out, err) = world.home.run(&["approvals", "approve", &code]);
    assert_eq!(status, 0, "{out}{err}");
    said(&world, "build is removed").await;
    assert_eq!(states(&world), ["consumed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_takes_the_request_back() {
    let world = world().await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, SPAWN);
    let request = asked(&world).await;
    world.telegram().say(PRIVATE, ADA, "/stop");
    let closed = closed(&world, &request).await;
    assert!(closed.contains("✖ Withdrawn: the call has ended"), "{closed}");
    assert_eq!(states(&world), ["withdrawn"]);
}

/// The process is gone: nothing is asked of it again, and what was asked is closed.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_the_outcome_is_unknown_and_the_request_closed() {
    let world = world().await;
    let daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, SPAWN);
    let request = asked(&world).await;
    let is_known = |_: &str| number(&world.home, RECEIPTS) == Some(1);
    world.within("its receipt", world.home.logged(0, is_known)).await;
    daemon.kill();
    assert_eq!(states(&world), ["open"]);
    let _daemon = world.daemon();
    let closed = closed(&world, &request).await;
    assert!(closed.contains("✖ Withdrawn: selkie was stopped while it waited"), "{closed}");
    said(&world, "outcome unknown").await;
    assert_eq!(states(&world), ["withdrawn"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_it_is_asked_there_and_in_a_pipe_rejected() {
    let world = world().await;
    let (_, out, err) = world.home.run(&["ask", SPAWN]);
    assert!(out.contains("build is kept"), "{out}{err}");
    world.home.run(&["ask", "/reset"]);
    let mut terminal = AtTerminal::start(world.home.command(&["ask", SPAWN]));
    let shown = world.within("a question", terminal.shows("Approve it? [y/N]")).await;
    assert!(shown.contains("May I let the agent robin run a command?"), "{shown}");
    assert!(shown.contains("(no answer within 10 minutes counts as no)"), "{shown}");
    terminal.types("y\n");
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(status.success() && shown.contains("build is removed"), "{shown}");
    let (_, out, err) =
        world.home.run(&["tools", "call", "acp_spawn", r#"{"agent":"robin","task":"x"}"#]);
    assert!(
        out.contains("build is kept") && out.contains("a call by hand asks nobody"),
        "{out}{err}"
    );
}

/// Config decides whether there is such a tool at all, and says what is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn without_agents_there_is_no_such_tool() {
    let mut world = world().await;
    let (_, there, err) = world.home.run(&["tools", "why", "acp_spawn"]);
    assert!(there.contains("acp_spawn"), "{there}{err}");
    let (_, out, _) =
        world.home.run(&["tools", "call", "acp_spawn", r#"{"agent":"wren","task":"x"}"#]);
    assert!(out.contains("robin"), "the names are told: {out}");
    let robin: Value = json!({ "command": "sh", "alow": ["read"] });
    world.home.set("acp", json!({ "agents": { "robin": robin } }));
    let (status, out, err) = world.home.run(&["config", "check"]);
    assert!(status != 0 && format!("{out}{err}").contains("did you mean allow?"), "{out}{err}");
    world.home.remove("acp");
    let (_, out, err) = world.home.run(&["tools", "why", "acp_spawn"]);
    assert!(out.contains("acp.agents is not set in the config"), "{out}{err}");
}
