//! `selkie forget`: what there is of a person, and its erasure.

use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::Flow;
use crate::people::book::{ContactView, NoContact};
use crate::people::files::FileError;
use crate::store::PrivateChat;

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedToForget {
    /// Their name or an id of theirs.
    pub who: String,
    /// Only look at what there is.
    pub only_look: bool,
}

/// What there is of somebody, or was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Forgotten {
    /// It is gone.
    pub forgotten: bool,
    /// Their entry among the contacts.
    pub contact: Option<ContactView>,
    /// Earlier versions of the contacts' files that name them.
    pub versions: usize,
    /// Their private chats.
    pub chats: Vec<PrivateChat>,
    /// Schedules and reminders of theirs, or in these chats: they stay, and go on.
    pub schedules: Vec<i64>,
    /// Something of it goes as soon as a task has ended that was told to stop.
    pub goes_on: bool,
}

/// Looks, or forgets.
///
/// # Errors
/// When the store does not answer.
pub async fn told_to_forget(
    flow: &Flow,
    asked: AskedToForget,
) -> anyhow::Result<Answered<Forgotten>> {
    Answered::of(found(flow, asked).await)
}

fn failed(why: FileError) -> NotDone {
    NotDone::Refused(why.to_string())
}

/// What is said of an id of which there is nothing, whether there was or not.
fn nothing_of(id: &str) -> String {
    format!(
        "nothing is kept of {id}: no contact has this id, and no words of a private chat with it are stored. An id is written as \
         `selkie contacts list` shows it: {id:?} is read letter by letter"
    )
}

async fn found(flow: &Flow, asked: AskedToForget) -> Result<Forgotten, NotDone> {
    let AskedToForget { who, only_look } = asked;
    let (book, _) = flow.contacts().await;
    let contact = match book.show(&who).await {
        Ok(view) => Ok(view),
        Err(why @ NoContact::Refused(_)) => Err(why),
        Err(why) => return Err(NotDone::Refused(why.to_string())),
    };
    let ids = contact.as_ref().map_or_else(|_| vec![who.clone()], |view| view.ids.clone());
    let people: Vec<PersonId> = ids.iter().map(|id| PersonId::new(id.as_str())).collect();
    let chats = flow.private_chats(&people).await.map_err(NotDone::Store)?;
    let named = ids.into_iter().chain([who.clone()]).collect();
    let versions = book.versions_naming(named).await.map_err(failed)?;
    let contact = match contact {
        Err(why) if chats.is_empty() && versions == 0 => {
            return Err(NotDone::Refused(match who.split_once(':') {
                Some(_) => nothing_of(&who),
                None => why.to_string(),
            }));
        }
        contact => contact.ok(),
    };
    let schedules = flow.schedules_about(&people, &chats).await.map_err(NotDone::Store)?;
    let schedules = schedules.into_iter().map(|id| id.0).collect();
    let mut told =
        Forgotten { forgotten: false, contact, versions, chats, schedules, goes_on: false };
    if only_look {
        return Ok(told);
    }
    for chat in &told.chats {
        flow.forget_chat(chat).await.map_err(NotDone::Refused)?;
    }
    flow.forget_names(&people, &told.chats).await.map_err(NotDone::Store)?;
    if let Some(contact) = &told.contact {
        let gone = book.forget(&contact.contact_id, flow.now()).await;
        gone.map_err(|why| NotDone::Refused(why.to_string()))?;
    }
    if told.contact.is_some() || told.versions > 0 {
        book.forget_versions().await.map_err(failed)?;
    }
    told.goes_on = !flow.forget_now().await.map_err(NotDone::Store)?;
    told.forgotten = true;
    Ok(told)
}
