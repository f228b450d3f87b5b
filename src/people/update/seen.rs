//! The todo files as somebody sees them who only looks: what comes due first, then the newest.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};

use super::view::View;
use crate::due::name;
use crate::files::{FileError, Files};
use crate::todo::{Due, Entry, List, Todos, due, plain, references};

/// What one conversation sees of the todo files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenTodos {
    /// What is to be done: what has a time by its time, then the newest first.
    pub open: Vec<SeenTodo>,
    /// What was done, the newest first.
    pub done: Vec<SeenTodo>,
    /// What could not be read, with its file and line, for who sees all.
    pub faults: Vec<String>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenTodo {
    /// What is to be done, without its time, people by their names alone.
    pub text: String,
    /// When it comes due, by the clocks of its conversation.
    pub due: Option<NaiveDateTime>,
    /// Under which name what has a time is noted.
    pub noted: Option<String>,
    /// Who is named in it.
    pub people: Vec<NamedPerson>,
    /// The chat that it belongs to; none for the owner's own.
    pub chat: Option<String>,
    /// When it was written; nothing for what people wrote by hand.
    pub created: Option<DateTime<Utc>>,
    /// When it was done.
    pub done: Option<DateTime<Utc>>,
}

/// Somebody who is named with an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPerson {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
}

/// Lists what is seen in a chat; `is_whole`: an owner alone sees all of it.
///
/// # Errors
/// When a file cannot be read.
pub async fn seen(
    files: &Arc<Files>,
    chat: String,
    is_whole: bool,
) -> Result<SeenTodos, FileError> {
    let files = Arc::clone(files);
    let looked = tokio::task::spawn_blocking(move || look(&files, &View::of_chat(chat, is_whole)));
    looked.await.unwrap_or_else(|error| Err(FileError::ended(&error)))
}

fn look(files: &Files, view: &View) -> Result<SeenTodos, FileError> {
    let read = |list: List| Ok(Todos::read(list, &files.read(list.file())?.text));
    let open: Todos = read(List::Open)?;
    let done: Todos = read(List::Done)?;
    let mut faults = view.faults(List::Open, &open);
    faults.extend(view.faults(List::Done, &done));
    let all = |todos| view.entries(todos).into_iter().map(SeenTodo::of).collect();
    let mut seen = SeenTodos { open: all(&open), done: all(&done), faults };
    // In their order otherwise.
    seen.open.sort_by_key(|todo| (todo.due.is_none(), todo.due));
    Ok(seen)
}

impl SeenTodo {
    fn of(entry: &Entry) -> Self {
        let due = due(&entry.content);
        let (at, words) = match due {
            Some(Due { at, what }) if !what.is_empty() => (Some(at), what),
            Some(Due { at, .. }) => (Some(at), entry.content.clone()),
            None => (None, entry.content.clone()),
        };
        let named = references(&words).into_iter();
        let people = named.map(|one| NamedPerson { name: one.name.into(), id: one.id.into() });
        Self {
            people: people.collect(),
            text: plain(&words),
            due: at,
            noted: name(entry),
            chat: entry.chat.clone(),
            created: entry.created.map(|at| at.and_utc()),
            done: entry.done.map(|at| at.and_utc()),
        }
    }
}
