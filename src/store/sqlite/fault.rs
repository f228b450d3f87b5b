//! What SQLite's errors mean to a ledger.

use rusqlite::ErrorCode;

use crate::error::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt(error.to_string()),
            // The statement itself belongs into no log: a migration has pages.
            rusqlite::Error::SqlInputError { error, msg, .. } => of(error.code, msg),
            other => match other.sqlite_error_code() {
                Some(code) => of(code, other.to_string()),
                None => Self::Broken(other.to_string()),
            },
        }
    }
}

fn of(code: ErrorCode, what: String) -> StoreError {
    match code {
        ErrorCode::DatabaseCorrupt => StoreError::Damaged(format!("it is damaged ({what})")),
        ErrorCode::NotADatabase => StoreError::Damaged(format!("it is not a database ({what})")),
        _ => StoreError::Broken(what),
    }
}
