//! What the command line asks about people, and about what state files said before.

use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::daemon::flow::Flow;
use crate::people::book::{ContactBook, ContactView, NoContact};
use crate::people::files::Version;

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
    /// Versions of a file, the newest first; the one that was restored.
    pub versions: Vec<Version>,
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
    let one = |view: ContactView| ToldOfPeople { contacts: vec![view], ..ToldOfPeople::default() };
    match asked {
        AskedOfPeople::List => {
            let list = book.list().await.map_err(|why| NotDone::Refused(why.to_string()))?;
            let faults = why.into_iter().chain(list.faults).collect();
            Ok(ToldOfPeople { contacts: list.contacts, faults, ..ToldOfPeople::default() })
        }
        AskedOfPeople::Show { who } => Ok(one(book.show(&who).await.map_err(refused)?)),
        AskedOfPeople::Merge { from, into } => {
            Ok(one(book.merge(&from, &into, flow.now()).await.map_err(refused)?))
        }
        AskedOfPeople::Versions { file } => {
            let versions = book.versions(checked(&file)?).await;
            let versions = versions.map_err(|why| NotDone::Refused(why.to_string()))?;
            Ok(ToldOfPeople { versions, ..ToldOfPeople::default() })
        }
        AskedOfPeople::Undo { file, to } => undo(&book, flow, checked(&file)?, to).await,
    }
}

async fn undo(
    book: &ContactBook,
    flow: &Flow,
    file: &str,
    to: Option<String>,
) -> Result<ToldOfPeople, NotDone> {
    let version = book.undo(file, to, flow.now()).await.map_err(refused)?;
    Ok(ToldOfPeople { versions: vec![version], ..ToldOfPeople::default() })
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
