//! `process`: looks after what `bash` left running: lists it, reads it, writes to it, signals and ends it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rustix::process::Signal;
use schemars::JsonSchema;
use selkie_channel_core::locked;
use selkie_sandbox::State;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::launch::noted_in;
use super::processes::{Background, ProcessLine, Processes};
use super::supervise::GRACE;
use super::tape::{RING, Since, Tape};
use crate::args::typed;
use crate::basis::{Basis, NameMeaning};
use crate::paths::{Roots, of_command};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::count::counted;
use selkie_domain::tool::{
    Also, Class, ImpliedValue, OtherName, OtherParameter, Recovery, ToolSpec,
};

/// The longest wait of one poll.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How long a process may leave what is written to it unread.
const WRITE: Duration = Duration::from_secs(5);

/// Other harnesses' words for it.
const ALSO: Also = Also {
    names: &[
        OtherName::meaning("read_process_output", "action", ImpliedValue::Word("poll")),
        OtherName::meaning("stop_process", "action", ImpliedValue::Word("stop")),
    ],
    parameters: &[OtherParameter::new("timeout", "wait_seconds")],
    absent: &[],
};

/// The tool.
pub(crate) struct Process(pub(crate) Arc<Processes>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    action: Action,
    /// Not for `list`.
    process_id: Option<String>,
    /// End a line with a line feed.
    input: Option<String>,
    /// TERM, INT, HUP, KILL, USR1, USR2, QUIT, STOP or CONT.
    signal: Option<String>,
    /// For `poll`. Default: 0.
    #[schemars(range(min = 0, max = 600))]
    wait_seconds: Option<f64>,
    /// For `poll`. Default: the last poll's end.
    #[schemars(range(min = 0))]
    cursor: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Status,
    Poll,
    Input,
    Signal,
    Stop,
}

impl Process {
    fn list(&self, scope: &Scope) -> Output {
        let all = self.0.list(&scope.conversation, scope.clock.now());
        if all.is_empty() {
            return Output::ok("No background processes in this conversation.");
        }
        Output::ok(all.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

#[async_trait]
impl Handler for Process {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: format!(
                "Look after processes that bash started with run_in_background in this conversation; poll reads what \
                 they print (the last {RING} characters are kept)."
            ),
            group: "shell",
            sources: &["S2", "S4"],
            doing: "checking on a running command",
            also: ALSO,
            max_output: RING * 4 + 1024,
            longest: Some(MAX_WAIT + GRACE * 3),
            ..spec::<Args>("process", Class::Exec, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        if let Action::List = args.action {
            return Ok(self.list(scope));
        }
        let Some(name) = args.process_id.as_deref().filter(|name| !name.trim().is_empty()) else {
            return Err(ToolError::tell("process_id is required"));
        };
        let process = self.0.find(&scope.conversation, name).map_err(ToolError::Tell)?;
        match args.action {
            Action::Status | Action::List => {
                Ok(Output::ok(line(&process.listed(scope.clock.now()))))
            }
            Action::Poll => {
                let wait = Duration::from_secs_f64(args.wait_seconds.unwrap_or(0.0));
                let said = poll(&process, args.cursor, wait.min(MAX_WAIT)).await;
                let roots = &scope.roots;
                let home = roots.workspace.as_ref().unwrap_or(&roots.own);
                // What it prints may be others' words, as far as its command tells.
                let untrusted = of_command(&process.command, home, roots).is_any();
                Ok(Output { untrusted, ..said })
            }
            Action::Input => input(&process, scope, args.input.as_deref()).await,
            Action::Signal => signal(&process, args.signal.as_deref()),
            Action::Stop => Ok(stop(&process).await),
        }
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = text("process_id");
        match text("action") {
            "input" => {
                let shows = &["action", "process_id", "input"];
                Some(Preview::of(format!("write to {name}"), shows).with(text("input")))
            }
            "signal" => {
                let shows = &["action", "process_id", "signal"];
                Some(Preview::of(format!("send {} to {name}", text("signal")), shows))
            }
            "stop" => Some(Preview::of(format!("end {name}"), &["action", "process_id"])),
            _ => None,
        }
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let name = args.get("process_id").and_then(Value::as_str).unwrap_or_default();
        match self.0.find(&scope.conversation, name) {
            Ok(process) => Basis {
                names: Some(NameMeaning {
                    name: process.name.clone(),
                    is: process.command.clone(),
                    identity: self.0.identity(&process),
                }),
                ..Basis::default()
            },
            Err(_) => Basis::default(),
        }
    }
}

/// One process in a line.
fn line(process: &ProcessLine) -> String {
    let ProcessLine { name, state, age, command } = process;
    format!("{name}  {state}  started {} s ago  {}", age.as_secs(), command.replace('\n', " ⏎ "))
}

async fn poll(process: &Background, cursor: Option<u64>, wait: Duration) -> Output {
    let from = cursor.unwrap_or_else(|| *locked(&process.polled));
    let mut news = process.running.news();
    let new = news.wait_for(|(state, end)| *state != State::Running || *end > from);
    // Nothing new in time is an answer, too.
    timeout(wait, new).await.ok();
    let state = process.running.state();
    let Since { text, next, lost } = process.running.tape(|tape: &Tape| tape.since(from));
    *locked(&process.polled) = next;
    let mut said = String::new();
    if lost > 0 {
        said.push_str(&format!("[{lost} characters are lost: only the last {RING} are kept.]\n"));
    }
    said.push_str(if text.is_empty() { "(nothing new)" } else { text.trim_end_matches('\n') });
    let name = &process.name;
    said.push_str(&format!("\n[{name} {state}. Next cursor: {next}.]"));
    Output::ok(said)
}

async fn input(
    process: &Background,
    scope: &Scope,
    text: Option<&str>,
) -> Result<Output, ToolError> {
    let name = &process.name;
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Err(ToolError::tell("input is required"));
    };
    let gone = || ToolError::tell(format!("{name} takes no input: it {}", process.running.state()));
    let mut stdin = process.running.stdin.lock().await;
    let pipe = stdin.as_mut().filter(|_| process.is_running()).ok_or_else(gone)?;
    // What it is told to do it may do until it ends.
    let home = scope.roots.workspace.as_ref().unwrap_or(&scope.roots.own);
    let note = noted_in(scope, text, home, &process.running.writes)?;
    locked(&process.running.notes).extend(note);
    let written = async {
        pipe.write_all(text.as_bytes()).await?;
        pipe.flush().await
    };
    match timeout(WRITE, written).await {
        Ok(Ok(())) => Ok(Output::ok(format!(
            "wrote {} to {name}",
            counted(text.len() as u64, ["byte", "bytes"])
        ))),
        Ok(Err(error)) => Err(ToolError::tell(format!("{name} takes no input: {error}"))),
        Err(_) => Err(ToolError::tell(format!(
            "{name} does not read: some of the input may have reached it"
        ))),
    }
}

fn signal(process: &Background, written: Option<&str>) -> Result<Output, ToolError> {
    let Some(written) = written.map(str::trim).filter(|text| !text.is_empty()) else {
        return Err(ToolError::tell("signal is required"));
    };
    let upper = written.to_ascii_uppercase();
    let known = upper.strip_prefix("SIG").unwrap_or(&upper);
    let Some((name, signal)) = SIGNALS.into_iter().find(|(name, _)| *name == known) else {
        let all: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        return Err(ToolError::tell(format!(
            "invalid signal: {written} (takes {})",
            all.join(", ")
        )));
    };
    if !process.is_running() || !process.running.signal(signal) {
        let state = process.running.state();
        return Err(ToolError::tell(format!("{} takes no signal: it {state}", process.name)));
    }
    Ok(Output::ok(format!("sent SIG{name} to {}", process.name)))
}

async fn stop(process: &Background) -> Output {
    if process.is_running() {
        process.running.end.cancel();
    }
    let state = process.running.ended().await;
    Output::ok(format!("{} {state}", process.name))
}

const SIGNALS: [(&str, Signal); 9] = [
    ("TERM", Signal::TERM),
    ("INT", Signal::INT),
    ("HUP", Signal::HUP),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("QUIT", Signal::QUIT),
    ("STOP", Signal::STOP),
    ("CONT", Signal::CONT),
];
