//! Counters of use: the verb of [`Spending`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::Sqlite;
use super::rows::millis;
use super::writer::Class;
use crate::store::{Result, Spending, Spent};

#[async_trait]
impl Spending for Sqlite {
    async fn spend(&self, spent: Vec<Spent>, forget: DateTime<Utc>) -> Result<Vec<u64>> {
        let forget = millis(forget);
        let verb = move |conn: &Connection| {
            conn.prepare_cached("DELETE FROM spent WHERE since < ?1")?.execute([forget])?;
            spent.iter().map(|spent| one(conn, spent)).collect()
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

fn one(conn: &Connection, spent: &Spent) -> Result<u64> {
    let Spent { who, what, since, amount } = spent;
    let (since, amount) = (millis(*since), i64::try_from(*amount).unwrap_or(i64::MAX));
    if amount > 0 {
        // More than fits stays the most there is.
        conn.prepare_cached(
            "INSERT INTO spent (since, who, what, amount) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (since, who, what)
             DO UPDATE SET amount = min(amount, 9223372036854775807 - excluded.amount) + excluded.amount",
        )?
        .execute(params![since, who, what, amount])?;
    }
    let known: Option<i64> = conn
        .prepare_cached("SELECT amount FROM spent WHERE since = ?1 AND who = ?2 AND what = ?3")?
        .query_row(params![since, who, what], |row| row.get(0))
        .optional()?;
    Ok(known.and_then(|amount| u64::try_from(amount).ok()).unwrap_or_default())
}
