//! New schedules, as they are asked for, and what came of several.

use serde::{Deserialize, Serialize};

use selkie_domain::schedule::{Action, Maker, Terms};
use selkie_engine::flow::Flow;
use selkie_schedule::book::{BookError, ScheduleRequest};
use selkie_schedule::view::View;

/// A new schedule.
#[derive(Debug, Serialize, Deserialize)]
pub struct New {
    /// Names this one time.
    pub key: String,
    /// When, as it was written.
    pub when: String,
    /// The zone of that.
    pub zone: Option<String>,
    /// What is done.
    pub action: Action,
    /// Where it speaks; the first owner's latest private chat where nothing is named.
    pub to: Option<String>,
    /// What people call it.
    pub title: String,
    /// Within which bounds.
    pub terms: Terms,
}

/// What came of several.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ImportResult {
    /// All of them, where they were made.
    pub schedules: Vec<View>,
    /// What cannot be made: then none of them was.
    pub unfit: Vec<Unfit>,
    /// Which were there already, from 0.
    pub there: Vec<usize>,
}

/// One of several that cannot be made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unfit {
    /// Which, from 0.
    pub index: usize,
    /// What of it, in the words of a cron.yaml; empty for the whole.
    pub key: String,
    /// Why.
    pub why: String,
}

impl New {
    /// Returns it as the book takes it: the first owner's.
    ///
    /// # Errors
    /// `Refused` when nobody owns the bot, or nobody can be spoken to there.
    pub async fn wanted(self, flow: &Flow) -> Result<ScheduleRequest, BookError> {
        let Self { key, when, zone, action, to, title, terms } = self;
        let owners = &flow.timetable.owners;
        let no_owner = || {
            BookError::Refused(
                "`owners` is empty in the config, and a schedule needs an owner: add your id there, or pair yourself \
                 with `selkie pair`"
                    .to_owned(),
            )
        };
        let person = owners.first().cloned().ok_or_else(no_owner)?;
        let location = flow.timetable.target(to.as_deref()).await.map_err(BookError::Refused)?;
        let maker = Maker::owner(person);
        Ok(ScheduleRequest {
            key,
            location,
            title,
            when,
            recurrence: None,
            zone,
            action,
            maker,
            terms,
        })
    }
}
