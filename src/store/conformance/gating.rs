//! Laws of the gate: what waits there is judged once, shown meanwhile, and never lost.

use super::*;
use crate::GateVerdict;
use selkie_domain::gate::GatePass;

laws![
    a_line_at_the_gate_waits_without_a_task,
    the_line_that_passes_becomes_a_task_with_its_reason,
    silence_makes_context_or_nothing,
    what_came_after_the_question_waits_for_the_next,
    a_claim_is_shown_what_waits_at_the_gate,
    a_line_is_judged_once,
    answers_to_bots_are_counted_to_the_last_person,
];

async fn wait(ledger: &dyn Ledger, n: i64, order: i64) -> AcceptResult {
    push(ledger, arrival(message(n, order), Disposition::Gate), fuse(5)).await
}

/// A judgement of everything that waits in conversation `n`; the line at `passed` passes.
async fn judged(ledger: &dyn Ledger, n: i64, passed: Option<usize>) -> GateVerdict {
    let waiting = ledger.at_gate(&conversation(n)).await.unwrap().unwrap();
    let new = |at: usize| {
        let (row, line) = &waiting.lines[at];
        let passed = GatePass { quotes: true, is_lightweight: false, reason: "why".to_owned() };
        let facts = Facts { passed: Some(passed), ..facts() };
        (*row, NewTask::new(cause(line), facts))
    };
    GateVerdict {
        conversation: conversation(n),
        rows: waiting.rows.clone(),
        passed: passed.map(new),
        keep: true,
        usage: Usage { calls: 1, input: 9, cached: 0, output: 1, micro_usd: 2, ..Usage::default() },
    }
}

async fn disposition(ledger: &dyn Ledger, n: i64, order: i64) -> String {
    ledger
        .trace(&format!("tg:8:-{n}:{order}"))
        .await
        .unwrap()
        .remove(0)
        .event()
        .unwrap()
        .disposition
        .clone()
}

async fn a_line_at_the_gate_waits_without_a_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let accepted = wait(ledger.as_ref(), 1, 1).await;
    assert_eq!(accepted.gated, [conversation(1)]);
    assert!(accepted.claimed.is_empty() && accepted.ready.is_empty());
    assert!(wait(ledger.as_ref(), 1, 1).await.gated.is_empty(), "known");
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.knocking().await.unwrap(), [conversation(1)]);
    let waiting = ledger.at_gate(&conversation(1)).await.unwrap().unwrap();
    assert_eq!((waiting.lines[0].1.order, waiting.place), (1, place(1)));
    assert!(ledger.at_gate(&conversation(2)).await.unwrap().is_none());
    let mut edit = message(1, 1);
    edit.key.push_str(":edit");
    (edit.what, edit.text) = (What::Edit, "changed".to_owned());
    push(ledger.as_ref(), arrival(edit, Disposition::Edit), no_fuse()).await;
    let waiting = ledger.at_gate(&conversation(1)).await.unwrap().unwrap();
    assert_eq!(waiting.lines[0].1.text, "changed");
}

async fn the_line_that_passes_becomes_a_task_with_its_reason(bed: &dyn Fixture) {
    let ledger = bed.open();
    for order in 1..=3 {
        wait(ledger.as_ref(), 1, order).await;
    }
    let judged = judged(ledger.as_ref(), 1, Some(1)).await;
    assert_eq!(ledger.judge(judged).await.unwrap(), Some(lane(1)));
    drop(ledger);
    let ledger = bed.open();
    let claimed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!(claimed.heard.iter().map(|(_, line)| line.order).collect::<Vec<_>>(), [2]);
    assert_eq!(claimed.context.iter().map(|line| line.order).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(claimed.facts.passed.as_ref().unwrap().reason, "why", "it does not flip");
    let ended = ledger.commit(&claimed.claim, finish("yes", vec![])).await.unwrap();
    let CommitResult::Ended { usage, .. } = ended else { panic!("{ended:?}") };
    assert_eq!((usage.calls, usage.micro_usd), (2, 9), "the decision is part of its cost");
    assert!(ledger.knocking().await.unwrap().is_empty());
}

async fn silence_makes_context_or_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    for (n, keep, becomes) in [(1, true, "context"), (2, false, "ignored: untriggered")] {
        wait(ledger.as_ref(), n, 1).await;
        let silent = GateVerdict { keep, ..judged(ledger.as_ref(), n, None).await };
        assert_eq!(ledger.judge(silent).await.unwrap(), None);
        assert_eq!(disposition(ledger.as_ref(), n, 1).await, becomes);
        let claimed = started(ledger.as_ref(), n, 2).await;
        assert_eq!(claimed.context.len(), usize::from(keep));
    }
}

async fn what_came_after_the_question_waits_for_the_next(bed: &dyn Fixture) {
    let ledger = bed.open();
    wait(ledger.as_ref(), 1, 1).await;
    let first = judged(ledger.as_ref(), 1, None).await;
    wait(ledger.as_ref(), 1, 2).await;
    ledger.judge(first).await.unwrap();
    let waiting = ledger.at_gate(&conversation(1)).await.unwrap().unwrap();
    assert_eq!(waiting.lines.iter().map(|(_, line)| line.order).collect::<Vec<_>>(), [2]);
    assert_eq!(waiting.context.iter().map(|line| line.order).collect::<Vec<_>>(), [1]);
}

async fn a_claim_is_shown_what_waits_at_the_gate(bed: &dyn Fixture) {
    let ledger = bed.open();
    wait(ledger.as_ref(), 1, 1).await;
    let asked = judged(ledger.as_ref(), 1, Some(0)).await;
    let meant = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(meant.context.iter().map(|line| line.order).collect::<Vec<_>>(), [1]);
    assert_eq!(ledger.judge(asked).await.unwrap(), None, "the lane is busy");
    finished(ledger.as_ref(), &meant.claim, finish("one", vec![])).await;
    let passed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!((passed.heard[0].1.order, passed.context.len()), (1, 0));
    finished(ledger.as_ref(), &passed.claim, finish("two", vec![])).await;
    wait(ledger.as_ref(), 1, 3).await;
    let silent = judged(ledger.as_ref(), 1, None).await;
    let meant = started(ledger.as_ref(), 1, 4).await;
    ledger.judge(silent).await.unwrap();
    finished(ledger.as_ref(), &meant.claim, finish("three", vec![])).await;
    assert!(started(ledger.as_ref(), 1, 5).await.context.is_empty(), "shown once");
}

async fn a_line_is_judged_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    wait(ledger.as_ref(), 1, 1).await;
    let (silent, spoken) =
        (judged(ledger.as_ref(), 1, None).await, judged(ledger.as_ref(), 1, Some(0)).await);
    ledger.judge(silent).await.unwrap();
    assert_eq!(ledger.judge(spoken).await.unwrap(), None, "it is context already");
    assert_eq!(ledger.counts().await.unwrap().waiting, 0);
}

async fn answers_to_bots_are_counted_to_the_last_person(bed: &dyn Fixture) {
    let ledger = bed.open();
    let mut order = 0;
    let mut answered = async |is_bot: bool| {
        order += 1;
        let mut line = message(1, order);
        line.speaker.is_bot = is_bot;
        let claimed = push(ledger.as_ref(), task(line), fuse(1)).await.claimed.remove(0);
        finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![])).await;
        ledger.bots_in_a_row(&conversation(1), 2).await.unwrap()
    };
    let mut counts = Vec::new();
    for is_bot in [true, false, true, true, true] {
        counts.push(answered(is_bot).await);
    }
    assert_eq!(counts, [1, 0, 1, 2, 2], "counted to the most that was asked for");
    assert_eq!(ledger.bots_in_a_row(&conversation(7), 2).await.unwrap(), 0);
}
