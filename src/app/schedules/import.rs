//! Several schedules at once: all of them are made, or none where one cannot be; those that are there stay.

use std::collections::BTreeSet;

use super::asked::{ImportResult, New, Unfit};
use crate::answered::NotDone;
use selkie_domain::schedule::ScheduleState;
use selkie_engine::flow::Flow;
use selkie_schedule::book::{BookError, ScheduleRequest};
use selkie_schedule::view::View;
use selkie_store::ScheduleRow;

/// One of them, looked at.
enum ImportLine {
    /// It is to be made.
    New(ScheduleRequest),
    /// It is to be made, and stands in the file before.
    Twice(ScheduleRequest),
    /// It is there.
    There(ScheduleRow),
}

/// Makes all that is not there, when each of them can be. Killed on the way it has made the first of them; the next run
/// makes the others.
///
/// # Errors
/// When there is no room for them, or the store does not answer.
pub async fn import(flow: &Flow, all: Vec<New>, preview: bool) -> Result<ImportResult, NotDone> {
    let mut found = Vec::new();
    let mut told = ImportResult::default();
    let mut keys = BTreeSet::new();
    for (index, new) in all.into_iter().enumerate() {
        let is_repeated = !keys.insert(new.key.clone());
        match looked_at(flow, index, new).await? {
            Ok(ImportLine::New(wanted)) if is_repeated => found.push(ImportLine::Twice(wanted)),
            Ok(one) => found.push(one),
            Err(unfit) => told.unfit.push(unfit),
        }
    }
    let new = found.iter().filter_map(|one| match one {
        ImportLine::New(wanted) => Some(&wanted.maker.person),
        ImportLine::Twice(_) | ImportLine::There(_) => None,
    });
    let new: Vec<_> = new.collect();
    if let Some(person) = new.first() {
        flow.timetable.book.has_room(person, new.len()).await?;
    }
    let is_there =
        |(index, one): (usize, &ImportLine)| (!matches!(one, ImportLine::New(_))).then_some(index);
    told.there = found.iter().enumerate().filter_map(is_there).collect();
    if preview || !told.unfit.is_empty() {
        return Ok(told);
    }
    for one in found {
        let row = match one {
            // Made a moment ago it is found again by its key.
            ImportLine::New(wanted) | ImportLine::Twice(wanted) => {
                flow.timetable.keep(wanted).await?
            }
            ImportLine::There(row) => row,
        };
        told.schedules.push(View::of(&row, flow.now()));
    }
    Ok(told)
}

/// Whether one is there, or can be made, or why not.
async fn looked_at(
    flow: &Flow,
    index: usize,
    new: New,
) -> Result<Result<ImportLine, Unfit>, NotDone> {
    let book = &flow.timetable.book;
    let key = if flow.timetable.target(new.to.as_deref()).await.is_err() {
        "chat_id"
    } else if new.action.model().is_some_and(|model| book.unknown_model(model).is_some()) {
        "llm_profile"
    } else {
        ""
    };
    let kept = book.keyed(&new.key).await?;
    let checked = match new.wanted(flow).await {
        Ok(wanted) => flow.timetable.may_keep(&wanted).await.map(|()| wanted),
        Err(error) => Err(error),
    };
    let wanted = match checked {
        Ok(wanted) => wanted,
        Err(BookError::Refused(why)) => return Ok(Err(Unfit { index, key: key.to_owned(), why })),
        Err(BookError::Store(error)) => return Err(error.into()),
    };
    Ok(Ok(match kept {
        None => ImportLine::New(wanted),
        // Whoever reads the file again wants it again: under a key of its own.
        Some(row) if matches!(row.state, ScheduleState::Removed | ScheduleState::Ended) => {
            let key = format!("{}#{}", wanted.key, row.id());
            ImportLine::New(ScheduleRequest { key, ..wanted })
        }
        Some(row) => ImportLine::There(row),
    }))
}
