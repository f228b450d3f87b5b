//! Items of the todo file that have a time become reminders, whoever wrote them, and end with their item.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::PersonId;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::messages::overdue;
use crate::work::timetable::BookTimetable;
use selkie_domain::facts::Trust;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Maker, ScheduleState, Terms, Wish};
use selkie_domain::taint::Taint;
use selkie_people::due::{DueNotes, ItemNote, name};
use selkie_people::files::{Content, Files};
use selkie_people::todo::{Due, Entry, List, due, plain};
use selkie_people::update::ReminderStore;
use selkie_schedule::book::{BookError, RequestOrigin, ScheduleRequest};
use selkie_schedule::local::fixed;
use selkie_store::{Location, ScheduleRow};
use selkie_tools::ports::TodoAsker;

/// How long a change by hand may go unseen.
const LOOKED_AT: Duration = Duration::from_secs(60);

/// The reminders of the todo file.
pub struct DueItems {
    pub(crate) timetable: Arc<BookTimetable>,
    pub(crate) files: Arc<Files>,
    pub(crate) state_dir: PathBuf,
    /// What is noted is read, changed and written by one at a time.
    pub one: Arc<Mutex<()>>,
}

/// Why an item gets no reminder.
pub(super) enum NoReminder {
    /// Its time is over.
    Over,
    /// For another reason, in words; it is looked at once.
    Refused(String),
    /// The disk or the store does not answer: it is looked at again.
    Trouble(String),
}

/// Whose a reminder is.
struct Whose {
    person: PersonId,
    trust: Trust,
    taint: Taint,
    is_cleared: bool,
}

#[async_trait]
impl ReminderStore for DueItems {
    async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.one).lock_owned().await
    }

    async fn put(&self, by: &TodoAsker, entry: &Entry) -> Option<String> {
        let due = due(&entry.content)?;
        let kept = match self.whose(by, entry) {
            Ok(whose) => self.keep(whose, entry).await,
            Err(why) => match self.note(entry, None, true).await {
                Ok(()) => Err(NoReminder::Refused(why)),
                Err(trouble) => Err(trouble),
            },
        };
        Some(match kept {
            Ok(next) => format!("set for {next}"),
            Err(NoReminder::Over) => format!("none: {} is over", due.at.format("%Y-%m-%d %H:%M")),
            Err(NoReminder::Refused(why) | NoReminder::Trouble(why)) => format!("none: {why}"),
        })
    }

    async fn take(&self, entries: &[Entry]) {
        for name in entries.iter().filter_map(name) {
            self.withdraw(&name).await;
        }
    }
}

impl DueItems {
    /// Looks at the file for as long as the daemon runs: people write into it, too, and set their clocks.
    pub async fn watch(self: Arc<Self>, context: Context, outbox: Arc<Outbox>) {
        let ends = &context.runtime.stop.work;
        let mut zones = self.timetable.zones.changes();
        let mut seen = None;
        let mut by_other_clocks = true;
        while !ends.is_cancelled() {
            if by_other_clocks {
                self.follow_clocks().await;
            }
            let found = tokio::fs::metadata(self.state_dir.join(List::Open.file())).await.ok();
            let now = found.and_then(|found| Some((found.modified().ok()?, found.len())));
            if seen != Some(now) {
                seen = Some(now);
                self.follow(&outbox).await;
            }
            let next = tokio::time::timeout(LOOKED_AT, zones.changed());
            by_other_clocks = ends.run_until_cancelled(next).await.is_some_and(|set| set.is_ok());
        }
    }

    /// Brings the reminders up to the file: what came gets one, what went loses it. One line names what was over when it
    /// was first seen.
    async fn follow(&self, outbox: &Arc<Outbox>) {
        let held = self.hold().await;
        let over = match self.followed().await {
            Ok(over) => over,
            Err(NoReminder::Over) => Vec::new(),
            Err(NoReminder::Refused(why) | NoReminder::Trouble(why)) => {
                tracing::warn!(
                    why,
                    "the items of the todo list that have a time are not looked at"
                );
                return;
            }
        };
        drop(held);
        if let Some(first) = over.first().and_then(name) {
            let lines: Vec<&str> = over.iter().map(|entry| entry.content.as_str()).collect();
            outbox.tell_owner(&format!("todo:over:{first}"), &overdue(&lines)).await;
        }
    }

    /// The same; returns the items that were over.
    async fn followed(&self) -> Result<Vec<Entry>, NoReminder> {
        let files = Arc::clone(&self.files);
        let listed = blocking(move || files.listed(List::Open)).await?;
        let items: BTreeMap<String, &Entry> =
            listed.todos.counted().filter_map(|entry| Some((name(entry)?, entry))).collect();
        let notes = self.notes().await?;
        let gone = notes.names().filter(|name| !items.contains_key(*name));
        for name in gone {
            self.withdraw(name).await;
        }
        let is_new =
            |name: &str| notes.of(name).is_none_or(|noted| !noted.none && noted.schedule.is_none());
        let mut over = Vec::new();
        for (_, entry) in items.into_iter().filter(|(name, _)| is_new(name)) {
            let Some(person) = self.timetable.owners.first().cloned() else { break };
            // What people write into the file by hand is the owner's.
            let level = listed.level(&entry.content);
            let (taint, is_cleared) = match &entry.chat {
                Some(_) => (Taint::Raw, !level.is_any()),
                None => (level, true),
            };
            let whose = Whose { person, trust: Trust::Owner, taint, is_cleared };
            match self.keep(whose, entry).await {
                Err(NoReminder::Over) => over.push(entry.clone()),
                Err(NoReminder::Refused(why) | NoReminder::Trouble(why)) => {
                    tracing::warn!(
                        why,
                        item = entry.content,
                        "an item of the todo list gets no reminder"
                    );
                }
                Ok(_) => {}
            }
        }
        Ok(over)
    }

    pub(super) async fn read(&self) -> Result<Content, NoReminder> {
        let files = Arc::clone(&self.files);
        blocking(move || files.read(List::Open.file())).await
    }

    fn whose(&self, by: &TodoAsker, entry: &Entry) -> Result<Whose, String> {
        let wisher = by.wisher.as_ref().ok_or_else(|| "nobody has asked for it".to_owned())?;
        if !by.is_asked {
            return Err("a task that nobody asked for makes no reminders".to_owned());
        }
        if wisher.trust == Trust::Stranger {
            return Err("strangers get none".to_owned());
        }
        let person = self.timetable.person(wisher).map_err(|why| why.to_string())?;
        let here = self.timetable.accounts.place(&by.conversation);
        let is_cleared =
            by.is_approved || entry.chat.as_deref().is_none_or(|chat| chat == here.key());
        Ok(Whose { person, trust: wisher.trust, taint: by.taint, is_cleared })
    }

    /// Keeps a reminder of an item; returns when it is said.
    async fn keep(&self, whose: Whose, entry: &Entry) -> Result<String, NoReminder> {
        let (Some(due), Some(name)) = (due(&entry.content), name(entry)) else {
            return Err(NoReminder::Refused("it has no time".to_owned()));
        };
        let wanted = match self.wanted(whose, entry, &due).await {
            Ok(wanted) => wanted,
            Err(why @ NoReminder::Trouble(_)) => return Err(why),
            Err(why) => {
                self.note(entry, None, true).await?;
                return Err(why);
            }
        };
        // A crash may have come between the note and the schedule: then that one is made.
        let known = self.notes().await?.of(&name).map(|noted| noted.key.clone());
        let known = known.filter(|key| !key.is_empty());
        let key = known.unwrap_or_else(|| {
            format!("todo:{name}:{}", self.timetable.book.now().timestamp_millis())
        });
        let zone = wanted.zone.clone();
        let unmade = ItemNote { key: key.clone(), zone: zone.clone(), ..ItemNote::default() };
        self.note_under(&name, unmade).await?;
        match self.timetable.keep(ScheduleRequest { key: key.clone(), ..wanted }).await {
            Ok(row) => {
                let schedule = Some(row.id().0);
                self.note_under(&name, ItemNote { key, schedule, zone, none: false }).await?;
                let ahead = self.timetable.book.outlook(&row);
                Ok(ahead.next.first().cloned().unwrap_or_default())
            }
            Err(BookError::Refused(why)) => {
                self.note(entry, None, true).await?;
                Err(NoReminder::Refused(why))
            }
            Err(BookError::Store(error)) => Err(NoReminder::Trouble(error.to_string())),
        }
    }

    async fn wanted(
        &self,
        whose: Whose,
        entry: &Entry,
        due: &Due,
    ) -> Result<ScheduleRequest, NoReminder> {
        let Whose { person, trust, taint, is_cleared } = whose;
        let location = self.location(entry).await?;
        let found = self.timetable.zones.of(&location.place, Some(&person)).await;
        let zone = found.map_err(|error| NoReminder::Trouble(error.to_string()))?.zone;
        let at = fixed(zone, due.at).filter(|at| *at > self.timetable.book.now());
        let at = at.ok_or(NoReminder::Over)?;
        Ok(ScheduleRequest {
            key: String::new(),
            location,
            title: String::new(),
            when: format!("at {}", at.to_rfc3339()),
            recurrence: None,
            zone: Some(zone.name().to_owned()),
            action: Action::Remind { markdown: plain(&due.what) },
            maker: Maker { person, name: String::new(), trust, taint, is_cleared },
            terms: Terms::default(),
        })
    }

    /// Where an item is said: in its chat, the owner's own where the owner last wrote in private.
    async fn location(&self, entry: &Entry) -> Result<Location, NoReminder> {
        let Some(chat) = &entry.chat else {
            return self.timetable.target(None).await.map_err(NoReminder::Trouble);
        };
        let found = self.timetable.accounts.parse(chat);
        let conversation =
            found.ok_or_else(|| NoReminder::Trouble(format!("no channel speaks in {chat} now")))?;
        self.timetable.location(&conversation).map_err(|why| NoReminder::Trouble(why.to_string()))
    }

    /// Withdraws the reminder of an item that is done or gone; one that was said stays as it is.
    async fn withdraw(&self, name: &str) {
        let (state, of) = (self.state_dir.clone(), name.to_owned());
        let noted = blocking(move || -> std::io::Result<_> {
            let mut notes = DueNotes::read(&state)?;
            let noted = notes.forget(&of)?;
            // An item whose chat moved may be noted under both names.
            Ok(noted.and_then(|noted| noted.schedule).filter(|id| !notes.keeps(*id)))
        });
        let Ok(Some(id)) = noted.await else { return };
        let (id, book) = (ScheduleId(id), &self.timetable.book);
        let waits =
            |row: &ScheduleRow| matches!(row.state, ScheduleState::Active | ScheduleState::Paused);
        let may = |row: &ScheduleRow| if waits(row) { Ok(()) } else { Err(String::new()) };
        match book.wish(id, Wish::Remove, RequestOrigin::default(), may).await {
            Ok(_) | Err(BookError::Refused(_)) => {}
            Err(error @ BookError::Store(_)) => {
                tracing::warn!(%error, schedule = %id, "the reminder of an item that is done cannot be withdrawn");
            }
        }
    }

    async fn note(
        &self,
        entry: &Entry,
        schedule: Option<i64>,
        none: bool,
    ) -> Result<(), NoReminder> {
        match name(entry) {
            Some(name) => {
                self.note_under(&name, ItemNote { schedule, none, ..ItemNote::default() }).await
            }
            None => Ok(()),
        }
    }

    async fn note_under(&self, name: &str, noted: ItemNote) -> Result<(), NoReminder> {
        let (state, name) = (self.state_dir.clone(), name.to_owned());
        blocking(move || DueNotes::read(&state)?.note(name, noted)).await
    }

    pub(super) async fn notes(&self) -> Result<DueNotes, NoReminder> {
        let state = self.state_dir.clone();
        blocking(move || DueNotes::read(&state)).await
    }
}

pub(super) async fn blocking<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, NoReminder> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(NoReminder::Trouble(error.to_string())),
        Err(error) => Err(NoReminder::Trouble(error.to_string())),
    }
}
