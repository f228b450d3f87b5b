//! Reads a database of a server as it is at one moment, beside whoever writes.

use rustls::ClientConfig;

use super::address::Address;
use super::metrics::Metrics;
use super::schema;
use super::shared::ConnectionSettings;
use super::tls::Tls;
use super::transaction::{Purpose, Transaction};
use crate::database::Opener;
use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// Runs something that only reads, all of it as of one moment. It blocks: not for a thread of a runtime.
///
/// # Errors
/// `Away` and `Newer` as at a start, `Damaged` for tables of an earlier version, and its own.
pub fn in_one_snapshot<T>(
    address: Address,
    who: Opener,
    tls: &ClientConfig,
    read: impl FnOnce(&mut dyn Tx) -> Result<T>,
) -> Result<T> {
    let shared = ConnectionSettings::new(address, Tls::new(tls), who, Metrics::new(1));
    let not_opened = |trouble| schema::not_opened(&shared, trouble);
    let mut session = shared.connect().map_err(not_opened)?;
    is_of_today(schema::version(&session).map_err(not_opened)?, &shared)?;
    let mut open = Transaction::new(&mut session, Purpose::Read);
    let done = read(&mut open);
    // It has changed nothing: however it ends, nothing is lost.
    drop(open.roll_back());
    session.close();
    done
}

fn is_of_today(version: Option<i64>, shared: &ConnectionSettings) -> Result<()> {
    let address = &shared.address;
    match version {
        Some(schema::NEWEST) => Ok(()),
        Some(found) if found > schema::NEWEST => Err(StoreError::newer(found, schema::NEWEST)),
        Some(_) => Err(StoreError::Damaged(format!(
            "the tables in {address} are of an earlier version: start this selkie once, which brings them to its own, or \
             use the selkie that runs there"
        ))),
        None => Err(StoreError::Damaged(format!("{address} holds no tables of selkie's yet"))),
    }
}
