//! What is wrong with `acp`.

use crate::problem::{Wrong, one_of};
use crate::source::path;
use selkie_domain::span::Span;
use selkie_domain::spelling::nearest;
use selkie_tools::acp::{AgentProgram, Settings};
use selkie_tools::shell::is_variable;

/// Every request of a model carries the names.
const MAX_AGENTS: usize = 32;
const SECOND: Span = Span::seconds(1);
const DAY: Span = Span::seconds(24 * 3600);

/// Lists what is wrong.
pub fn problems(settings: &Settings) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if !(SECOND..=DAY).contains(&settings.timeout) {
        let message = format!("takes 1s to 1d, not {}", settings.timeout);
        wrong.push((path(&["acp", "timeout"]), message));
    }
    if settings.agents.len() > MAX_AGENTS {
        let message = format!("takes {MAX_AGENTS} agents at most, not {}", settings.agents.len());
        wrong.push((path(&["acp", "agents"]), message));
    }
    for (name, agent) in &settings.agents {
        let faults = is_odd(name).then(|| {
            let message =
                "is no name for an agent: it takes 1 to 40 of a-z, 0-9, - and _".to_owned();
            (Vec::new(), message)
        });
        let faults = faults.into_iter().chain(of_program(agent));
        let at = |rest: Vec<String>| [path(&["acp", "agents", name]), rest].concat();
        wrong.extend(faults.map(|(rest, message)| (at(rest), message)));
    }
    wrong
}

fn is_odd(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    name.is_empty() || name.len() > 40 || !name.chars().all(is_plain)
}

fn of_program(agent: &AgentProgram) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if agent.command.trim().is_empty() {
        let message = "is missing: it takes the program that speaks the Agent Client Protocol";
        wrong.push((path(&["command"]), message.to_owned()));
    }
    for name in agent.env.keys().filter(|name| !is_variable(name)) {
        let message = format!("takes the names of variables (ANTHROPIC_API_KEY), not {name:?}");
        wrong.push((path(&["env"]), message));
    }
    let kinds = AgentProgram::kinds();
    for (index, kind) in agent.allow.iter().enumerate() {
        if kinds.contains(&kind.as_str()) {
            continue;
        }
        let near = nearest(kind, kinds.iter().copied());
        let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        let all: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let message = format!("takes {}, not {kind:?}{hint}", one_of(&all));
        wrong.push((path(&["allow", &index.to_string()]), message));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_what_is_taken() {
        let settings = serde_json::json!({
            "timeout": "0s",
            "agents": {
                "My Agent": { "command": "x", "allow": ["reed", "edit"] },
                "b": { "env": { "A B": "x" } },
                "c": { "command": "c", "env": { "KEY": "x" }, "allow": ["switch_mode"], "sandbox": "off" },
            },
        });
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let said = problems(&settings);
        let said = said.iter().map(|(path, message)| format!("{}: {message}", path.join(".")));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        acp.timeout: takes 1s to 1d, not 0s
        acp.agents.My Agent: is no name for an agent: it takes 1 to 40 of a-z, 0-9, - and _
        acp.agents.My Agent.allow.0: takes read, edit, delete, move, search, execute, think, fetch, switch_mode or other, not "reed" (did you mean read?)
        acp.agents.b.command: is missing: it takes the program that speaks the Agent Client Protocol
        acp.agents.b.env: takes the names of variables (ANTHROPIC_API_KEY), not "A B"
        "#);
    }
}
