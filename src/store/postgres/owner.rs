//! One selkie per database: a lock that lives as long as its connection says that somebody is there, a row says who,
//! and a row for each connection keeps the writes of everybody else out.

use super::session::{Session, quoted};
use super::trouble::Trouble;
use crate::database::Opener;
use crate::error::StoreError;

/// The lock's number: "selkie" in ASCII.
const LOCK: &str = "126879447869797";
/// How long the end of a process that was killed may take to reach the server.
const TIMEOUT: &str = "3s";

/// Takes the lock for as long as this connection lives.
///
/// # Errors
/// `Held` when somebody else has it: it says who, and since when.
pub fn lock(session: &Session, owner: &Opener) -> Result<(), Trouble> {
    let sql = format!(
        "SET lock_timeout = '{TIMEOUT}'; SELECT pg_advisory_lock({LOCK}); SET lock_timeout = '10s'"
    );
    match session.rows::<1>(&sql) {
        Ok(_) => Ok(()),
        Err(Trouble::Failed(_)) => Err(Trouble::Failed(held(session, owner))),
        Err(trouble) => Err(trouble),
    }
}

/// Writes down who has the database now. Whatever an earlier owner has begun is waited for; what they begin later
/// fails.
///
/// # Errors
/// As every statement.
pub fn take(session: &Session, owner: &Opener, slots: usize) -> Result<(), Trouble> {
    let Opener { instance, host, pid } = owner;
    let instance = quoted(instance);
    let host = quoted(host);
    let sql = format!(
        "BEGIN;
         INSERT INTO fence (slot, instance, turn) SELECT slot, {instance}, 0 FROM generate_series(0, {slots} - 1) AS slot
             ON CONFLICT (slot) DO UPDATE SET instance = excluded.instance;
         UPDATE fence SET instance = {instance} WHERE instance <> {instance};
         INSERT INTO owner (id, instance, host, pid, since)
             VALUES (1, {instance}, {host}, {pid}, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT)
             ON CONFLICT (id) DO UPDATE SET instance = excluded.instance, host = excluded.host, pid = excluded.pid,
                 since = excluded.since;
         COMMIT",
    );
    session.run(&sql)
}

/// Returns the number of the last transaction of a connection that holds; `None` when the database is another's now.
/// Whatever the connection's last server process still does is waited for.
///
/// # Errors
/// As every statement.
pub fn last_turn(session: &Session, owner: &Opener, slot: i64) -> Result<Option<i64>, Trouble> {
    let sql = format!(
        "SELECT turn FROM fence WHERE slot = {slot} AND instance = {} FOR NO KEY UPDATE",
        quoted(&owner.instance)
    );
    let rows = session.rows::<1>(&sql)?;
    Ok(rows.into_iter().next().and_then(|[turn]| turn.parse().ok()))
}

/// Says who has the database.
pub fn held(session: &Session, owner: &Opener) -> StoreError {
    let who = "SELECT instance, pid, host, to_char(to_timestamp(since / 1000.0), 'YYYY-MM-DD HH24:MI:SS') FROM owner WHERE id = 1";
    let who = match session.row::<4>(who) {
        Ok([instance, ..]) if instance == owner.instance => {
            return StoreError::Held(
                "this selkie already has that database open: copy to another one".to_owned(),
            );
        }
        Ok([_, pid, host, since]) => {
            format!("process {pid} on {host} has had it since {since} UTC")
        }
        Err(_) => "it is making its tables".to_owned(),
    };
    StoreError::Held(format!(
        "another selkie has the database, {who}: stop that one first, or name another database in store.url"
    ))
}
