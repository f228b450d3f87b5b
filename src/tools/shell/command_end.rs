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
    without_network: bool,
}

impl HeldFor {
    pub(super) fn of(program: &Program) -> Self {
        let without_network = program.plan.boundary.as_ref().is_some_and(|b| !b.network);
        Self { limit: program.limit, without_network }
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
            State::Exited(code) if self.held.without_network => {
                Some(format!("exit code: {code}; the sandbox has no network here"))
            }
            State::Exited(code) => Some(format!("exit code: {code}")),
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
}
