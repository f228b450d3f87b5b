//! The times of todo items mean the clocks of their chat: reminders that wait follow where somebody sets other ones.

use std::collections::BTreeMap;

use crate::work::due::{DueItems, NoReminder, blocking};
use selkie_domain::ids::ScheduleId;
use selkie_people::due::{DueNotes, ItemNote, name};
use selkie_people::todo::{Entry, List, Todos, due};
use selkie_schedule::book::BookError;
use selkie_schedule::local::fixed;

impl DueItems {
    /// Brings the reminders that wait to the moments that the clocks of their items' chats mean now.
    pub(super) async fn follow_clocks(&self) {
        let _held = self.one.lock().await;
        let followed = self.followed_clocks().await;
        if let Err(NoReminder::Refused(why) | NoReminder::Trouble(why)) = followed {
            tracing::warn!(
                why,
                "reminders of the todo list may still come by clocks that were set before"
            );
        }
    }

    async fn followed_clocks(&self) -> Result<(), NoReminder> {
        let (content, notes) = (self.read().await?, self.notes().await?);
        let todos = Todos::read(List::Open, &content.text);
        let (mut zones, mut trouble) = (BTreeMap::new(), None);
        for entry in todos.counted() {
            let Some((name, noted)) = noted(&notes, entry) else { continue };
            match self.by_its_clocks(entry, noted).await {
                Ok(zone) if zone != noted.zone => zones.extend(zone.map(|zone| (name, zone))),
                Ok(_) => {}
                Err(why) => trouble = Some(why),
            }
        }
        if !zones.is_empty() {
            let state = self.state_dir.clone();
            blocking(move || DueNotes::read(&state)?.set_zones(zones)).await?;
        }
        trouble.map_or(Ok(()), Err)
    }

    /// Brings one reminder there; returns by whose clocks it comes, or came.
    async fn by_its_clocks(
        &self,
        entry: &Entry,
        noted: &ItemNote,
    ) -> Result<Option<String>, NoReminder> {
        let (Some(id), Some(due)) = (noted.schedule, due(&entry.content)) else { return Ok(None) };
        let timetable = &self.timetable;
        let row = match timetable.book.get(ScheduleId(id), None).await {
            Ok(row) => row,
            Err(BookError::Refused(_)) => return Ok(None),
            Err(error @ BookError::Store(_)) => return Err(NoReminder::Trouble(error.to_string())),
        };
        let found = timetable.zones.of(&row.place, Some(&row.schedule.maker.person)).await;
        let zone = found.map_err(|error| NoReminder::Trouble(error.to_string()))?.zone;
        let own = row.schedule.zone.clone();
        let Some(at) = fixed(zone, due.at).filter(|_| zone.name() != own) else {
            return Ok(Some(own));
        };
        match timetable.book.move_reminder(row, zone, at).await {
            Ok(row) => Ok(Some(row.schedule.zone)),
            Err(BookError::Refused(_)) => Ok(Some(own)),
            Err(error @ BookError::Store(_)) => Err(NoReminder::Trouble(error.to_string())),
        }
    }
}

fn noted<'a>(notes: &'a DueNotes, entry: &Entry) -> Option<(String, &'a ItemNote)> {
    let name = name(entry)?;
    notes.of(&name).map(|noted| (name, noted))
}
