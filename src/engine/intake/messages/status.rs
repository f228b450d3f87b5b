//! What `/status` says.

use std::fmt::Write as _;
use std::time::Duration;

use super::shown::{asked_line, length};
use crate::delivery::account::{ChannelState, ListenState};
use selkie_domain::count::counted;
use selkie_store::read::ConversationStatus;

/// What `/status` knows.
pub struct StatusReport<'a> {
    pub(crate) version: &'a str,
    /// What answers here next, and who decided that.
    pub answers: &'a str,
    pub(crate) conversation: &'a ConversationStatus,
    pub(crate) running_for: Option<Duration>,
    /// What was asked in threads of the place and is being worked on.
    pub threads: &'a [String],
    /// The agents that work here.
    pub agents: &'a [String],
    /// How many wait for an answer here.
    pub questions: usize,
    /// Only the owner reads about the house.
    pub house: Option<HouseReport>,
}

/// What the owner reads besides.
pub struct HouseReport {
    pub(crate) store_ok: bool,
    pub(crate) channels: Vec<ChannelState>,
    /// Limits that are reached, each with whose it is.
    pub limits: Vec<String>,
    /// Why what is remembered is found by its words alone, where it should not be.
    pub memory: Option<String>,
    /// What to do about servers of models that have cut a prompt, a sentence each.
    pub cut_prompts: Vec<String>,
}

/// Answers `/status`.
pub fn status(report: &StatusReport<'_>) -> String {
    let of = report.conversation;
    let mut text = match (of.running, report.running_for) {
        (Some((task, _)), Some(since)) => format!("Task {task} has run for {}", length(since)),
        _ => "Nothing is running".to_owned(),
    };
    _ = writeln!(text, "; {} waiting.", of.waiting);
    if !report.threads.is_empty() {
        text.push_str("In threads here I work on:\n");
        report.threads.iter().for_each(|asked| asked_line(&mut text, asked));
    }
    if !report.agents.is_empty() {
        _ = writeln!(text, "Agents at work: {}.", report.agents.join(", "));
    }
    match report.questions {
        0 => {}
        1 => text.push_str("One question waits for an answer here.\n"),
        many => _ = writeln!(text, "{many} questions wait for answers here."),
    }
    _ = writeln!(text, "Model here: {}.", report.answers);
    let tasks = counted(of.tasks, ["task", "tasks"]);
    _ = writeln!(text, "Since the last /reset: {tasks}, {}.", of.usage.told());
    if let Some(house) = &report.house {
        let store = if house.store_ok {
            "fine"
        } else {
            "cannot be written to; nothing runs and nothing is sent"
        };
        _ = writeln!(text, "Store: {store}.");
        for channel in &house.channels {
            _ = writeln!(text, "{}", channel_line(channel));
        }
        for limit in &house.limits {
            _ = writeln!(text, "Limit reached: {limit}.");
        }
        for sentence in &house.cut_prompts {
            _ = writeln!(text, "{sentence}.");
        }
        if let Some(why) = &house.memory {
            let why = why.trim_end_matches('.');
            _ = writeln!(
                text,
                "I search my memory by keyword only, because the embeddings server fails: {why}."
            );
        }
    }
    _ = write!(text, "selkie {}", report.version);
    text
}

fn channel_line(channel: &ChannelState) -> String {
    let heard = channel.heard_ago.map(|ago| format!(", heard {} ago", length(ago)));
    let hearing = match &channel.hearing {
        ListenState::Listening => "listens".to_owned(),
        ListenState::Refused { reason } => {
            format!("not receiving, trying again every few minutes: {reason}")
        }
        ListenState::Off => "only posts".to_owned(),
    };
    format!("{} ({}): {hearing}{}.", channel.name, channel.account, heard.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use selkie_channel_core::AccountId;

    use super::*;
    use selkie_domain::ids::TaskId;
    use selkie_domain::usage::Usage;

    #[test]
    fn status_tells_the_house_to_the_owner_alone() {
        let usage = Usage { input: 900, output: 100, micro_usd: 1_500, ..Usage::default() };
        let running = Some((TaskId(7), DateTime::UNIX_EPOCH));
        let numbers = ConversationStatus { running, waiting: 2, tasks: 3, usage };
        let channels = vec![
            ChannelState {
                name: "telegram",
                account: AccountId::new("tg:8"),
                hearing: ListenState::Listening,
                heard_ago: Some(Duration::from_secs(3)),
            },
            ChannelState {
                name: "x",
                account: AccountId::new("x:1"),
                hearing: ListenState::Refused { reason: "401".to_owned() },
                heard_ago: None,
            },
        ];
        let mut report = StatusReport {
            version: "0.1.0",
            answers: "gpt-6 via main (llm.routes.main)",
            conversation: &numbers,
            running_for: Some(Duration::from_secs(200)),
            threads: &[],
            agents: &[],
            questions: 0,
            house: Some(HouseReport {
                store_ok: true,
                channels,
                limits: Vec::new(),
                memory: Some("it answers 503: busy".to_owned()),
                cut_prompts: vec!["gpt-6 via main has cut a prompt".to_owned()],
            }),
        };
        insta::assert_snapshot!(status(&report), @r#"
        Task 7 has run for 3 min; 2 waiting.
        Model here: gpt-6 via main (llm.routes.main).
        Since the last /reset: 3 tasks, 1,000 tokens, $0.0015.
        Store: fine.
        telegram (tg:8): listens, heard 3 s ago.
        x (x:1): not receiving, trying again every few minutes: 401.
        gpt-6 via main has cut a prompt.
        I search my memory by keyword only, because the embeddings server fails: it answers 503: busy.
        selkie 0.1.0
        "#);
        report.house = None;
        let idle = ConversationStatus::default();
        report = StatusReport { conversation: &idle, running_for: None, ..report };
        let asking = || StatusReport { questions: 1, house: None, threads: &[], ..report };
        let told = status(&asking());
        assert!(told.contains("0 waiting.\nOne question waits for an answer here.\n"), "{told}");
        let asked = ["find `x`".to_owned()];
        let told = status(&StatusReport { threads: &asked, ..asking() });
        assert!(told.contains("0 waiting.\nIn threads here I work on:\n- `find 'x'`\n"), "{told}");
        report = StatusReport {
            conversation: &idle,
            running_for: None,
            questions: 0,
            house: None,
            ..report
        };
        insta::assert_snapshot!(status(&report), @r#"
        Nothing is running; 0 waiting.
        Model here: gpt-6 via main (llm.routes.main).
        Since the last /reset: 0 tasks, 0 tokens, $0.00.
        selkie 0.1.0
        "#);
    }
}
