//! What the command line asks of schedules, carried out in the daemon or, where none runs, in the command itself.

use serde::{Deserialize, Serialize};

use crate::daemon::flow::Flow;
use crate::domain::facts::Trust;
use crate::domain::ids::ScheduleId;
use crate::domain::schedule::{Action, Maker, Terms, Wish};
use crate::domain::taint::Taint;
use crate::schedule::book::{Asking, Book, BookError, Wanted};
pub use crate::schedule::view::{Time, View};
use crate::store::{Location, ScheduleRow, Which};

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

/// The answer: exactly one of its lists is filled, or it says why not.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// Schedules.
    pub schedules: Vec<View>,
    /// Times of one.
    pub times: Vec<Time>,
    /// What cannot be made, of several: then none of them was.
    pub unfit: Vec<Unfit>,
    /// It was not done, and why.
    pub refused: Option<String>,
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

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out(flow: &Flow, asked: Asked) -> anyhow::Result<Told> {
    let book = flow.book();
    match found(flow, &book, asked).await {
        Ok(told) => Ok(told),
        Err(BookError::Refused(why)) => Ok(Told { refused: Some(why), ..Told::default() }),
        Err(BookError::Store(error)) => Err(error.into()),
    }
}

async fn found(flow: &Flow, book: &Book, asked: Asked) -> Result<Told, BookError> {
    let view = |row: &ScheduleRow| View::of(row, flow.now());
    let one = async |row: &ScheduleRow| -> Result<Told, BookError> {
        let view = View { forecast: flow.forecast(row).await?, ..view(row) };
        Ok(Told { schedules: vec![view], ..Told::default() })
    };
    match asked {
        Asked::List { all } => {
            let which = Which { over: all, limit: usize::MAX, ..Which::default() };
            let rows = book.list(&which).await?;
            Ok(Told { schedules: rows.iter().map(view).collect(), ..Told::default() })
        }
        Asked::Show { id } => one(&book.get(id, None).await?).await,
        Asked::Add(new) => one(&flow.schedule(wanted(flow, *new).await?).await?).await,
        Asked::Import { all, preview } => import(flow, all, preview).await,
        Asked::Wish { id, wish } => {
            one(&book.wish(id, wish, Asking::default(), |_| Ok(())).await?).await
        }
        Asked::Run { id } => one(&flow.run_schedule(id).await?).await,
        Asked::History { id, limit } => {
            let row = book.get(id, None).await?;
            let times = book.history(id, limit).await?;
            let urls = flow.post_urls();
            Ok(Told {
                times: times.into_iter().map(|time| Time::of(time, &row, &urls)).collect(),
                ..Told::default()
            })
        }
    }
}

/// Makes all, when each of them can be.
async fn import(flow: &Flow, all: Vec<New>, preview: bool) -> Result<Told, BookError> {
    let book = flow.book();
    let (mut wanted_all, mut unfit) = (Vec::new(), Vec::new());
    for (index, new) in all.into_iter().enumerate() {
        let (to, model) = (new.to.clone(), new.action.model().map(str::to_owned));
        let key = if flow.target(to.as_deref()).await.is_err() {
            "chat_id"
        } else if model.is_some_and(|model| book.unknown_model(&model).is_some()) {
            "llm_profile"
        } else {
            ""
        };
        let wanted = match wanted(flow, new).await {
            Ok(wanted) => flow.may_schedule(&wanted).await.map(|()| wanted),
            Err(error) => Err(error),
        };
        match wanted {
            Ok(wanted) => wanted_all.push(wanted),
            Err(BookError::Refused(why)) => {
                unfit.push(Unfit { index, key: key.to_owned(), why });
            }
            Err(error @ BookError::Store(_)) => return Err(error),
        }
    }
    if let Some(person) = wanted_all.first().map(|wanted| wanted.maker.person.clone()) {
        book.has_room(&person, wanted_all.len()).await?;
    }
    if preview || !unfit.is_empty() {
        return Ok(Told { unfit, ..Told::default() });
    }
    let mut schedules = Vec::new();
    for wanted in wanted_all {
        schedules.push(View::of(&flow.schedule(wanted).await?, flow.now()));
    }
    Ok(Told { schedules, ..Told::default() })
}

async fn wanted(flow: &Flow, new: New) -> Result<Wanted, BookError> {
    let New { key, when, zone, action, to, title, terms } = new;
    let owners = flow.owners();
    let no_owner = || {
        BookError::Refused(
            "`owners` is empty in the config: a schedule is somebody's, and asks its owner"
                .to_owned(),
        )
    };
    let person = owners.first().cloned().ok_or_else(no_owner)?;
    let location: Location = flow.target(to.as_deref()).await.map_err(BookError::Refused)?;
    let maker = Maker { person, name: String::new(), trust: Trust::Owner, taint: Taint::Clean };
    Ok(Wanted { key, location, title, when, recurrence: None, zone, action, maker, terms })
}
