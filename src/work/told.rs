//! What was said in a conversation, message by message, as people and tools read it: without what tools answered.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::domain::ids::TaskId;
use crate::domain::transcript::{Call, Item, Received};
use crate::store::read::SaidTask;

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// In which task.
    pub(crate) task: TaskId,
    /// When, as far as it is known.
    pub(crate) at: Option<DateTime<Utc>>,
    /// Who; nobody for the bot itself.
    pub(crate) speaker: Option<String>,
    /// In markdown; empty where it called tools without a word.
    pub(crate) text: String,
    /// The tools that it called beside these words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
}

/// Lists what was said, oldest first.
pub(crate) fn entries(tasks: Vec<SaidTask>) -> Vec<Entry> {
    tasks.into_iter().flat_map(of_task).collect()
}

fn of_task(task: SaidTask) -> Vec<Entry> {
    let SaidTask { id, ended_at, items, .. } = task;
    let own =
        |text: String, tools: Vec<String>, at| Entry { task: id, at, speaker: None, text, tools };
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
    Entry { task, at: Some(at), speaker, text: lines.join("\n"), tools: Vec::new() }
}
