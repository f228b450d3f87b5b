//! The look at the config: every mistake, and what is right and still may not be meant.

use selkie_app::Binary;
use selkie_app::asking::plan_to_ask;
use selkie_app::build::{AppConfig, ConfigChoice, plan_to_run};
use selkie_app::notes::notes;
use selkie_app::running_config::{self, ConfigTarget};
use selkie_config::paths::{ConfigFile, looked_for};
use selkie_config::problem::Problem;

use super::finding::Finding;

const WHAT: &str = "config";

/// A config, looked at.
pub struct CheckedConfig {
    /// What of it is sound; `None` when nothing is.
    pub plan: Option<AppConfig>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Whether it is the one that is meant.
    pub is_known: bool,
}

/// Looks at the config that is meant.
pub async fn meant(binary: &Binary, chosen: &ConfigChoice) -> CheckedConfig {
    match running_config::meant(binary, chosen).await {
        ConfigTarget::Chosen => look(binary, chosen),
        ConfigTarget::Daemons { chosen, message } => {
            let mut configured = look(binary, &chosen);
            configured.findings.push(Finding::fine(WHAT, message));
            configured
        }
        ConfigTarget::Unknown(message) => {
            let plan = plan_to_ask(binary, chosen).ok();
            let findings = vec![Finding::error(WHAT, message, running_config::NAME_IT)];
            CheckedConfig { plan, findings, is_known: false }
        }
    }
}

/// Reads and checks it, as `selkie config check` does.
fn look(binary: &Binary, chosen: &ConfigChoice) -> CheckedConfig {
    let (plan, mut findings) = match plan_to_run(binary, chosen) {
        Ok(plan) => (Some(plan), Vec::new()),
        // What is wrong with one thing leaves the rest to be looked at.
        Err(problems) => {
            let mistake = |problem| mistake(problem, chosen);
            let plan = plan_to_ask(binary, chosen).ok().map(without_the_mistaken);
            (plan, problems.0.iter().map(mistake).collect())
        }
    };
    findings.extend(left_out(binary, plan.as_ref()));
    if let Some(plan) = plan.as_ref().filter(|_| findings.is_empty()) {
        findings = sound(plan, chosen, binary);
    }
    CheckedConfig { plan, findings, is_known: true }
}

/// Leaves channels with mistakes alone: what is left of a section may name another server, which is not to be told a token.
fn without_the_mistaken(mut plan: AppConfig) -> AppConfig {
    if let Some(mistakes) = &plan.mistakes {
        plan.channels.retain(|channel| !mistakes.concern(channel.name));
    }
    plan
}

/// Names what is not looked at because of mistakes.
fn left_out(binary: &Binary, plan: Option<&AppConfig>) -> Option<Finding> {
    let left = match plan.map(|plan| plan.mistakes.as_ref()) {
        Some(None) => return None,
        None => "everything that the config names".to_owned(),
        Some(Some(mistakes)) if mistakes.concern("") => "channels, models, store".to_owned(),
        Some(Some(mistakes)) => {
            let kits = binary.kits.iter().map(|kit| (kit.name, kit.name));
            let all = kits.chain([("llm", "models"), ("store", "store")]);
            let left = all.filter(|(section, _)| mistakes.concern(section));
            left.map(|(_, what)| what).collect::<Vec<_>>().join(", ")
        }
    };
    let advice = "correct the mistakes, then run selkie doctor again";
    let message = format!("not checked because of the mistakes: {left}");
    (!left.is_empty()).then(|| Finding::warning(WHAT, message, advice))
}

fn mistake(problem: &Problem, chosen: &ConfigChoice) -> Finding {
    let file = match &chosen.file {
        ConfigFile::Named(file) => Some(format!(" --config {}", file.display())),
        ConfigFile::Found(_) | ConfigFile::None => None,
    };
    let state = chosen.state.as_ref().map(|state| format!(" --state {}", state.display()));
    let [file, state] = [file, state].map(Option::unwrap_or_default);
    let advice = format!("correct it, then run selkie{file}{state} config check");
    Finding::error(WHAT, problem.to_string(), advice)
}

fn sound(plan: &AppConfig, chosen: &ConfigChoice, binary: &Binary) -> Vec<Finding> {
    let file = chosen.file.path();
    if file.is_none() && plan.is_unconfigured() {
        return vec![Finding::warning(
            WHAT,
            format!("nothing is configured: {}", looked_for(&binary.here, &binary.env)),
            "try selkie demo, which needs nothing; then run selkie init",
        )];
    }
    let read = file.map_or_else(|| "the environment".to_owned(), |file| file.display().to_string());
    let mut findings = vec![Finding::fine(WHAT, format!("{read} has no mistakes"))];
    let notes = match plan.needs_something_to_do() {
        Some(_) => {
            findings.push(Finding::error(
                WHAT,
                "no channel is configured: selkie run has nothing to do and ends",
                "run selkie init, or write a section with its token (see selkie config example)",
            ));
            plan.notes.clone()
        }
        None => notes(plan),
    };
    // A note says itself what to do.
    findings.extend(notes.into_iter().map(|note| Finding::warning(WHAT, note, "")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_config::problem::Place;

    #[test]
    fn a_config_is_named_in_the_advice_where_it_was_named() {
        let problem = Problem { place: Place::default(), key: "x".into(), message: "y".into() };
        let advice = |file| {
            let chosen = ConfigChoice { file, state: None, flags: Vec::new() };
            mistake(&problem, &chosen).advice
        };
        let found = advice(ConfigFile::Found("config.yaml".into()));
        assert_eq!(found, "correct it, then run selkie config check");
        let named = advice(ConfigFile::Named("my.yaml".into()));
        assert_eq!(named, "correct it, then run selkie --config my.yaml config check");
    }
}
