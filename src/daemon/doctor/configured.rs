//! The look at the config: every mistake, and what is right and still may not be meant.

use std::path::Path;

use crate::config::problem::Problem;
use crate::daemon::Binary;
use crate::daemon::build::{AppConfig, Chosen, plan, plan_to_run};
use crate::daemon::notes::notes;

use super::finding::Finding;

const WHAT: &str = "config";

/// A config, looked at.
pub struct Configured {
    /// What it comes to; `None` when it cannot be read.
    pub plan: Option<AppConfig>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// Reads and checks it, as `selkie config check` does.
pub fn look(binary: &Binary, chosen: &Chosen) -> Configured {
    let (plan, mut findings) = match plan_to_run(binary, chosen) {
        Ok(plan) => (Some(plan), Vec::new()),
        // What is wrong with a folder alone leaves the rest to be looked at.
        Err(problems) => {
            let mistake = |problem| mistake(problem, chosen);
            (plan(binary, chosen).ok(), problems.0.iter().map(mistake).collect())
        }
    };
    if plan.is_none() {
        findings.push(Finding::warning(
            WHAT,
            "channels, models, store and disk were not checked: that needs a config without mistakes",
            "correct the mistakes, then run selkie doctor again",
        ));
    }
    if let Some(plan) = plan.as_ref().filter(|_| findings.is_empty()) {
        findings = sound(plan, chosen);
    }
    Configured { plan, findings }
}

fn mistake(problem: &Problem, chosen: &Chosen) -> Finding {
    let file = chosen.file.path().map(|file| format!(" --config {}", file.display()));
    let state = chosen.state.as_ref().map(|state| format!(" --state {}", state.display()));
    let [file, state] = [file, state].map(Option::unwrap_or_default);
    let advice = format!("correct it; selkie{file}{state} config check reads it again");
    Finding::error(WHAT, problem.to_string(), advice)
}

fn sound(plan: &AppConfig, chosen: &Chosen) -> Vec<Finding> {
    let file = chosen.file.path();
    if is_empty(plan, file) {
        return vec![Finding::warning(
            WHAT,
            "nothing is configured: there is no config.yaml here and no /etc/selkie/config.yaml",
            "try selkie demo, which needs nothing; then begin with selkie config example > config.yaml",
        )];
    }
    let read = file.map_or_else(|| "the environment".to_owned(), |file| file.display().to_string());
    let mut findings = vec![Finding::fine(WHAT, format!("{read} has no mistakes"))];
    let notes = match plan.needs_something_to_do() {
        Some(_) => {
            findings.push(Finding::error(
                WHAT,
                "no channel is configured: selkie run has nothing to do and ends",
                "write a section with its token (see selkie config example), or try selkie demo",
            ));
            plan.notes.clone()
        }
        None => notes(plan),
    };
    // A note says itself what to do.
    findings.extend(notes.into_iter().map(|note| Finding::warning(WHAT, note, "")));
    findings
}

/// Whether nobody has set up anything: no file, no channel, no model by the environment.
fn is_empty(plan: &AppConfig, file: Option<&Path>) -> bool {
    file.is_none() && plan.channels.is_empty() && !plan.settings.llm.is_configured()
}
