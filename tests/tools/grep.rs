//! `grep`: lines with their places.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn lines_are_found() {
    let desk = Desk::new();
    desk.put("a.go", "package a\n\nfunc TestA() {\n}\n")
        .put("b.js", "test()\r\n")
        .put("c.bin", b"Test\0");
    desk.put("big.go", format!("TestBig\n{}", "x\n".repeat(600_000)));
    assert_snapshot!(desk.said(&[
        ("grep", json!({"pattern": "(?i)test"})),
        ("grep", json!({"pattern": "Test", "include": "*.go", "context_lines": 1})),
        ("grep", json!({"pattern": "Test", "context_lines": 99, "path": "a.go"})),
        ("grep", json!({"pattern": "test\\(\\)$", "path": "b.js"})),
        ("grep", json!({"pattern": "none"})),
        ("grep", json!({"pattern": "("})),
    ]), @r##"
a.go:3:func TestA() {
b.js:1:test()
--
a.go:2 
a.go:3:func TestA() {
a.go:4 }
--
a.go:1 package a
a.go:2 
a.go:3:func TestA() {
a.go:4 }
[context_lines 99 was brought to its limit, 10.]
--
b.js:1:test()
--
No matches found.
--
✗ invalid pattern: regex parse error:
    (?:()
    ^
error: unclosed group
"##);
}
