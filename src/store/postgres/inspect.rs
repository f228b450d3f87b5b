//! Looks at a server before anything is written: whether it is one that keeps what it is given.

use super::address::Address;
use super::session::Session;
use super::trouble::Trouble;
use crate::error::StoreError;

/// The oldest server that has all that is asked of it.
const OLDEST: u32 = 130_000;

/// Looks at the server behind a connection.
///
/// # Errors
/// `ReadOnly` for a replica, `Failed` with a `Damaged` that says what to do for a server that must not be used.
pub fn server(session: &Session, address: &Address) -> Result<(), Trouble> {
    let asks = "SELECT current_setting('server_version_num'), current_setting('server_encoding'),
         current_setting('fsync'), current_setting('transaction_read_only'), pg_is_in_recovery(),
         current_setting('synchronous_commit')";
    let [version, encoding, fsync, read_only, replica, syncing] = session.row(asks)?;
    if read_only == "on" && replica != "t" {
        return Err(Trouble::ReadOnly(format!(
            "{address} takes no writes because default_transaction_read_only is on: set it to off where it is set (ALTER \
             DATABASE, ALTER ROLE, postgresql.conf)"
        )));
    }
    let refuse = |why: String| {
        Err(Trouble::Failed(StoreError::Damaged(format!(
            "the database {address} cannot be used: {why}"
        ))))
    };
    if version.parse::<u32>().is_ok_and(|version| version < OLDEST) {
        return refuse("its server is older than PostgreSQL 13: upgrade it".to_owned());
    }
    if encoding != "UTF8" {
        return refuse(format!(
            "its encoding is {encoding}: make another one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        ));
    }
    if fsync != "on" {
        return refuse(
            "its server runs with fsync = off and may lose everything in a power failure: set fsync = on in \
             postgresql.conf and restart it"
                .to_owned(),
        );
    }
    if replica == "t" {
        return Err(Trouble::ReadOnly(format!(
            "{address} is a read-only replica: selkie waits until it accepts writes; or name the primary in store.url"
        )));
    }
    // Whatever the server is set to, an answer means that it is on the disk; what waits for more stays.
    if syncing != "on" && syncing != "remote_apply" {
        session.run("SET synchronous_commit = on")?;
    }
    Ok(())
}

/// Looks whether each connection has a server process of its own.
///
/// # Errors
/// `Failed` with a `Damaged` that says what to do when something between gives transactions to any process.
pub fn no_pooler(first: &Session, other: &Session, address: &Address) -> Result<(), Trouble> {
    let who = "SELECT pg_backend_pid(), current_setting('lock_timeout')";
    let [before, _] = first.row(who)?;
    other.run("BEGIN")?;
    let [theirs, _] = other.row(who)?;
    let [after, manners] = first.row(who)?;
    other.run("COMMIT")?;
    if before == after && before != theirs && manners == "10s" {
        return Ok(());
    }
    Err(Trouble::Failed(StoreError::Damaged(format!(
        "{address} is a pooler that gives every transaction another connection: name the server itself in store.url, \
         or a pool with pool_mode = session"
    ))))
}
