//! Looks into the daemon's database from outside: whether anything is left to do, and what it cannot know.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::tally;

const OPEN: &str = "SELECT (SELECT count(*) FROM part WHERE open = 1)
    + (SELECT count(*) FROM task WHERE state IN ('waiting', 'running'))
    + (SELECT count(*) FROM inbox WHERE disposition = 'gate')";
/// The questions whose answer stayed in doubt.
const DOUBTFUL: &str =
    "SELECT i.inbound ->> '$.text' FROM part p JOIN outbound o ON o.id = p.outbound
    JOIN inbox i ON i.task = o.task WHERE p.state = 'unclear'";
/// The parts of each state.
const STATES: &str = "SELECT state || ' ' || count(*) FROM part GROUP BY state";

/// How much is left to do; `None` while the database cannot be read.
pub fn open_work(database: &Path) -> Option<i64> {
    connect(database)?.query_row(OPEN, [], |row| row.get(0)).ok()
}

/// The questions of which nobody can say whether their answer arrived.
pub fn doubtful(database: &Path) -> BTreeSet<usize> {
    texts(database, DOUBTFUL).iter().filter_map(|text| tally::number(text)).collect()
}

/// What became of the parts, for people.
pub fn states(database: &Path) -> String {
    texts(database, STATES).join(", ")
}

fn texts(database: &Path, sql: &str) -> Vec<String> {
    let conn = connect(database).expect("the database opens");
    let mut statement = conn.prepare(sql).expect("sql");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.filter_map(Result::ok).collect()
}

fn connect(database: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(database, flags).ok()
}
