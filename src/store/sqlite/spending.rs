//! Counters of use: the verb of [`Spending`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::Connection;

use super::rows::millis;
use super::writer::Class;
use super::{Sqlite, spent};
use crate::domain::usage::Spent;
use crate::store::{Result, Spending};

#[async_trait]
impl Spending for Sqlite {
    async fn spend(&self, spent: Vec<Spent>, forget: DateTime<Utc>) -> Result<Vec<u64>> {
        let forget = millis(forget);
        let verb = move |conn: &Connection| {
            conn.prepare_cached("DELETE FROM spent WHERE since < ?1")?.execute([forget])?;
            Ok(spent::add(conn, &spent)?)
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}
