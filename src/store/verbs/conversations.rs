//! Conversations: found by any key they ever had, made when first heard of, opened again.

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, Inbound, PlaceId};

use super::places::rename;
use super::rows::millis;
use crate::arrival::Location;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};

/// When something last happened in a conversation is noted this coarsely, in milliseconds: a talk costs a
/// page of the log now and then, and not for every message.
pub const GRAIN: i64 = 10_000;

/// A conversation by its key, and why it is closed.
pub const KNOWN: &str = "SELECT id, closed FROM conversation WHERE account = ?1 AND key = ?2";

/// Reads a row of [`KNOWN`].
pub fn known(row: &dyn Row) -> Result<(i64, Option<String>)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns the row of a conversation, by its key or by one it had before its place moved.
pub fn find(tx: &mut dyn Tx, id: &ConversationId) -> Result<Option<i64>> {
    let by = params![id.account().as_str(), id.key()];
    let by_key = tx.first("SELECT id FROM conversation WHERE account = ?1 AND key = ?2", by)?;
    match by_key {
        Some(row) => Ok(Some(row)),
        None => tx.first(
            "SELECT conversation FROM conversation_alias WHERE account = ?1 AND old = ?2",
            by,
        ),
    }
}

/// Where something happens, and when.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The conversation.
    pub conversation: &'a ConversationId,
    /// The place that owns it.
    pub place: &'a PlaceId,
    /// The place's title; empty when it has none.
    pub title: &'a str,
    /// When.
    pub at: DateTime<Utc>,
}

impl<'a> Site<'a> {
    /// A place where something happens now that is no message.
    pub fn of(location: &'a Location, at: DateTime<Utc>) -> Self {
        let Location { conversation, place, title } = location;
        Self { conversation, place, title, at }
    }
}

impl<'a> From<&'a Inbound> for Site<'a> {
    fn from(inbound: &'a Inbound) -> Self {
        let Inbound { conversation, place, title, at, .. } = inbound;
        Self { conversation, place, title, at: *at }
    }
}

/// Returns the conversation of what happens and notes that something happened there.
/// `known`: its row, where it was found.
pub fn hear<'a>(tx: &mut dyn Tx, known: Option<i64>, site: impl Into<Site<'a>>) -> Result<i64> {
    let Site { conversation, place, title, at } = site.into();
    let row = match known {
        Some(row) => row,
        None => make(tx, conversation, place)?,
    };
    // The place is only guessed where the bot spoke before it heard; a straggler of a place that has
    // moved knows no better.
    let at = millis(at);
    tx.execute_later(
        "UPDATE conversation SET last_at = ?2, title = CASE WHEN ?3 = '' THEN title ELSE ?3 END,
             place = CASE WHEN EXISTS (SELECT 1 FROM place_alias a
                                       WHERE a.account = conversation.account AND a.old = ?4)
                     THEN place ELSE ?4 END
         WHERE id = ?1 AND (last_at IS NULL OR last_at NOT BETWEEN ?5 AND ?2
             OR (?3 <> '' AND title <> ?3) OR place <> ?4)",
        params![row, at, title, place.key(), at - GRAIN],
    )?;
    Ok(row)
}

/// Returns the conversation something is said in, made when nothing was ever heard there.
pub fn speak(tx: &mut dyn Tx, id: &ConversationId) -> Result<i64> {
    match find(tx, id)? {
        Some(row) => Ok(row),
        None => make(tx, id, &PlaceId::new(id.account().clone(), id.key())),
    }
}

fn make(tx: &mut dyn Tx, id: &ConversationId, place: &PlaceId) -> Result<i64> {
    let account = id.account().as_str();
    let moved: Option<String> = tx.first(
        "SELECT new FROM place_alias WHERE account = ?1 AND old = ?2",
        params![account, place.key()],
    )?;
    let (key, place) = match moved {
        Some(new) => (rename(id.key(), place.key(), &new), new),
        None => (id.key().to_owned(), place.key().to_owned()),
    };
    let id = ConversationId::new(AccountId::new(account), key.as_str());
    if let Some(row) = find(tx, &id)? {
        return Ok(row);
    }
    let made = tx.insert(
        "INSERT INTO conversation (account, key, place, title) VALUES (?1, ?2, ?3, '')
         ON CONFLICT (account, key) DO NOTHING",
        params![account, &key, &place],
    )?;
    match made {
        Some(row) => Ok(row),
        // Another connection was first.
        None => tx.only(
            "SELECT id FROM conversation WHERE account = ?1 AND key = ?2",
            params![account, &key],
        ),
    }
}

/// Opens a conversation that may be closed.
pub fn open(tx: &mut dyn Tx, row: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE conversation SET closed = NULL WHERE id = ?1 AND closed IS NOT NULL",
        params![row],
    )
}

/// Returns why a conversation is closed, if it is.
pub fn closed(tx: &mut dyn Tx, row: i64) -> Result<Option<String>> {
    tx.only("SELECT closed FROM conversation WHERE id = ?1", params![row])
}
