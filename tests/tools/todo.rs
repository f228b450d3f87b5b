//! `todo_read` and `todo_write`: a list that outlives the process and belongs to its folder.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn the_list_is_kept() {
    let desk = Desk::new();
    let item =
        |id: &str, status: &str| json!({"id": id, "title": format!("do {id}"), "status": status});
    assert_snapshot!(desk.said(&[
        ("todo_read", json!({})),
        ("todo_write", json!({"todos": [item("1", "in_progress"), item("2", "in_progress")]})),
        ("todo_write", json!({"todos": [item("1", "doing")]})),
        ("todo_write", json!({"todos": [item("1", "completed"), item("2", "pending")]})),
    ]), @r##"
Todo list is empty.
--
✗ only one todo may be in_progress, not 1, 2
--
✗ invalid todos.0.status: doing (takes pending, in_progress, completed)
--
[1] completed: do 1
[2] pending: do 2
"##);
    assert!(
        desk.call("todo_read", json!({})).contains("[2] pending: do 2"),
        "another process reads it"
    );
}
