//! What can be asked of schedules, and what is answered.

use serde::{Deserialize, Serialize};

use crate::engine::flow::Flow;
use crate::domain::ids::ScheduleId;
use crate::domain::schedule::{Action, Maker, Terms, Wish};
use crate::schedule::book::{BookError, Wanted};
use crate::schedule::view::{Time, View};
use crate::store::Location;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Asked {
    /// Every schedule; those that are over, too.
    List {
        /// Ended and removed ones.
        all: bool,
    },
    /// One.
    Show {
        /// Which.
        id: ScheduleId,
    },
    /// A new one.
    Add(Box<New>),
    /// All of these, or none where one cannot be.
    Import {
        /// In their order.
        all: Vec<New>,
        /// They are looked at alone.
        preview: bool,
    },
    /// That one is removed, waits, or goes on.
    Wish {
        /// Which.
        id: ScheduleId,
        /// What.
        wish: Wish,
    },
    /// That one comes due now.
    Run {
        /// Which.
        id: ScheduleId,
    },
    /// Its newest times.
    History {
        /// Which.
        id: ScheduleId,
        /// At most so many.
        limit: usize,
    },
}

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

/// The answer: one of its lists is filled.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// Schedules.
    pub schedules: Vec<View>,
    /// Times of one.
    pub times: Vec<Time>,
    /// What cannot be made, of several: then none of them was.
    pub unfit: Vec<Unfit>,
    /// Which of several were there already, from 0.
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
    pub async fn wanted(self, flow: &Flow) -> Result<Wanted, BookError> {
        let Self { key, when, zone, action, to, title, terms } = self;
        let owners = flow.owners();
        let no_owner = || {
            BookError::Refused(
                "`owners` is empty in the config, and a schedule needs an owner: add your id there, or pair yourself \
                 with `selkie pair`"
                    .to_owned(),
            )
        };
        let person = owners.first().cloned().ok_or_else(no_owner)?;
        let location: Location = flow.target(to.as_deref()).await.map_err(BookError::Refused)?;
        let maker = Maker::owner(person);
        Ok(Wanted { key, location, title, when, recurrence: None, zone, action, maker, terms })
    }
}
