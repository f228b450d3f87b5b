//! An agent that somebody else wrote: the example of PyPI's `agent-client-protocol`. `tests/run` fetches it.

use serde_json::json;

use crate::desk::Desk;

/// The folder that `tests/run` has made: a virtual environment and the package's examples.
const FOLDER: &str = "SELKIE_ACP";

#[test]
#[ignore = "needs the package's example: tests/run --acp"]
fn an_agent_of_others_echoes_its_task() {
    let folder = folder();
    let echo = json!({
        "command": format!("{folder}/venv/bin/python"),
        "args": ["-B", format!("{folder}/examples/echo_agent.py")],
    });
    let config = json!({
        "sandbox": { "read": [folder] },
        "acp": { "agents": { "echo": echo } },
    });
    let desk = Desk::new();
    std::fs::write(desk.folder().join("acp.yaml"), config.to_string()).unwrap();
    let mut command = desk.command();
    command.args(["tools", "call", "--config", "acp.yaml", "acp_spawn"]);
    let output = command.arg(r#"{"agent":"echo","task":"hello"}"#).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "{errors}");
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, not the daemon's")]
fn folder() -> String {
    std::env::var(FOLDER).expect("tests/run --acp sets it")
}
