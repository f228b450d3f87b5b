//! How a command ended, as its model is told.

use std::sync::Arc;
use std::time::Duration;

use super::envelope::envelope;
use super::live::tell;
use super::supervise::{Program, SupervisedProcess};
use super::tape::Tape;
use crate::Output;
use crate::ports::Progress;
use crate::scope::Scope;
use selkie_sandbox::State;

/// A command that has ended.
pub(super) struct CommandEnd {
    output: String,
    state: State,
    held: HeldFor,
}

/// What a command was started with that says why it ended so.
#[derive(Clone, Copy)]
pub(super) struct HeldFor {
    limit: Option<Duration>,
    sandbox: Option<HeldIn>,
}

/// The sandbox that a command ran in.
#[derive(Clone, Copy)]
enum HeldIn {
    WithNetwork,
    WithoutNetwork,
}

/// What programs print when they reach nobody.
const NO_NETWORK: [&str; 6] =
    ["connect", "network", "resolve", "socket", "timed out", "unreachable"];
/// What they print when they may not do something.
const CLOSED: [&str; 3] = ["command not found", "not permitted", "permission denied"];

impl HeldFor {
    pub(super) fn of(program: &Program) -> Self {
        let sandbox = program.plan.boundary.as_ref().map(|boundary| match boundary.network {
            true => HeldIn::WithNetwork,
            false => HeldIn::WithoutNetwork,
        });
        Self { limit: program.limit, sandbox }
    }
}

impl CommandEnd {
    /// Waits for the end and shows what is printed meanwhile. When the call is over before, the command
    /// is ended, too.
    pub(super) async fn of(
        running: &Arc<SupervisedProcess>,
        held: HeldFor,
        progress: &dyn Progress,
    ) -> Self {
        let _ends_with_the_call = running.end.clone().drop_guard();
        let state = tokio::select! {
            biased;
            state = running.ended() => state,
            never = tell(running, progress) => match never {},
        };
        Self { output: running.tape(Tape::shown), state, held }
    }

    /// The answer, in the words of the reference documents. What a program prints comes from outside.
    pub(super) fn told(self) -> Output {
        let mut text = self.output.trim_end_matches('\n').to_owned();
        let trouble = self.trouble();
        if let Some(trouble) = &trouble {
            let gap = if text.is_empty() { "" } else { "\n" };
            text = format!("{text}{gap}({trouble})");
        } else if text.is_empty() {
            "(no output)".clone_into(&mut text);
        }
        Output { text, is_error: trouble.is_some(), untrusted: true, ..Output::default() }
    }

    pub(super) fn enveloped(self, scope: &Scope) -> Output {
        let trouble = self.trouble().unwrap_or_default();
        let id = format!("{}/{}", scope.task.0, scope.call);
        let text = envelope(id, &self.output, &trouble);
        Output { text, is_error: !trouble.is_empty(), untrusted: true, ..Output::default() }
    }

    fn trouble(&self) -> Option<String> {
        match self.state {
            State::Exited(0) => None,
            State::Exited(code) => Some(format!("exit code: {code}{}", self.hint())),
            State::Killed(signal) => {
                Some(format!("ended by signal {signal}; exit code: {}", 128 + signal))
            }
            State::TimedOut => {
                let seconds = self.held.limit.unwrap_or_default().as_secs_f64();
                Some(format!("command timed out after {seconds}s"))
            }
            State::Stopped | State::Running => Some("the command was stopped".to_owned()),
        }
    }

    /// What of the sandbox may be the reason, by what the command printed.
    fn hint(&self) -> &'static str {
        let Some(sandbox) = self.held.sandbox else { return "" };
        let printed = self.output.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| printed.contains(word));
        match sandbox {
            HeldIn::WithoutNetwork if printed.trim().is_empty() || says(&NO_NETWORK) => {
                "; the sandbox has no network here"
            }
            _ if says(&CLOSED) => {
                "; commands run in a sandbox, which opens the workspace and the system's programs; sandbox.read and \
                 sandbox.write in the config open more"
            }
            _ => "",
        }
    }
}
