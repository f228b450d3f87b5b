//! Counters of use: added to by what is written beside them.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::domain::usage::Spent;

/// Adds to counters and returns what each has come to.
pub fn add(conn: &Connection, spent: &[Spent]) -> Result<Vec<u64>> {
    spent.iter().map(|spent| one(conn, spent)).collect()
}

fn one(conn: &Connection, spent: &Spent) -> Result<u64> {
    let Spent { who, what, since, amount } = spent;
    let (since, amount) = (since.timestamp_millis(), i64::try_from(*amount).unwrap_or(i64::MAX));
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
