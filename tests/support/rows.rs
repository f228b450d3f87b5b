//! Looks into a home's database from outside, and waits until nothing is left to do in it.

use rusqlite::{Connection, OpenFlags};
use selkie_test_postgres::server;

use crate::support::daemon::Home;
use crate::support::world::World;

const OPEN: &str = "SELECT (SELECT count(*) FROM part WHERE open = 1)
    + (SELECT count(*) FROM task WHERE state IN ('waiting', 'running'))
    + (SELECT count(*) FROM inbox WHERE disposition = 'gate')
    + (SELECT count(*) FROM inbox WHERE disposition IN ('command', 'tap', 'answer') AND done_at IS NULL)";
/// Counts what people have said.
pub const HEARD: &str =
    "SELECT count(*) FROM inbox WHERE disposition IN ('task', 'command', 'answer')";

/// Reads one number; `None` while the database cannot be read.
pub fn number(home: &Home, sql: &str) -> Option<i64> {
    if let Some(database) = home.remote() {
        return server().try_psql(database, sql).ok()?.parse().ok();
    }
    open(home)?.query_row(sql, [], |row| row.get(0)).ok()
}

/// Reads one column of texts.
pub fn texts(home: &Home, sql: &str) -> Vec<String> {
    if let Some(database) = home.remote() {
        return server().psql(database, sql).lines().map(str::to_owned).collect();
    }
    let conn = open(home).expect("a database");
    let mut statement = conn.prepare(sql).expect("sql");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a text")).collect()
}

/// Waits until so many messages are stored, and all of them are answered and delivered (or given up). The
/// daemon logs every receipt and every task's end after it is stored: each line is a reason to look again.
pub async fn settled(world: &World, messages: i64) {
    delivered(world, HEARD, messages).await;
}

/// Waits until so many messages have gone through, as `arrived` counts them, and nothing is left to do.
pub async fn delivered(world: &World, arrived: &str, messages: i64) {
    let done = |_: &str| {
        number(&world.home, arrived).is_some_and(|count| count >= messages)
            && number(&world.home, OPEN) == Some(0)
    };
    world.within("a settled ledger", world.home.logged(0, done)).await;
}

fn open(home: &Home) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(home.database(), flags).ok()
}
