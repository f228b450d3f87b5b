//! Words are taken out of a stored transcript: the one place where its rows are changed.

use super::rows::{ITEM_VERSION, load_item};
use super::{appending, own_form};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::transcript::Item;

/// Stands where a row was that cannot be read: it stays one that cannot be read.
const ERASED: &str = r#"{"item":"erased"}"#;

/// Goes through a task's items; `change` takes out of each what has to go, and says whether that was anything. A row that
/// cannot be read may hold it, too: nothing of it stays.
pub fn rewrite(
    tx: &mut dyn Tx,
    task: i64,
    mut change: impl FnMut(&mut Item) -> bool,
) -> Result<()> {
    // What only its provider can read may hold them, too.
    own_form::forget(tx, task)?;
    // As bytes: a row may be no text at all.
    let items: Vec<(i64, i64, Vec<u8>)> = tx.all(
        "SELECT seq, v, item FROM transcript WHERE task = ?1 ORDER BY seq",
        params![task],
        |row| Ok((row.get(0)?, row.get(1)?, row.get::<&[u8]>(2)?.to_vec())),
    )?;
    for (seq, v, bytes) in items {
        let (v, text) = match read(task, v, &bytes) {
            Some(mut item) => match change(&mut item) {
                true => (i64::from(ITEM_VERSION), appending::text(&item)?),
                false => continue,
            },
            None if bytes == ERASED.as_bytes() => continue,
            None => {
                tracing::warn!(
                    task,
                    seq,
                    "a transcript row that cannot be read is erased: words of the task were taken back or forgotten"
                );
                (v, ERASED.to_owned())
            }
        };
        tx.execute_later(
            "UPDATE transcript SET v = ?3, item = ?4 WHERE task = ?1 AND seq = ?2",
            params![task, seq, v, &text],
        )?;
    }
    Ok(())
}

fn read(task: i64, v: i64, bytes: &[u8]) -> Option<Item> {
    let text = std::str::from_utf8(bytes).ok()?;
    load_item(task, u16::try_from(v).ok()?, text).ok()
}
