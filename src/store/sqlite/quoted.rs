//! What is stored of a message that somebody quotes.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{Body, ConversationId, Inbound, MessageRef, Quote};

use super::conversations;
use super::outbox::{self, BODY, RawBody};
use super::rows::{load, load_item};
use crate::domain::taint::Taint;
use crate::domain::transcript::Item;
use crate::store::Result;

/// In so many of the newest outbounds a message is looked for that is not the first of its call.
const ALSO: i64 = 5_000;

/// Returns a message of ours by its receipt, or somebody's by its row; of what was taken back nothing is left
/// but its id.
pub fn quoted(
    conn: &Connection,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Option<Quote>> {
    let Some(row) = conversations::find(conn, conversation)? else { return Ok(None) };
    if let Some(outbound) = ours(conn, row, message)? {
        let sql = format!("SELECT {BODY} FROM outbound o WHERE o.id = ?1");
        let raw: RawBody = conn
            .prepare_cached(&sql)?
            .query_row([outbound], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let text = words(&outbox::read_body(&raw)?.body);
        let message = message.clone();
        return Ok(Some(Quote { message, speaker: String::new(), text, ours: true }));
    }
    let heard: Option<(i64, String)> = conn
        .prepare_cached(
            "SELECT id, inbound FROM inbox WHERE message = ?1 AND conversation = ?2 ORDER BY id LIMIT 1",
        )?
        .query_row(params![message.as_str(), row], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((id, inbound)) = heard else { return Ok(None) };
    let Inbound { speaker, text, .. } = load(id, &inbound)?;
    let speaker = if speaker.name.is_empty() { speaker.id.to_string() } else { speaker.name };
    Ok(Some(Quote { message: message.clone(), speaker, text, ours: false }))
}

/// Returns the level with which one of our messages was written.
pub fn level(
    conn: &Connection,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Option<Taint>> {
    let Some(row) = conversations::find(conn, conversation)? else { return Ok(None) };
    let Some(outbound) = ours(conn, row, message)? else { return Ok(None) };
    let task: Option<i64> = conn
        .prepare_cached("SELECT task FROM outbound WHERE id = ?1")?
        .query_row([outbound], |row| row.get(0))?;
    // The program's own words.
    let Some(task) = task else { return Ok(Some(Taint::Clean)) };
    let items: Vec<(u16, String)> = conn
        .prepare_cached("SELECT v, item FROM transcript WHERE task = ?1")?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let written = items.iter().filter_map(|(v, text)| match load_item(task, *v, text) {
        Ok(item @ (Item::Asked { .. } | Item::Said { .. })) => Some(item.level()),
        Ok(_) => None,
        Err(_) => Some(Taint::Derived),
    });
    // What the janitor has forgotten may have been anything.
    let gone = if items.is_empty() { Taint::Derived } else { Taint::Clean };
    Ok(Some(written.max().unwrap_or(gone)))
}

/// Returns the outbound that made one of our messages.
fn ours(conn: &Connection, conversation: i64, message: &MessageRef) -> Result<Option<i64>> {
    let by = params![message.as_str(), conversation];
    let first: Option<i64> = conn
        .prepare_cached(
            "SELECT outbound FROM part
             WHERE receipt NOT NULL AND receipt ->> '$.message' = ?1 AND conversation = ?2
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(by, |row| row.get(0))
        .optional()?;
    if first.is_some() {
        return Ok(first);
    }
    // One call may make several messages: the others stand behind the first.
    Ok(conn
        .prepare_cached(
            "SELECT outbound FROM part
             WHERE id > (SELECT MAX(id) FROM part) - ?3 AND conversation = ?2
               AND receipt ->> '$.also' IS NOT NULL
               AND EXISTS (SELECT 1 FROM json_each(receipt, '$.also') WHERE value = ?1)
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![message.as_str(), conversation, outbox::parts_of(ALSO)[0]], |row| {
            row.get(0)
        })
        .optional()?)
}

/// What was said, in words.
fn words(body: &Body) -> String {
    match body {
        Body::Text { markdown } | Body::Status { markdown } | Body::Revision { markdown, .. } => {
            markdown.clone()
        }
        Body::Question(question) | Body::Held(question) => question.in_words(),
        Body::File { name, .. } | Body::Voice { name, .. } => name.clone(),
        Body::Photo { caption, .. } => caption.clone().unwrap_or_default(),
        Body::Reaction { .. } | Body::Withdrawal { .. } | Body::TapAnswer { .. } | Body::Typing => {
            String::new()
        }
    }
}
