//! What is added to the transcript of a task.

use super::model_calls::{self, Column};
use super::rows::{ITEM_VERSION, json, lean};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::transcript::Item;

/// Writes an item. What a person said is stored without what is empty; a call's arguments stay as they
/// are.
pub fn text(item: &Item) -> Result<String> {
    match item {
        Item::Received(_) => lean(item),
        other => json(other),
    }
}

/// Appends items, the first under this number, each with the call of a model that wrote it: two at a time, as most
/// answers are.
pub fn append(
    tx: &mut dyn Tx,
    task: i64,
    first: i64,
    items: &[String],
    calls: &[Column],
) -> Result<()> {
    model_calls::name(tx, calls)?;
    let none = Column::default();
    let call = |at: usize| calls.get(at).unwrap_or(&none);
    for (at, items) in items.chunks(2).enumerate() {
        let at = 2 * at;
        let seq = first + at as i64;
        match items {
            [one, other] => tx.execute_later(
                "INSERT INTO transcript (task, seq, v, item, used)
                 VALUES (?1, ?2, ?3, ?4, (SELECT CAST(id AS TEXT) FROM model WHERE name = ?7) || CAST(?8 AS TEXT)),
                     (?1, ?5, ?3, ?6, (SELECT CAST(id AS TEXT) FROM model WHERE name = ?9) || CAST(?10 AS TEXT))",
                params![
                    task,
                    seq,
                    ITEM_VERSION,
                    one,
                    seq + 1,
                    other,
                    &call(at).by,
                    &call(at).rest,
                    &call(at + 1).by,
                    &call(at + 1).rest
                ],
            )?,
            alone => {
                for one in alone {
                    tx.execute_later(
                        "INSERT INTO transcript (task, seq, v, item, used)
                         VALUES (?1, ?2, ?3, ?4, (SELECT CAST(id AS TEXT) FROM model WHERE name = ?5) || CAST(?6 AS TEXT))",
                        params![task, seq, ITEM_VERSION, one, &call(at).by, &call(at).rest],
                    )?;
                }
            }
        }
    }
    Ok(())
}
