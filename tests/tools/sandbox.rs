//! Commands in the sandbox, as whoever calls them by hand meets it; on a machine without one there is nothing to tell.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::desk::Desk;

fn has_sandbox() -> bool {
    let doctor = Desk::with("llm: {provider: offline}\n").command().arg("doctor").output().unwrap();
    String::from_utf8_lossy(&doctor.stdout).contains("commands run in the sandbox")
}

fn bash(desk: &Desk, cmd: &str) -> String {
    desk.call("bash", json!({ "cmd": cmd }))
}

#[test]
fn nothing_asks_because_it_cannot_be_parsed() {
    if !has_sandbox() {
        return;
    }
    let desk = Desk::new();
    for (cmd, says) in [
        ("for i in 1 2; do echo $i; done", "1\n2"),
        ("echo $(echo $(expr 1 + 1))", "2"),
        ("test -d \"$HOME\" && echo x > $HOME/a && cat $HOME/a", "x"),
        ("x=echo; $x hi | while read l; do $x \"$l\"; done", "hi"),
        ("perl -e 'print \"rm x\"'", "rm x"),
        ("python3 -c 'print(6 * 7)' 2>/dev/null || echo 42", "42"),
        ("echo 'echo hi' | sh", "hi"),
        ("eval \"$(printf 'echo %s' hi)\"", "hi"),
        ("cat <<E\nless is\nrm x\nE", "less is\nrm x"),
    ] {
        assert_eq!(bash(&desk, cmd), says, "{cmd}");
    }
    let asks = bash(&desk, "ls && rm x");
    assert!(asks.contains("commands with `rm` need a person's approval"), "{asks}");
}

#[test]
fn without_a_sandbox_only_plain_words_run_unasked() {
    let desk = Desk::with("sandbox: off\n");
    for cmd in [
        "for i in 1 2; do echo $i; done",
        "echo $(expr 1 + 1)",
        "echo $HOME",
        "echo 'echo hi' | sh",
        "eval 'echo hi'",
        "echo x > x",
        "ls *",
        "A=1 env",
    ] {
        let asks = bash(&desk, cmd);
        assert!(asks.contains("cannot be judged by its words, and no sandbox"), "{cmd}: {asks}");
    }
    assert_eq!(bash(&desk, "cd . && perl -e 'print \"rm x\"' | tr x y; echo z"), "rm yz");
    let asks = bash(&desk, "rm $x");
    assert!(asks.contains("commands with `rm` need a person's approval"), "{asks}");
}

#[test]
fn a_command_without_the_network_is_told_so() {
    if !has_sandbox() {
        return;
    }
    let desk = Desk::with("sandbox: {rules: [{place: cli, network: false}]}\n");
    let cmd = "exec 3<>/dev/tcp/127.0.0.1/1";
    let said = bash(&desk, cmd);
    assert!(said.ends_with("(exit code: 1; the sandbox has no network here)"), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    let said = bash(&Desk::new(), cmd);
    assert!(said.contains("Connection refused") && said.ends_with("(exit code: 1)"), "{said}");
    let mut why = desk.command();
    let why = why.args(["tools", "why", "bash"]).output().unwrap();
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("commands run in the sandbox, without the network"), "{why}");
}

#[test]
fn the_bots_own_and_everybody_elses_stay_closed() {
    if !has_sandbox() {
        return;
    }
    let desk = Desk::with("llm: {provider: offline}\n");
    let outside = desk.folder().join("outside");
    fs::write(&outside, "not for commands").unwrap();
    for path in [outside.as_path(), &desk.folder().join("config.yaml"), Path::new("/proc/1/status")]
    {
        let parts: Vec<String> = path.display().to_string().split('/').map(str::to_owned).collect();
        let cmd = format!("p=; for x in {}; do p=$p/$x; done; cat $p", parts[1..].join(" "));
        let said = bash(&desk, &cmd);
        assert!(said.contains("Permission denied"), "{path:?}: {said}");
    }
    let desk = Desk::with(&format!("sandbox: {{read: [{}]}}\n", outside.display()));
    fs::write(&outside, "now for commands").unwrap();
    assert_eq!(bash(&desk, &format!("cat {}", outside.display())), "now for commands");
}

#[test]
fn a_folder_with_the_bots_own_files_is_not_opened_as_a_whole() {
    if !has_sandbox() {
        return;
    }
    // Where nobody but an owner asks, commands run as they did before there was a sandbox.
    let desk = Desk::with("llm: {provider: offline}\n");
    let run = |desk: &Desk| {
        let mut command = desk.command();
        command.args(["tools", "call", "--json", "--workspace"]).arg(desk.folder());
        command.arg("bash").arg(json!({"cmd": "ls -d /tmp"}).to_string());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(run(&desk).contains("/tmp"));
    let desk = Desk::with("sandbox: required\n");
    let said = run(&desk);
    assert!(said.contains("commands do not run here") && said.contains("the bot's own"), "{said}");
}

#[test]
fn one_plain_command_goes_to_its_host_with_an_approval_and_nothing_else_does() {
    let rows = "tools: {bash: {host_commands: [{match: uname, ssh: me@host.invalid}]}}\n";
    let desk = Desk::with(rows);
    let said = bash(&desk, "uname -a");
    assert!(said.contains("runs outside of the sandbox, on me@host.invalid"), "{said}");
    for here in ["uname -a | cat", "echo; uname -s", "uname $X -s"] {
        assert!(bash(&desk, here).contains("Linux"), "{here}");
    }
    let previewed = desk.run(&["--preview"], &[("bash", json!({"cmd": "uname -a"}))]);
    let text = &previewed[0].text;
    assert!(text.contains("run a command on me@host.invalid, outside of the sandbox"), "{text}");
}

#[test]
fn sudo_and_a_required_sandbox_are_a_mistake() {
    let desk = Desk::with("sandbox: required\ntools: {bash: {limits: {sudo: true}}}\n");
    let check = desk.command().args(["config", "check"]).output().unwrap();
    let said = String::from_utf8_lossy(&check.stdout) + String::from_utf8_lossy(&check.stderr);
    assert!(said.contains("tools.bash.limits.sudo"), "{said}");
}
