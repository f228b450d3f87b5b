//! What the command line asks of conversations: which there are, and what was said in one.

use serde::Serialize;
use serde_json::Value;

use crate::answered::NotDone;
use selkie_engine::work::conversation_log::{self, ConversationRecord};
use selkie_store::{Ledger, StoreError};

/// Tasks of one conversation that are told of at most.
const MAX_TASKS: usize = 100_000;

/// Messages of it that no task has answered, at most.
const MAX_UNANSWERED: usize = 100_000;

/// What the bot said there for no task's model, at most.
const MAX_SPOKEN: usize = 100_000;

/// Lists the conversations, the last active first, with the key of each.
///
/// # Errors
/// When the store cannot be read.
pub async fn list(ledger: &dyn Ledger, limit: usize) -> Result<Vec<Value>, StoreError> {
    let rows = ledger.conversations(limit).await?;
    let keys: Vec<String> = rows.iter().map(|row| row.id.key().to_owned()).collect();
    let mut rows = values(&rows)?;
    rows.iter_mut().zip(keys).for_each(|(row, key)| row["key"] = key.into());
    Ok(rows)
}

/// Writes rows as JSON.
///
/// # Errors
/// When one cannot be.
pub fn values(rows: &[impl Serialize]) -> Result<Vec<Value>, StoreError> {
    let values = rows.iter().map(serde_json::to_value).collect::<Result<_, _>>();
    values.map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Tells all that was said in the one conversation of this id, which may lack its channel's prefix.
///
/// # Errors
/// When there is none, or several are.
pub async fn said(ledger: &dyn Ledger, id: &str) -> Result<Vec<Value>, NotDone> {
    let rows = ledger.conversations(usize::MAX).await?;
    let named = rows.into_iter().map(|row| row.id);
    let is_bare = |key: &str| key.split_once(':').is_some_and(|(_, bare)| bare == id);
    let named: Vec<_> = named
        .filter(|found| found.key() == id || found.full() == id || is_bare(found.key()))
        .collect();
    match named.as_slice() {
        [] => Err(NotDone::Refused(format!(
            "there is no conversation {id:?}: `selkie sessions list` shows them"
        ))),
        [one] => {
            let tasks = ledger.said(one, true, MAX_TASKS).await?;
            let unanswered = ledger.unanswered(one, MAX_UNANSWERED).await?;
            let spoken = ledger.spoken(one, MAX_SPOKEN).await?;
            Ok(values(&conversation_log::whole(ConversationRecord { tasks, unanswered, spoken }))?)
        }
        many => {
            let all: Vec<String> = many.iter().map(|id| id.full()).collect();
            let all = all.join(" or ");
            Err(NotDone::Refused(format!("{id:?} names several conversations: write {all}")))
        }
    }
}
