//! `list_files`: folders, patterns, details, and what config closes.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn folders_are_listed() {
    let desk = Desk::with("tools: {list_files: {deny_paths: [private]}}\n");
    for file in
        ["b.md", "src/a.rs", "src/deep/c.rs", "private/x", ".git/x", "node_modules/x", ".hidden"]
    {
        desk.put(file, "12345");
    }
    assert_snapshot!(desk.said(&[
        ("list_files", json!({})),
        ("ls", json!({"path": "."})),
        ("list_files", json!({"path": "src", "recursive": true, "include": "*.rs"})),
        ("list_files", json!({"path": "**/*.rs"})),
        ("list_files", json!({"path": "private"})),
        ("list_files", json!({"path": "none"})),
        ("list_files", json!({"recursive": "maybe"})),
    ]), @r##"
b.md
src/
[1 entry is closed to tools.]
--
b.md (file, 5 bytes)
src/ (folder)
[1 entry is closed to tools.]
--
a.rs
deep/c.rs
--
src/a.rs
src/deep/c.rs
[1 entry is closed to tools.]
--
✗ list_files denied for path: private (tools.list_files.deny_paths)
--
✗ no such file: none
--
✗ recursive must be true or false
"##);
}
