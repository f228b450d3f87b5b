//! A claimed task whose own rows cannot be read: nobody can work on it, so it ends, and its lane goes on.

use rusqlite::{Connection, OptionalExtension, params};

use super::claimed::RawClaimed;
use super::rows::millis;
use super::writer::Class;
use super::{Sqlite, lanes, work};
use crate::domain::ids::Boot;
use crate::domain::task::Lane;
use crate::store::{Claimed, Result, StoreError};

impl Sqlite {
    /// Reads a claim; one that cannot be read is ended and the lane's next task is claimed in its place.
    ///
    /// # Errors
    /// `Broken` when the store cannot write.
    pub(super) async fn readable(
        &self,
        raw: Option<RawClaimed>,
        boot: &Boot,
    ) -> Result<Option<Claimed>> {
        let mut next = raw;
        while let Some(raw) = next {
            let (task, number) = raw.named();
            let error = match raw.read() {
                Ok(claimed) => return Ok(Some(claimed)),
                Err(error) => error,
            };
            let Some(lane) = self.end_unreadable((task, number), &error).await? else { break };
            let (boot, now) = (boot.clone(), self.clock.now());
            let verb = move |conn: &Connection| match lanes::find(conn, &lane)? {
                Some(row) => lanes::take(conn, row, &boot, now),
                None => Ok(None),
            };
            next = self.writer.run(Class::Relaxed, 0, verb).await?;
        }
        Ok(None)
    }

    /// Ends it and returns its lane; `None` when the claim is not held any more.
    async fn end_unreadable(
        &self,
        (task, number): (i64, i64),
        error: &StoreError,
    ) -> Result<Option<Lane>> {
        tracing::error!(task, %error, "a claimed task cannot be read: it ends as failed");
        let now = millis(self.clock.now());
        let verb = move |conn: &Connection| {
            let found: Option<(i64, String)> = conn
                .prepare_cached(
                    "SELECT l.id, l.name FROM task t JOIN lane l ON l.id = t.lane
                     WHERE t.id = ?1 AND t.claim = ?2 AND t.state = 'running'",
                )?
                .query_row(params![task, number], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((lane, name)) = found else { return Ok(None) };
            let why = "its stored rows cannot be read";
            work::end(conn, task, ("failed", Some(why)), now)?;
            lanes::refresh(conn, lane)?;
            Ok(Some(Lane(name)))
        };
        self.writer.run(Class::Durable, 0, verb).await
    }
}
