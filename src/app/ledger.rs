//! Opens the ledger that the config names; the daemon waits for a database that is away.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use selkie_domain::clock::SharedClock;
use selkie_store::database::{Database, Opener};
use selkie_store::settings::Settings;
use selkie_store::sql::SqlLedger;
use selkie_store::{self as store, Ledger, StoreError};

/// The pauses between two tries.
const FIRST: Duration = Duration::from_millis(500);
const MAX_TIME: Duration = Duration::from_secs(30);

/// What says which ledger is opened, and for whom.
#[derive(Clone, Copy)]
pub struct LedgerName<'a> {
    /// Which.
    pub settings: &'a Settings,
    /// The state folder.
    pub state: &'a Path,
    /// The one TLS configuration.
    pub tls: &'a ClientConfig,
    /// For this instance.
    pub instance: &'a str,
    /// By this clock.
    pub clock: &'a SharedClock,
}

/// Opens it.
///
/// # Errors
/// See [`store::open_database`].
pub fn open(named: LedgerName<'_>) -> store::Result<Arc<dyn Ledger>> {
    let LedgerName { state, tls, clock, .. } = named;
    store::open_database(state, database(named)?, opener(named.instance), tls, Arc::clone(clock))
}

/// Opens it even when it is sealed.
///
/// # Errors
/// As [`open`].
pub fn open_whatever(named: LedgerName<'_>) -> store::Result<SqlLedger> {
    store::open::open_whatever(named.state, database(named)?, opener(named.instance), named.tls)
}

/// Opens it even when it is sealed, and leaves the lock of the state folder to somebody else where that holds no rows.
///
/// # Errors
/// As [`open`].
pub fn open_without_folder(named: LedgerName<'_>) -> store::Result<SqlLedger> {
    match database(named)? {
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            store::open::remote(*address, opener(named.instance), named.tls, None)
        }
        Database::Own => open_whatever(named),
    }
}

/// Says who we are to others who want a database.
pub fn opener(instance: &str) -> Opener {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Opener { instance: instance.to_owned(), host, pid: std::process::id() }
}

fn database(named: LedgerName<'_>) -> store::Result<Database> {
    let database = Database::read(named.settings);
    database.map_err(|why| StoreError::Damaged(format!("store.url {why}")))
}

/// Opens it as soon as it is there.
///
/// # Errors
/// As [`open`], but for a database that is away: `tell` says that once, and it is tried again for as long as it takes.
pub async fn wait_for(
    named: LedgerName<'_>,
    tell: &(dyn Fn(String) + Sync),
) -> store::Result<Arc<dyn Ledger>> {
    let mut pause = FIRST;
    loop {
        match open(named) {
            Err(StoreError::Away(why)) => {
                if pause == FIRST {
                    tell(format!(
                        "{why}: waiting for the database, nothing is heard until it is there"
                    ));
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_TIME);
            }
            opened => {
                if pause > FIRST && opened.is_ok() {
                    tracing::info!("the database is there");
                }
                return opened;
            }
        }
    }
}
