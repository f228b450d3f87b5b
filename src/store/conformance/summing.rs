//! Laws of summaries: of what has ended since the one before, none of what was forgotten or taken back, so many a day.

use super::*;
use crate::{CommandEffect, Day, SoughtTalk, SummaryGap, SummaryMark};

laws![
    what_has_ended_since_is_due_once,
    a_conversation_that_is_busy_says_so,
    what_is_forgotten_is_not_summed_up,
    a_new_epoch_begins_with_nothing,
    what_is_taken_back_makes_its_summary_stale,
    so_many_are_made_a_day,
];

const TODAY: Day = Day { number: 20_000, most: 3 };

async fn due(ledger: &dyn Ledger, least: i64) -> Vec<SummaryGap> {
    let sought = SoughtTalk { since: at(0), least, most: 9 };
    ledger.unsummarized(sought).await.unwrap()
}

async fn answered(ledger: &dyn Ledger, n: i64, order: i64) {
    let claimed = started(ledger, n, order).await;
    finished(ledger, &claimed.claim, finish(&format!("answer {order}"), vec![])).await;
}

async fn mark(ledger: &dyn Ledger) -> SummaryMark {
    due(ledger, 1).await[0].mark
}

fn unsend(n: i64, order: i64) -> Arrival {
    let mut inbound = message(n, order);
    inbound.key.push_str(":unsend");
    (inbound.what, inbound.text) = (What::Unsent, String::new());
    arrival(inbound, Disposition::Unsent)
}

async fn command(ledger: &dyn Ledger, order: i64, effect: CommandEffect) {
    let said = arrival(message(1, order), Disposition::Command);
    let row = push(ledger, said, no_fuse()).await.fresh[0].row;
    ledger.command(row, effect).await.unwrap().unwrap();
}

async fn what_has_ended_since_is_due_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    assert_eq!(due(ledger, 2).await, []);
    answered(ledger, 1, 2).await;
    answered(ledger, 2, 1).await;
    let [one] = &due(ledger, 2).await[..] else { panic!("one of them") };
    assert_eq!((&one.conversation, one.is_busy), (&conversation(1), false));
    assert_eq!((one.mark.behind, one.mark.upto), (0, 2));
    assert!(!ledger.may_summarize(one.mark).await.unwrap(), "nobody has begun");
    assert!(ledger.begin_summary(one.mark, TODAY).await.unwrap());
    let talk = ledger.talk_to_summarize(one.mark).await.unwrap();
    let texts: Vec<Item> = talk.tasks.into_iter().flat_map(|task| task.items).collect();
    assert_eq!(texts, [said("answer 1"), said("answer 2")]);
    assert!(talk.asked_by.is_some());
    assert_eq!(due(ledger, 2).await.len(), 1, "a crash may come: it is due until it is there");
    assert!(ledger.may_summarize(one.mark).await.unwrap());
    assert!(ledger.end_summary(one.mark).await.unwrap());
    assert!(!ledger.end_summary(one.mark).await.unwrap(), "once");
    assert_eq!(due(ledger, 2).await, []);
    answered(ledger, 1, 3).await;
    answered(ledger, 1, 4).await;
    let next = due(ledger, 2).await;
    assert_eq!((next[0].mark.behind, next[0].mark.upto), (2, 4));
    assert!(ledger.begin_summary(next[0].mark, TODAY).await.unwrap());
    assert_eq!(ledger.talk_to_summarize(next[0].mark).await.unwrap().tasks.len(), 2);
}

async fn a_conversation_that_is_busy_says_so(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    let running = started(ledger, 1, 2).await;
    assert!(due(ledger, 1).await[0].is_busy);
    finished(ledger, &running.claim, finish("yes", vec![])).await;
    assert!(!due(ledger, 1).await[0].is_busy);
    push(ledger, task(message(1, 3)), no_fuse()).await;
    assert!(due(ledger, 1).await[0].is_busy, "one waits");
}

async fn what_is_forgotten_is_not_summed_up(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    let mark = mark(ledger).await;
    assert!(ledger.begin_summary(mark, TODAY).await.unwrap());
    command(ledger, 2, CommandEffect::Forget(Some(draft(1, 1)))).await;
    assert!(!ledger.may_summarize(mark).await.unwrap());
    assert!(!ledger.end_summary(mark).await.unwrap());
    assert!(!ledger.begin_summary(mark, TODAY).await.unwrap(), "it is another epoch");
    assert_eq!(due(ledger, 1).await, []);
}

async fn a_new_epoch_begins_with_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    answered(ledger, 1, 2).await;
    let first = mark(ledger).await;
    assert!(ledger.begin_summary(first, TODAY).await.unwrap());
    assert!(ledger.end_summary(first).await.unwrap());
    command(ledger, 3, CommandEffect::Reset(draft(1, 1))).await;
    answered(ledger, 1, 4).await;
    let second = mark(ledger).await;
    assert_eq!((second.behind, second.upto), (0, 1));
    assert!(second.epoch > first.epoch);
    assert!(ledger.begin_summary(second, TODAY).await.unwrap());
    assert!(!ledger.may_summarize(first).await.unwrap());
    push(ledger, unsend(1, 1), no_fuse()).await;
    assert_eq!(
        ledger.stale_summaries().await.unwrap(),
        [conversation(1)],
        "it may stand on the first"
    );
}

async fn what_is_taken_back_makes_its_summary_stale(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    let first = mark(ledger).await;
    assert!(ledger.begin_summary(first, TODAY).await.unwrap());
    assert!(ledger.end_summary(first).await.unwrap());
    answered(ledger, 1, 2).await;
    push(ledger, unsend(1, 2), no_fuse()).await;
    assert_eq!(ledger.stale_summaries().await.unwrap(), [], "it covers nothing of it");
    push(ledger, unsend(1, 1), no_fuse()).await;
    assert_eq!(ledger.stale_summaries().await.unwrap(), [conversation(1)]);
    assert_eq!(due(ledger, 1).await, [], "first the old one goes");
    ledger.drop_summary(&conversation(1)).await.unwrap();
    assert_eq!(ledger.stale_summaries().await.unwrap(), []);
    let second = mark(ledger).await;
    assert_eq!((second.behind, second.upto), (1, 2));
    answered(ledger, 1, 3).await;
    let third = SummaryMark { upto: 3, ..second };
    assert!(ledger.begin_summary(third, TODAY).await.unwrap());
    push(ledger, unsend(1, 3), no_fuse()).await;
    assert!(!ledger.may_summarize(third).await.unwrap(), "it was being made");
    assert!(!ledger.end_summary(third).await.unwrap());
    assert_eq!(ledger.stale_summaries().await.unwrap(), [conversation(1)], "and may stand there");
}

async fn so_many_are_made_a_day(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    answered(ledger, 2, 1).await;
    let all = due(ledger, 1).await;
    let (one, other) = (all[0].mark, all[1].mark);
    assert!(ledger.begin_summary(one, TODAY).await.unwrap());
    assert!(ledger.begin_summary(one, TODAY).await.unwrap(), "after a crash");
    assert!(ledger.begin_summary(other, TODAY).await.unwrap());
    assert!(!ledger.begin_summary(other, TODAY).await.unwrap(), "three are the most");
    assert!(ledger.begin_summary(other, Day { number: 20_001, most: 1 }).await.unwrap());
}
