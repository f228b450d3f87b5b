//! `read_file`: pages, kinds, and what it never opens.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_file_is_read_page_by_page_whatever_its_line_ends() {
    let desk = Desk::new();
    desk.put("crlf.txt", "one\r\ntwo\r\nlast, no break").put("latin.txt", b"caf\xe9\n");
    desk.put("long.txt", "a line of text\n".repeat(5000));
    desk.put("icon.svg", "<svg viewBox='0 0 24 24'/>").put("x.tar.gz", b"\x1f\x8b\x08data");
    let cells = json!([{"cell_type": "code", "id": "a1", "metadata": {}, "source": ["1 + 1"],
        "outputs": [{"output_type": "execute_result", "data": {"text/plain": ["2"]}}]}]);
    desk.put("n.ipynb", json!({"cells": cells, "nbformat": 4, "nbformat_minor": 5}).to_string());
    assert_snapshot!(desk.said(&[
        ("read", json!({"path": "crlf.txt", "offset": 0})),
        ("file_read", json!({"path": "crlf.txt", "offset": "2", "limit": 1.0})),
        ("read_file", json!({"path": "latin.txt"})),
        ("read_file", json!({"path": "long.txt", "offset": 4999})),
        ("read_file", json!({"path": "long.txt", "limit": 1})),
        ("read_file", json!({"path": "icon.svg"})),
        ("read_file", json!({"path": "x.tar.gz"})),
        ("read_file", json!({"path": "n.ipynb"})),
        ("read_file", json!({"path": "."})),
        ("read_file", json!({"path": "long.txt", "offset": 5001})),
        ("read_file", json!({"path": null})),
        ("read_file", json!({"path": 7, "ofset": 1})),
    ]), @r##"
   1 | one
   2 | two
   3 | last, no break
--
   2 | two
[Showing lines 2-2 of 3. Use offset=3 to continue.]
--
   1 | café
[It was decoded from windows-1252.]
--
4999 | a line of text
5000 | a line of text
[Showing lines 4999-5000 of 5000.]
--
   1 | a line of text
[Showing lines 1-1 of 5000. Use offset=2 to continue.]
--
icon.svg is an SVG image, 24×24 pixels, 26 bytes. This is its source:
   1 | <svg viewBox='0 0 24 24'/>
--
✗ x.tar.gz is gzip data (7 bytes), not text: it cannot be read here
--
   1 | [cell 0] code id=a1
   2 | 1 + 1
   3 | [output of cell 0] execute_result
   4 | 2
--
✗ . is a directory: use list_files
--
✗ offset 5001 is behind the end: the file has 5000 lines
--
✗ path is required
--
✗ path must be a string
unknown parameter ofset: did you mean offset? (takes path, offset, limit, page)
"##);
}

#[test]
fn the_config_is_closed_whatever_it_is_called() {
    let desk = Desk::new();
    fs::write(desk.folder().join("mine.yaml"), "llm: {provider: offline}\n").unwrap();
    fs::copy(desk.folder().join("mine.yaml"), desk.at("other.yaml")).unwrap();
    let mut line = desk.command();
    line.args(["--config", "mine.yaml", "tools", "call"]);
    for (tool, args) in [
        ("read_file", json!({"path": desk.folder().join("mine.yaml")})),
        ("grep", json!({"pattern": "llm", "path": "."})),
        ("write_file", json!({"path": "mine.yaml", "content": "x"})),
        ("bash", json!({"cmd": "cat mine.yaml"})),
    ] {
        line.arg(tool).arg(args.to_string());
    }
    let said = String::from_utf8(line.output().unwrap().stdout).unwrap();
    for part in [
        "mine.yaml (it is the bot's own: no tool touches it)",
        "work/other.yaml:1:llm: {provider: offline}",
        "write_file denied for path: mine.yaml (it is the bot's own: no tool touches it)",
        "bash command references denied path: mine.yaml",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(!said.contains("mine.yaml:1:"), "{said}");
}

#[test]
fn nothing_of_the_machine_or_the_bot_is_opened_and_nothing_hangs() {
    let desk = Desk::with("tools: {read_file: {deny_paths: [secrets.txt, notes/private]}}\n");
    desk.put("secrets.txt", "x").put("notes/private/a", "x").put("one", "x");
    desk.put("k8s/config.yaml", "a: 1").put("env/x.py", "pass").put(".env.example", "KEY=");
    fs::hard_link(desk.at("../config.yaml"), desk.at("held")).unwrap();
    symlink("/proc/self/environ", desk.at("environ")).unwrap();
    symlink("loop", desk.at("loop")).unwrap();
    fs::hard_link(desk.at("one"), desk.at("two")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(desk.at("pipe")).status();
    assert!(fifo.unwrap().success());
    let calls: Vec<_> = [
        "secrets.txt",
        "sub/../secrets.txt",
        "notes/private/a",
        "k8s/config.yaml",
        "env/x.py",
        ".env.example",
        "held",
        "environ",
        "/proc/self/environ",
        "/dev/zero",
        "pipe",
        "loop",
        "../config.yaml",
        "file_state_dir/selkie.db",
        "file_cache_dir/../../selkie.db",
        "file_state_dir",
    ]
    .map(|path| ("read_file", json!({ "path": path })))
    .to_vec();
    assert_snapshot!(desk.said(&calls), @r##"
✗ read_file denied for path: secrets.txt (tools.read_file.deny_paths)
--
✗ no such file: sub/../secrets.txt
--
✗ read_file denied for path: notes/private/a (tools.read_file.deny_paths)
--
   1 | a: 1
--
   1 | pass
--
   1 | KEY=
--
✗ read_file denied for path: held (it is the bot's own: no tool touches it)
--
✗ read_file denied for path: environ (it belongs to the system and is not a file)
--
✗ read_file denied for path: /proc/self/environ (it belongs to the system and is not a file)
--
✗ read_file denied for path: /dev/zero (it belongs to the system and is not a file)
--
✗ pipe: it is a device, a pipe or a socket, not a file
--
✗ loop cannot be reached: Too many levels of symbolic links (os error 40)
--
✗ read_file denied for path: ../config.yaml (it is the bot's own: no tool touches it)
--
✗ read_file denied for path: file_state_dir/selkie.db (it is the bot's own: no tool touches it)
--
✗ refusing to read outside allowed base dir: file_cache_dir/../../selkie.db (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
✗ invalid path: alias requires a relative file path
"##);
    assert_eq!(
        desk.call("read_file", json!({"path": "two"})),
        "   1 | x",
        "several names may be read"
    );
}
