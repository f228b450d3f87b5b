//! What the command line asks of schedules, carried out in the daemon or, where none runs, in the command itself.

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::Flow;
use crate::schedule::book::{Asking, Book};
pub use crate::schedule::view::{Time, View};
use crate::store::{ScheduleRow, States, Which};

mod asked;
mod import;

pub use asked::{Asked, New, Told, Unfit};

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out(flow: &Flow, asked: Asked) -> anyhow::Result<Answered<Told>> {
    let book = flow.book();
    Answered::of(found(flow, &book, asked).await)
}

async fn found(flow: &Flow, book: &Book, asked: Asked) -> Result<Told, NotDone> {
    let view = |row: &ScheduleRow| View::of(row, flow.now());
    let one = async |row: &ScheduleRow| -> Result<Told, NotDone> {
        let view = View { forecast: flow.forecast(row).await?, ..view(row) };
        Ok(Told { schedules: vec![view], ..Told::default() })
    };
    match asked {
        Asked::List { all } => {
            let states = if all { States::ALL } else { States::OPEN };
            let which = Which { states, limit: usize::MAX, ..Which::default() };
            let rows = book.list(&which).await?;
            Ok(Told { schedules: rows.iter().map(view).collect(), ..Told::default() })
        }
        Asked::Show { id } => one(&book.get(id, None).await?).await,
        Asked::Add(new) => {
            let wanted = new.wanted(flow).await.map_err(NotDone::mistyped)?;
            // What cannot be kept for what was typed is another mistake than one schedule too many.
            flow.may_schedule(&wanted).await.map_err(NotDone::mistyped)?;
            one(&book.add(wanted).await?).await
        }
        Asked::Import { all, preview } => import::import(flow, all, preview).await,
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
