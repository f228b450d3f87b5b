//! What was said, as it is stored: its words may stand in its task's transcript alone.

use selkie_channel_core::{Body, Outbound};

use super::rows::{ITEM_VERSION, load, load_item};
use crate::error::Result;
use crate::value::Row;
use selkie_domain::transcript::Item;

/// The columns of a [`RawBody`], of an outbound `o`, with what follows them.
macro_rules! body {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.body, (SELECT item FROM transcript i WHERE i.task = o.task AND i.seq = o.said) ",
            $rest
        )
    };
}
pub(super) use body;

/// What was said: its row, its body, and the item that holds its words.
pub type RawBody = (i64, String, Option<String>);

/// Takes the columns of [`body`].
pub fn raw_body(row: &dyn Row) -> Result<RawBody> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// Reads what was said.
pub fn read_body(raw: &RawBody) -> Result<Outbound> {
    let (id, body, words) = raw;
    let mut outbound: Outbound = load(*id, body)?;
    if let Some(words) = words
        && let Item::Said { text, .. } = load_item(*id, ITEM_VERSION, words)?
    {
        outbound.body = Body::Text { markdown: text };
    }
    Ok(outbound)
}
