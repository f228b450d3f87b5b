//! `process`: what bash left running is read, written to, and ended.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_background_process_is_looked_after() {
    let desk = Desk::new();
    let answers = desk.calls(&[
        ("process", json!({"action": "list"})),
        ("bash", json!({"cmd": "echo ready; while read -r x; do echo \"got $x\"; done; exit 4", "run_in_background": true})),
        ("process", json!({"action": "poll", "process_id": "p1", "wait_seconds": 60})),
        ("process", json!({"action": "input", "process_id": "p1", "input": "one\n"})),
        ("read_process_output", json!({"process_id": "p1", "timeout": 60})),
        ("process", json!({"action": "poll", "process_id": "p1", "cursor": 0})),
        ("process", json!({"action": "list"})),
        ("stop_process", json!({"process_id": "p1"})),
        ("process", json!({"action": "status", "process_id": "p1"})),
        ("process", json!({"action": "status", "process_id": "p9"})),
        ("process", json!({"action": "signal", "process_id": "p1"})),
        ("process", json!({"action": "poll"})),
    ]);
    let holds = [
        "No background processes",
        "Started p1",
        "ready",
        "",
        "got one",
        "ready\ngot one",
        "p1  running",
        "p1",
        "p1  stopped",
        "there is no process p9",
        "signal",
        "process_id is required",
    ];
    for (answer, part) in answers.iter().zip(holds) {
        assert!(answer.text.contains(part), "{part} is not in {}", answer.text);
    }
    assert_eq!(answers.len(), holds.len());
}
