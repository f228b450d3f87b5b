//! `write_file`: new, replaced, appended; modes kept; nothing outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn files_are_made_replaced_and_appended_to() {
    let desk = Desk::with("tools: {write_file: {max_bytes: 40}}\n");
    desk.put("run.sh", "old").put("one", "x");
    fs::set_permissions(desk.at("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(desk.at("one"), desk.at("two")).unwrap();
    symlink("/tmp", desk.at("out")).unwrap();
    assert_snapshot!(desk.said(&[
        ("write", json!({"path": "a/b/c.txt", "content": "one\n"})),
        ("write_file", json!({"path": "a/b/c.txt", "content": "two\n", "mode": "append"})),
        ("file_write", json!({"path": "run.sh", "content": ""})),
        ("write_file", json!({"path": "file_cache_dir/n.txt", "content": "x"})),
        ("write_file", json!({"path": "file_state_dir/TODO.md", "content": "- x\n"})),
        ("write_file", json!({"path": "two", "content": "y"})),
        ("write_file", json!({"path": "out/x", "content": "y"})),
        ("write_file", json!({"path": "../x", "content": "y"})),
        ("write_file", json!({"path": "config.yaml", "content": "y"})),
        ("write_file", json!({"path": "big", "content": "0123456789".repeat(5)})),
        ("write_file", json!({"path": "x", "content": "y", "mode": "prepend"})),
        ("write_file", json!({"path": "x"})),
    ]), @r##"
wrote 4 bytes to a/b/c.txt
--
appended 4 bytes to a/b/c.txt
--
wrote 0 bytes to run.sh
--
wrote 1 bytes to file_cache_dir/n.txt
--
wrote 4 bytes to file_state_dir/TODO.md
--
✗ two: the file has several names (hard links): writing would change them all
--
✗ refusing to write outside allowed base dirs: out/x (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
✗ refusing to write outside allowed base dirs: ../x (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
wrote 1 bytes to config.yaml
--
✗ content too large (50 bytes > 40 max): write it in parts with mode append
--
✗ invalid mode: prepend (takes overwrite, append)
--
✗ content is required
"##);
    assert_eq!(desk.get("a/b/c.txt"), "one\ntwo\n");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(desk.at("run.sh")), 0o751, "an existing file keeps its mode");
    assert_eq!((mode(desk.at("a/b/c.txt")), mode(desk.at("a/b"))), (0o644, 0o755));
    assert_eq!(mode(desk.cached("n.txt")), 0o600);
    assert_eq!(desk.get("one"), "x");
}
