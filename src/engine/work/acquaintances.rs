//! Brings whom the bot has met into the files of contacts: beside the messages, at most once a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{AccountId, Audience, Mention, PersonId, PlaceId, locked};
use tokio::sync::Mutex;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::storage::Storage;
use crate::work::messages::name_taken_over;
use selkie_domain::clock::SharedClock;
use selkie_domain::facts::Where;
use selkie_domain::taint::Taint;
use selkie_people::book::ContactBook;
use selkie_people::contact_files::Shelves;
use selkie_people::directory::{Directory, Newcomers};
use selkie_people::files::{Edit, FileError, Files};
use selkie_people::forms::Forms;
use selkie_people::mentions::mentions;
use selkie_people::observed::{Observations, TakenOver, make_room, observe};
use selkie_people::visibility::{Visibility, VisiblePerson};
use selkie_store::{NewlyMet, SeenPerson, StoreError, TaskClaim};
use selkie_tools::paths::Lists;

/// How often the files are brought up to date at most.
const PAUSE: Duration = Duration::from_secs(60);
/// How often it is looked whether there is anything to bring.
const QUIET: Duration = Duration::from_secs(5);
/// How long after a message: its own work comes first.
const AFTER: Duration = Duration::from_secs(1);
/// So many people are brought at a time.
const AT_ONCE: usize = 50;
/// So often in a row; who is left then follows a pause later.
const ROUNDS: usize = 40;
/// So many pages of messages are looked through at a time.
const PAGES: usize = 200;
/// So many people of one place are known, the latest.
const MAX_MET: usize = 2_000;
/// So many times of people are looked up, the latest.
const MAX_TIMES: usize = 20_000;
/// What was stored so lately may come to be seen behind something newer.
const UNSETTLED: TimeDelta = TimeDelta::seconds(60);

/// Whom the bot has met.
pub struct Acquaintances {
    pub(crate) storage: Arc<Storage>,
    /// The files that people edit.
    pub files: Arc<Files>,
    pub(crate) forms: Forms,
    pub(crate) clock: SharedClock,
    /// The files are brought up to date by one at a time.
    one: Mutex<()>,
    /// That they cannot be, was said.
    is_told: AtomicBool,
    /// What the owner is still to be told, whoever had the files brought up to date.
    untold: std::sync::Mutex<Vec<TakenOver>>,
}

/// When people last spoke, by their ids.
pub struct LastSpoke(HashMap<String, DateTime<Utc>>);

impl LastSpoke {
    /// Tells of each when they did, and puts the latest first.
    pub fn tell(&self, known: &mut [VisiblePerson]) {
        for one in known.iter_mut() {
            one.last = self.of(&one.ids, one.last);
        }
        known.sort_by_key(|one| std::cmp::Reverse(one.last));
    }

    /// Says when somebody of these ids did, or what stands in a file where that is later.
    pub fn of(&self, ids: &[String], file: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        ids.iter().filter_map(|id| self.0.get(id)).copied().chain(file).max()
    }
}

/// Why the files are not up to date.
#[derive(Debug, thiserror::Error)]
pub enum NotBrought {
    /// The ledger does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Acquaintances {
    /// Knows nobody yet.
    pub fn new(storage: Arc<Storage>, files: Arc<Files>, forms: Forms, clock: SharedClock) -> Self {
        Self {
            storage,
            files,
            forms,
            clock,
            one: Mutex::default(),
            is_told: AtomicBool::new(false),
            untold: std::sync::Mutex::default(),
        }
    }

    /// Returns the lists of the state folder, for tools that change files.
    pub fn lists(&self) -> Lists {
        Lists::of(Arc::clone(&self.files) as _)
    }

    /// Returns the files as people see and tidy them.
    pub fn book(self: &Arc<Self>) -> ContactBook {
        ContactBook { directory: self.directory(), forms: self.forms.clone() }
    }

    /// Returns the files as names are looked up in them.
    pub fn directory(self: &Arc<Self>) -> Directory {
        Directory { files: Arc::clone(&self.files), newcomers: Arc::clone(self) as _ }
    }

    /// Follows the messages for as long as the daemon runs.
    pub async fn watch(self: Arc<Self>, context: Context, outbox: Arc<Outbox>) {
        let ends = context.runtime.stop.work.clone();
        // What was stored before this start.
        self.storage.heard.notify_one();
        while ends.run_until_cancelled(self.storage.heard.notified()).await.is_some() {
            if ends.run_until_cancelled(tokio::time::sleep(AFTER)).await.is_none() {
                return;
            }
            let pause = if self.bring_told(&outbox).await { PAUSE } else { QUIET };
            ends.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
    }

    /// Brings the files up to date, tells what the owner should know; says whether there was anything to write.
    async fn bring_told(&self, outbox: &Arc<Outbox>) -> bool {
        match self.bring().await {
            Ok(people) => {
                let taken_over = std::mem::take(&mut *locked(&self.untold));
                self.is_told.store(false, Ordering::Relaxed);
                for TakenOver { handle, old, new } in taken_over {
                    tracing::warn!(%handle, %old, %new, "a name answers as somebody else: they are a contact of their own");
                    let key = format!("contact:{handle}:{new}");
                    outbox.tell_owner(&key, &name_taken_over(&handle, &old, new.as_str())).await;
                }
                people > 0
            }
            Err(why) => {
                self.tell(&why);
                self.storage.heard.notify_one();
                true
            }
        }
    }

    /// Notes who spoke since it was looked last.
    ///
    /// # Errors
    /// When the ledger does not answer.
    pub async fn look(&self) -> Result<(), StoreError> {
        let settled = self.clock.now() - UNSETTLED;
        let (mut after, mut is_settled) = (None, true);
        for _ in 0..PAGES {
            let looked = self.storage.ledger.look_for_met(after, settled).await?;
            let Some(last) = looked.last else { return Ok(()) };
            let upto = looked.settled.filter(|_| is_settled);
            is_settled &= looked.settled == Some(last);
            if !looked.met.is_empty() || upto.is_some() {
                self.storage.ledger.note_met(looked.met, upto).await?;
            }
            after = Some(last);
        }
        Ok(())
    }

    /// Lists who has spoken in a place, up to now.
    ///
    /// # Errors
    /// When the ledger does not answer.
    pub async fn met_in(&self, place: &PlaceId) -> Result<Vec<SeenPerson>, StoreError> {
        self.look().await?;
        self.storage.ledger.met_in(place, MAX_MET).await
    }

    /// Lists whom a conversation of a place knows beside the files, up to now: who has spoken there, and where it hears of
    /// everybody also who was met elsewhere for the first time and stands in no file yet. Writes no file.
    ///
    /// # Errors
    /// When the ledger does not answer.
    pub async fn met_by(
        &self,
        place: &PlaceId,
        sees_all: bool,
    ) -> Result<Vec<SeenPerson>, StoreError> {
        let mut met = self.met_in(place).await?;
        if sees_all {
            let newly = self.storage.ledger.newly_met(AT_ONCE).await?;
            met.extend(newly.into_iter().filter(|new| new.is_new).map(|new| new.met));
        }
        Ok(met)
    }

    /// Tells when people last spoke, wherever that was, up to now: the files of contacts are a day behind.
    ///
    /// # Errors
    /// When the ledger does not answer.
    pub async fn last_spoke(&self) -> Result<LastSpoke, StoreError> {
        self.look().await?;
        let met = self.storage.ledger.met_lately(MAX_TIMES).await?;
        // The latest comes first: what is older takes nothing's place.
        let oldest_first = met.into_iter().rev();
        Ok(LastSpoke(oldest_first.map(|met| (met.person.to_string(), met.at)).collect()))
    }

    /// Lists the others who have spoken in the groups of an account in which somebody has spoken, up to now.
    ///
    /// # Errors
    /// When the ledger does not answer.
    pub async fn met_beside(
        &self,
        account: &AccountId,
        person: &PersonId,
    ) -> Result<Vec<SeenPerson>, StoreError> {
        self.look().await?;
        self.storage.ledger.met_beside(account, person, MAX_MET).await
    }

    /// Lists who is mentioned by an answer, among the people of its place. Nothing is asked where there is no `@`.
    pub async fn mentions(self: &Arc<Self>, claimed: &TaskClaim, text: &str) -> Vec<Mention> {
        let Where::Channel(features) = &claimed.facts.place else { return Vec::new() };
        if features.audience != Audience::Group || !text.contains('@') {
            return Vec::new();
        }
        let Some(form) = self.forms.of_channel(&features.channel) else { return Vec::new() };
        let found = async {
            let met = self.met_in(&claimed.place).await.map_err(NotBrought::Store)?;
            let circle = Visibility { is_whole: false, chat: claimed.place.key().to_owned(), met };
            Ok::<_, NotBrought>(self.book().known(circle).await?.known)
        };
        match found.await {
            Ok(known) => mentions(&known, form, text),
            Err(why) => {
                tracing::warn!(%why, "an answer mentions nobody: who is known here cannot be looked up");
                Vec::new()
            }
        }
    }

    /// Brings everybody who was met newly into the files; returns how many.
    ///
    /// # Errors
    /// When the ledger does not answer, or a file cannot be read or written.
    pub async fn bring(&self) -> Result<usize, NotBrought> {
        let _one = self.one.lock().await;
        self.look().await?;
        let mut people = 0;
        for _ in 0..ROUNDS {
            let newly = self.storage.ledger.newly_met(AT_ONCE).await?;
            if newly.is_empty() {
                break;
            }
            let met: Vec<SeenPerson> = newly.iter().map(|new| new.met.clone()).collect();
            people += met.len();
            let taken_over = self.written(newly).await?;
            if !taken_over.is_empty() {
                locked(&self.untold).extend(taken_over);
                self.storage.heard.notify_one();
            }
            self.storage.ledger.note_brought(met).await?;
        }
        Ok(people)
    }

    /// Says once that the files are not up to date, until they are.
    fn tell(&self, why: &NotBrought) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(%why, "the files of contacts are not up to date: tried again every minute");
        }
    }

    async fn written(&self, newly: Vec<NewlyMet>) -> Result<Vec<TakenOver>, NotBrought> {
        let (files, forms, now) = (Arc::clone(&self.files), self.forms.clone(), self.clock.now());
        let write = move || -> Result<Vec<TakenOver>, FileError> {
            let Observations { edits, taken_over } =
                observe(&forms, &Shelves::read(&files)?, &newly, now);
            // Whoever reads these files counts their words as others': they need no mark.
            let edit = |edits: &[Edit]| match edits {
                [] => Ok(()),
                edits => files.edit(edits, Taint::Clean, now).map(drop),
            };
            edit(&edits)?;
            edit(&make_room(&Shelves::read(&files)?))?;
            Ok(taken_over)
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(written) => Ok(written?),
            Err(error) => Err(StoreError::Broken(error.to_string()).into()),
        }
    }
}

#[async_trait]
impl Newcomers for Acquaintances {
    async fn bring_in(&self) {
        if let Err(why) = self.bring().await {
            self.tell(&why);
        }
    }
}
