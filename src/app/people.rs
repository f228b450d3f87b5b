//! What the command line asks about people, and about what state files said before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answered::NotDone;
use selkie_engine::flow::Flow;
use selkie_engine::work::todo_list::{Reader, TodoList};
use selkie_people::book::{ContactBook, ContactList, ContactView};
use selkie_people::files::{Doubtful, FileError, Files, Version};
use selkie_people::undone::RestoredVersion;

/// The files of the state folder that people and selkie change.
const STATE_FILES: [&str; 4] =
    ["TODO.md", "TODO.DONE.md", "contacts/ACTIVE.md", "contacts/INACTIVE.md"];

/// What people want done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Todos {
    /// The list.
    pub list: TodoList,
    /// Whose the items are is not known any more.
    pub whose_is_lost: bool,
}

/// What may be others' words than those of whoever it belongs to.
#[derive(Debug, Serialize, Deserialize)]
pub struct DoubtfulTodos {
    /// The items.
    pub items: Vec<Doubtful>,
    /// Whose the items are is not known any more.
    pub whose_is_lost: bool,
}

/// Lists everybody, with what could not be read or written.
///
/// # Errors
/// When the files cannot be read.
pub async fn list(flow: &Flow) -> Result<ContactList, NotDone> {
    let Contacts { book, trouble } = contacts(flow).await;
    let mut list = book.list().await.map_err(NotDone::refused)?;
    list.faults.splice(..0, trouble);
    Ok(exactly(flow, list).await)
}

/// Shows the one contact with this id or name.
///
/// # Errors
/// When there is none.
pub async fn show(flow: &Flow, who: &str) -> Result<ContactList, NotDone> {
    let view = contacts(flow).await.book.show(who).await.map_err(NotDone::refused)?;
    Ok(exactly(flow, alone(view)).await)
}

/// Merges a contact into another.
///
/// # Errors
/// When one of them is not there.
pub async fn merge(flow: &Flow, from: &str, into: &str) -> Result<ContactList, NotDone> {
    let book = contacts(flow).await.book;
    let view = book.merge(from, into, flow.now()).await.map_err(NotDone::refused)?;
    Ok(exactly(flow, alone(view)).await)
}

/// Lists what people want done.
///
/// # Errors
/// When the files cannot be read.
pub async fn todos(flow: &Flow) -> Result<Todos, NotDone> {
    contacts(flow).await;
    let everything = Reader { chat: String::new(), is_whole: true, person: None };
    let list = flow.todo_lists().seen(&everything).await.map_err(NotDone::refused)?;
    Ok(Todos { list, whose_is_lost: of_files(flow, Files::has_lost_whose).await? })
}

/// Lists what of it may be others' words.
///
/// # Errors
/// When the files cannot be read.
pub async fn doubtful(flow: &Flow) -> Result<DoubtfulTodos, NotDone> {
    contacts(flow).await;
    let items = of_files(flow, Files::doubtful_todos).await?;
    Ok(DoubtfulTodos { items, whose_is_lost: of_files(flow, Files::has_lost_whose).await? })
}

/// Takes these items for the owner's own words, or those of the chat that they name; returns how many.
///
/// # Errors
/// When the files cannot be written.
pub async fn trust(flow: &Flow, items: Vec<Doubtful>) -> Result<usize, NotDone> {
    contacts(flow).await;
    of_files(flow, move |files| files.trust_todos(&items)).await
}

/// Lists the versions of a file, the newest first.
///
/// # Errors
/// When there is no such file, or it cannot be read.
pub async fn versions(flow: &Flow, file: &str) -> Result<Vec<Version>, NotDone> {
    let book = contacts(flow).await.book;
    book.versions(checked(file)?).await.map_err(NotDone::refused)
}

/// Puts an earlier version, else the newest, in the place of a file.
///
/// # Errors
/// When there is none.
pub async fn undo(flow: &Flow, file: &str, to: Option<String>) -> Result<RestoredVersion, NotDone> {
    let book = contacts(flow).await.book;
    book.undo(checked(file)?, to, flow.now()).await.map_err(NotDone::refused)
}

/// The contacts, up to now as far as the ledger and the disk let them be.
pub struct Contacts {
    /// Who is known.
    pub book: ContactBook,
    /// What kept them from being so.
    pub trouble: Option<String>,
}

/// Brings the contacts up to now.
pub async fn contacts(flow: &Flow) -> Contacts {
    let trouble = flow.acquaintances.bring().await.err();
    Contacts { book: flow.acquaintances.book(), trouble: trouble.map(|why| why.to_string()) }
}

fn alone(view: ContactView) -> ContactList {
    ContactList { contacts: vec![view], faults: Vec::new() }
}

/// What the files of the state folder are asked, off the runtime's threads.
async fn of_files<T: Send + 'static>(
    flow: &Flow,
    ask: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
) -> Result<T, NotDone> {
    let files = Arc::clone(&flow.acquaintances.files);
    let asked = tokio::task::spawn_blocking(move || ask(&files)).await;
    let asked = asked.unwrap_or_else(|error| Err(FileError::ended(&error)));
    asked.map_err(NotDone::refused)
}

/// Tells when people last spoke as exactly as it is known: the files are a day behind.
async fn exactly(flow: &Flow, mut list: ContactList) -> ContactList {
    if let Ok(last) = flow.acquaintances.last_spoke().await {
        for view in &mut list.contacts {
            view.last_interaction_at = last.of(&view.ids, view.last_interaction_at);
        }
    }
    list
}

/// The files that are kept so, and no others.
fn checked(file: &str) -> Result<&str, NotDone> {
    match STATE_FILES.contains(&file) {
        true => Ok(file),
        false => {
            let why = format!("invalid FILE: {file} (takes {})", STATE_FILES.join(", "));
            Err(NotDone::Mistyped(why))
        }
    }
}
