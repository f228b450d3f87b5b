//! What goes wrong under a tool: a disk that takes no more, files that change while they are read, previews.

use std::fs::{self, File};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::desk::{Answer, Desk};

/// Calls tools in a process that may write files of so many blocks of 512 bytes, no larger ones: to it the
/// disk is full in the middle.
fn with_a_full_disk(desk: &Desk, blocks: u32, calls: &[(&str, Value)]) -> String {
    let selkie = desk.command();
    let mut line = std::process::Command::new("sh");
    line.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", &blocks.to_string()]);
    line.arg(selkie.get_program()).args(["tools", "call", "--workspace"]).arg(desk.at(""));
    for (tool, arguments) in calls {
        line.arg(tool).arg(arguments.to_string());
    }
    line.current_dir(desk.folder()).env_clear();
    line.envs(selkie.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = line.output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_disk_that_is_full_in_the_middle_changes_nothing() {
    let desk = Desk::new();
    let line = "0123456789abcdef\n";
    desk.put("a.txt", line.repeat(3)).put("big.txt", line.repeat(90_000));
    desk.call("think", json!({"thought": "the store is made while there is room"}));
    let before = (desk.get("a.txt"), desk.get("big.txt"));
    let patch = format!(
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-{line}+first\n--- a/big.txt\n+++ b/big.txt\n@@ -1,1 +1,2 @@\n {line}+second\n"
    );
    for (tool, args) in [
        ("write_file", json!({"path": "a.txt", "content": "x".repeat(100_000)})),
        (
            "apply_patch",
            json!({"patch": patch.replace("@@ -1,1 +1,2 @@\n 0123456789abcdef\n+second", "@@ -1 +1 @@\n+second")}),
        ),
        (
            "edit_file",
            json!({"path": "big.txt", "old_string": "0123456789abcdef", "new_string": "fedcba98", "replace_all": true}),
        ),
    ] {
        // Room for the store's own files, not for these.
        let blocks = if tool == "write_file" { 128 } else { 600 };
        let said = with_a_full_disk(&desk, blocks, &[(tool, args)]);
        assert!(said.contains("File too large"), "{tool}: {said}");
        assert_eq!((desk.get("a.txt"), desk.get("big.txt")), before, "{tool}: {said}");
    }
    let left: Vec<_> =
        fs::read_dir(desk.at("")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left behind: {left:?}");
}

#[test]
fn a_file_that_changes_while_it_is_read_gives_whole_lines_and_an_end() {
    let desk = Desk::new();
    desk.put("log.txt", "a line\n".repeat(200_000));
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut log = File::options().append(true).open(desk.at("log.txt")).unwrap();
            while !over.load(Ordering::Relaxed) {
                log.write_all(b"a line\n").unwrap();
            }
        });
        let said =
            desk.call("read_file", json!({"path": "log.txt", "offset": 199_990, "limit": 5}));
        over.store(true, Ordering::Relaxed);
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[..5].iter().all(|l| l.ends_with(" | a line")), "{said}");
        assert!(lines[5].starts_with("[Showing lines 199990-199994 of "), "{said}");
    });
    // Cut off under the reader: what is gone is gone, nothing hangs.
    File::options().write(true).open(desk.at("log.txt")).unwrap().set_len(3).unwrap();
    assert_eq!(desk.call("read_file", json!({"path": "log.txt"})), "   1 | a l");
}

#[test]
fn edits_side_by_side_are_all_there_or_told() {
    let desk = Desk::new();
    let lines: String = (0..8).map(|n| format!("line {n}\n")).collect();
    desk.put("a.txt", &lines);
    let done: Vec<bool> = std::thread::scope(|threads| {
        let edits: Vec<_> = (0..4)
            .map(|n| {
                let desk = &desk;
                threads.spawn(move || {
                    let state = format!("s{n}");
                    let args = json!({"path": "a.txt", "old_string": format!("line {n}\n"), "new_string": format!("edited {n}\n")});
                    let mut line = desk.command();
                    line.env("SELKIE__FILE_STATE_DIR", desk.folder().join(state));
                    line.args(["tools", "call", "--workspace"]).arg(desk.at(""));
                    line.args(["edit_file", &args.to_string()]).output().unwrap().status.success()
                })
            })
            .collect();
        edits.into_iter().map(|edit| edit.join().unwrap()).collect()
    });
    let text = desk.get("a.txt");
    assert_eq!(text.lines().count(), 8, "no edit tears the file: {text}");
    assert!(done.iter().any(|done| *done));
}

#[test]
fn a_preview_does_nothing() {
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    let answers = desk.run(
        &["--preview"],
        &[
            ("edit", json!({"path": "a.txt", "old_text": "one", "new_text": "two"})),
            ("exec", json!({"command": "touch made"})),
            ("read", json!({"path": "a.txt"})),
            ("write", json!({"path": "a.txt"})),
            ("cron", json!({"action": "remove", "id": "1"})),
            ("cron", json!({"action": "list"})),
            ("todo_update", json!({"action": "complete", "content": "bring milk"})),
            (
                "todo_write",
                json!({"todos": [{"id": "1", "title": "bring milk", "status": "pending"}]}),
            ),
            ("todo_read", json!({})),
        ],
    );
    // Where a machine has no sandbox, nothing is said of it.
    let plain = |a: &Answer| a.text.replace("run a command in the sandbox", "run a command");
    let said: Vec<String> = answers.iter().map(plain).collect();
    assert_eq!(
        said,
        [
            "edit a.txt (1 place):\n@@ line 1 @@\n-one\n+two",
            "run a command:\ntouch made",
            "it changes nothing",
            "content is required",
            "remove a schedule\n· id: 1",
            "it changes nothing",
            "complete an item of TODO.md\n· content: bring milk",
            "use todo_write\n· todos: [{\"id\":\"1\",\"title\":\"bring milk\",\"status\":\"pending\"}]",
            "it changes nothing",
        ]
    );
    assert_eq!(desk.get("a.txt"), "one\n");
    assert!(!desk.at("made").exists());
}
