//! The narrow transaction that verbs are written over: one SQL for every engine.
//!
//! Statements are constants with parameters `?1`, `?2`, …, in what SQLite and PostgreSQL have in common. Two words are
//! hints to SQLite's planner which the other engine takes out: `INDEXED BY name`, and the `CROSS` of `CROSS JOIN … ON`.

use std::ops::ControlFlow;

use selkie_channel_core::ConversationId;

use crate::error::{Result, StoreError};
use crate::value::{Column, Row, Value};

/// An open transaction. Whoever is handed one neither commits nor rolls back: the engine does.
///
/// A verb can be run again on another transaction when the first could not be committed (a deadlock, a conflict), so
/// it keeps nothing of a run.
pub trait Tx {
    /// Which spelling this engine reads.
    fn dialect(&self) -> Dialect;

    /// Whether nobody else writes at the same time: then what would have to be found to be locked is not looked for.
    fn is_alone(&self) -> bool;

    /// Changes rows; returns how many.
    ///
    /// # Errors
    /// As every statement: `Broken` when it could not be carried out.
    fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64>;

    /// Changes rows whose count nobody reads. A remote engine sends it with the next statement that is waited for, or
    /// with the commit; it is carried out in the order in which it was given all the same.
    ///
    /// # Errors
    /// Its own, or later those of the statement it is sent with.
    fn execute_later(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<()>;

    /// Inserts at most one row into a table whose key is `id`, which the database gives; returns it, `None` when an
    /// `ON CONFLICT … DO NOTHING` kept it out. The text ends before a `RETURNING`: the engine asks in its own way.
    ///
    /// # Errors
    /// As [`Tx::execute`].
    fn insert(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<Option<i64>>;

    /// Hands each row of an answer (of a `SELECT`, or of a `RETURNING`, which is carried out as a whole) to `each`,
    /// which may break off.
    ///
    /// # Errors
    /// As [`Tx::execute`], and what `each` returns, which ends the reading.
    fn query(&mut self, sql: &'static str, params: &[Value<'_>], each: Each<'_>) -> Result<()>;

    /// Carries out several statements of which none needs the answer of another, in their order: a remote engine asks
    /// them all before it waits for the first answer.
    ///
    /// # Errors
    /// As [`Tx::query`].
    fn query_all(&mut self, queries: &mut [Query<'_>]) -> Result<()> {
        queries.iter_mut().try_for_each(|query| self.query(query.sql, query.params, query.each))
    }

    /// Keeps other writers off something until the transaction ends: conversations first, by their rows ascending,
    /// then lanes, then outbounds. What was read before it is read again. Nothing where one thread writes.
    ///
    /// # Errors
    /// As [`Tx::execute`].
    fn lock(&mut self, what: Lock<'_>) -> Result<()>;
}

/// What reads a row and tells whether to go on.
pub type Each<'e> = &'e mut dyn FnMut(&dyn Row) -> Result<ControlFlow<()>>;

/// One of several statements that are carried out together.
pub struct Query<'q> {
    /// Its text.
    pub sql: &'static str,
    /// What it is given.
    pub params: &'q [Value<'q>],
    /// What reads its rows.
    pub each: Each<'q>,
}

/// Reads every row into a list.
pub fn into<T>(
    list: &mut Vec<T>,
    read: impl Fn(&dyn Row) -> Result<T>,
) -> impl FnMut(&dyn Row) -> Result<ControlFlow<()>> {
    move |row| {
        list.push(read(row)?);
        Ok(ControlFlow::Continue(()))
    }
}

/// What is locked, in the order in which it is.
#[derive(Clone, Copy, Debug)]
pub enum Lock<'l> {
    /// A conversation, by its row.
    Conversation(i64),
    /// The conversation of this name, if there is one.
    Named(&'l ConversationId),
    /// The conversation of a task, and the one of this name.
    OfTask(i64, Option<&'l ConversationId>),
    /// The conversation of a part, and that of the task which said it.
    OfPart(i64),
    /// A lane.
    Lane(i64),
    /// Something said, with its parts.
    Outbound(i64),
}

/// Whose SQL an engine reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's.
    Sqlite,
    /// PostgreSQL's.
    Postgres,
}

/// A statement that has to be written twice.
#[derive(Clone, Copy, Debug)]
pub struct Spellings {
    /// For SQLite.
    pub sqlite: &'static str,
    /// For PostgreSQL, with parameters `?1` here, too.
    pub postgres: &'static str,
}

impl Spellings {
    /// Returns the text for a dialect.
    pub fn of(self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// What a row of one column is read as.
pub trait Whole: for<'r> Column<'r> {}

impl<T: for<'r> Column<'r>> Whole for T {}

impl dyn Tx + '_ {
    /// Reads all rows.
    ///
    /// # Errors
    /// As [`Tx::query`].
    pub fn all<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        read: impl Fn(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.query(sql, params, &mut into(&mut rows, read))?;
        Ok(rows)
    }

    /// Reads the first row, if there is one.
    ///
    /// # Errors
    /// As [`Tx::query`].
    pub fn optional<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.query(sql, params, &mut |row| {
            found = Some(read(row)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Reads the row that there must be.
    ///
    /// # Errors
    /// As [`Tx::query`], and `Corrupt` when there is none.
    pub fn one<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<T> {
        let none = || StoreError::Corrupt("a row that others refer to is missing".to_owned());
        self.optional(sql, params, read)?.ok_or_else(none)
    }

    /// Reads the first column of all rows.
    ///
    /// # Errors
    /// As [`Tx::query`].
    pub fn column<T: Whole>(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<T>> {
        self.all(sql, params, |row| row.get(0))
    }

    /// Reads the first column of the first row, if there is one.
    ///
    /// # Errors
    /// As [`Tx::query`].
    pub fn first<T: Whole>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> Result<Option<T>> {
        self.optional(sql, params, |row| row.get(0))
    }

    /// Reads the first column of the row that there must be.
    ///
    /// # Errors
    /// As [`dyn Tx::one`].
    pub fn only<T: Whole>(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<T> {
        self.one(sql, params, |row| row.get(0))
    }

    /// Whether there is a row.
    ///
    /// # Errors
    /// As [`Tx::query`].
    pub fn exists(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<bool> {
        let mut found = false;
        self.query(sql, params, &mut |_| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }
}
