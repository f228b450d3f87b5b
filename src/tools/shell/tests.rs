//! Real programs, from what a model asks to what it reads and what is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::environment::MARK;
use super::{Bash, PowerShell, Process, Processes, bash, powershell};
use crate::args::accept;
use crate::dispatch::dispatch;
use crate::ports::Progress;
use crate::registry::{Base, Overlay, Registry, ToolEntry};
use crate::scope::Scope;
use crate::testkit::Folders;
use crate::{Handler, Output};
use selkie_domain::plan::Plan;
use selkie_domain::span::Span;
use selkie_sandbox::Limits;

/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(180);

struct Desk {
    folders: Folders,
    processes: Arc<Processes>,
    env: Arc<BTreeMap<String, String>>,
    settings: bash::Settings,
}

impl Desk {
    fn new() -> Self {
        let env = [("PATH", "/usr/bin:/bin"), ("OPENAI_API_KEY", "sk-1"), ("DEPLOY_TOKEN", "t-1")];
        let env = env.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        Self {
            folders: Folders::new(),
            processes: Arc::default(),
            env: Arc::new(env),
            settings: bash::Settings::default(),
        }
    }

    fn bash(&self) -> Bash {
        Bash::new(&self.settings, &self.processes, &self.env, &Arc::default())
    }

    async fn call(&self, tool: &dyn Handler, scope: &Scope, args: Value) -> Output {
        let args = match accept(&tool.spec().parameters, &args) {
            Ok(accepted) => accepted.args,
            Err(faults) => return Output { text: faults, is_error: true, ..Output::default() },
        };
        let called = timeout(TIMEOUT, tool.call(scope, args)).await.expect("it ends");
        called.unwrap_or_else(|e| Output {
            text: e.to_string(),
            is_error: true,
            ..Output::default()
        })
    }

    async fn run(&self, args: Value) -> Output {
        self.call(&self.bash(), &self.folders.scope(), args).await
    }

    async fn says(&self, args: Value) -> String {
        self.run(args).await.text.replace(self.folders.at("").to_str().unwrap(), "…/")
    }

    async fn process(&self, args: Value) -> String {
        let tool = Process(Arc::clone(&self.processes));
        self.call(&tool, &self.folders.scope(), args).await.text
    }

    /// Whether a process still carries our mark.
    fn is_left(&self, argument: &str) -> bool {
        fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let read = |name| fs::read(entry.path().join(name)).unwrap_or_default();
            let holds = |bytes: Vec<u8>, text: &str| String::from_utf8_lossy(&bytes).contains(text);
            holds(read("cmdline"), argument) && holds(read("environ"), MARK)
        })
    }

    /// Waits until nothing of ours with this argument runs.
    async fn gone(&self, argument: &str) {
        let looks = async {
            while self.is_left(argument) {
                tokio::task::yield_now().await;
            }
        };
        timeout(TIMEOUT, looks).await.expect("something is left behind");
    }
}

#[tokio::test]
async fn what_is_printed_is_read_and_codes_are_errors() {
    let desk = Desk::new();
    desk.folders.put("work/sub/a.txt", "");
    desk.folders.put("cache/bird/one/b.txt", "kept\n");
    let mut said = Vec::new();
    for args in [
        json!({"cmd": "echo out; echo err >&2; echo out"}),
        json!({"cmd": "echo no; exit 3"}),
        json!({"cmd": "true"}),
        json!({"cmd": "nonsense-program"}),
        json!({"cmd": "kill -9 $$"}),
        json!({"cmd": "pwd; ls", "cwd": "sub"}),
        json!({"cmd": "pwd", "cwd": "file_cache_dir"}),
        json!({"cmd": "cat file_cache_dir/b.txt \"file_cache_dir/b.txt\" 'file_cache_dir/b.txt'"}),
        json!({"cmd": "pwd", "cwd": "nowhere"}),
        json!({"cmd": "pwd", "cwd": "sub/a.txt"}),
        json!({"cmd": "pwd", "cwd": "../outside"}),
        json!({"cmd": "read x; echo \"<$x>\""}),
        json!({"cmd": "echo $A$OPENAI_API_KEY$DEPLOY_TOKEN", "env": {"A": "a"}}),
        json!({"cmd": "true", "env": {"LD_PRELOAD": "x.so"}}),
        json!({"cmd": "true", "env": {"PATH": "/tmp"}}),
        json!({"cmd": ""}),
        json!({"cmd": "true", "run_in_background": true, "run_in_subtask": true}),
        json!({"cmd": "true", "timeout_seconds": 1000}),
    ] {
        said.push(format!(
            "$ {}\n{}",
            args["cmd"].as_str().unwrap(),
            desk.says(args.clone()).await
        ));
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    $ echo out; echo err >&2; echo out
    out
    err
    out
    $ echo no; exit 3
    no
    (exit code: 3)
    $ true
    (no output)
    $ nonsense-program
    bash: line 1: nonsense-program: command not found
    (exit code: 127)
    $ kill -9 $$
    (ended by signal 9; exit code: 137)
    $ pwd; ls
    …/work/sub
    a.txt
    $ pwd
    …/cache/bird/one
    $ cat file_cache_dir/b.txt "file_cache_dir/b.txt" 'file_cache_dir/b.txt'
    kept
    kept
    kept
    $ pwd
    no such file: nowhere
    $ pwd
    invalid cwd: sub/a.txt is not a folder
    $ pwd
    refusing to read outside allowed base dir: ../outside (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
    $ read x; echo "<$x>"
    <>
    $ echo $A$OPENAI_API_KEY$DEPLOY_TOKEN
    a
    $ true
    env may not set LD_PRELOAD: PATH, LD_*, BASH_ENV, git's config and what config injects stay as they are
    $ true
    env may not set PATH: PATH, LD_*, BASH_ENV, git's config and what config injects stay as they are
    $ 
    cmd is required
    $ true
    run_in_background and run_in_subtask exclude each other: a subtask is waited for
    $ true
    (no output)
    "#);
}

#[tokio::test]
async fn what_may_not_be_run_is_refused_with_the_reason() {
    let mut desk = Desk::new();
    desk.settings.deny_paths = vec!["private".to_owned()];
    desk.settings.deny_tokens = vec!["curl".to_owned()];
    let mut said = Vec::new();
    for cmd in ["sleep 9 &", "git log | less", "cat private/x", "curl x"] {
        said.push(desk.says(json!({ "cmd": cmd })).await);
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    bash: a command may not leave something running with &: take the & away and set run_in_background to true
    bash: less waits for a person at a terminal, and there is none: use a command that prints and ends (read_file for files)
    bash command references denied path: private/x
    bash command references denied token: curl
    ");
}

#[tokio::test]
async fn config_injects_and_rewrites() {
    let mut desk = Desk::new();
    desk.settings.injected_env_vars = vec!["DEPLOY_TOKEN".to_owned()];
    desk.settings.rewrite = super::rewrite::Rewrite { enabled: true, binary: "env".to_owned() };
    assert_eq!(desk.says(json!({"cmd": "printenv DEPLOY_TOKEN"})).await, "t-1");
    assert!(desk.says(json!({"cmd": "X=1 printenv X"})).await.starts_with('1'), "env comes first");
}

#[tokio::test]
async fn a_command_that_takes_too_long_ends_with_all_it_started() {
    let mut desk = Desk::new();
    desk.settings.timeout = Span(Duration::from_millis(300));
    let cmd = "echo begun; trap '' TERM; sleep 7001 | sleep 7001";
    assert_eq!(desk.says(json!({ "cmd": cmd })).await, "begun\n(command timed out after 0.3s)");
    desk.gone("7001").await;
}

#[tokio::test]
async fn what_leaves_its_group_and_holds_the_pipe_neither_hangs_nor_stays() {
    let desk = Desk::new();
    desk.folders.put("work/leave.sh", "sleep 7002 &\n");
    let cmd = "setsid -f sleep 7002; sh leave.sh; echo done";
    assert_eq!(desk.says(json!({ "cmd": cmd })).await, "done");
    desk.gone("7002").await;
}

#[tokio::test]
async fn a_stopped_task_ends_its_command() {
    let desk = Desk::new();
    let scope = desk.folders.scope();
    let base = Arc::new(Base::build([ToolEntry::new(true, desk.bash())]).unwrap());
    let registry = Registry::view(base, vec![], Overlay::default());
    let call = selkie_domain::transcript::Call {
        id: "c1.0".into(),
        name: "bash".into(),
        arguments: json!({"cmd": "touch begun; sleep 7003"}),
    };
    let redactor = selkie_channel_core::Redactor::default();
    let begun = desk.folders.at("work/begun");
    let stop = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
        scope.cancel.cancel();
    };
    let (called, ()) = tokio::join!(dispatch(&registry, &call, &scope, &redactor), stop);
    assert!(called.is_err());
    desk.gone("7003").await;
}

#[tokio::test]
async fn of_a_flood_the_head_and_the_tail_are_kept() {
    let desk = Desk::new();
    let said = desk
        .says(
            json!({"cmd": "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last"}),
        )
        .await;
    assert!(said.starts_with("first\nxxx") && said.ends_with("xxx\nlast"), "{}", &said[..40]);
    assert!(said.contains("characters left out here"));
    assert!(said.chars().count() < 100_200);
}

/// Keeps what it is told.
#[derive(Default)]
struct Told(std::sync::Mutex<Vec<String>>);

impl Progress for Told {
    fn plan(&self, _plan: &Plan) {}

    fn doing(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

#[tokio::test]
async fn people_see_the_newest_line_while_it_runs() {
    let desk = Desk::new();
    let told = Arc::new(Told::default());
    let scope = Scope { progress: Arc::clone(&told) as _, ..desk.folders.scope() };
    let (bash, go) = (desk.bash(), desk.folders.at("work/go"));
    // It goes on when its first line was shown; a flood is shown as a few lines.
    let cmd = "printf 'step 1\\n\\n'; until [ -e go ]; do sleep 0.01; done; seq 20000";
    let shown = async {
        while told.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        fs::write(go, "").unwrap();
    };
    let (said, ()) = tokio::join!(desk.call(&bash, &scope, json!({ "cmd": cmd })), shown);
    assert!(said.text.starts_with("step 1\n") && said.text.ends_with("20000"), "{}", said.text);
    let told = told.0.lock().unwrap();
    assert_eq!(told[0], "step 1");
    assert!(told.len() < 100, "{}", told.len());
}

#[tokio::test]
async fn what_reads_from_a_person_gets_the_end_of_input() {
    let desk = Desk::new();
    let said = desk.says(json!({"cmd": "cat; read -r line; echo \"code $?\""})).await;
    assert_eq!(said, "code 1");
}

#[tokio::test]
async fn a_subtask_answers_the_envelope() {
    let desk = Desk::new();
    let good = desk.run(json!({"cmd": "echo one; echo two", "run_in_subtask": true})).await;
    let good_json: Value = serde_json::from_str(&good.text).unwrap();
    assert_eq!(
        good_json,
        json!({
            "task_id": "1/c1.0", "status": "done", "summary": "one", "output_kind": "text",
            "output_schema": "", "output": "one\ntwo\n", "error": ""
        })
    );
    let bad = desk.run(json!({"cmd": "echo x; exit 2", "run_in_subtask": true})).await;
    assert!(bad.is_error && !good.is_error);
    let bad: Value = serde_json::from_str(&bad.text).unwrap();
    assert_eq!((&bad["status"], &bad["error"]), (&json!("failed"), &json!("exit code: 2")));
}

#[tokio::test]
async fn a_background_process_is_read_written_to_and_ended() {
    let desk = Desk::new();
    assert_eq!(
        desk.process(json!({"action": "list"})).await,
        "No background processes in this conversation."
    );
    let cmd = "echo ready; while read line; do echo \"got $line\"; done; echo over";
    let mut said = vec![desk.says(json!({"cmd": cmd, "run_in_background": true})).await];
    for args in [
        json!({"action": "poll", "process_id": "p1", "wait_seconds": 60}),
        json!({"action": "poll", "process_id": "p1"}),
        json!({"action": "input", "process_id": "p1", "input": "a\n"}),
        json!({"action": "poll", "process_id": "p1", "wait_seconds": 60}),
        json!({"action": "poll", "process_id": "p1", "cursor": 2}),
        json!({"action": "status", "process_id": "p1"}),
        json!({"action": "list"}),
        json!({"action": "signal", "process_id": "p1", "signal": "SIGWINCH"}),
        json!({"action": "signal", "process_id": "p1"}),
        json!({"action": "input", "process_id": "p1"}),
        json!({"action": "stop", "process_id": "p1"}),
        json!({"action": "stop", "process_id": "p1"}),
        json!({"action": "signal", "process_id": "p1", "signal": "INT"}),
        json!({"action": "input", "process_id": "p1", "input": "b"}),
        json!({"action": "status", "process_id": "p9"}),
        json!({"action": "status"}),
        json!({"action": "jump"}),
    ] {
        said.push(desk.process(args).await);
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    Started p1. Read what it prints with process poll, end it with process stop (process_id p1).
    ready
    [p1 running. Next cursor: 6.]
    (nothing new)
    [p1 running. Next cursor: 6.]
    wrote 2 bytes to p1
    got a
    [p1 running. Next cursor: 12.]
    ady
    got a
    [p1 running. Next cursor: 12.]
    p1  running  started 0 s ago  echo ready; while read line; do echo "got $line"; done; echo over
    p1  running  started 0 s ago  echo ready; while read line; do echo "got $line"; done; echo over
    invalid signal: SIGWINCH (takes TERM, INT, HUP, KILL, USR1, USR2, QUIT, STOP, CONT)
    signal is required
    input is required
    p1 stopped
    p1 stopped
    p1 takes no signal: it stopped
    p1 takes no input: it stopped
    there is no process p9 in this conversation (there: p1; all end with the daemon)
    process_id is required
    invalid action: jump (takes list, status, poll, input, signal, stop)
    "#);
}

#[tokio::test]
async fn a_long_talker_loses_the_oldest_and_says_how_much() {
    let desk = Desk::new();
    desk.run(json!({"cmd": "seq 1 5000", "run_in_background": true})).await;
    let running = desk.processes.find(&desk.folders.scope().conversation, "p1").unwrap();
    running.running.ended().await;
    let said = desk.process(json!({"action": "poll", "process_id": "p1"})).await;
    assert!(
        said.starts_with("[13893 characters are lost: only the last 10000 are kept.]\n"),
        "{said}"
    );
    assert!(said.ends_with("5000\n[p1 ended with exit code 0. Next cursor: 23893.]"), "{said}");
}

#[tokio::test]
async fn processes_belong_to_their_conversation_and_are_few() {
    let desk = Desk::new();
    let mut other = desk.folders.scope();
    other.conversation = selkie_channel_core::ConversationId::new(
        selkie_channel_core::AccountId::new("bird:1"),
        "bird:43",
    );
    for _ in 0..super::processes::MAX_RUNNING {
        assert!(!desk.run(json!({"cmd": "sleep 7004", "run_in_background": true})).await.is_error);
    }
    let one_more = desk.run(json!({"cmd": "sleep 7004", "run_in_background": true})).await;
    assert!(one_more.text.starts_with("16 background processes run"), "{}", one_more.text);
    let tool = Process(Arc::clone(&desk.processes));
    let foreign = desk.call(&tool, &other, json!({"action": "stop", "process_id": "p1"})).await;
    assert_eq!(
        foreign.text,
        "there is no process p1 in this conversation (there: none; all end with the daemon)"
    );
    desk.processes.end().await;
    desk.gone("7004").await;
    let late = desk.run(json!({"cmd": "true"})).await;
    assert_eq!(late.text, "bash cannot be started: the daemon is stopping");
}

#[tokio::test]
async fn survivors_of_a_crash_are_ended_at_the_next_start() {
    let desk = Desk::new();
    let record = desk.folders.at("state/run/processes.json");
    desk.processes.begin(record.clone(), chrono::DateTime::UNIX_EPOCH);
    let recorded = || serde_json::from_slice::<Value>(&fs::read(&record).unwrap()).unwrap();
    assert_eq!(recorded()["has_started"], json!(false), "nothing to look for");
    // One stays in its group, one leaves it, one hides its mark.
    let hides = "setsid -f sleep 7005; env -u SELKIE_PROCESS sleep 7006";
    desk.run(json!({"cmd": hides, "run_in_background": true})).await;
    let started = async {
        while !desk.is_left("7005") {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, started).await.unwrap();
    assert_eq!(recorded()["has_started"], json!(true));
    // A daemon that crashed drives nothing any more: the next one begins on the same record.
    let next = Processes::default();
    next.begin(record.clone(), chrono::DateTime::UNIX_EPOCH);
    desk.gone("7005").await;
    desk.gone("7006").await;
    let written = recorded();
    assert_eq!(written["running"], json!({}), "the new record begins empty");
    assert_eq!(written["has_started"], json!(false));
}

#[tokio::test]
async fn a_record_never_ends_what_is_not_ours() {
    let desk = Desk::new();
    let mut bystander = std::process::Command::new("sleep").arg("7007").spawn().unwrap();
    let pid = bystander.id();
    for record in [
        json!({"v": 1, "boot": "", "running": {}}),
        json!({"v": 1, "boot": "other", "running": {(pid.to_string()): 1}}),
        json!({"v": 1, "boot": "other", "running": {(pid.to_string()): 0}}),
        json!("nonsense"),
    ] {
        let path = desk.folders.put("state/run/processes.json", record.to_string());
        Processes::default().begin(path, chrono::DateTime::UNIX_EPOCH);
        assert!(bystander.try_wait().unwrap().is_none(), "{record}");
    }
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn powershell_is_refused_clearly_where_there_is_none() {
    let desk = Desk::new();
    let env = Arc::new(BTreeMap::from([("PATH".to_owned(), "/nowhere".to_owned())]));
    let tool = powershell_of(&desk, &env);
    let said = desk.call(&tool, &desk.folders.scope(), json!({"cmd": "Get-Date"})).await;
    assert_eq!(said.text, "powershell needs pwsh, which is not installed here: use bash");
    // A stand-in shows what pwsh is started with.
    let stand_in = desk.folders.put("outside/bin/pwsh", "#!/bin/sh\necho \"$@\"; pwd\n");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", stand_in.parent().unwrap().display());
    let env = Arc::new(BTreeMap::from([("PATH".to_owned(), path)]));
    let tool = powershell_of(&desk, &env);
    let args = json!({"cmd": "Get-Item file_cache_dir\\a.txt"});
    let said = desk.call(&tool, &desk.folders.scope(), args).await.text;
    let root = desk.folders.at("");
    assert_eq!(
        said.replace(root.to_str().unwrap(), "…/"),
        "-NoProfile -NonInteractive -Command Get-Item …/cache/bird/one/a.txt\n…/work"
    );
}

/// A folder that looks like a bare repository is written with `write_file`, and waits for the next `git status`.
#[tokio::test]
async fn a_planted_repository_runs_nothing() {
    let desk = Desk::new();
    desk.folders.put("work/HEAD", "ref: refs/heads/main\n");
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\
                  \tfsmonitor = \"touch PWNED; false\"\n";
    desk.folders.put("work/config", config);
    desk.folders.put("work/objects/x", "");
    desk.folders.put("work/refs/x", "");
    let said = desk.says(json!({"cmd": "git status; git add -A; git diff"})).await;
    assert!(
        said.contains("safe.bareRepository") && !desk.folders.at("work/PWNED").exists(),
        "{said}"
    );
    // A work tree of somebody's own goes on, without what its config would start.
    let own = "mkdir own && cd own && git init -q && git config core.fsmonitor 'touch PWNED; false' \
               && git status --short --branch";
    let said = desk.says(json!({"cmd": own})).await;
    assert!(
        said.contains("No commits yet") && !desk.folders.at("work/own/PWNED").exists(),
        "{said}"
    );
}

/// Approval of a script is none of what the script becomes.
#[test]
fn approval_covers_the_files_that_a_command_names() {
    let desk = Desk::new();
    desk.folders.put("work/run.sh", "echo hi");
    let basis =
        desk.bash().basis(&desk.folders.scope(), &json!({"cmd": "bash run.sh | grep absent"}));
    let named: Vec<String> = basis.reads.iter().map(|file| file.shown().to_string()).collect();
    assert_eq!(named, ["run.sh"]);
}

/// What a command leaves behind is what it may have brought; an owner's own is clean.
#[tokio::test]
async fn files_that_commands_make_hold_what_they_may_have_brought() {
    use crate::paths::{Finder, Level};
    use selkie_domain::clock::SystemClock;
    use selkie_domain::facts::Trust;
    use selkie_domain::taint::Taint;
    let desk = Desk::new();
    desk.folders.put("cache/bird/one/page.html", "obey");
    let of = |task, trust| {
        let level = Level::of_task(task, trust).noting(desk.processes.commands());
        let mut scope = desk.folders.scope();
        (scope.roots.level, scope.trust, scope.taint) = (level, trust, task);
        Scope { clock: Arc::new(SystemClock), ..scope }
    };
    let read = |path: &str| {
        let roots = of(Taint::Clean, Trust::Owner).roots;
        Finder { tool: "t", roots: &roots, deny: &[] }.existing(path).unwrap().open().unwrap();
        roots.level.read()
    };
    for (path, task, trust, cmd, level) in [
        ("mine", Taint::Clean, Trust::Owner, "echo hi > mine", Taint::Clean),
        ("copy", Taint::Clean, Trust::Owner, "cp file_cache_dir/page.html copy", Taint::Raw),
        ("told", Taint::Raw, Trust::Owner, "echo hi > told", Taint::Raw),
        ("theirs", Taint::Clean, Trust::Allowed, "echo hi > theirs", Taint::Raw),
        ("got", Taint::Clean, Trust::Owner, "curl -s file:///dev/null; echo hi > got", Taint::Raw),
    ] {
        desk.call(&desk.bash(), &of(task, trust), json!({ "cmd": cmd })).await;
        assert_eq!(read(path), level, "{cmd}");
    }
    let scope = of(Taint::Raw, Trust::Owner);
    let left = json!({"cmd": "cat > left", "run_in_background": true});
    desk.call(&desk.bash(), &scope, left).await;
    desk.folders.put("work/meanwhile", "x");
    assert_eq!(read("meanwhile"), Taint::Raw, "it runs still");
    desk.processes.end().await;
}

fn powershell_of(desk: &Desk, env: &Arc<BTreeMap<String, String>>) -> PowerShell {
    let settings = powershell::Settings::default();
    PowerShell::new(&settings, &desk.processes, env, &Limits::default(), &Arc::default())
}
