//! What went wrong with a statement, and what is to be done about it.

use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// Somebody else was quicker, or two waited for each other: run the verb again.
    Conflict(String),
    /// The connection is gone, or is good for nothing any more.
    Lost(String),
    /// The server takes no writes: it is a replica, or is about to be one.
    ReadOnly(String),
    /// The rows say that the database is another selkie's.
    Taken,
    /// Everything else: nothing was written.
    Failed(StoreError),
}

impl Trouble {
    /// Reads what the driver says.
    pub fn of(error: &Error) -> Self {
        let says = says(error);
        let Some(code) = error.code() else {
            // What the driver itself finds wrong with a value has not left this process.
            let ours = error.to_string().starts_with("error serializing");
            return if ours { Self::Failed(StoreError::Corrupt(says)) } else { Self::Lost(says) };
        };
        match *code {
            SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::UNIQUE_VIOLATION => Self::Conflict(says),
            SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly(says),
            SqlState::DIVISION_BY_ZERO => Self::Taken,
            // A statement that was prepared is known no more, or would answer otherwise: a new connection is needed.
            SqlState::INVALID_SQL_STATEMENT_NAME
            | SqlState::FEATURE_NOT_SUPPORTED
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Self::Lost(says),
            _ if is_gone(code) => Self::Lost(says),
            _ => Self::Failed(StoreError::Broken(says)),
        }
    }

    /// Makes it of a server that has said nothing for so long.
    pub fn silent(patience: Duration) -> Self {
        Self::Lost(format!("the database has not answered for {} s", patience.as_secs()))
    }

    /// Says what it is, without what it means for the store.
    pub fn says(self) -> String {
        match self.into_error() {
            StoreError::Broken(says) => says,
            other => other.to_string(),
        }
    }

    /// Returns what a verb is told that is not run again.
    pub fn into_error(self) -> StoreError {
        match self {
            Self::Conflict(says) | Self::Lost(says) | Self::ReadOnly(says) => {
                StoreError::Broken(says)
            }
            Self::Taken => StoreError::Broken("another selkie has the database now".to_owned()),
            Self::Failed(error) => error,
        }
    }
}

/// Whether the server has ended the connection, or takes none.
fn is_gone(code: &SqlState) -> bool {
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::DATABASE_DROPPED,
    ];
    ended.contains(code) || code.code().starts_with("08")
}

/// Says what went wrong, without the values that a server likes to quote.
pub fn says(error: &Error) -> String {
    match error.as_db_error() {
        Some(told) => format!("the database says: {} ({})", told.message(), told.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}
