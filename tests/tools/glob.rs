//! `glob`: files by their path, the newest first.

use std::fs::File;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn the_newest_come_first() {
    let desk = Desk::new();
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (age, file) in ["old.rs", "src/new.rs", "src/mid.rs", "gen/x.rs"].into_iter().enumerate() {
        desk.put(file, "x");
        let order = [0, 3, 2, 4][age];
        let file = File::options().write(true).open(desk.at(file)).unwrap();
        file.set_modified(start + Duration::from_secs(order)).unwrap();
    }
    desk.put(".gitignore", "gen\n");
    assert_snapshot!(desk.said(&[
        ("glob", json!({"pattern": "**/*.rs"})),
        ("glob", json!({"pattern": "*.rs", "path": "src"})),
        ("glob", json!({"pattern": "*.py"})),
        ("glob", json!({"pattern": "[z-"})),
        ("glob", json!({"pattern": ""})),
    ]), @r##"
src/new.rs
src/mid.rs
old.rs
--
src/new.rs
src/mid.rs
--
No files found.
--
✗ invalid pattern: unclosed character class; missing ']'
--
✗ pattern is required
"##);
}
