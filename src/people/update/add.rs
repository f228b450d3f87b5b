//! Adds an item: its people named, on top of the list, instead of older ones that say the same.

use serde::Deserialize;
use serde_json::json;

use super::contract::DEDUPE;
use super::likeness::Words;
use super::outcome::{Changes, Counts, Outcome, ShownItem};
use super::resolve::resolve;
use super::task::Task;
use super::view::View;
use crate::files::{Edit, FileResult, OwnedTodos};
use crate::forms::Forms;
use crate::todo::{Entry, List, in_words, no_time};
use selkie_tools::ToolError;
use selkie_tools::ports::TodoReport;

/// So many open items one conversation may have, but for the owner's own.
const MAX_OPEN: usize = 500;
/// So many that may say the same are shown to a model.
const MAX_NEAR: usize = 20;

#[derive(Deserialize)]
struct KeptItem {
    keep_indices: Vec<usize>,
}

/// Adds an item.
pub(super) async fn add(
    task: &Task<'_>,
    content: &str,
    people: &[String],
    chat: Option<String>,
) -> Result<TodoReport, ToolError> {
    let content = Entry::content(content).map_err(|why| ToolError::tell(why.to_string()))?;
    let chat = chat_of(&task.view, task.forms, chat)?;
    let resolved = resolve(task, &content, people).await?;
    let created = Some(task.minute().naive_utc());
    let entry = Entry { created, chat, content: resolved.content, ..Entry::default() };
    let before = task.todos(List::Open).await?;
    check_room(task, &before)?;
    let same = said_before(task, &entry, task.view.entries(&before.todos)).await?;
    let instead_of = task.level(&same, &before);
    let PutItem { done, reminder } = put(task, &entry, &same).await?;
    let open = task.todos(List::Open).await?;
    let ticked = task.todos(List::Done).await?;
    let instead = same.iter().map(|old| format!("it replaces: {}", old.content));
    let faults = task.view.faults(List::Open, &open.todos);
    let warnings = resolved
        .warnings
        .into_iter()
        .chain(no_reminder(&entry.content))
        .chain(instead)
        .chain(faults)
        .collect();
    let outcome = Outcome {
        ok: true,
        action: "add",
        updated_counts: Counts {
            open_count: task.view.count(&open.todos),
            done_count: task.view.count(&ticked.todos),
        },
        changed: Changes { wip_added: done.put, wip_removed: done.taken, ..Changes::default() },
        entry: ShownItem::of(&entry),
        reminder,
        warnings,
    };
    outcome.told(instead_of)
}

/// Refuses more open items than one conversation may have.
fn check_room(task: &Task<'_>, open: &OwnedTodos) -> Result<(), ToolError> {
    if !task.view.is_whole && task.view.count(&open.todos) >= MAX_OPEN {
        let why = format!(
            "there are {MAX_OPEN} open items here, and that is the most: complete some first"
        );
        return Err(ToolError::tell(why));
    }
    Ok(())
}

/// An item that stands in the file now.
struct PutItem {
    done: FileResult,
    /// What becomes of its time, if it has one.
    reminder: Option<String>,
}

/// Puts an item on top of the list, in the place of those that say the same.
async fn put(task: &Task<'_>, entry: &Entry, same: &[Entry]) -> Result<PutItem, ToolError> {
    let edit = Edit::Todos { list: List::Open, take: same.to_vec(), put: vec![entry.clone()] };
    let held = task.reminding.hold().await;
    task.reminding.take(same).await;
    // Whose it is, is noted before the item stands in the file: there it would be the owner's.
    let reminder = task.reminding.put(task.by, entry).await;
    let done = match task.edit(vec![edit]).await {
        Ok(done) => done,
        Err(why) => {
            task.reminding.take(std::slice::from_ref(entry)).await;
            return Err(why);
        }
    };
    drop(held);
    Ok(PutItem { done, reminder })
}

/// Says that no reminder comes for a time that is written in words, or that there is not.
fn no_reminder(content: &str) -> Option<String> {
    if let Some(written) = no_time(content) {
        return Some(format!(
            "no reminder comes for {written}: there is no such time (write YYYY-MM-DD hh:mm)"
        ));
    }
    let words = in_words(content)?;
    Some(format!("no reminder is set for {words:?}: for one, write YYYY-MM-DD hh:mm into the item"))
}

/// Returns the chat that the entry names.
///
/// # Errors
/// `invalid chat_id: …`
pub(super) fn chat_of(
    view: &View,
    forms: &Forms,
    chat: Option<String>,
) -> Result<Option<String>, ToolError> {
    let Some(chat) = chat else { return Ok(view.names.clone()) };
    let shown: String = chat.chars().take(60).collect();
    let invalid = |why: String| Err(ToolError::tell(format!("invalid chat_id: {shown} ({why})")));
    if chat == view.chat {
        return Ok(view.names.clone());
    }
    match (forms.is_chat(&chat), view.is_whole) {
        (true, true) => Ok(Some(chat)),
        (true, false) => invalid("only this conversation's own items are kept here".to_owned()),
        (false, _) => invalid(format!("takes ids like {}", forms.chats_such_as())),
    }
}

/// Finds the older entries of the same chat that the new one says again.
async fn said_before(
    task: &Task<'_>,
    new: &Entry,
    all: Vec<&Entry>,
) -> Result<Vec<Entry>, ToolError> {
    let words = Words::of(&new.content);
    let mut same = Vec::new();
    let mut near = Vec::new();
    for old in all.into_iter().filter(|old| old.chat == new.chat) {
        let other = Words::of(&old.content);
        if words.is_same(&other) {
            same.push(old.clone());
        } else if near.len() < MAX_NEAR && words.is_near(&other) {
            near.push(old);
        }
    }
    if near.is_empty() {
        return Ok(same);
    }
    let entry =
        |(index, entry): (usize, &&Entry)| json!({ "index": index, "content": entry.content });
    let asked: Vec<_> = std::iter::once(&new).chain(&near).enumerate().map(entry).collect();
    let count = asked.len();
    let is_valid = |kept: &KeptItem| match kept.keep_indices.iter().find(|index| **index >= count) {
        Some(index) => Err(format!("index out of range: {index}")),
        None if !kept.keep_indices.contains(&0) => {
            Err("semantic dedupe must keep the newest item".to_owned())
        }
        None => Ok(()),
    };
    let kept: KeptItem = DEDUPE.ask(task, &json!({ "entries": asked }), is_valid).await?;
    let dropped =
        near.into_iter().enumerate().filter(|(at, _)| !kept.keep_indices.contains(&(at + 1)));
    same.extend(dropped.map(|(_, old)| old.clone()));
    Ok(same)
}
