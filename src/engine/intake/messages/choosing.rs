//! What `/model`, `/think` and `/agent` say.

use std::fmt::Write as _;
use std::path::Path;

use crate::work::agents::Agents;
use selkie_domain::effort::Effort;
use selkie_domain::spelling::nearest;
use selkie_llm::ModelList;

/// So many profiles or agents are listed.
const MAX: usize = 30;

/// Says which model answers here, and which could.
pub fn model(answers: &str, models: &ModelList) -> String {
    let mut text = format!("Model here: {answers}.");
    if models.profiles.is_empty() {
        return text;
    }
    text.push_str("\n/model NAME chooses another, /model default takes that back:");
    for (profile, listed) in models.profiles.iter().take(MAX) {
        _ = write!(text, "\n- `{}`: {}", plain(profile), plain(&listed.model));
    }
    if let Some(more @ 1..) = models.profiles.len().checked_sub(MAX) {
        _ = write!(text, "\n… and {more} more.");
    }
    text
}

/// Says how hard the model here thinks, and which levels there are.
pub fn think(answers: &str) -> String {
    format!(
        "Model here: {answers}.\n/think LEVEL says how hard it thinks ({}), /think default takes that back.",
        levels()
    )
}

/// Says where the agent works that answers here.
pub fn agents_folder(name: &str, folder: &Path) -> String {
    format!("The agent {name} works in `{}` here (agents.{name}.workspace).", folder.display())
}

/// Says which agent answers here, and which could.
pub fn agents(here: Option<&str>, agents: &Agents) -> String {
    let mut text = match here {
        Some(here) => format!("Agent here: {here}."),
        None => "No agent answers here, only I do.".to_owned(),
    };
    let all = agents.list();
    if all.len() == 0 {
        text.push_str(" The config has none: see `agents` in config.example.yaml.");
        return text;
    }
    text.push_str("\n/agent NAME chooses one, /agent off takes that back:");
    let left = all.len().checked_sub(MAX);
    for agent in all.take(MAX) {
        let about = if agent.about.is_empty() { "" } else { ": " };
        _ = write!(text, "\n- `{}`{about}{}", agent.name, plain(agent.about));
    }
    if let Some(more @ 1..) = left {
        _ = write!(text, "\n… and {more} more.");
    }
    text
}

/// Says what answers from the next task on.
pub fn from_now_on(answers: &str) -> String {
    format!("From the next task on: {answers}.")
}

/// Says why nothing was chosen.
pub fn not_chosen(why: &str) -> String {
    format!("{why} Nothing has changed.")
}

/// Says which levels there are, of a word that is none.
pub fn no_level(wanted: &str) -> String {
    let word: String = plain(wanted).chars().take(60).collect();
    let near = nearest(wanted, Effort::ALL.map(Effort::as_str));
    let hint = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    format!("/think takes {} or default, not `{word}`.{hint} Nothing has changed.", levels())
}

fn levels() -> String {
    Effort::ALL.map(Effort::as_str).join(", ")
}

/// As it can stand in code.
fn plain(text: &str) -> String {
    text.replace('`', "'").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_llm::ListedModel;

    #[test]
    fn agents_are_listed_with_what_they_are_for() {
        let none = Agents::default();
        insta::assert_snapshot!(agents(None, &none), @"No agent answers here, only I do. The config has none: see `agents` in config.example.yaml.");
        let settings = serde_json::json!({ "coder": {}, "reader": { "about": "reads the `web`" } });
        let all = Agents::of(&serde_json::from_value(settings).unwrap(), "/nowhere".as_ref());
        insta::assert_snapshot!(agents(Some("reader (/agent here)"), &all), @r"
        Agent here: reader (/agent here).
        /agent NAME chooses one, /agent off takes that back:
        - `coder`
        - `reader`: reads the 'web'
        ");
    }

    #[test]
    fn both_say_what_answers_and_what_they_take() {
        let listed = |model: &str| ListedModel { model: model.to_owned(), name: String::new() };
        let models = ModelList {
            profiles: [("quick", "gpt-6-luna"), ("strong", "gpt-6.2-sol")]
                .map(|(name, model)| (name.to_owned(), listed(model)))
                .into(),
            ..ModelList::default()
        };
        let answers = "gpt-6-luna via quick (llm.routes.main)";
        insta::assert_snapshot!(model(answers, &models), @"
        Model here: gpt-6-luna via quick (llm.routes.main).
        /model NAME chooses another, /model default takes that back:
        - `quick`: gpt-6-luna
        - `strong`: gpt-6.2-sol
        ");
        insta::assert_snapshot!(think(answers), @"
        Model here: gpt-6-luna via quick (llm.routes.main).
        /think LEVEL says how hard it thinks (none, minimal, low, medium, high, xhigh, max), /think default takes that back.
        ");
        insta::assert_snapshot!(no_level("hihg"), @"/think takes none, minimal, low, medium, high, xhigh, max or default, not `hihg`. Did you mean high? Nothing has changed.");
    }
}
