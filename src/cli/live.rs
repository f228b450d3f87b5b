//! Progress on standard error while somebody looks at it: a plan as a list, and one line written over.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use selkie_channel_core::{Redactor, locked, split};

use selkie_domain::plan::{Plan, StepStatus};
use selkie_tools::ports::Progress;

/// The longest live line, so that it stays one line of most terminals.
const LINE: usize = 76;

/// Shows progress; nothing when standard error is no terminal.
pub struct Live {
    redactor: Redactor,
    is_on: bool,
    /// A line stands that the next one writes over.
    is_open: Mutex<bool>,
}

impl Live {
    /// Hides what `redactor` knows.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, is_on: std::io::stderr().is_terminal(), is_open: Mutex::default() }
    }

    /// Writes lines that stay.
    pub fn stay(&self, lines: &str) {
        self.write(&format!("{lines}\n"), false);
    }

    /// Says what is waited for, unless a line stands that tells more.
    pub fn wait(&self, what: &str) {
        if self.is_on && !*locked(&self.is_open) {
            self.write(&live_line(what), true);
        }
    }

    /// Takes the live line away: something else is written next.
    pub fn clear(&self) {
        self.write("", false);
    }

    fn write(&self, text: &str, opens: bool) {
        let mut is_open = locked(&self.is_open);
        let over = if std::mem::replace(&mut *is_open, opens) { "\r\u{1b}[2K" } else { "" };
        // Progress is a courtesy: a closed standard error stops nothing.
        write!(std::io::stderr(), "{over}{text}").ok();
    }
}

impl Progress for Live {
    fn plan(&self, plan: &Plan) {
        if self.is_on {
            self.stay(&self.redactor.clean(&list(plan)));
        }
    }

    fn doing(&self, line: &str) {
        if self.is_on {
            self.write(&live_line(&self.redactor.clean(line)), true);
        }
    }
}

/// The last line of an output, short and without control characters.
fn live_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let plain: String = last.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let cut = split::fitting(&plain, LINE);
    format!("… {}", plain[..cut].trim())
}

fn list(plan: &Plan) -> String {
    let mark = |status| match status {
        StepStatus::Completed => "☑",
        StepStatus::InProgress => "⏳",
        StepStatus::Pending => "◻",
    };
    let steps = plan.steps.iter().map(|step| format!("{} {}", mark(step.status), step.step.trim()));
    let summary = (!plan.summary.trim().is_empty()).then(|| plan.summary.trim().to_owned());
    summary.into_iter().chain(steps).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::plan::PlanStep;

    #[test]
    fn a_live_line_is_one_short_line() {
        assert_eq!(live_line("one\ntwo\u{1b}[31m three\n\n"), "… two [31m three");
        assert!(live_line(&"x".repeat(500)).chars().count() <= LINE + 2);
    }

    #[test]
    fn a_plan_is_a_list() {
        let step = |step: &str, status| PlanStep { step: step.to_owned(), status };
        let steps = vec![
            step("look", StepStatus::Completed),
            step("dig", StepStatus::InProgress),
            step("tell", StepStatus::Pending),
        ];
        let plan = Plan { summary: "Find it".to_owned(), steps };
        assert_eq!(list(&plan), "Find it\n☑ look\n⏳ dig\n◻ tell");
    }
}
