//! What is older than it is kept goes, a few rows at a time, and what was taken back is nowhere in the file.

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::Connection;
use selkie_channel_core::{Body, What};

use super::open;
use crate::conformance::{
    account, arrival, at, draft, finish, finished, fuse, instance, message, no_fuse, push, receipt,
    started, task,
};
use crate::read::Reader;
use crate::sql::SqlLedger;
use crate::{Delivery, Disposition, Ledger, Outcome, Since};

const WORDS: &str = "the-blue-teapot-is-behind-the-third-shelf";

fn nothing() -> Since {
    let never = DateTime::<Utc>::MIN_UTC;
    Since { transcripts: never, inbox: never, outbox: never, keys: never, cache: never }
}

fn everything() -> Since {
    let far = at(1_000_000_000);
    Since { transcripts: far, inbox: far, outbox: far, keys: far, cache: far }
}

/// A message with its answer, delivered.
async fn answered(ledger: &SqlLedger, n: i64, order: i64) {
    let mut heard = message(n, order);
    heard.text = format!("{WORDS} {order}");
    let claimed = push(ledger, task(heard), fuse(1)).await.claimed.remove(0);
    let mut said = draft(n, 1);
    said.outbound.body = Body::Text { markdown: WORDS.to_owned() };
    let queued = finished(ledger, &claimed.claim, finish(WORDS, vec![said])).await;
    let part = queued[0].parts[0].id;
    assert!(ledger.sending(part, &instance("a")).await.unwrap());
    ledger.settle(part, Outcome::Sent(receipt("1"))).await.unwrap();
}

async fn forgotten(ledger: &SqlLedger, since: Since) -> Vec<u64> {
    let mut steps = Vec::new();
    loop {
        match ledger.forget_old(since).await.unwrap() {
            0 => return steps,
            rows => steps.push(rows),
        }
    }
}

fn number(dir: &Path, sql: &str) -> i64 {
    let conn = Connection::open(dir.join("selkie.db")).unwrap();
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Whether a file of the store holds these words.
fn holds(dir: &Path, words: &str) -> bool {
    ["selkie.db", "selkie.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(dir.join(name)).unwrap_or_default();
        bytes.windows(words.len()).any(|found| found == words.as_bytes())
    })
}

#[tokio::test]
async fn words_go_with_their_age_and_their_message_is_still_known() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    answered(&ledger, 1, 1).await;
    answered(&ledger, 1, 2).await;
    assert!(forgotten(&ledger, nothing()).await.is_empty());
    let keys = DateTime::<Utc>::MIN_UTC;
    forgotten(&ledger, Since { keys, ..everything() }).await;
    let again = push(&ledger, task(message(1, 1)), no_fuse()).await;
    assert_eq!((again.known, again.fresh.len()), (1, 0), "it is brought once more, and known");
    let chains = ledger.trace("tg:8:-1:1").await.unwrap();
    assert_eq!(
        (chains[0].event().unwrap().inbound.text.as_str(), chains[0].outbounds.len()),
        ("", 0)
    );
    ledger.close().await;
    assert_eq!(number(dir.path(), "SELECT count(*) FROM inbox"), 2);
    assert_eq!(number(dir.path(), "SELECT count(*) FROM transcript"), 0);
}

#[tokio::test]
async fn everything_goes_in_small_steps_but_what_has_not_ended() {
    const MESSAGES: i64 = 150;
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    let waits = started(&ledger, 9, 1).await;
    for order in 1..=MESSAGES {
        answered(&ledger, 1, order).await;
    }
    let mut unsent = push(&ledger, task(message(2, 1)), fuse(1)).await;
    let claim = unsent.claimed.remove(0).claim;
    finished(&ledger, &claim, finish("soon", vec![draft(2, 1)])).await;
    let steps = forgotten(&ledger, everything()).await;
    assert!(steps.iter().all(|rows| *rows <= 210), "{steps:?}");
    assert!(steps.len() >= 4, "{steps:?}");
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    assert_eq!(due.len(), 1, "what is to be sent is still there");
    let newest = ledger.tasks(None, 1).await.unwrap()[0].id.0;
    let next = push(&ledger, task(message(3, 1)), fuse(1)).await.claimed.remove(0);
    assert!(next.claim.task.0 > newest, "no id is given twice");
    finished(&ledger, &waits.claim, finish("done", vec![])).await;
    ledger.close().await;
    for table in ["inbox", "task", "outbound", "part"] {
        let left = number(dir.path(), &format!("SELECT count(*) FROM {table}"));
        assert!((1..=4).contains(&left), "{left} of {table}");
    }
    assert!(!holds(dir.path(), WORDS), "forgotten words are still in the file");
}

#[tokio::test]
async fn words_that_were_taken_back_are_in_no_file_while_the_store_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    for order in 1..40 {
        push(&ledger, task(message(1, order)), no_fuse()).await;
    }
    let mut said = message(1, 40);
    said.text = WORDS.repeat(3);
    push(&ledger, task(said), no_fuse()).await;
    assert!(holds(dir.path(), WORDS));
    let mut back = message(1, 40);
    (back.key, back.what, back.text) = ("tg:8:back".to_owned(), What::Unsent, String::new());
    push(&ledger, arrival(back, Disposition::Unsent), no_fuse()).await;
    let gone = async {
        while holds(dir.path(), WORDS) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the words are still there");
    assert!(ledger.healthy().await.is_ok());
}

#[tokio::test]
async fn places_with_open_tasks_are_told_with_the_age_of_the_oldest() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = open(dir.path()).unwrap();
    answered(&ledger, 1, 1).await;
    started(&ledger, 2, 1).await;
    push(&ledger, task(message(2, 2)), no_fuse()).await;
    assert_eq!(ledger.at_work().await.unwrap(), [(2, at(0))]);
}
