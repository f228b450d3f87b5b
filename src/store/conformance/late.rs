//! Laws of what is learned late: an edit that means the bot, talk that is older than the task.

use super::*;

laws![
    an_edit_that_means_the_bot_starts_what_was_not_started,
    what_comes_beside_an_edit_that_starts_is_lost_nowhere,
    older_talk_belongs_to_its_task_and_outlives_a_restart,
];

fn meant(order: i64, edit: &str) -> Arrival {
    let mut inbound = message(1, order);
    inbound.key.push_str(edit);
    (inbound.what, inbound.text) = (What::Edit, format!("selkie, {edit}"));
    let new = NewTask::new(cause(&inbound), facts());
    arrival(inbound, Disposition::MeantNow(new))
}

async fn an_edit_that_means_the_bot_starts_what_was_not_started(bed: &dyn Fixture) {
    let ledger = bed.open();
    let talk = arrival(message(1, 1), Disposition::Ignored("untriggered"));
    push(ledger.as_ref(), talk, no_fuse()).await;
    let first = push(ledger.as_ref(), meant(1, ":e1"), fuse(1)).await.claimed.remove(0);
    assert_eq!(first.heard[0].1.text, "selkie, :e1");
    let again = push(ledger.as_ref(), meant(1, ":e2"), fuse(1)).await;
    assert!(again.claimed.is_empty() && again.ready.is_empty(), "it has its task");
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    push(ledger.as_ref(), meant(2, ":e1"), no_fuse()).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 1);
    let claimed = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert_eq!(claimed.heard[0].1.text, "selkie, :e1", "a waiting message is changed");
}

async fn what_comes_beside_an_edit_that_starts_is_lost_nowhere(bed: &dyn Fixture) {
    let ledger = bed.open();
    let talk = arrival(message(1, 1), Disposition::Ignored("untriggered"));
    push(ledger.as_ref(), talk, no_fuse()).await;
    let batch = vec![meant(1, ":e1"), task(message(1, 2))];
    let accepted = ledger.accept(batch, None, fuse(1)).await.unwrap();
    let [first] = &accepted.claimed[..] else { panic!("{} are claimed", accepted.claimed.len()) };
    assert_eq!(first.heard[0].1.text, "selkie, :e1");
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    let next = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert_eq!(next.heard[0].1.key, "tg:8:-1:2");
    finished(ledger.as_ref(), &next.claim, finish("yes", vec![])).await;
    // In another conversation it waits as little.
    let batch = vec![meant(3, ":e2"), task(message(2, 4))];
    let accepted = ledger.accept(batch, None, fuse(2)).await.unwrap();
    let keys: Vec<_> = accepted.claimed.iter().map(|c| c.heard[0].1.key.as_str()).collect();
    assert_eq!(keys, ["tg:8:-1:3:e2", "tg:8:-2:4"]);
}

async fn older_talk_belongs_to_its_task_and_outlives_a_restart(bed: &dyn Fixture) {
    let ledger = bed.open();
    let heard = arrival(message(1, 2), Disposition::Ignored("untriggered"));
    push(ledger.as_ref(), heard, no_fuse()).await;
    let first = started(ledger.as_ref(), 1, 9).await;
    let earlier = |order| arrival(message(1, order), Disposition::Earlier(first.claim.task));
    let batch = vec![earlier(1), earlier(2), earlier(9)];
    let accepted = ledger.accept(batch, None, no_fuse()).await.unwrap();
    assert_eq!((accepted.fresh.len(), accepted.known), (1, 2));
    drop(ledger);
    let ledger = bed.open();
    ledger.reclaim(&instance("b"), at(10)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("b"), at(10)).await.unwrap().unwrap();
    let context: Vec<_> = again.context.iter().map(|inbound| inbound.order).collect();
    assert_eq!(context, [1, 2], "the task's own message is no talk");
    finished(ledger.as_ref(), &again.claim, finish("yes", vec![])).await;
    assert!(started(ledger.as_ref(), 1, 10).await.context.is_empty());
}
