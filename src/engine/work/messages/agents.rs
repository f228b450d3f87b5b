//! What is told of agents: in lists, of what they know, of their end.

use chrono::{DateTime, Utc};

use crate::work::conversation_log::Entry;
use crate::work::messages::sessions::entry;
use selkie_channel_core::shorten_line;
use selkie_domain::span::Span;
use selkie_domain::task::TaskState;
use selkie_store::AgentRow;

/// Characters of a task that a list shows.
const TASK: usize = 80;

/// An agent may not be stopped by whoever asks.
pub fn not_theirs(name: &str) -> String {
    format!("{name} works for somebody else: only they and owners may stop it")
}

/// How an agent stands.
pub fn status(state: TaskState, why: Option<&str>) -> String {
    let word = match state {
        TaskState::Waiting => "waiting",
        TaskState::Running => "running",
        TaskState::Parked => "waiting for somebody",
        TaskState::Done => "done",
        TaskState::Failed => "failed",
        TaskState::Stopped => "stopped",
    };
    match why.filter(|_| state == TaskState::Failed) {
        Some(why) => format!("{word} ({why})"),
        None => word.to_owned(),
    }
}

/// What an agent is to do, in one short line.
pub fn task(text: &str) -> String {
    shorten_line(text, TASK)
}

/// An agent in a list for people.
pub fn line(row: &AgentRow, age: Span) -> String {
    let ago = if row.ended_at.is_some() {
        format!("{} ago", age.in_words())
    } else {
        format!("for {}", age.in_words())
    };
    format!("{} · {} {ago} · {}", row.name, status(row.state, row.why.as_deref()), task(&row.text))
}

/// The agents of a conversation, for people.
pub fn list(rows: &[AgentRow], now: DateTime<Utc>) -> String {
    if rows.is_empty() {
        return "No agent works here.".to_owned();
    }
    let lines = rows.iter().map(|row| line(row, age(row, now)));
    lines.collect::<Vec<_>>().join("\n")
}

/// How long an agent has worked, or how long ago it has ended.
pub fn age(row: &AgentRow, now: DateTime<Utc>) -> Span {
    let age = now - row.ended_at.unwrap_or(row.made_at);
    Span::seconds(u64::try_from(age.num_seconds()).unwrap_or_default())
}

/// What an agent knows and does.
pub fn peeked(row: &AgentRow, age: Span, entries: &[Entry]) -> String {
    let mut lines = vec![line(row, age)];
    lines.extend(entries.iter().map(entry));
    lines.join("\n")
}

/// There is none of this name.
pub fn unknown(name: &str, known: &[&str]) -> String {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("there is no agent {name} (your agents: {known})")
}

/// It has ended already.
pub fn over(name: &str, state: TaskState) -> String {
    format!("The agent {name} has ended already: {}.", status(state, None))
}

/// It is stopped.
pub fn stopped(name: &str) -> String {
    format!("The agent {name} is stopped.")
}
