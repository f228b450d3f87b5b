//! What is told of conversations: in lists, of what was said, and of words that one sends into another.

use chrono::{DateTime, SecondsFormat, Utc};
use selkie_channel_core::ConversationId;

use crate::work::conversation_log::Entry;
use selkie_agent::prompt;
use selkie_domain::count::counted;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_store::read::{ConversationRow, ConversationStatus};

/// How a conversation is shown in a list.
pub struct SessionStyle<'a> {
    /// The setting's name of it, where its channel is configured.
    pub kind: Option<&'a str>,
    /// It is where the list is read.
    pub is_here: bool,
    /// By whose clocks times are told; a model reads them as they are stored.
    pub zone: Option<Zone>,
}

/// A conversation in a list.
pub fn line(row: &ConversationRow, showing: &SessionStyle<'_>) -> String {
    let mut words = vec![row.id.key().to_owned()];
    words.extend(showing.kind.map(str::to_owned));
    let title = prompt::label(&row.title);
    if !title.is_empty() {
        words.push(format!("“{title}”"));
    }
    words.push(counted(row.tasks, ["task", "tasks"]));
    words.extend(row.last_at.map(|at| {
        format!("last active {}", showing.zone.map_or_else(|| time(at), |zone| moment(at, zone)))
    }));
    if row.closed.is_some() {
        words.push("closed".to_owned());
    }
    if showing.is_here {
        words.push("this one".to_owned());
    }
    words.join(" · ")
}

/// The list; `more`: how many there are besides.
pub fn list(lines: &[String], more: usize) -> String {
    let mut text = match lines.is_empty() {
        true => "There are no conversations yet.".to_owned(),
        false => lines.join("\n"),
    };
    if more > 0 {
        text.push_str(&format!("\n… and {more} more, active before these"));
    }
    text
}

/// What was said in a conversation.
pub fn history(id: &ConversationId, entries: &[Entry]) -> String {
    if entries.is_empty() {
        return format!("Nothing was said in {id} since its last reset.");
    }
    entries.iter().map(entry).collect::<Vec<_>>().join("\n")
}

/// Something that was said, as a line.
pub fn entry(entry: &Entry) -> String {
    let at = entry.at.map(|at| format!("{} · ", time(at))).unwrap_or_default();
    let who = entry.speaker.as_deref().unwrap_or("you");
    let tools = match entry.tools.is_empty() {
        true => String::new(),
        false => format!("(used {})", entry.tools.join(", ")),
    };
    let cause = entry.cause.as_ref().map(|cause| format!(", {cause}")).unwrap_or_default();
    let gap = if entry.text.is_empty() || tools.is_empty() { "" } else { " " };
    format!("[{at}{who}{cause}] {}{gap}{tools}", entry.text)
}

/// What a conversation has come to.
pub fn status(id: &ConversationId, messages: usize, of: &ConversationStatus) -> String {
    let messages = counted(messages as u64, ["message", "messages"]);
    let tasks = counted(of.tasks, ["task", "tasks"]);
    let used = of.usage.told();
    format!("session {id}: {messages} in {tasks}, {used} since its last reset")
}

/// Words are on their way.
pub fn sent(to: &ConversationId, is_new: bool) -> String {
    match is_new {
        true => format!("sent to {to}: it is answered there, not here"),
        false => format!("sent to {to} before: it is not sent again"),
    }
}

/// There is no such conversation, or it is not theirs.
pub fn not_found(session: &str) -> String {
    let shown: String = session.chars().take(80).collect();
    format!("session not found: {shown} (sessions_list shows the ids there are)")
}

/// Several bots have a conversation of this id.
pub fn several(session: &str, all: &[String]) -> String {
    format!("session_id {session} names several conversations: write {}", all.join(" or "))
}

/// Words for the conversation that one is in.
pub fn is_this_one(session: &str) -> String {
    format!("invalid session_id: {session} is this conversation; just answer here")
}

/// Nobody has asked for it.
pub const NOBODY_ASKS: &str = "nobody asked for it, and a message needs somebody who did";

/// No channel speaks there.
pub fn nobody_there(to: &ConversationId) -> String {
    format!(
        "nobody can be answered in {to}: its channel is not configured, or closed, or nobody talks there"
    )
}

/// Whoever asked is not listened to there.
pub fn not_heard_there(to: &ConversationId) -> String {
    format!("whoever asked is on no list in {to}: nothing of theirs is done there")
}

/// Tells a model whose words they are.
pub const RELAYED: &str = "a task of yours in another conversation has sent the next message, on behalf of the person it names. Nobody \
     typed it here. What you answer is read in this conversation.";

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
