//! Schedules that a clock which was ahead has dated come back, and the owner is told which, once.

use std::sync::Arc;

use crate::delivery::outbox::Outbox;
use crate::intake::messages::schedules as messages;
use selkie_schedule::book::{Book, BookError};
use selkie_store::StoreError;

/// Brings them back. It is told first: a crash in between does the rest at the next start, and tells nothing twice.
///
/// # Errors
/// When the store does not answer.
pub async fn brought_back(outbox: &Arc<Outbox>, book: &Book) -> Result<(), StoreError> {
    let ahead = book.ahead().await.map_err(of_store)?;
    if ahead.count == 0 {
        return Ok(());
    }
    tracing::warn!(
        schedules = ahead.count,
        "a clock that was ahead has dated them: they come back"
    );
    let key = format!("ahead:{}", ahead.key);
    outbox.tell_owner(&key, &messages::brought_back(&ahead)).await;
    book.bring_back().await.map_err(of_store)
}

fn of_store(error: BookError) -> StoreError {
    match error {
        BookError::Store(error) => error,
        // Nobody asks for anything that could be refused.
        BookError::Refused(why) => StoreError::Corrupt(why),
    }
}
