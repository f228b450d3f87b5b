//! A copy of everything that is stored, as it is at one moment, in one new file: made beside whoever writes, of
//! whatever database it is.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustls::ClientConfig;

use crate::copy::TableCopy;
use crate::database::{Database, Opener};
use crate::error::{Result, StoreError};
use crate::sqlite::{self, StoreLock};
use crate::tables::TABLES;
use crate::tx::Tx;
#[cfg(feature = "postgres")]
use crate::verbs::copying::PAGE;
use crate::verbs::copying::{self, TableStatements};

/// How long a copy is looked through before it counts as one.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// What is copied, and who asks for it.
pub struct Source<'s> {
    /// The state folder.
    pub state: &'s Path,
    /// The database.
    pub database: Database,
    /// Who asks.
    pub opener: Opener,
    /// The one TLS configuration.
    pub tls: &'s ClientConfig,
    /// The time.
    pub now: DateTime<Utc>,
}

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The version of its tables.
    pub version: i64,
    /// How many rows each table has.
    pub tables: Vec<TableCopy>,
    /// Somebody had the store open meanwhile.
    pub was_running: bool,
}

/// The version of the files that are made.
pub const NEWEST: i64 = sqlite::newest_version();

/// Copies everything into a new file, synced, and looks it through. It blocks: not for a thread of a runtime.
///
/// # Errors
/// `Held` for a sealed store; `Newer`, `Damaged`, `Away` as at a start; `Broken` when the copy cannot be written. What
/// was made of it stays: who named the file takes it away.
pub fn snapshot(source: Source<'_>, to: &Path) -> Result<Snapshot> {
    let lock = match StoreLock::take(&source.state.join("selkie.lock")) {
        Ok(lock) => Some(lock),
        Err(StoreError::Held(_)) => None,
        Err(error) => return Err(error),
    };
    let was_running = lock.is_none();
    match source.database {
        Database::Own => {
            sqlite::copy(&source.state.join("selkie.db"), lock.is_some(), to)?;
        }
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let Source { opener, tls, now, .. } = source;
            remote(*address, opener, tls, to, now)?;
        }
    }
    let looked = sqlite::examine(to, TIMEOUT)?;
    sync(to)?;
    Ok(Snapshot { version: looked.version, tables: counted(to, looked.version)?, was_running })
}

#[cfg(feature = "postgres")]
fn remote(
    address: crate::postgres::Address,
    who: Opener,
    tls: &ClientConfig,
    to: &Path,
    now: DateTime<Utc>,
) -> Result<()> {
    let file = sqlite::NewFile::make(to, now)?;
    // A connection waits on a runtime of its own: on a thread that has none.
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            crate::postgres::in_one_snapshot(address, who, tls, |tx| {
                let kept = TABLES.iter().filter(|table| !table.derived);
                kept.map(TableStatements::of).try_for_each(|table| table_of(tx, &file, table))
            })?;
            file.finish()
        });
        reading.join().map_err(|_| StoreError::Broken("reading panicked".to_owned()))?
    })
}

/// Copies one table, a page at a time.
#[cfg(feature = "postgres")]
fn table_of(from: &mut dyn Tx, to: &sqlite::NewFile, table: &TableStatements) -> Result<()> {
    let mut after = None;
    loop {
        let lines = copying::page(from, table, after.as_deref())?;
        let Some(last) = lines.last() else { return Ok(()) };
        after = Some(table.key_of(last));
        to.write(|tx| copying::fill(tx, table, &lines))?;
        if lines.len() < PAGE {
            return Ok(());
        }
    }
}

/// What a store holds, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The version of its tables.
    pub version: i64,
    /// How many rows each table has; of tables of another version none are counted.
    pub tables: Vec<TableCopy>,
}

/// Counts what is stored, beside whoever writes; takes nothing and makes nothing. It blocks.
///
/// # Errors
/// When it cannot be read.
pub fn look(source: Source<'_>) -> Result<Numbers> {
    match source.database {
        Database::Own => sqlite::read_beside(&source.state.join("selkie.db"), |tx| {
            let version = tx.only("PRAGMA user_version", &[])?;
            let tables = if version == NEWEST { count(tx)? } else { Vec::new() };
            Ok(Numbers { version, tables })
        }),
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let Source { opener, tls, .. } = source;
            std::thread::scope(|scope| {
                let reading = scope.spawn(move || {
                    crate::postgres::in_one_snapshot(*address, opener, tls, |tx| {
                        // Tables of another version are not read.
                        let version = crate::postgres::NEWEST;
                        Ok(Numbers { version, tables: count(tx)? })
                    })
                });
                reading.join().map_err(|_| StoreError::Broken("reading panicked".to_owned()))?
            })
        }
    }
}

/// Counts the rows of a copy; one of an earlier version has other tables, and is not counted.
fn counted(file: &Path, version: i64) -> Result<Vec<TableCopy>> {
    if version != NEWEST {
        return Ok(Vec::new());
    }
    sqlite::read(file, |tx| {
        if let Some(why) = copying::sealed(tx)? {
            return Err(StoreError::Held(format!("the store is sealed: {why}")));
        }
        count(tx)
    })
}

fn count(tx: &mut dyn Tx) -> Result<Vec<TableCopy>> {
    let counted = TABLES.iter().filter(|table| !table.derived).map(|table| {
        let rows = tx.only::<i64>(TableStatements::of(table).count(), &[])?;
        Ok(TableCopy { table: table.name, rows: rows.unsigned_abs() })
    });
    counted.collect()
}

fn sync(file: &Path) -> Result<()> {
    let synced = File::open(file).and_then(|file| file.sync_all());
    synced.map_err(|e| StoreError::Broken(format!("{} cannot be synced: {e}", file.display())))
}
