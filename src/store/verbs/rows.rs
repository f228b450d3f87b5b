//! Between Rust values and columns: times, JSON texts with versions.

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, Inbound, Outbound, Part, PersonId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::compact_json::thinned;
use crate::error::{Result, StoreError};
use crate::value::Row;
use selkie_domain::facts::Facts;
use selkie_domain::question::Person;
use selkie_domain::schedule::Schedule;
use selkie_domain::transcript::Item;

/// The layout of transcript rows written today; the column `v` says which a row has.
pub const ITEM_VERSION: u16 = 1;

/// A JSON text that carries the version of its layout.
pub trait Layout: Serialize + DeserializeOwned {
    /// The newest version that can be read.
    const NEWEST: u16;
    /// What it is called in errors.
    const NAME: &'static str;
    /// Its own version.
    fn v(&self) -> u16;
}

macro_rules! layouts {
    ($($type:ident = $name:literal),*) => {
        $(impl Layout for $type {
            const NEWEST: u16 = $type::VERSION;
            const NAME: &'static str = $name;
            fn v(&self) -> u16 {
                self.v
            }
        })*
    };
}
layouts!(
    Inbound = "inbound",
    Outbound = "outbound",
    Part = "part",
    Facts = "facts",
    Schedule = "schedule"
);

/// Reads a JSON text of a known layout. An older layout gets its upcaster here when there is one.
pub fn load<T: Layout>(row: i64, text: &str) -> Result<T> {
    let value: T = read_json(T::NAME, row, text)?;
    if value.v() > T::NEWEST {
        let name = T::NAME;
        let found = value.v();
        return Err(StoreError::Corrupt(format!(
            "{name} of row {row} has layout {found}, this selkie knows {}",
            T::NEWEST
        )));
    }
    Ok(value)
}

/// Reads a transcript row.
pub fn load_item(task: i64, v: u16, text: &str) -> Result<Item> {
    if v > ITEM_VERSION {
        return Err(StoreError::Corrupt(format!(
            "a transcript row of task {task} has layout {v}, this selkie knows {ITEM_VERSION}"
        )));
    }
    read_json("transcript", task, text)
}

/// Reads any JSON text.
pub fn read_json<T: DeserializeOwned>(name: &str, row: i64, text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|e| StoreError::Corrupt(format!("{name} of row {row} is not readable: {e}")))
}

/// Writes a JSON text.
pub fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|e| StoreError::Corrupt(format!("a value cannot be written as JSON: {e}")))
}

/// Writes a JSON text without what is empty in it. Not for texts that hold JSON of others.
pub fn lean<T: Serialize>(value: &T) -> Result<String> {
    Ok(thinned(&json(value)?))
}

/// Returns a moment as a column holds it: milliseconds since 1970.
pub fn millis(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// Reads a moment; one outside the calendar is 1970.
pub fn time(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

/// Returns a count as a column holds it.
pub fn small(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Reads a count; a negative one is zero.
pub fn count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or(0)
}

/// Reads a conversation's id: its account in this column, its key in the next.
pub fn conversation(row: &dyn Row, at: usize) -> Result<ConversationId> {
    Ok(ConversationId::new(AccountId::new(row.get::<&str>(at)?), row.get::<&str>(at + 1)?))
}

/// Reads a person: their id in this column, their name in the next.
pub fn person(row: &dyn Row, at: usize) -> Result<Person> {
    Ok(Person { id: PersonId::new(row.get::<&str>(at)?), name: row.get(at + 1)? })
}
