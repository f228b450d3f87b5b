//! Moves a whole life from one database to another: copies it, settles what was under way, seals what is left behind.

use chrono::{DateTime, Utc};

use crate::error::{Result, StoreError};
use crate::restored::RestoreOrigin;
use crate::sql::{Plan, SqlLedger};
use crate::tables::TABLES;
use crate::tx::Tx;
use crate::verbs::copying::{self, PAGE, TableStatements};
use crate::verbs::restored;

/// Says how to undo a seal.
const UNDO: &str = "to keep using this one and leave the copy unused, run `selkie store unseal`";
/// How the seal of a copy begins that was not finished.
const HALF: &str = "it is half a copy";
/// What is to be done about one.
const ANEW: &str = "make that copy again. When the store it was made of is sealed, run `selkie store unseal` there first";

/// How many rows of a table were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCopy {
    /// Its name.
    pub table: &'static str,
    /// Rows.
    pub rows: u64,
}

/// Refuses a store that is sealed already.
///
/// # Errors
/// `Held` for a sealed one; else as every write.
pub async fn refuse_sealed(source: &SqlLedger) -> Result<()> {
    match source.write(Plan::RELAXED, copying::sealed).await? {
        None => Ok(()),
        Some(why) => Err(StoreError::Held(format!("the store is sealed: {why}"))),
    }
}

/// Whether a ledger holds a copy that was not finished.
///
/// # Errors
/// As every write.
pub async fn is_half(ledger: &SqlLedger) -> Result<bool> {
    let sealed = ledger.write(Plan::RELAXED, copying::sealed).await?;
    Ok(sealed.is_some_and(|why| why.starts_with(HALF)))
}

/// Whether something was ever stored in a ledger.
///
/// # Errors
/// As every write.
pub async fn is_used(ledger: &SqlLedger) -> Result<bool> {
    Ok(!ledger.write(Plan::RELAXED, copying::is_empty).await?)
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
) -> Result<Vec<TableCopy>> {
    refuse_sealed(source).await?;
    let all = fill(source, target, target_name).await?;
    let at = now.timestamp_millis();
    target.write(Plan::DURABLE, move |tx| copying::settle(tx, at).map(drop)).await?;
    let why =
        format!("it was copied to {target_name} at {}; {UNDO}", now.format("%Y-%m-%d %H:%M UTC"));
    seal(source, Some(&why)).await?;
    seal(target, None).await?;
    Ok(all)
}

/// Copies every row into an empty ledger, and leaves that sealed as half a copy: whoever has done all that belongs to it
/// unseals it. The source stays as it is.
///
/// # Errors
/// As [`copy`].
pub async fn fill(
    source: &SqlLedger,
    target: &SqlLedger,
    target_name: &str,
) -> Result<Vec<TableCopy>> {
    if !target.write(Plan::DURABLE, copying::is_empty).await? {
        let message = match is_half(target).await? {
            true => format!(
                "{target_name} holds half a copy of an earlier try: drop that database, make it again, and copy again"
            ),
            false => {
                format!("{target_name} is not empty: copy into a database that holds nothing")
            }
        };
        return Err(StoreError::Damaged(message));
    }
    seal(target, Some(&format!("{HALF}: {ANEW}"))).await?;
    let mut all = Vec::with_capacity(TABLES.len());
    for table in TABLES.iter().filter(|table| !table.derived) {
        let rows = table_of(source, target, TableStatements::of(table)).await?;
        all.push(TableCopy { table: table.name, rows });
    }
    Ok(all)
}

/// Settles what was under way when a backup was made, and holds the life until somebody lets it go on.
///
/// # Errors
/// As every write.
pub async fn settle_restored(ledger: &SqlLedger, restored: RestoreOrigin) -> Result<()> {
    let at = restored.at.timestamp_millis();
    let settle = move |tx: &mut dyn Tx| {
        // A backup may be of a life that was restored and never went on.
        let mut stopped = restored::read(tx)?.map(|earlier| earlier.stopped).unwrap_or_default();
        stopped.extend(copying::settle(tx, at)?);
        restored::mark(tx, &RestoreOrigin { stopped, ..restored.clone() })
    };
    ledger.write(Plan::DURABLE, settle).await
}

/// Opens a sealed ledger again; `false` when it was not sealed.
///
/// # Errors
/// As every write.
pub async fn unseal(ledger: &SqlLedger) -> Result<bool> {
    let was = ledger.write(Plan::RELAXED, copying::sealed).await?.is_some();
    if was {
        seal(ledger, None).await?;
    }
    Ok(was)
}

/// Seals a ledger, or opens it again.
///
/// # Errors
/// As every write.
async fn seal(ledger: &SqlLedger, why: Option<&str>) -> Result<()> {
    let why = why.map(str::to_owned);
    ledger.write(Plan::DURABLE, move |tx| copying::seal(tx, why.as_deref())).await
}

async fn table_of(
    source: &SqlLedger,
    target: &SqlLedger,
    table: &'static TableStatements,
) -> Result<u64> {
    let mut after = None;
    let mut rows = 0;
    loop {
        let from = after.take();
        let lines = source
            .write(Plan::RELAXED, move |tx| copying::page(tx, table, from.as_deref()))
            .await?;
        let Some(last) = lines.last() else { break };
        after = Some(table.key_of(last));
        let count = lines.len();
        rows += count as u64;
        target.write(Plan::RELAXED, move |tx| copying::fill(tx, table, &lines)).await?;
        if count < PAGE {
            break;
        }
    }
    target.write(Plan::RELAXED, move |tx| copying::number(tx, table)).await?;
    Ok(rows)
}
