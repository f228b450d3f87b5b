//! `bash`: output, codes, limits, refusals, the envelope.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn commands_run_and_what_may_not_is_refused_with_the_reason() {
    let desk = Desk::with("tools: {bash: {deny_paths: [private], deny_tokens: [curl]}}\n");
    assert_snapshot!(desk.said(&[
        ("bash", json!({"cmd": "echo out; echo err >&2; exit 3"})),
        ("exec", json!({"command": "echo $A; pwd", "workdir": ".", "env": {"A": "b"}})),
        ("bash", json!({"cmd": "read -r x; echo \"[$x]\""})),
        ("bash", json!({"cmd": "echo begun; trap '' TERM; sleep 60", "timeout_seconds": 1})),
        ("bash", json!({"cmd": "true"})),
        ("bash", json!({"cmd": "echo 1", "run_in_subtask": true})),
        ("bash", json!({"cmd": "rm -r x"})),
        ("bash", json!({"cmd": "vim x"})),
        ("bash", json!({"cmd": "sleep 9 &"})),
        ("bash", json!({"cmd": "cat private/x"})),
        ("bash", json!({"cmd": "curl example.org"})),
        ("bash", json!({"cmd": "cat /proc/1/environ"})),
        ("bash", json!({"cmd": "x", "env": {"LD_PRELOAD": "y"}})),
        ("bash", json!({"cmd": "x", "cwd": "none"})),
        ("bash", json!({"command": "x", "cmd": "y"})),
    ]), @r##"
✗ out
err
(exit code: 3)
--
b
…/work
--
[]
--
✗ begun
(command timed out after 1s)
--
(no output)
--
{
  "task_id": "0/c1.5",
  "status": "done",
  "summary": "1",
  "output_kind": "text",
  "output_schema": "",
  "output": "1\n",
  "error": ""
}
--
✗ bash: commands with `rm` need a person's approval, and approvals come with a later part: say what you would run and why (an owner may take it out of tools.bash.approval_patterns)
--
✗ bash: vim waits for a person at a terminal, and there is none: use a command that prints and ends (read_file for files)
--
✗ bash: a command may not leave something running with &: take the & away and set run_in_background to true
--
✗ bash command references denied path: private/x
--
✗ bash command references denied token: curl
--
✗ bash command references denied path: /proc/1/environ
--
✗ env may not set LD_PRELOAD: PATH, LD_*, BASH_ENV and what config injects stay as they are
--
✗ no such file: none
--
✗ cmd and command are one parameter and have different values: give cmd alone
"##);
}
