//! The todo files as people read them: chats by their names, and times as moments, by the clocks of each item's chat.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::work::acquaintances::Acquaintances;
use crate::work::timetable::BookTimetable;
use selkie_people::due::DueNotes;
use selkie_people::files::FileError;
use selkie_people::update::{NamedPerson, SeenTodo, SeenTodos, seen};
use selkie_people::visibility::Visibility;
use selkie_schedule::local::fixed;
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::SetBy;
use selkie_store::StoreError;

/// So many of the last active conversations are looked through for the names of chats.
const LOOKED_THROUGH: usize = 10_000;

/// What one conversation sees of the todo files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoList {
    /// What is to be done: what has a time by its time, then the newest first.
    pub open: Vec<ListedTodo>,
    /// What was done, the newest first.
    pub done: Vec<ListedTodo>,
    /// What could not be read, with its file and line, for who sees all.
    pub faults: Vec<String>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedTodo {
    /// What is to be done, without its time, people by their names alone.
    pub text: String,
    /// When it comes due, as clocks of its chat show it.
    pub due: Option<DateTime<FixedOffset>>,
    /// Who is named in it.
    pub people: Vec<NamedPerson>,
    /// The chat that it belongs to; none for the owner's own.
    pub chat: Option<String>,
    /// What people call that chat, where that is known.
    pub chat_name: Option<String>,
    /// When it was written; nothing for what people wrote by hand.
    pub created_at: Option<DateTime<Utc>>,
    /// When it was done.
    pub done_at: Option<DateTime<Utc>>,
}

/// Reads the files for people.
pub struct TodoLists {
    pub(crate) acquaintances: Arc<Acquaintances>,
    pub(crate) timetable: Arc<BookTimetable>,
    /// Where it is noted which items have reminders.
    pub state_dir: PathBuf,
}

/// Whose clocks the times of items mean.
#[derive(Default)]
struct Zones {
    /// Of items that have a reminder, by the names under which they are noted.
    of_reminders: HashMap<String, Zone>,
    /// Of the others, by their chats.
    of_chats: HashMap<Option<String>, Zone>,
}

/// Who reads, and where.
pub struct Reader {
    /// The id of the chat.
    pub chat: String,
    /// An owner alone sees everything.
    pub is_whole: bool,
    /// Who reads; nobody where somebody looks from outside.
    pub person: Option<PersonId>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TodoLists {
    /// Lists what somebody sees.
    ///
    /// # Errors
    /// When a file cannot be read, or the ledger does not answer.
    pub async fn seen(&self, by: &Reader) -> Result<TodoList, ListError> {
        let files = &self.acquaintances.files;
        let SeenTodos { open, done, faults } = seen(files, by.chat.clone(), by.is_whole).await?;
        // Elsewhere than in the whole list every item is of the chat that it is read in.
        let has_chats = open.iter().chain(&done).any(|todo| todo.chat.is_some());
        let names = match by.is_whole && has_chats {
            true => self.names().await?,
            false => HashMap::new(),
        };
        let mut zones = Zones { of_reminders: self.of_reminders().await, ..Zones::default() };
        let (mut opened, mut ended) = (Vec::new(), Vec::new());
        for todo in open {
            opened.push(self.listed(todo, by, &names, &mut zones).await?);
        }
        for todo in done {
            ended.push(self.listed(todo, by, &names, &mut zones).await?);
        }
        opened.sort_by_key(|todo| (todo.due.is_none(), todo.due));
        Ok(TodoList { open: opened, done: ended, faults })
    }

    async fn listed(
        &self,
        todo: SeenTodo,
        by: &Reader,
        names: &HashMap<String, String>,
        zones: &mut Zones,
    ) -> Result<ListedTodo, StoreError> {
        let SeenTodo { text, due, noted, people, chat, created, done } = todo;
        let due = match due {
            Some(due) => {
                let zone = match noted.and_then(|name| zones.of_reminders.get(&name)) {
                    Some(zone) => *zone,
                    None => self.zone_of(&chat, by, &mut zones.of_chats).await?,
                };
                fixed(zone, due).map(|at| zone.stamp(at))
            }
            None => None,
        };
        let chat_name = chat.as_ref().and_then(|chat| names.get(chat)).cloned();
        Ok(ListedTodo { text, due, people, chat, chat_name, created_at: created, done_at: done })
    }

    async fn of_reminders(&self) -> HashMap<String, Zone> {
        let state = self.state_dir.clone();
        let read = tokio::task::spawn_blocking(move || DueNotes::read(&state)).await;
        match read.map_err(io::Error::other).flatten() {
            Ok(notes) => notes
                .zones()
                .filter_map(|(name, zone)| Some((name.to_owned(), Zone::named(zone).ok()?)))
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "the zones of reminders are not known, and the list shows those of its chats");
                HashMap::new()
            }
        }
    }

    async fn zone_of(
        &self,
        chat: &Option<String>,
        by: &Reader,
        known: &mut HashMap<Option<String>, Zone>,
    ) -> Result<Zone, StoreError> {
        if let Some(zone) = known.get(chat) {
            return Ok(*zone);
        }
        let zone = self.zone(chat.as_deref(), by).await?;
        known.insert(chat.clone(), zone);
        Ok(zone)
    }

    /// Finds whose clocks an item without a reminder means: its chat's, the own ones of whoever is alone with the bot there,
    /// those of who reads or of the owner.
    async fn zone(&self, chat: Option<&str>, by: &Reader) -> Result<Zone, StoreError> {
        let timetable = &self.timetable;
        let location = match chat {
            Some(chat) => {
                let conversation = timetable.accounts.parse(chat);
                conversation.and_then(|conversation| timetable.location(&conversation).ok())
            }
            None => timetable.target(None).await.ok(),
        };
        let Some(place) = location.map(|location| location.place) else {
            return Ok(timetable.zones.usual());
        };
        if let Some(chat) = chat {
            let found = timetable.zones.of(&place, Some(&PersonId::new(chat))).await?;
            if found.by != SetBy::Nobody {
                return Ok(found.zone);
            }
        }
        let person = by.person.as_ref().filter(|_| !by.is_whole).or(timetable.owners.first());
        Ok(timetable.zones.of(&place, person).await?.zone)
    }

    /// Knows what people call chats, by their ids: by their titles, and those with one person by whom it is.
    async fn names(&self) -> Result<HashMap<String, String>, ListError> {
        let ledger = &self.acquaintances.storage.ledger;
        let whole = Visibility { is_whole: true, ..Visibility::default() };
        let known = self.acquaintances.book().known(whole).await?.known;
        let mut names = HashMap::new();
        for one in known {
            let Some(name) = one.names.first() else { continue };
            let own = one.ids.iter().filter(|id| self.acquaintances.forms.is_own(id));
            names.extend(own.map(|id| (id.clone(), name.clone())));
        }
        for row in ledger.conversations(LOOKED_THROUGH).await? {
            let place = self.timetable.accounts.place(&row.id);
            let title = row.title.trim();
            if !title.is_empty() {
                names.entry(place.key().to_owned()).or_insert_with(|| title.to_owned());
            }
        }
        Ok(names)
    }
}

impl TodoList {
    /// Lists the names that several chats of the list have.
    pub fn namesakes(&self) -> HashSet<&str> {
        let (mut first, mut several) = (HashMap::new(), HashSet::new());
        for todo in self.open.iter().chain(&self.done) {
            let (Some(chat), Some(name)) = (&todo.chat, &todo.chat_name) else { continue };
            if *first.entry(name.as_str()).or_insert(chat) != chat {
                several.insert(name.as_str());
            }
        }
        several
    }
}

impl ListedTodo {
    /// Says which chat it belongs to; `namesakes`: names that do not tell one from the other.
    pub fn chat_label(&self, namesakes: &HashSet<&str>) -> Option<ChatLabel<'_>> {
        let id = self.chat.as_deref()?;
        let name = self.chat_name.as_deref();
        let id = Some(id).filter(|_| name.is_none_or(|name| namesakes.contains(name)));
        Some(ChatLabel { name, id })
    }
}

/// How a chat is called in a list: by its name, by its id where it has none, by both where others have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatLabel<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// Its id.
    pub id: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(chat: &str, name: Option<&str>) -> ListedTodo {
        ListedTodo {
            text: "Sail".to_owned(),
            due: None,
            people: Vec::new(),
            chat: Some(chat.to_owned()),
            chat_name: name.map(str::to_owned),
            created_at: None,
            done_at: None,
        }
    }

    #[test]
    fn chats_of_one_name_are_told_apart_by_their_ids() {
        let open = vec![
            todo("bird:-1", Some("Tea")),
            todo("bird:-2", Some("Tea")),
            todo("bird:-3", Some("Crew")),
            todo("bird:-4", None),
        ];
        let list = TodoList { open, ..TodoList::default() };
        let namesakes = list.namesakes();
        let labels: Vec<_> = list.open.iter().map(|todo| todo.chat_label(&namesakes)).collect();
        let label = |name, id| Some(ChatLabel { name, id });
        assert_eq!(labels[0], label(Some("Tea"), Some("bird:-1")));
        assert_eq!(labels[1], label(Some("Tea"), Some("bird:-2")));
        assert_eq!(labels[2], label(Some("Crew"), None));
        assert_eq!(labels[3], label(None, Some("bird:-4")));
    }
}
