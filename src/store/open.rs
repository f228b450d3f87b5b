//! Opens a state folder's ledger, or the one in the database that the config names.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustls::ClientConfig;

use crate::database::{Database, Opener};
use crate::engine::{Class, Key, Verb, job};
use crate::error::{Result, StoreError};
use crate::ledger::Ledger;
#[cfg(feature = "postgres")]
use crate::postgres::{Address, Postgres};
use crate::sql::SqlLedger;
use crate::sqlite::Sqlite;
#[cfg(feature = "postgres")]
use crate::sqlite::StoreLock;
use crate::verbs::copying;
use selkie_domain::clock::{Clock, SharedClock, SystemClock};

/// Opens the ledger of a state folder: `selkie.db`, and `selkie.lock` that, with a lock on the folder, keeps others out.
///
/// # Errors
/// See [`Sqlite::open`].
pub fn open(state_dir: &Path) -> Result<Arc<dyn Ledger>> {
    Ok(Arc::new(in_use(own(&state_dir.join("selkie.db"))?)?))
}

/// Opens the ledger in the database that the config names; a state folder belongs to one process whatever that is.
///
/// # Errors
/// See [`Sqlite::open`] and `postgres::Postgres::open`; `Held` when it is sealed.
pub fn open_database(
    state_dir: &Path,
    database: Database,
    opener: Opener,
    tls: &ClientConfig,
    clock: SharedClock,
) -> Result<Arc<dyn Ledger>> {
    let is_own = matches!(database, Database::Own);
    let opened = in_use(open_whatever(state_dir, database, opener, tls)?.by(clock));
    let opened = opened.map_err(|error| match error {
        // What the server says of a statement itself (class 42) stays so.
        StoreError::Broken(why) if !is_own && !why.contains("(42") => StoreError::Away(why),
        other => other,
    });
    Ok(Arc::new(opened?))
}

/// Opens it even when it is sealed.
///
/// # Errors
/// As [`open_database`].
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "only a server asks"))]
pub fn open_whatever(
    state_dir: &Path,
    database: Database,
    opener: Opener,
    tls: &ClientConfig,
) -> Result<SqlLedger> {
    match database {
        Database::Own => own(&state_dir.join("selkie.db")),
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let folder = StoreLock::take(&state_dir.join("selkie.lock"))?;
            remote(*address, opener, tls, Some(folder))
        }
    }
}

/// Opens the ledger in one file, even when it is sealed.
///
/// # Errors
/// See [`Sqlite::open`].
pub fn own(file: &Path) -> Result<SqlLedger> {
    let clock = Arc::new(SystemClock);
    let engine = Sqlite::open(file, clock.now())?;
    Ok(SqlLedger::over(Arc::new(engine), clock))
}

/// Opens the ledger in a database of a server, even when it is sealed, and holds a folder with it.
///
/// # Errors
/// See `postgres::Postgres::open`.
#[cfg(feature = "postgres")]
pub fn remote(
    address: Address,
    opener: Opener,
    tls: &ClientConfig,
    folder: Option<StoreLock>,
) -> Result<SqlLedger> {
    let engine = Postgres::open(address, opener, tls)?.with_folder(folder);
    Ok(SqlLedger::over(Arc::new(engine), Arc::new(SystemClock)))
}

/// Refuses a sealed one.
fn in_use(ledger: SqlLedger) -> Result<SqlLedger> {
    let (job, answer) = job(copying::sealed);
    ledger.engine().write(Verb {
        class: Class::Relaxed,
        bytes: 0,
        key: Key::ANY,
        came: Instant::now(),
        job,
    });
    match answer.wait_here()? {
        None => Ok(ledger),
        Some(why) => Err(StoreError::Held(format!("the store is sealed: {why}"))),
    }
}
