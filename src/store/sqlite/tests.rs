//! What only a file can show: locks, versions, a full disk, rights, stored rows of version 1.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, StatementStatus};
use selkie_channel_core::{Body, What};
use tempfile::TempDir;

use super::schema::NEWEST;
use super::testing::{limit_growth, plan};
use super::{Sqlite, schema};
use crate::conformance::{
    Fixture, account, arrival, at, cursor, draft, finish, finished, fuse, instance, lane, message,
    new_schedule, no_fuse, push, random_histories, receipt, run_all, started, task,
};
use crate::engine::Engine;
use crate::read::Reader;
use crate::schedule::DueSchedules as _;
use crate::sql::{Plan, SqlLedger};
use crate::value::params;
use crate::verbs::statements;
use crate::{
    Advance, CommitResult, Delivery, Disposition, Intake, Ledger, Outcome, Schedules, StoreError,
    Work,
};
use selkie_domain::clock::ManualClock;
use selkie_domain::facts::Where;

mod file;
mod old;
mod typed;

struct FileBed(TempDir);

impl Fixture for FileBed {
    fn open(&self) -> Arc<dyn Ledger> {
        Arc::new(open(self.0.path()).unwrap())
    }
}

fn bed() -> Box<dyn Fixture> {
    Box::new(FileBed(tempfile::tempdir().unwrap()))
}

fn open(dir: &Path) -> Result<SqlLedger, StoreError> {
    let engine = Sqlite::open(&dir.join("selkie.db"), at(0))?;
    Ok(SqlLedger::over(Arc::new(engine), Arc::new(ManualClock::at(at(0)))))
}

#[tokio::test]
async fn it_keeps_every_law() {
    run_all(bed).await;
}

#[test]
fn random_histories_keep_the_promises() {
    random_histories(bed);
}

#[tokio::test]
async fn a_second_one_is_told_who_holds_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let Err(StoreError::Held(says)) = open(dir.path()) else { panic!("it should be held") };
    assert!(says.contains(&format!("process {}", std::process::id())), "{says}");
    drop(first);
    open(dir.path()).unwrap();
}

#[tokio::test]
async fn without_its_lock_file_the_store_is_held_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let file = dir.path().join("selkie.lock");
    for replaced in [false, true] {
        std::fs::remove_file(&file).unwrap();
        if replaced {
            std::fs::write(&file, "").unwrap();
        }
        let Err(StoreError::Held(says)) = open(dir.path()) else { panic!("it should be held") };
        assert!(says.contains("another process"), "{says}");
        assert_eq!(file.exists(), replaced, "who is refused makes nothing");
        first.in_place().unwrap();
        std::fs::write(&file, "").unwrap();
    }
    drop(first);
    open(dir.path()).unwrap();
}

#[tokio::test]
async fn a_newer_file_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("selkie.db");
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&file).unwrap();
    let Err(error) = open(dir.path()) else { panic!("it should be refused") };
    assert!(matches!(error, StoreError::Newer { found: 99, known: NEWEST, .. }));
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("selkie.db"), "not a database, but long enough to be read")
        .unwrap();
    let Err(StoreError::Damaged(says)) = open(dir.path()) else { panic!("it should be refused") };
    assert!(says.contains("selkie.db") && says.contains("it is not a database"), "{says}");
}

#[tokio::test]
async fn only_the_owner_may_read() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("deep/state");
    let ledger = crate::open(&state).unwrap();
    ledger.healthy().await.unwrap();
    let mode = |p: &Path| p.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for name in ["selkie.db", "selkie.db-wal", "selkie.lock"] {
        assert_eq!(mode(&state.join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_full_disk_refuses_and_the_ledger_lives_on() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let claimed = started(&ledger, 1, 1).await;
    limit_growth(&ledger, 0).await;
    let mut big = message(1, 2);
    big.text = "x".repeat(200_000);
    let refused = ledger.accept(vec![task(big.clone())], Some(cursor("3")), no_fuse()).await;
    assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
    assert!(ledger.cursor(&account()).await.unwrap().is_none(), "the cursor did not move");
    assert_eq!(ledger.counts().await.unwrap().inbox, 1);
    limit_growth(&ledger, 1000).await;
    let accepted = ledger.accept(vec![task(big)], Some(cursor("3")), no_fuse()).await.unwrap();
    assert_eq!(accepted.fresh.len(), 1, "the same verb again, now with room");
    finished(&ledger, &claimed.claim, finish("yes", vec![])).await;
}

#[tokio::test]
async fn one_bad_verb_of_a_batch_takes_back_itself_alone() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let bad = ledger.write(Plan::DURABLE, |tx| {
        tx.execute("INSERT INTO notice VALUES ('half', 1)", params![])?;
        Err::<(), _>(StoreError::Corrupt("on purpose".to_owned()))
    });
    let good = ledger.say_once("whole", draft(1, 1));
    let (bad, good) = tokio::join!(bad, good);
    assert!(matches!(bad, Err(StoreError::Corrupt(_))));
    assert!(good.unwrap().is_some());
    assert!(ledger.say_once("half", draft(1, 1)).await.unwrap().is_some(), "nothing of it stayed");
}

#[tokio::test]
async fn a_lost_transaction_is_answered_by_its_whole_batch() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    // Holds the writer until both verbs wait, so that they are one batch.
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let hold = ledger.write(Plan::RELAXED, move |_| {
        began.send(()).unwrap();
        gate.recv().unwrap();
        Ok(())
    });
    let batch = async {
        begun.recv().await.unwrap();
        let good = ledger.say_once("whole", draft(1, 1));
        // What SQLite does by itself when the disk fails in the middle.
        let bad = ledger.write(Plan::DURABLE, |tx| {
            tx.execute("ROLLBACK", params![])?;
            Err::<(), _>(StoreError::Broken("the disk failed".to_owned()))
        });
        tokio::join!(good, bad, async { go.send(()).unwrap() })
    };
    let (held, (good, bad, ())) = tokio::join!(hold, batch);
    held.unwrap();
    assert!(matches!(good, Err(StoreError::Broken(_))), "{good:?}");
    assert!(matches!(bad, Err(StoreError::Broken(_))));
    assert!(ledger.say_once("whole", draft(1, 1)).await.unwrap().is_some(), "tried again");
}

#[tokio::test]
async fn a_folder_that_is_a_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("state"), "").unwrap();
    let Err(StoreError::Broken(says)) = open(&dir.path().join("state")) else { panic!("broken") };
    assert!(says.contains("state"), "{says}");
}

#[tokio::test]
async fn many_at_once_share_their_syncs() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let verbs = (1..=200).map(|n| push(&ledger, task(message(n, 1)), no_fuse()));
    futures_util::future::join_all(verbs).await;
    assert!(ledger.syncs() < 150, "{} syncs for 200 verbs at once", ledger.syncs());
    assert_eq!(ledger.counts().await.unwrap().waiting, 200);
}

#[tokio::test]
async fn ready_looks_at_lanes_and_not_at_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    insta::assert_snapshot!(plan(&ledger, statements::READY).await, @r"
    SCAN lane USING INDEX lane_ready
    CORRELATED SCALAR SUBQUERY 1
    SEARCH task USING COVERING INDEX task_running (lane=?)
    ");
    let says = plan(&ledger, statements::OLDEST).await;
    assert!(says.contains("INDEX task_order (lane=?)") && !says.contains("TEMP"), "{says}");
}

#[tokio::test]
async fn a_statement_is_compiled_once_whatever_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("selkie.db");
    std::fs::write(&file, "").unwrap();
    let compiled_again = |conn: &Connection| {
        let sql = "SELECT item FROM transcript WHERE task = ?1 ORDER BY seq LIMIT ?2";
        for task in [0, 7, 1, 9] {
            let mut statement = conn.prepare_cached(sql).unwrap();
            let rows = statement.query_map([task, 3], |_| Ok(())).unwrap();
            rows.collect::<rusqlite::Result<()>>().unwrap();
        }
        conn.prepare_cached(sql).unwrap().get_status(StatementStatus::RePrepare)
    };
    let writer = schema::open_writer(&file, at(0)).unwrap();
    assert_eq!(compiled_again(&writer), 0);
    assert_eq!(compiled_again(&schema::open_reader(&file).unwrap()), 0);
}

#[tokio::test]
async fn what_is_due_is_found_without_a_look_at_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    for sql in [statements::NEXT, statements::DUE] {
        let plan = plan(&ledger, sql).await;
        assert!(plan.contains("INDEX schedule_due") && !plan.contains("TEMP"), "{sql}: {plan}");
    }
}

#[tokio::test]
async fn what_a_clock_has_dated_is_found_without_reading_schedules() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let plan = plan(&ledger, statements::DATED_AFTER).await;
    for way in [
        "schedule USING COVERING INDEX schedule_begun",
        "o USING COVERING INDEX occurrence_fired",
        "s USING INTEGER PRIMARY KEY (rowid=?)",
    ] {
        assert!(plan.contains(way), "{way}: {plan}");
    }
}

#[tokio::test]
async fn counting_reads_no_table_through() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    for sql in statements::COUNTS {
        let plan = plan(&ledger, sql).await;
        let by_key = "SEARCH part USING INTEGER PRIMARY KEY";
        let cheap = plan.contains("INDEX task_") || plan.contains(by_key);
        assert!(cheap || plan == "SEARCH inbox", "{sql}: {plan}");
    }
}

#[tokio::test]
async fn a_state_folder_that_is_deleted_or_replaced_takes_nothing_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("state"), dir.path().join("moved"));
    let ledger = open(&here).unwrap();
    push(&ledger, task(message(1, 1)), no_fuse()).await;
    std::fs::rename(&here, &there).unwrap();
    let arrival = || vec![task(message(2, 1))];
    let lost = ledger.accept(arrival(), None, no_fuse()).await;
    assert!(
        matches!(&lost, Err(StoreError::Broken(why)) if why.contains("it is gone")),
        "{lost:?}"
    );
    assert!(ledger.healthy().await.is_err() && ledger.in_place().is_err());
    std::fs::create_dir(&here).unwrap();
    std::fs::write(here.join("selkie.db"), "").unwrap();
    let lost = ledger.accept(arrival(), None, no_fuse()).await;
    assert!(
        matches!(&lost, Err(StoreError::Broken(why)) if why.contains("another file")),
        "{lost:?}"
    );
    std::fs::remove_dir_all(&here).unwrap();
    std::fs::rename(&there, &here).unwrap();
    ledger.accept(arrival(), None, no_fuse()).await.unwrap();
    assert_eq!(ledger.counts().await.unwrap().waiting, 2);
}

#[tokio::test]
async fn a_task_that_cannot_be_read_ends_and_its_lane_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    for order in 1..=4 {
        push(&ledger, task(message(1, order)), no_fuse()).await;
    }
    let spoil =
        |sql: &'static str| ledger.write(Plan::RELAXED, move |tx| tx.execute(sql, params![]));
    spoil("UPDATE task SET facts = '{}' WHERE id = 1").await.unwrap();
    let second = ledger.claim(&lane(1), &instance("a"), at(1)).await.unwrap().unwrap();
    assert_eq!(second.heard[0].1.order, 2);
    spoil("UPDATE inbox SET inbound = '{}' WHERE id = 3").await.unwrap();
    let mut advance = finish("yes", vec![]);
    if let Advance::Finish { hand_over, .. } = &mut advance {
        *hand_over = true;
    }
    let ended = ledger.commit(&second.claim, advance).await.unwrap();
    let CommitResult::Ended { next: Some(next), .. } = ended else { panic!("{ended:?}") };
    assert_eq!(next.heard[0].1.order, 4);
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.running, counts.waiting), (1, 0));
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_waits_and_those_behind_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    for key in ["a", "b"] {
        ledger.schedule(new_schedule(key, 1, 60)).await.unwrap();
    }
    let spoil = "UPDATE schedule SET schedule = '{}' WHERE key = 'a'";
    ledger.write(Plan::RELAXED, move |tx| tx.execute(spoil, params![])).await.unwrap();
    let due = ledger.due_schedules(at(60), 9).await.unwrap();
    assert_eq!(due.into_iter().map(|row| row.key).collect::<Vec<_>>(), ["b"]);
    let state = "SELECT state FROM schedule WHERE key = 'a'";
    let state: String =
        ledger.write(Plan::RELAXED, move |tx| tx.only(state, params![])).await.unwrap();
    assert_eq!(state, "paused");
}

#[tokio::test]
async fn what_is_taken_back_does_not_stay_in_rows_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let claimed = started(&ledger, 1, 1).await;
    finished(&ledger, &claimed.claim, finish("yes", vec![])).await;
    let run = |sql: &'static str| ledger.write(Plan::RELAXED, move |tx| tx.execute(sql, params![]));
    // Another version's row, one that is cut, one that is no text.
    for sql in [
        r#"INSERT INTO transcript (task, seq, v, item) VALUES (1, 50, 99, '{"item":"later","text":"text 1"}')"#,
        r#"INSERT INTO transcript (task, seq, v, item) VALUES (1, 51, 1, '{"item":"heard","text":"text 1')"#,
        "INSERT INTO transcript (task, seq, v, item) VALUES (1, 52, 1, CAST(x'FF' || 'text 1' AS TEXT))",
    ] {
        assert_eq!(run(sql).await.unwrap(), 1);
    }
    let mut inbound = message(1, 1);
    inbound.key.push_str(":unsend");
    (inbound.what, inbound.text) = (What::Unsent, String::new());
    push(&ledger, arrival(inbound, Disposition::Unsent), no_fuse()).await;
    let left = "DELETE FROM transcript WHERE instr(CAST(item AS BLOB), CAST('text 1' AS BLOB)) > 0";
    assert_eq!(run(left).await.unwrap(), 0, "the text is nowhere");
    let erased = r#"DELETE FROM transcript WHERE item = '{"item":"erased"}'"#;
    assert_eq!(run(erased).await.unwrap(), 3, "and the log has named what was erased");
}

/// Every page of a transaction is written, checksummed and checkpointed: this many are what a plain
/// message may cost on the average, with the leaves that fill up meanwhile.
const PAGES: u64 = 21;

#[tokio::test]
async fn a_plain_message_writes_few_pages() {
    const MESSAGES: u64 = 40;
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let plain = async |order: i64| {
        let accepted =
            ledger.accept(vec![task(message(1, order))], Some(cursor("1")), fuse(1)).await;
        let claimed = accepted.unwrap().claimed.remove(0);
        let said = finished(&ledger, &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
        let part = said[0].parts[0].id;
        assert!(ledger.sending(part, &instance("a")).await.unwrap());
        ledger.settle(part, Outcome::Sent(receipt("1"))).await.unwrap();
    };
    plain(1).await;
    // The log only grows here: it is far too short for a checkpoint to begin it anew.
    let log = || dir.path().join("selkie.db-wal").metadata().unwrap().len() / (4096 + 24);
    let before = log();
    for order in 0..MESSAGES as i64 {
        plain(order + 2).await;
    }
    let pages = log() - before;
    assert!(pages <= PAGES * MESSAGES, "{pages} pages for {MESSAGES} messages");
}

/// What a plain message may take in the file for good, texts of this test's length.
const BYTES: u64 = 1_100;

#[tokio::test]
async fn a_settled_message_takes_little() {
    const MESSAGES: u64 = 300;
    let dir = tempfile::tempdir().unwrap();
    let size = || dir.path().join("selkie.db").metadata().map_or(0, |m| m.len());
    let answer = "It is on the list, and so is what you noted before.".repeat(4);
    let mut before = 0;
    for run in [1..2, 2..MESSAGES + 2] {
        before = size();
        let ledger = open(dir.path()).unwrap();
        for order in run {
            let order = i64::try_from(order).unwrap();
            let Disposition::Task(mut new) = task(message(1, order)).disposition else { panic!() };
            if let Where::Channel(features) = &mut new.facts.place {
                features.style = "How the model should write here, in many words. ".repeat(12);
            }
            let arrival = arrival(message(1, order), Disposition::Task(new));
            let claimed = push(&ledger, arrival, fuse(1)).await.claimed.remove(0);
            let mut said = draft(1, 1);
            said.outbound.body = Body::Text { markdown: answer.clone() };
            said.parts[0].call = serde_json::json!({ "text": answer, "mode": "HTML" });
            said.parts[0].fallback = Some(serde_json::json!({ "text": answer }));
            said.parts[0].shown.clone_from(&answer);
            let queued = finished(&ledger, &claimed.claim, finish(&answer, vec![said])).await;
            let part = queued[0].parts[0].id;
            assert!(ledger.sending(part, &instance("a")).await.unwrap());
            ledger.settle(part, Outcome::Sent(receipt("1"))).await.unwrap();
        }
        let trace = ledger.trace("2").await.unwrap();
        if let Some(chain) = trace.first() {
            assert_eq!(chain.outbounds[0].outbound.body, Body::Text { markdown: answer.clone() });
            assert_eq!(chain.outbounds[0].parts[0].part, None);
        }
        ledger.close().await;
    }
    let each = (size() - before) / MESSAGES;
    assert!(each <= BYTES, "{each} bytes a message");
}

#[tokio::test]
async fn an_idle_writer_settles_what_was_relaxed() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Sqlite::open(&dir.path().join("selkie.db"), at(0)).unwrap());
    let ledger =
        SqlLedger::over(Arc::clone(&engine) as Arc<dyn Engine>, Arc::new(ManualClock::at(at(0))));
    ledger.penalty(&account(), "", at(5)).await.unwrap();
    assert_eq!(ledger.syncs(), 0, "a relaxed verb is not synced");
    let settled = async {
        while engine.settles() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), settled).await.unwrap();
    assert_eq!((ledger.syncs(), ledger.lag()), (0, Duration::ZERO));
}

/// Rows as version 1 wrote them. Never changed: later versions must still read them.
const V1: &str = include_str!("fixtures/v1.sql");

#[tokio::test]
async fn rows_of_version_1_load_and_resume() {
    let dir = tempfile::tempdir().unwrap();
    schema::make_version(&dir.path().join("selkie.db"), 1);
    Connection::open(dir.path().join("selkie.db")).unwrap().execute_batch(V1).unwrap();
    let ledger = open(dir.path()).unwrap();
    assert_eq!(ledger.reclaim(&instance("b"), at(0)).await.unwrap(), 1);
    let claimed = ledger.claim(&lane(1), &instance("b"), at(0)).await.unwrap().unwrap();
    assert_eq!(claimed.heard[0].1.text, "note: buy milk");
    assert_eq!((claimed.transcript.len(), claimed.history.len()), (3, 1));
    assert_eq!(claimed.facts.place.name(), "telegram:group");
    let due = ledger.due(&account(), &instance("b")).await.unwrap();
    assert_eq!((due.len(), due[0].unclear), (1, true));
    assert_eq!(due[0].part.shown, "hello");
    finished(&ledger, &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
}
