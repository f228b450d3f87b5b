//! Between Rust values and columns: times, JSON texts with versions, errors.

use chrono::{DateTime, Utc};
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;
use selkie_channel_core::{Inbound, Outbound, Part};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::facts::Facts;
use crate::domain::transcript::Item;
use crate::store::{Result, StoreError};

/// The layout of transcript rows written today; the column `v` says which a row has.
pub const ITEM_VERSION: u16 = 1;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt(error.to_string()),
            // The statement itself belongs into no log: a migration has pages.
            rusqlite::Error::SqlInputError { error, msg, .. } => Self::of(error.code, msg),
            other => match other.sqlite_error_code() {
                Some(code) => Self::of(code, other.to_string()),
                None => Self::Broken(other.to_string()),
            },
        }
    }
}

impl StoreError {
    fn of(code: ErrorCode, what: String) -> Self {
        match code {
            ErrorCode::DatabaseCorrupt => Self::Damaged(format!("it is damaged ({what})")),
            ErrorCode::NotADatabase => Self::Damaged(format!("it is not a database ({what})")),
            _ => Self::Broken(what),
        }
    }
}

impl From<FromSqlError> for StoreError {
    fn from(error: FromSqlError) -> Self {
        Self::Corrupt(error.to_string())
    }
}

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
layouts!(Inbound = "inbound", Outbound = "outbound", Part = "part", Facts = "facts");

/// Reads a JSON text of a known layout. An older layout gets its upcaster here when there is one.
pub fn load<T: Layout>(row: i64, text: &str) -> Result<T> {
    let value: T = read_json(T::NAME, row, text)?;
    if value.v() > T::NEWEST {
        let (name, found) = (T::NAME, value.v());
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

/// What may be left out of a stored text when it is empty: reading puts it back.
const DEFAULTS: [&str; 6] = ["attachments", "files", "forwarded", "is_bot", "ours", "title"];

/// Writes a JSON text without what is empty in it: every `null`, of the fields that have a default the empty
/// ones, and that it is a message. Not for texts that hold JSON of others.
pub fn lean<T: Serialize>(value: &T) -> Result<String> {
    let mut value = serde_json::to_value(value)
        .map_err(|e| StoreError::Corrupt(format!("a value cannot be written as JSON: {e}")))?;
    thin_out(&mut value);
    Ok(value.to_string())
}

fn thin_out(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|key, value| {
            thin_out(value);
            let empty = match value {
                Value::Null => return false,
                Value::Bool(is) => !*is,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                _ => false,
            };
            // What happens most goes without saying.
            let is_usual = key == "what" && is_message(value);
            !(is_usual || empty && DEFAULTS.contains(&key.as_str()))
        });
    }
}

fn is_message(what: &Value) -> bool {
    what.as_object().is_some_and(|what| {
        what.len() == 1 && what.get("kind").is_some_and(|kind| kind == "message")
    })
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
