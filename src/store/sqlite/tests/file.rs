//! The store as a file: one after a clean stop, copied before it changes, looked at before it is used.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::open;
use crate::conformance::{message, no_fuse, push, task};
use crate::read::Reader;
use crate::sql::Plan;
use crate::sqlite::schema::{NEWEST, make_version};
use crate::value::params;
use crate::{Intake, Ledger, StoreError};

fn database(dir: &Path) -> PathBuf {
    dir.join("selkie.db")
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn backups(dir: &Path) -> Vec<String> {
    names(dir).into_iter().filter(|n| n.contains(".backup-")).collect()
}

fn number(file: &Path, sql: &str) -> i64 {
    Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// A database of version 1 with one conversation in it.
fn of_version_1(dir: &Path) {
    make_version(&database(dir), 1);
    let conn = Connection::open(database(dir)).unwrap();
    conn.execute(
        "INSERT INTO conversation (account, key, place, title) VALUES ('tg:8', 'tg:1', 'tg:1', 'Ann')",
        [],
    )
    .unwrap();
}

fn refusal(dir: &Path) -> String {
    match open(dir) {
        Err(StoreError::Damaged(says)) => says,
        Err(error) => panic!("refused as something else: {error}"),
        Ok(_) => panic!("it should be refused"),
    }
}

#[tokio::test]
async fn a_log_without_its_database_is_left_as_it_is() {
    for is_missing in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let ledger = open(dir.path()).unwrap();
        push(&ledger, task(message(1, 1)), no_fuse()).await;
        let log = dir.path().join("selkie.db-wal");
        let heard = fs::read(&log).unwrap();
        ledger.close().await;
        drop(ledger);
        fs::write(&log, &heard).unwrap();
        match is_missing {
            true => fs::remove_file(database(dir.path())).unwrap(),
            false => fs::write(database(dir.path()), "").unwrap(),
        }
        let says = refusal(dir.path());
        assert!(says.contains("empty or missing, and its log, selkie.db-wal, is there"), "{says}");
        assert_eq!(fs::read(&log).unwrap(), heard);
    }
}

#[tokio::test]
async fn a_closed_store_is_one_file_with_everything_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    push(&ledger, task(message(1, 1)), no_fuse()).await;
    // A reader is open, too.
    assert_eq!(ledger.counts().await.unwrap().inbox, 1);
    ledger.close().await;
    assert_eq!(names(dir.path()), ["selkie.db", "selkie.lock"]);
    let copy = dir.path().join("copy.db");
    fs::copy(database(dir.path()), &copy).unwrap();
    assert_eq!(number(&copy, "SELECT count(*) FROM inbox"), 1);
    let late = ledger.healthy().await;
    assert!(matches!(late, Err(StoreError::Broken(_))), "{late:?}");
    ledger.close().await;
}

#[tokio::test]
async fn a_dropped_store_is_one_file_too() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    push(&ledger, task(message(1, 1)), no_fuse()).await;
    assert_eq!(ledger.counts().await.unwrap().inbox, 1);
    drop(ledger);
    assert_eq!(names(dir.path()), ["selkie.db", "selkie.lock"]);
}

#[tokio::test]
async fn an_old_file_is_copied_before_it_is_changed_and_three_copies_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    of_version_1(dir.path());
    for old in ["20250101T000000Z-v1", "20250102T000000Z-v1", "20250103T000000Z-v1"] {
        fs::write(dir.path().join(format!("selkie.db.backup-{old}")), "an older copy").unwrap();
    }
    drop(open(dir.path()).unwrap());
    assert_eq!(number(&database(dir.path()), "PRAGMA user_version"), NEWEST);
    let kept = backups(dir.path());
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(!kept.iter().any(|n| n.contains("20250101")), "{kept:?}");
    let copy = dir.path().join(kept.last().unwrap());
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(number(&copy, "PRAGMA user_version"), 1);
    assert_eq!(number(&copy, "SELECT count(*) FROM conversation"), 1);
    drop(open(dir.path()).unwrap());
    assert_eq!(backups(dir.path()), kept, "a file of today is not copied");
}

#[tokio::test]
async fn a_new_file_is_not_copied() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    assert_eq!(backups(dir.path()), [""; 0]);
    assert_eq!(number(&database(dir.path()), "PRAGMA application_id"), 0x5345_4c4b);
}

#[tokio::test]
async fn without_a_copy_nothing_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    of_version_1(dir.path());
    fs::create_dir(dir.path().join("selkie.db.backup-part")).unwrap();
    let Err(StoreError::Broken(says)) = open(dir.path()) else { panic!("it should be refused") };
    assert!(says.contains("the copy before that cannot be created"), "{says}");
    assert!(says.contains("Make room for 1 MB"), "{says}");
    assert_eq!(number(&database(dir.path()), "PRAGMA user_version"), 1);
}

#[tokio::test]
async fn tables_without_a_version_are_refused_without_a_page_of_sql() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    Connection::open(database(dir.path())).unwrap().pragma_update(None, "user_version", 0).unwrap();
    let says = refusal(dir.path());
    assert!(says.contains("it has tables, but 0 where its version should be"), "{says}");
    assert!(says.contains("Restore your newest backup") && !says.contains("CREATE"), "{says}");
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let conn = Connection::open(database(dir.path())).unwrap();
    conn.execute_batch("PRAGMA application_id = 7; CREATE TABLE theirs (x)").unwrap();
    drop(conn);
    let before = fs::read(database(dir.path())).unwrap();
    assert!(refusal(dir.path()).contains("another program"));
    assert_eq!(fs::read(database(dir.path())).unwrap(), before);
}

/// Overwrites the first page of a table or an index.
fn damage(dir: &Path, name: &str) {
    let file = database(dir);
    let page = |what: &str| number(&file, what) as u64;
    let root = page(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{name}'"));
    let size = page("PRAGMA page_size");
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.write_all_at(&[0xee; 4096], (root - 1) * size).unwrap();
}

#[tokio::test]
async fn a_damaged_table_or_index_is_found_at_the_start() {
    for name in ["inbox", "task_running"] {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()).unwrap());
        damage(dir.path(), name);
        fs::write(dir.path().join("selkie.db.backup-20250101T000000Z-v1"), "a copy").unwrap();
        let says = refusal(dir.path());
        assert!(says.contains("selkie.db cannot be used"), "{says}");
        assert!(says.contains("selkie.db.backup-20250101T000000Z-v1"), "{says}");
    }
}

#[tokio::test]
async fn a_missing_table_is_found_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    Connection::open(database(dir.path())).unwrap().execute_batch("DROP TABLE part").unwrap();
    assert!(refusal(dir.path()).contains("the table part is missing"));
}

#[tokio::test]
async fn a_page_in_the_middle_is_found_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    damage(dir.path(), "inbox");
    // As a crash leaves it: a log beside the file.
    let conn = Connection::open(database(dir.path())).unwrap();
    conn.execute_batch("UPDATE meta SET checked_at = 5").unwrap();
    std::mem::forget(conn);
    assert!(refusal(dir.path()).contains("selkie.db cannot be used"));
}

#[tokio::test]
async fn damage_that_is_met_later_stays_known() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let ledger = open(dir.path()).unwrap();
    ledger.healthy().await.unwrap();
    damage(dir.path(), "inbox");
    let forget_pages = "PRAGMA shrink_memory";
    ledger.write(Plan::RELAXED, move |tx| tx.execute(forget_pages, params![])).await.unwrap();
    let first = ledger.accept(vec![task(message(1, 1))], None, no_fuse()).await;
    let Err(StoreError::Broken(says)) = first else { panic!("{first:?}") };
    assert!(says.contains("damaged") && says.contains("writes nothing more to it"), "{says}");
    assert!(ledger.healthy().await.is_err(), "it does not become well by being asked");
}

#[tokio::test]
async fn a_state_folder_that_vanishes_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let ledger = open(&state).unwrap();
    fs::rename(&state, dir.path().join("elsewhere")).unwrap();
    let Err(StoreError::Broken(says)) = ledger.healthy().await else { panic!("it is not noticed") };
    assert!(says.contains("it is gone"), "{says}");
    drop(open(&state).unwrap());
    let Err(StoreError::Broken(says)) = ledger.healthy().await else { panic!("it is not noticed") };
    assert!(says.contains("another file lies there"), "{says}");
    fs::remove_dir_all(&state).unwrap();
    fs::rename(dir.path().join("elsewhere"), &state).unwrap();
    ledger.healthy().await.unwrap();
}
