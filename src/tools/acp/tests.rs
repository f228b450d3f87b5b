//! Agents as shell scripts, from the task that a model gives to what it reads of them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::locked;
use serde_json::json;
use tokio::time::timeout;

use super::acp_spawn::AcpSpawn;
use super::settings::{AgentProgram, Settings};
use crate::dispatch::dispatch;
use crate::ports::{Asker, Permission, Permissions};
use crate::registry::{Base, Overlay, Registry, ToolEntry};
use crate::scope::Scope;
use crate::shell::{Processes, SpokenPrograms};
use crate::testkit::Folders;
use selkie_channel_core::Redactor;
use selkie_domain::approval::{Approvers, Request};
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Answer, Call};

/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(120);
/// What every script begins with: the prompt's line is in `$line` behind it.
const BEGIN: &str = r#"
tell() { printf '%s\n' "$1"; }
update() { tell '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'"$1"'}}'; }
say() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}'; }
ask() {
    tell '{"jsonrpc":"2.0","id":'"$1"',"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t'"$1"'","title":"rm -r build","kind":"'"$2"'","rawInput":{"cmd":"rm -r build"}},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
    read -r line
    case "$line" in *'"yes"'*) may=yes;; *'"no"'*) may=no;; *) may=cancelled;; esac
}
end() { tell '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"'"${1:-end_turn}"'"}}'; }
read -r line; tell '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
read -r line; tell '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'
read -r line
"#;

/// Answers every request so, and remembers what it was asked.
struct Answering {
    permission: Permission,
    asked: Mutex<Vec<Request>>,
    open: AtomicUsize,
}

#[async_trait]
impl Asker for Answering {
    async fn ask(&self, request: Request) -> Permission {
        assert_eq!(self.open.fetch_add(1, Ordering::SeqCst), 0, "one is asked at a time");
        locked(&self.asked).push(request);
        tokio::task::yield_now().await;
        self.open.fetch_sub(1, Ordering::SeqCst);
        self.permission.clone()
    }
}

struct Desk {
    folders: Folders,
    settings: Settings,
    processes: Arc<Processes>,
    asker: Arc<Answering>,
}

impl Desk {
    fn new(script: &str) -> Self {
        let folders = Folders::new();
        folders.put("agent.sh", format!("{BEGIN}{script}"));
        let agent = AgentProgram {
            command: "sh".to_owned(),
            args: vec![folders.at("agent.sh").to_string_lossy().into_owned()],
            allow: vec!["read".to_owned()],
            env: [("KEY".to_owned(), "k-1".into())].into(),
            ..AgentProgram::default()
        };
        let agents = [("robin".to_owned(), agent)].into();
        let asker = Answering {
            permission: Permission::Granted,
            asked: Mutex::default(),
            open: AtomicUsize::new(0),
        };
        let settings = Settings { agents, ..Settings::default() };
        Self { folders, settings, processes: Arc::default(), asker: Arc::new(asker) }
    }

    fn answering(self, permission: Permission) -> Self {
        let asker = Answering { permission, asked: Mutex::default(), open: AtomicUsize::new(0) };
        Self { asker: Arc::new(asker), ..self }
    }

    fn within(mut self, limit: Span) -> Self {
        self.settings.timeout = limit;
        self
    }

    fn scope(&self) -> Scope {
        let permissions = Permissions {
            asker: Arc::clone(&self.asker) as _,
            of: Approvers::Owners,
            halts: Arc::default(),
        };
        Scope { permissions, ..self.folders.scope() }
    }

    fn registry(&self) -> Registry {
        let env = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into();
        let processes = Arc::clone(&self.processes);
        let spoken = SpokenPrograms { processes, env: Arc::new(env), sandbox: Arc::default() };
        let tool = ToolEntry::new(true, AcpSpawn::new(&Arc::new(self.settings.clone()), &spoken));
        let base = Arc::new(Base::build([tool]).unwrap());
        Registry::view(base, Vec::new(), Overlay::default())
    }

    async fn call(&self) -> Answer {
        let call = Call {
            id: "c1.0".to_owned(),
            name: "acp_spawn".to_owned(),
            arguments: json!({ "agent": "robin", "task": "hello" }),
        };
        let (registry, scope, redactor) = (self.registry(), self.scope(), Redactor::default());
        let done = dispatch(&registry, &call, &scope, &redactor);
        timeout(TIMEOUT, done).await.expect("it ends").unwrap().answer
    }

    fn asked(&self) -> Vec<Request> {
        locked(&self.asker.asked).clone()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folders.at(name)).unwrap_or_default()
    }
}

/// Whether a process runs.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn what_an_agent_says_is_the_answer_and_others_words() {
    let desk = Desk::new(
        r#"text=${line#*'"text":"'}; say "you said ${text%%'"'*}, I have $KEY in $(pwd | sed 's/.*\///')"; end"#,
    );
    let answer = desk.call().await;
    assert_eq!(answer.text, "you said hello, I have k-1 in work");
    assert!(!answer.is_error);
    assert_eq!(answer.taint, Taint::Raw);
}

#[tokio::test]
async fn what_it_may_it_does_and_the_rest_somebody_is_asked() {
    let desk =
        Desk::new(r#"ask 0 read; say "read: $may, "; ask 1 execute; say "execute: $may"; end"#);
    assert_eq!(desk.call().await.text, "read: yes, execute: yes");
    let asked = desk.asked();
    assert_eq!(asked.len(), 1);
    let Request { preview, reasons, of, .. } = &asked[0];
    assert_eq!(*of, Approvers::Owners, "whom the call itself would ask");
    insta::assert_snapshot!(format!("{preview}\n{}", reasons.join("\n")), @r#"
    let the agent robin run a command:
    rm -r build
    called with: {
      "cmd": "rm -r build"
    }
    asks first: acp.agents.robin.allow does not name execute
    "#);
}

#[tokio::test]
async fn a_no_is_a_no_for_this_step_alone() {
    let desk = Desk::new(r#"ask 0 execute; say "$may"; ask 1 edit; say " $may"; end"#);
    let desk = desk.answering(Permission::Denied("Ada denied it".to_owned()));
    let answer = desk.call().await;
    assert_eq!(
        answer.text,
        "no no\n(2 of its requests for permission were rejected: Ada denied it)"
    );
    assert_eq!(desk.asked().len(), 2);
}

#[tokio::test]
async fn where_nobody_can_be_asked_nobody_is_asked_twice() {
    let desk = Desk::new(r#"ask 0 execute; say "$may"; ask 1 edit; say " $may"; end"#);
    let desk = desk.answering(Permission::Nobody("nobody is there".to_owned()));
    let answer = desk.call().await;
    assert!(answer.text.starts_with("no no\n(2 of its requests"), "{}", answer.text);
    assert_eq!(desk.asked().len(), 1);
}

#[tokio::test]
async fn of_a_hundred_requests_few_reach_anybody() {
    let desk = Desk::new(
        r#"n=0; while [ $n -lt 100 ]; do ask $n execute; n=$((n + 1)); [ $may = yes ] && all=${all}y; done; say "$all"; end"#,
    );
    let answer = desk.call().await;
    assert!(
        answer.text.starts_with(&("y".repeat(20) + "\n(80 of its requests")),
        "{}",
        answer.text
    );
    assert_eq!(desk.asked().len(), 20);
}

#[tokio::test]
async fn one_that_never_answers_is_called_off_in_order() {
    let desk = Desk::new(
        r#"say begun; read -r line; case "$line" in *session/cancel*) say ', called off';; esac; end cancelled; read -r line"#,
    );
    let answer = desk.within(Span::seconds(1)).call().await;
    assert!(answer.is_error);
    assert_eq!(
        answer.text,
        "begun, called off\n(the agent robin was ended: not done within 1 second)"
    );
}

#[tokio::test]
async fn one_that_ignores_it_is_ended_with_all_that_it_started() {
    let desk = Desk::new(
        r#"sleep 1000 & echo $! > ../child; echo $$ > ../own; trap '' TERM; while :; do sleep 1; done"#,
    );
    let desk = desk.within(Span::seconds(1));
    let answer = desk.call().await;
    assert!(
        answer.text.contains("(it has said nothing)\n(the agent robin was ended"),
        "{}",
        answer.text
    );
    for name in ["child", "own"] {
        let pid = desk.read(name);
        assert!(!pid.is_empty() && !runs(&pid), "{name} {pid}");
    }
}

#[tokio::test]
async fn one_whose_call_is_dropped_is_called_off_and_ended() {
    let desk = Desk::new(
        r#"echo $$ > ../own; read -r line; case "$line" in *session/cancel*) echo yes > ../off;; esac; end cancelled; read -r line"#,
    );
    let scope = desk.scope();
    let registry = desk.registry();
    let call = Call {
        id: "c1.0".to_owned(),
        name: "acp_spawn".to_owned(),
        arguments: json!({ "agent": "robin", "task": "hello" }),
    };
    let redactor = Redactor::default();
    let stopped = async {
        while desk.read("own").is_empty() {
            tokio::task::yield_now().await;
        }
        scope.cancel.cancel();
    };
    let called = timeout(TIMEOUT, async {
        tokio::join!(dispatch(&registry, &call, &scope, &redactor), stopped).0
    });
    assert!(called.await.unwrap().is_err());
    timeout(TIMEOUT, async {
        while desk.read("off").is_empty() || runs(&desk.read("own")) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it is called off, and ends");
}

#[tokio::test]
async fn one_that_dies_says_its_code_and_its_last_words() {
    let desk = Desk::new("say half; echo 'no key for the model' >&2; exit 3");
    let answer = desk.call().await;
    assert!(answer.is_error);
    assert_eq!(
        answer.text,
        "half\n(the agent robin ended with exit code 3 in the middle of its work)\n(its standard error ends with: no key for the model)"
    );
}

#[tokio::test]
async fn floods_are_bounded() {
    let desk = Desk::new(
        r#"yes complaint | head -c 3000000 >&2; a=$(head -c 10000 /dev/zero | tr '\0' a); say begin; n=0
        while [ $n -lt 1000 ]; do say "$a"; n=$((n + 1)); done; say ' the end'; end"#,
    );
    let answer = desk.call().await;
    assert!(answer.text.len() <= 50 * 1024, "{}", answer.text.len());
    assert!(answer.text.starts_with("begina") && answer.text.ends_with("a the end"));
    assert!(answer.text.contains("bytes are left out here"));
}

#[tokio::test]
async fn what_is_no_message_ends_it() {
    for (script, why) in [
        (
            "head -c 1100000 /dev/zero | tr '\\0' a; read -r line",
            "wrote a line of more than 1048576 bytes",
        ),
        (
            "echo 'npm notice'; read -r line",
            "wrote a line that is no message of the protocol: npm notice",
        ),
        ("end refusal; read -r line", "stopped before the end: refusal"),
    ] {
        let answer = Desk::new(script).call().await;
        assert!(answer.is_error && answer.text.contains(why), "{}", answer.text);
    }
}

#[tokio::test]
async fn one_that_is_not_there_is_no_agent() {
    let mut desk = Desk::new("");
    desk.settings.agents.get_mut("robin").unwrap().command = "no-such-program".to_owned();
    assert_eq!(desk.call().await.text, "no-such-program cannot be started: it is not found");
    desk.settings.agents.get_mut("robin").unwrap().sandbox = Some(selkie_sandbox::Mode::Required);
    let answer = desk.call().await.text;
    assert!(answer.contains("is only started in the sandbox"), "{answer}");
}
