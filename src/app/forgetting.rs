//! `selkie forget`: what there is of a person, and its erasure.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::answered::NotDone;
use crate::people::contacts;
use selkie_engine::flow::Flow;
use selkie_people::book::{ContactView, NoContact};
use selkie_store::{Location, PrivateChat, Since, States, StoreError, Which};

/// More steps are the janitor's, beside the messages.
const MAX_STEPS: usize = 10_000;

/// What there is of somebody, or was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ForgetReport {
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

/// What is said of an id of which there is nothing, whether there was or not.
fn nothing_of(id: &str) -> String {
    format!(
        "nothing is kept of {id}: no contact has this id, and no words of a private chat with it are stored. An id is written as \
         `selkie contacts list` shows it: {id:?} is read letter by letter"
    )
}

/// Looks at what there is of whoever has this name or id, and forgets it unless it is only looked at.
///
/// # Errors
/// When there is nothing, or the store or the files cannot be written.
pub async fn forget(flow: &Flow, who: String, only_look: bool) -> Result<ForgetReport, NotDone> {
    let book = contacts(flow).await.book;
    let ledger = flow.ledger();
    let contact = match book.show(&who).await {
        Ok(view) => Ok(view),
        Err(why @ NoContact::Refused(_)) => Err(why),
        Err(why) => return Err(NotDone::refused(why)),
    };
    let ids = contact.as_ref().map_or_else(|_| vec![who.clone()], |view| view.ids.clone());
    let people: Vec<PersonId> = ids.iter().map(|id| PersonId::new(id.as_str())).collect();
    let chats = ledger.private_chats(&people).await?;
    let named = ids.into_iter().chain([who.clone()]).collect();
    let versions = book.versions_naming(named).await.map_err(NotDone::refused)?;
    let contact = match contact {
        Err(why) if chats.is_empty() && versions == 0 => {
            return Err(NotDone::Refused(match who.split_once(':') {
                Some(_) => nothing_of(&who),
                None => why.to_string(),
            }));
        }
        contact => contact.ok(),
    };
    let schedules = schedules_about(flow, &people, &chats).await?;
    let mut told =
        ForgetReport { forgotten: false, contact, versions, chats, schedules, goes_on: false };
    if only_look {
        return Ok(told);
    }
    for PrivateChat { conversation, place, .. } in &told.chats {
        let here = Location {
            conversation: conversation.clone(),
            place: place.clone(),
            title: String::new(),
        };
        flow.forget_place(here).await.map_err(NotDone::Refused)?;
    }
    ledger.forget_names(&people, &told.chats).await?;
    if let Some(contact) = &told.contact {
        book.forget(&contact.contact_id, flow.now()).await.map_err(NotDone::refused)?;
    }
    if told.contact.is_some() || told.versions > 0 {
        book.forget_versions().await.map_err(NotDone::refused)?;
    }
    told.goes_on = !forget_now(flow).await?;
    told.forgotten = true;
    Ok(told)
}

/// Lists the schedules and reminders that somebody has made, or that speak in one of these chats: they go on.
async fn schedules_about(
    flow: &Flow,
    people: &[PersonId],
    chats: &[PrivateChat],
) -> Result<Vec<i64>, StoreError> {
    let all = Which { states: States::OPEN, limit: usize::MAX, ..Which::default() };
    let theirs = people.iter().map(|one| Which { person: Some(one.clone()), ..all.clone() });
    let there = chats
        .iter()
        .map(|chat| Which { conversation: Some(chat.conversation.clone()), ..all.clone() });
    let mut found = BTreeSet::new();
    for which in theirs.chain(there) {
        let rows = flow.ledger().schedules(&which).await?;
        found.extend(rows.iter().map(|row| row.id().0));
    }
    Ok(found.into_iter().collect())
}

/// Takes away what is marked to be forgotten; `false` when something of it waits for a task that has to end first. Where the
/// store cannot be written, the next start goes on.
async fn forget_now(flow: &Flow) -> Result<bool, StoreError> {
    let ledger = flow.ledger();
    flow.remove_forgotten_files().await?;
    let never = DateTime::<Utc>::MIN_UTC;
    let since =
        Since { transcripts: never, inbox: never, outbox: never, keys: never, cache: never };
    for _ in 0..MAX_STEPS {
        if ledger.forget_old(since).await? == 0 {
            break;
        }
    }
    Ok(!ledger.is_forgetting().await?)
}
