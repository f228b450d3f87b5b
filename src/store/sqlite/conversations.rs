//! Conversations: found by any key they ever had, made when first heard of, closed and opened.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{AccountId, ConversationId, Inbound, PlaceId};

use super::rows::millis;
use super::{fetched, outbox};
use crate::store::Result;

/// When something last happened in a conversation is noted this coarsely, in milliseconds: a talk costs a
/// page of the log now and then, and not for every message.
const GRAIN: i64 = 10_000;

/// Returns the row of a conversation, by its key or by one it had before its place moved.
pub fn find(conn: &Connection, id: &ConversationId) -> Result<Option<i64>> {
    let (account, key) = (id.account().as_str(), id.key());
    let by_key = conn
        .prepare_cached("SELECT id FROM conversation WHERE account = ?1 AND key = ?2")?
        .query_row([account, key], |row| row.get(0))
        .optional()?;
    if by_key.is_some() {
        return Ok(by_key);
    }
    let by_alias = conn
        .prepare_cached(
            "SELECT conversation FROM conversation_alias WHERE account = ?1 AND old = ?2",
        )?
        .query_row([account, key], |row| row.get(0))
        .optional()?;
    Ok(by_alias)
}

/// Returns the conversation of an event and notes that something happened there.
pub fn hear(conn: &Connection, inbound: &Inbound) -> Result<i64> {
    let row = match find(conn, &inbound.conversation)? {
        Some(row) => row,
        None => make(conn, &inbound.conversation, &inbound.place)?,
    };
    // The place is only guessed where the bot spoke before it heard; a straggler of a place that has
    // moved knows no better.
    conn.prepare_cached(
        "UPDATE conversation SET last_at = ?2, title = CASE WHEN ?3 = '' THEN title ELSE ?3 END,
             place = CASE WHEN EXISTS (SELECT 1 FROM place_alias a
                                       WHERE a.account = conversation.account AND a.old = ?4)
                     THEN place ELSE ?4 END
         WHERE id = ?1 AND (last_at IS NULL OR last_at NOT BETWEEN ?2 - ?5 AND ?2
             OR (?3 <> '' AND title <> ?3) OR place <> ?4)",
    )?
    .execute(params![row, millis(inbound.at), inbound.title, inbound.place.key(), GRAIN])?;
    Ok(row)
}

/// Returns the conversation something is said in, made when nothing was ever heard there.
pub fn speak(conn: &Connection, id: &ConversationId) -> Result<i64> {
    match find(conn, id)? {
        Some(row) => Ok(row),
        None => make(conn, id, &PlaceId::new(id.account().clone(), id.key())),
    }
}

fn make(conn: &Connection, id: &ConversationId, place: &PlaceId) -> Result<i64> {
    let account = id.account().as_str();
    let moved: Option<String> = conn
        .prepare_cached("SELECT new FROM place_alias WHERE account = ?1 AND old = ?2")?
        .query_row([account, place.key()], |row| row.get(0))
        .optional()?;
    let (key, place) = match moved {
        Some(new) => (super::moved::rename(id.key(), place.key(), &new), new),
        None => (id.key().to_owned(), place.key().to_owned()),
    };
    let known = find(conn, &ConversationId::new(AccountId::new(account), key.as_str()))?;
    if let Some(row) = known {
        return Ok(row);
    }
    conn.prepare_cached(
        "INSERT INTO conversation (account, key, place, title) VALUES (?1, ?2, ?3, '')",
    )?
    .execute([account, &key, &place])?;
    Ok(conn.last_insert_rowid())
}

/// Closes a conversation: what is queued for it is refused. Returns nothing of it to the courier.
pub fn close(conn: &Connection, row: i64, reason: &str, now: i64) -> Result<()> {
    conn.prepare_cached("UPDATE conversation SET closed = ?2 WHERE id = ?1")?
        .execute(params![row, reason])?;
    conn.prepare_cached(
        "UPDATE part SET state = 'refused', open = 0, reason = ?2, updated_at = ?3,
             told = (SELECT CASE WHEN answer THEN 0 END FROM outbound WHERE id = part.outbound)
         WHERE id IN (SELECT part FROM rendered)
             AND conversation = ?1 AND open = 1 AND state = 'queued'",
    )?
    .execute(params![row, reason, now])?;
    fetched::drop_held(conn, row, ("refused", reason), now)?;
    outbox::tidy(conn)
}

/// Opens a conversation that may be closed.
pub fn open(conn: &Connection, row: i64) -> Result<()> {
    conn.prepare_cached("UPDATE conversation SET closed = NULL WHERE id = ?1 AND closed NOT NULL")?
        .execute([row])?;
    Ok(())
}

/// Returns why a conversation is closed, if it is.
pub fn closed(conn: &Connection, row: i64) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT closed FROM conversation WHERE id = ?1")?
        .query_row([row], |row| row.get(0))?)
}
