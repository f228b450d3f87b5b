//! The database as an owner's backup meets it: one file after a clean stop, copied before an upgrade changes
//! it, and refused in plain words when there is no room for the copy.

use std::process::{Command, Stdio};

use rusqlite::{Connection, OpenFlags};
use selkie_playground::telegram::ADA;

use crate::support::daemon::Home;
use crate::support::rows::settled;
use crate::support::world::World;

/// The tables as the first version made them.
const FIRST: &str = include_str!("../../src/store/sqlite/migrations/0001_start.sql");

#[tokio::test(flavor = "multi_thread")]
async fn after_a_clean_stop_a_copy_of_the_one_file_holds_every_message() {
    let world = World::start().await;
    let daemon = world.daemon();
    for text in ["one", "two", "three"] {
        world.ask(text).await;
    }
    settled(&world, 3).await;
    // The page reads, too: a reader that is open keeps no log behind.
    world.status();
    assert!(daemon.stop().await.success());
    for name in ["selkie.db-wal", "selkie.db-shm"] {
        assert!(!world.home.state().join(name).exists(), "{name} is left");
    }
    let copy = world.home.folder().join("copy.db");
    std::fs::copy(world.home.database(), &copy).expect("a copy");
    let copy = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE).expect("a db");
    let count = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("rows");
    assert_eq!(count("SELECT count(*) FROM inbox"), 3);
    assert_eq!(count("SELECT count(*) FROM part WHERE state = 'sent'"), 3);
    let daemon = world.daemon();
    world.ask("four").await;
    assert!(world.said(ADA).len() >= 4);
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_without_room_for_its_copy_changes_nothing() {
    let world = World::offline().await;
    old(&world.home);
    // Files of at most 256 KiB: the copy is larger.
    let inner = world.home.command(&["trace", "1"]);
    let mut small = Command::new("/bin/sh");
    small.args(["-c", r#"trap "" XFSZ; ulimit -f 512; exec "$0" "$@""#]).arg(inner.get_program());
    small.args(inner.get_args()).env_clear().stdin(Stdio::null());
    small.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let refused = small.output().expect("it runs");
    let says = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{says}");
    assert!(
        says.contains("the copy before that cannot be created") && says.contains("Make room"),
        "{says}"
    );
    assert!(!says.contains("CREATE TABLE"), "{says}");
    assert_eq!(version(&world.home), 1);
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(version(&world.home) > 1);
    assert!(world.home.log().contains("the database was copied before it is changed"));
    assert!(daemon.stop().await.success());
}

/// A database of the first version, of about a megabyte.
fn old(home: &Home) {
    std::fs::create_dir_all(home.state()).expect("a folder");
    let conn = Connection::open(home.database()).expect("a database");
    conn.execute_batch(FIRST).expect("tables");
    conn.execute_batch(
        "PRAGMA user_version = 1;
         INSERT INTO workspace VALUES ('tg:0', 'tg:0', CAST(zeroblob(1000000) AS TEXT));",
    )
    .expect("a row");
}

fn version(home: &Home) -> i64 {
    let conn = Connection::open(home.database()).expect("a database");
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version")
}
