//! `git_status`: git's short form, and nothing that a repository makes git run.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn what_git_says() {
    let desk = Desk::new();
    desk.put("new.txt", "x");
    let before = desk.call("git_status", json!({}));
    assert!(before.contains("not a git repository"), "{before}");
    let git = Command::new("git").args(["init", "-q"]).current_dir(desk.at("")).status();
    assert!(git.unwrap().success());
    assert_snapshot!(desk.said(&[
        ("git_status", json!({"path": "."})),
        ("git_status", json!({"path": "new.txt"})),
        ("git_status", json!({"path": "none"})),
    ]), @r##"
?? new.txt
--
✗ new.txt is not a folder
--
✗ no such file: none
"##);
}
