//! What the command line asks of schedules: made, looked at, changed.

use std::sync::Arc;

use crate::answered::NotDone;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{ScheduleState, Wish};
use selkie_engine::flow::Flow;
use selkie_engine::intake::firing::ByHand;
use selkie_schedule::book::RequestOrigin;
use selkie_schedule::view::{Time, View};
use selkie_store::{ScheduleRow, States, Which};

mod asked;
mod import;

pub use asked::{ImportResult, New, Unfit};
pub use import::import;

/// Lists them; with `all`, those that are over, too.
///
/// # Errors
/// When the store does not answer.
pub async fn list(flow: &Flow, all: bool) -> Result<Vec<View>, NotDone> {
    let states = if all { States::ALL } else { States::OPEN };
    let which = Which { states, limit: usize::MAX, ..Which::default() };
    let rows = flow.timetable.book.list(&which).await?;
    Ok(rows.iter().map(|row| View::of(row, flow.now())).collect())
}

/// Shows one.
///
/// # Errors
/// When there is none.
pub async fn show(flow: &Flow, id: ScheduleId) -> Result<Vec<View>, NotDone> {
    one(flow, &flow.timetable.book.get(id, None).await?).await
}

/// Makes one.
///
/// # Errors
/// When it cannot be.
pub async fn add(flow: &Flow, new: New) -> Result<Vec<View>, NotDone> {
    let wanted = new.wanted(flow).await.map_err(NotDone::mistyped)?;
    // What cannot be kept for what was typed is another mistake than one schedule too many.
    flow.timetable.may_keep(&wanted).await.map_err(NotDone::mistyped)?;
    one(flow, &flow.timetable.book.add(wanted).await?).await
}

/// Removes one, has it wait, or go on.
///
/// # Errors
/// When there is none.
pub async fn wish(flow: &Flow, id: ScheduleId, wish: Wish) -> Result<Vec<View>, NotDone> {
    let book = &flow.timetable.book;
    one(flow, &book.wish(id, wish, RequestOrigin::default(), |_| Ok(())).await?).await
}

/// Carries one out now that waits or is over, too; its own times stay.
///
/// # Errors
/// When there is none, it is under way, or it was passed over.
pub async fn run(flow: &Flow, id: ScheduleId) -> Result<Vec<View>, NotDone> {
    let book = &flow.timetable.book;
    loop {
        let row = book.get(id, None).await?;
        let firings = Arc::clone(&flow.firings);
        let now = flow.now();
        let is_active = row.state == ScheduleState::Active;
        let fires = async move { firings.by_hand(&row, now).await };
        match flow.to_the_end(fires).await {
            // Looked at again: it may be under way by now.
            Some(ByHand::Changed) => {}
            Some(ByHand::UnderWay) => {
                let why = format!("schedule {id} is due already: it is under way");
                return Err(NotDone::Refused(why));
            }
            Some(ByHand::PassedOver(why)) if !is_active => {
                return Err(NotDone::Refused(format!("schedule {id} was skipped: {why}")));
            }
            // It may have been passed over, and say why.
            Some(ByHand::Begun | ByHand::PassedOver(_)) => {
                return one(flow, &book.get(id, None).await?).await;
            }
            None => return Err(NotDone::refused("the store cannot write now: try again")),
        }
    }
}

/// Tells its newest times.
///
/// # Errors
/// When there is none.
pub async fn times(flow: &Flow, id: ScheduleId, limit: usize) -> Result<Vec<Time>, NotDone> {
    let book = &flow.timetable.book;
    let row = book.get(id, None).await?;
    let times = book.history(id, limit).await?;
    let urls = flow.post_urls();
    Ok(times.into_iter().map(|time| Time::of(time, &row, &urls)).collect())
}

/// A schedule with what it comes to in a month.
async fn one(flow: &Flow, row: &ScheduleRow) -> Result<Vec<View>, NotDone> {
    let forecast = flow.timetable.forecast(row).await?;
    Ok(vec![View { forecast, ..View::of(row, flow.now()) }])
}
