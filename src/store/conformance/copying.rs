//! Laws of what a task has read in another conversation: it stands in its transcript, and goes with what was said there.

use super::forgetting::{forget, swept};
use super::unsending::unsend;
use super::*;
use selkie_domain::ids::TaskId;
use selkie_domain::transcript::{Answer, Call};

laws![
    what_was_read_in_a_forgotten_place_goes_when_its_reader_has_ended,
    what_was_read_before_it_was_taken_back_goes,
];

/// A task in place 2 that reads what was said in place 1, and in place 3.
async fn reader(ledger: &dyn Ledger, order: i64) -> TaskClaim {
    let reader = started(ledger, 2, order).await;
    let answer = |n: i64| Answer {
        taint: Taint::Raw,
        of: Some(conversation(n)),
        ..Answer::words(&format!("c1.{n}"), format!("[10:00 Ann] text {n}"))
    };
    let call = |n: i64| Call {
        id: format!("c1.{n}"),
        name: "sessions_history".to_owned(),
        arguments: serde_json::json!({}),
    };
    for other in [1, 3] {
        ledger.takes_from(reader.claim.task, &conversation(other)).await.unwrap();
    }
    let append = vec![
        Item::Asked { text: String::new(), calls: vec![call(1), call(3)], taint: Taint::Clean },
        Item::Answered { answers: vec![answer(1), answer(3)] },
    ];
    let step = Advance::Step {
        append,
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    ledger.commit(&reader.claim, step).await.unwrap();
    reader
}

async fn texts(ledger: &dyn Ledger, task: TaskId) -> String {
    let told = ledger.task(task).await.unwrap().unwrap();
    serde_json::to_string(&told).unwrap()
}

async fn what_was_read_in_a_forgotten_place_goes_when_its_reader_has_ended(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for place in [1, 3] {
        let claimed = started(ledger, place, place).await;
        finished(ledger, &claimed.claim, finish("yes", vec![])).await;
    }
    let reader = reader(ledger, 5).await;
    forget(ledger, 1, 6).await;
    swept(ledger).await;
    assert!(ledger.is_forgetting().await.unwrap(), "its reader may write it down still");
    assert_eq!(ledger.forgetting().await.unwrap().len(), 1);
    finished(ledger, &reader.claim, finish("ok", vec![])).await;
    swept(ledger).await;
    let left = texts(ledger, reader.claim.task).await;
    assert!(!left.contains("text 1") && left.contains("text 3"), "{left}");
    assert!(!ledger.is_forgetting().await.unwrap());
}

async fn what_was_read_before_it_was_taken_back_goes(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let claimed = started(ledger, 1, 1).await;
    finished(ledger, &claimed.claim, finish("yes", vec![])).await;
    let other = started(ledger, 3, 3).await;
    finished(ledger, &other.claim, finish("yes", vec![])).await;
    let reader = reader(ledger, 5).await;
    push(ledger, unsend(1, 1), no_fuse()).await;
    finished(ledger, &reader.claim, finish("ok", vec![])).await;
    let left = texts(ledger, reader.claim.task).await;
    assert!(!left.contains("text 1") && left.contains("text 3"), "{left}");
}
