//! What is added to the transcript of a task.

use super::rows::{ITEM_VERSION, json, lean};
use crate::domain::transcript::Item;
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

/// Writes an item. What a person said is stored without what is empty; a call's arguments stay as they
/// are.
pub fn text(item: &Item) -> Result<String> {
    match item {
        Item::Received(_) => lean(item),
        other => json(other),
    }
}

/// Appends items, the first under this number: two at a time, as most answers are.
pub fn append(tx: &mut dyn Tx, task: i64, first: i64, items: &[String]) -> Result<()> {
    for (seq, items) in (first..).step_by(2).zip(items.chunks(2)) {
        match items {
            [one, other] => tx.execute_later(
                "INSERT INTO transcript (task, seq, v, item) VALUES (?1, ?2, ?3, ?4), (?1, ?5, ?3, ?6)",
                params![task, seq, ITEM_VERSION, one, seq + 1, other],
            )?,
            alone => {
                for one in alone {
                    tx.execute_later(
                        "INSERT INTO transcript (task, seq, v, item) VALUES (?1, ?2, ?3, ?4)",
                        params![task, seq, ITEM_VERSION, one],
                    )?;
                }
            }
        }
    }
    Ok(())
}
