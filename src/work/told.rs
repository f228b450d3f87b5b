//! What was said in a conversation, message by message, as people and tools read it: without what tools answered.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Command, Inbound};
use serde::Serialize;

use crate::domain::ids::TaskId;
use crate::domain::transcript::{Call, Item, Received};
use crate::store::read::{SaidTask, Unanswered};

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// In which task; none where no task has answered it.
    pub(crate) task: Option<TaskId>,
    /// When, as far as it is known.
    pub(crate) at: Option<DateTime<Utc>>,
    /// Who; nobody for the bot itself.
    pub(crate) speaker: Option<String>,
    /// In markdown; empty where it called tools without a word.
    pub(crate) text: String,
    /// The tools that it called beside these words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
    /// Why no task has answered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unanswered: Option<String>,
}

/// Puts what no task has answered between the rest, by its time.
pub(crate) fn with_unanswered(said: Vec<Entry>, unanswered: Vec<Unanswered>) -> Vec<Entry> {
    let mut rest = unanswered.into_iter().map(of_nobody).peekable();
    let mut all = Vec::new();
    for entry in said {
        while let Some(earlier) = rest.next_if(|one| one.at < entry.at) {
            all.push(earlier);
        }
        all.push(entry);
    }
    all.extend(rest);
    all
}

fn of_nobody(Unanswered { why, heard }: Unanswered) -> Entry {
    let Inbound { speaker, text, command, attachments, at, .. } = heard;
    let files = attachments.iter().map(|file| format!("(file: {})", file.name));
    let text = match command {
        Some(Command { name, args }) => format!("/{name} {args}").trim_end().to_owned(),
        None => text,
    };
    let lines = std::iter::once(text).filter(|text| !text.is_empty()).chain(files);
    let speaker = Some(format!("{} ({})", speaker.name, speaker.id).trim_start().to_owned());
    let text = lines.collect::<Vec<_>>().join("\n");
    Entry { task: None, at: Some(at), speaker, text, tools: Vec::new(), unanswered: Some(why) }
}

/// Lists what was said, oldest first.
pub(crate) fn entries(tasks: Vec<SaidTask>) -> Vec<Entry> {
    tasks.into_iter().flat_map(of_task).collect()
}

fn of_task(task: SaidTask) -> Vec<Entry> {
    let SaidTask { id, ended_at, items, .. } = task;
    let own = |text: String, tools: Vec<String>, at| Entry {
        task: Some(id),
        at,
        speaker: None,
        text,
        tools,
        unanswered: None,
    };
    let entry = |item: Item| match item {
        Item::Received(heard) => Some(heard_entry(id, heard)),
        Item::Said { text, .. } if text.trim().is_empty() => None,
        Item::Said { text, .. } => Some(own(text, Vec::new(), ended_at)),
        Item::Asked { text, calls, .. } => {
            let tools = calls.into_iter().map(|Call { name, .. }| name).collect();
            Some(own(text, tools, None))
        }
        // What the program tells the model, and what tools brought, is no part of the talk.
        Item::Noted { .. } | Item::Answered { .. } => None,
    };
    items.into_iter().filter_map(entry).collect()
}

fn heard_entry(task: TaskId, heard: Received) -> Entry {
    let Received { at, speaker, text, files, .. } = heard;
    let files = files.iter().map(|file| format!("(file: {file})"));
    let lines: Vec<String> =
        std::iter::once(text).filter(|text| !text.is_empty()).chain(files).collect();
    let speaker = Some(speaker);
    let text = lines.join("\n");
    Entry { task: Some(task), at: Some(at), speaker, text, tools: Vec::new(), unanswered: None }
}
