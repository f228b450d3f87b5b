//! What the command line asks about people, and about what state files said before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::Flow;
use crate::people::book::{ContactBook, ContactView, NoContact};
use crate::people::files::{Doubtful, FileError, Files, Version};
use crate::people::undone::Undone;
use crate::work::acquaintances::LastSpoke;
use crate::work::todo_list::{Reader, TodoList};

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedOfPeople {
    /// Everybody.
    List,
    /// One.
    Show {
        /// Their id or name.
        who: String,
    },
    /// One contact goes into another.
    Merge {
        /// Who goes.
        from: String,
        /// Who stays.
        into: String,
    },
    /// The list of what people want done.
    Todos,
    /// What of it may be others' words.
    DoubtfulTodos,
    /// These items are the owner's own words, or those of the chat that they name.
    TrustTodos {
        /// The items.
        items: Vec<Doubtful>,
    },
    /// The earlier versions of a file.
    Versions {
        /// Its name in the state folder.
        file: String,
    },
    /// An earlier version takes the place of a file.
    Undo {
        /// Its name in the state folder.
        file: String,
        /// The version; the newest where none is named.
        to: Option<String>,
    },
}

/// What is answered.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToldOfPeople {
    /// Contacts.
    pub contacts: Vec<ContactView>,
    /// What could not be read or written.
    pub faults: Vec<String>,
    /// Versions of a file, the newest first.
    pub versions: Vec<Version>,
    /// The one that was restored, and what that has changed.
    pub undone: Option<Undone>,
    /// What people want done.
    pub todos: TodoList,
    /// Whose the items are is not known any more.
    #[serde(default)]
    pub whose_is_lost: bool,
    /// What may be others' words than those of whoever it belongs to.
    #[serde(default)]
    pub doubtful: Vec<Doubtful>,
    /// So many items are the owner's now.
    #[serde(default)]
    pub trusted: usize,
}

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out_people(
    flow: &Flow,
    asked: AskedOfPeople,
) -> anyhow::Result<Answered<ToldOfPeople>> {
    Answered::of(found(flow, asked).await)
}

async fn found(flow: &Flow, asked: AskedOfPeople) -> Result<ToldOfPeople, NotDone> {
    let (book, why) = flow.contacts().await;
    let one = |view: ContactView, last: Option<LastSpoke>| {
        let contacts = vec![exactly(view, last.as_ref())];
        ToldOfPeople { contacts, ..ToldOfPeople::default() }
    };
    match asked {
        AskedOfPeople::List => {
            let list = book.list().await.map_err(|why| NotDone::Refused(why.to_string()))?;
            let faults = why.into_iter().chain(list.faults).collect();
            let last = flow.last_spoke().await;
            let contacts = list.contacts.into_iter();
            let contacts = contacts.map(|view| exactly(view, last.as_ref())).collect();
            Ok(ToldOfPeople { contacts, faults, ..ToldOfPeople::default() })
        }
        AskedOfPeople::Show { who } => {
            let view = book.show(&who).await.map_err(refused)?;
            Ok(one(view, flow.last_spoke().await))
        }
        AskedOfPeople::Merge { from, into } => {
            let view = book.merge(&from, &into, flow.now()).await.map_err(refused)?;
            Ok(one(view, flow.last_spoke().await))
        }
        AskedOfPeople::Todos => {
            let everything = Reader { chat: String::new(), is_whole: true, person: None };
            let todos = flow.todo_lists().seen(&everything).await;
            let todos = todos.map_err(|why| NotDone::Refused(why.to_string()))?;
            let whose_is_lost = of_files(flow, |files| files.has_lost_whose()).await?;
            Ok(ToldOfPeople { todos, whose_is_lost, ..ToldOfPeople::default() })
        }
        AskedOfPeople::DoubtfulTodos => {
            let doubtful = of_files(flow, |files| files.doubtful_todos()).await?;
            let whose_is_lost = of_files(flow, |files| files.has_lost_whose()).await?;
            Ok(ToldOfPeople { doubtful, whose_is_lost, ..ToldOfPeople::default() })
        }
        AskedOfPeople::TrustTodos { items } => {
            let trusted = of_files(flow, move |files| files.trust_todos(&items)).await?;
            Ok(ToldOfPeople { trusted, ..ToldOfPeople::default() })
        }
        AskedOfPeople::Versions { file } => {
            let versions = book.versions(checked(&file)?).await;
            let versions = versions.map_err(|why| NotDone::Refused(why.to_string()))?;
            Ok(ToldOfPeople { versions, ..ToldOfPeople::default() })
        }
        AskedOfPeople::Undo { file, to } => undo(&book, flow, checked(&file)?, to).await,
    }
}

/// What the files of the state folder are asked, off the runtime's threads.
async fn of_files<T: Send + 'static>(
    flow: &Flow,
    ask: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
) -> Result<T, NotDone> {
    let files = Arc::clone(&flow.todo_lists().acquaintances.files);
    let asked = tokio::task::spawn_blocking(move || ask(&files)).await;
    let asked = asked.unwrap_or_else(|error| Err(FileError::ended(&error)));
    asked.map_err(|why| NotDone::Refused(why.to_string()))
}

async fn undo(
    book: &ContactBook,
    flow: &Flow,
    file: &str,
    to: Option<String>,
) -> Result<ToldOfPeople, NotDone> {
    let undone = book.undo(file, to, flow.now()).await.map_err(refused)?;
    Ok(ToldOfPeople { undone: Some(undone), ..ToldOfPeople::default() })
}

/// Tells when somebody last spoke as exactly as it is known: the file is a day behind.
fn exactly(view: ContactView, last: Option<&LastSpoke>) -> ContactView {
    let Some(last) = last else { return view };
    let at = last.of(&view.ids, view.last_interaction_at);
    ContactView { last_interaction_at: at, ..view }
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

/// The files of the state folder that people and selkie change.
const STATE_FILES: [&str; 4] =
    ["TODO.md", "TODO.DONE.md", "contacts/ACTIVE.md", "contacts/INACTIVE.md"];

fn refused(why: NoContact) -> NotDone {
    NotDone::Refused(why.to_string())
}
