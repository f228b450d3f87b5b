//! `selkie forget`: what there is of a person, and its erasure.

use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::daemon::flow::Flow;
use crate::people::book::{ContactView, NoContact};
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
    /// Their private chats.
    pub chats: Vec<PrivateChat>,
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
    let contact = match contact {
        Err(why) if chats.is_empty() => return Err(NotDone::Refused(why.to_string())),
        contact => contact.ok(),
    };
    let mut told = Forgotten { forgotten: false, contact, chats, goes_on: false };
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
    told.goes_on = !flow.forget_now().await.map_err(NotDone::Store)?;
    told.forgotten = true;
    Ok(told)
}
