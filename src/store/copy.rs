//! Moves a whole life from one database to another: copies it, settles what was under way, seals what is left behind.

use chrono::{DateTime, Utc};

use crate::store::error::{Result, StoreError};
use crate::store::sql::{Plan, SqlLedger};
use crate::store::tables::TABLES;
use crate::store::verbs::copying::{self, Carried, PAGE};

/// Says how to undo a seal.
const UNDO: &str = "`selkie store unseal` lets it be used all the same, when the other one is not";

/// How many rows of a table were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its name.
    pub table: &'static str,
    /// Rows.
    pub rows: u64,
}

/// Copies everything. Until the source is sealed the copy is: whatever happens in between, one of them can be used.
///
/// # Errors
/// `Held` for a sealed source, `Damaged` for a target in which something is stored; `Broken` when one of them cannot be read or written: then the
/// source is as it was.
pub async fn copy(
    source: &SqlLedger,
    target: &SqlLedger,
    target_name: &str,
    now: DateTime<Utc>,
) -> Result<Vec<Copied>> {
    if let Some(why) = source.write(Plan::RELAXED, copying::sealed).await? {
        return Err(StoreError::Held(format!("the store is sealed: {why}")));
    }
    if !target.write(Plan::DURABLE, copying::is_empty).await? {
        return Err(StoreError::Damaged(format!(
            "{target_name} is not empty: copy into a database that holds nothing"
        )));
    }
    seal(target, Some("it is half a copy: make an empty database, and copy again")).await?;
    let mut all = Vec::with_capacity(TABLES.len());
    for table in TABLES {
        let rows = table_of(source, target, Carried::of(table)).await?;
        all.push(Copied { table: table.name, rows });
    }
    let at = now.timestamp_millis();
    target.write(Plan::DURABLE, move |tx| copying::settle(tx, at)).await?;
    let why =
        format!("it was copied to {target_name} at {}; {UNDO}", now.format("%Y-%m-%d %H:%M UTC"));
    seal(source, Some(&why)).await?;
    seal(target, None).await?;
    Ok(all)
}

/// Seals a ledger, or opens it again.
///
/// # Errors
/// As every write.
pub async fn seal(ledger: &SqlLedger, why: Option<&str>) -> Result<()> {
    let why = why.map(str::to_owned);
    ledger.write(Plan::DURABLE, move |tx| copying::seal(tx, why.as_deref())).await
}

async fn table_of(source: &SqlLedger, target: &SqlLedger, table: Carried) -> Result<u64> {
    let (mut after, mut rows) = (None, 0);
    loop {
        let from = after.take();
        let lines = source
            .write(Plan::RELAXED, move |tx| copying::page(tx, &table, from.as_deref()))
            .await?;
        let Some(last) = lines.last() else { break };
        after = Some(table.key_of(last));
        let count = lines.len();
        rows += count as u64;
        target.write(Plan::RELAXED, move |tx| copying::fill(tx, &table, &lines)).await?;
        if count < PAGE {
            break;
        }
    }
    target.write(Plan::RELAXED, move |tx| copying::number(tx, &table)).await?;
    Ok(rows)
}
