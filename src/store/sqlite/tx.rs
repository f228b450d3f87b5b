//! A transaction of SQLite's: statements stay prepared, values are borrowed both ways.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use crate::error::{Result, StoreError};
use crate::tx::{Dialect, Each, Lock, Tx};
use crate::value::{Row, Value};

/// A connection with a transaction open. It is the only one that writes: nothing has to be locked.
pub struct SqliteTx<'c>(&'c Connection);

impl<'c> SqliteTx<'c> {
    /// Takes a connection on which a transaction was begun.
    pub fn on(conn: &'c Connection) -> Self {
        Self(conn)
    }

    fn prepared(&self, sql: &str, params: &[Value<'_>]) -> Result<CachedStatement<'c>> {
        let mut statement = self.0.prepare_cached(sql)?;
        if statement.parameter_count() != params.len() {
            let wants = statement.parameter_count();
            let has = params.len();
            let why = format!("a statement of {wants} parameters was given {has}: a defect");
            return Err(StoreError::Corrupt(why));
        }
        for (place, value) in (1..).zip(params) {
            statement.raw_bind_parameter(place, BoundValue(*value))?;
        }
        Ok(statement)
    }
}

impl Tx for SqliteTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn is_alone(&self) -> bool {
        true
    }

    fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64> {
        Ok(self.prepared(sql, params)?.raw_execute()? as u64)
    }

    fn execute_later(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<()> {
        self.execute(sql, params).map(drop)
    }

    fn insert(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<Option<i64>> {
        // `RETURNING` would gather the one row in a table of its own first.
        let inserted = self.execute(sql, params)? > 0;
        Ok(inserted.then(|| self.0.last_insert_rowid()))
    }

    fn query(&mut self, sql: &'static str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let mut statement = self.prepared(sql, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if each(&SqliteRow(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn lock(&mut self, _: Lock<'_>) -> Result<()> {
        Ok(())
    }
}

struct BoundValue<'a>(Value<'a>);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

struct SqliteRow<'a, 's>(&'a rusqlite::Row<'s>);

impl Row for SqliteRow<'_, '_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        Ok(match self.0.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Int(number),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::Text(text),
                Err(_) => Value::Bytes(bytes),
            },
            ValueRef::Blob(bytes) => Value::Bytes(bytes),
            ValueRef::Real(_) => {
                let why = format!("column {column} holds a number that is no integer");
                return Err(StoreError::Corrupt(why));
            }
        })
    }
}
