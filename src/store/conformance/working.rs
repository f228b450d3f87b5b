//! Laws of work: order, fencing, history, parking, hand-over, reclaim.

use super::*;
use crate::{
    CommandEffect, DeliveryState, FiringResult, HistoryStart, OccurrenceAction, Outcome, Relay,
    SayResult, StatusChange, StatusNote, StepForm, Stray,
};
use selkie_domain::own_form::OwnForm;
use selkie_domain::task::ParkedOn;

laws![
    what_a_provider_wants_back_is_kept_until_the_end,
    a_lane_follows_the_platforms_order,
    a_lane_has_one_running_task,
    a_lost_claim_writes_nothing,
    a_dead_boots_claims_end,
    what_ran_at_two_deaths_is_suspected,
    a_claim_carries_history,
    a_cut_holds_until_the_next_one_or_a_reset,
    what_is_said_elsewhere_is_said_once_and_known_there,
    a_finish_hands_over,
    a_parked_task_gives_back_its_lane,
    what_is_next_is_told_whatever_it_is,
    what_a_tool_says_is_said_once,
    lanes_are_served_by_age,
    a_claim_that_is_given_back_is_no_attempt,
    an_end_tells_the_whole_cost,
    a_changing_message_is_known_until_it_is_forgotten,
    an_answer_takes_over_the_message_that_showed_it,
];

async fn a_lane_follows_the_platforms_order(bed: &dyn Fixture) {
    let ledger = bed.open();
    for order in [3, 1, 2] {
        push(ledger.as_ref(), task(message(1, order)), no_fuse()).await;
    }
    for order in 1..=3 {
        let claimed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
        assert_eq!(claimed.heard[0].1.order, order);
        finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![])).await;
    }
    assert!(ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().is_none());
}

async fn a_lane_has_one_running_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    assert!(ledger.claim(&lane(1), &instance("b"), at(0)).await.unwrap().is_none());
    assert!(ledger.ready(at(0), 9).await.unwrap().is_empty());
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    assert_eq!(ledger.ready(at(0), 9).await.unwrap(), [lane(1)]);
    assert!(ledger.claim(&lane(7), &instance("b"), at(0)).await.unwrap().is_none(), "no such lane");
}

async fn a_lost_claim_writes_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    let old = started(ledger.as_ref(), 1, 1).await;
    assert_eq!(ledger.reclaim(&instance("b"), at(1)).await.unwrap(), 1);
    let new = ledger.claim(&lane(1), &instance("b"), at(1)).await.unwrap().unwrap();
    assert_eq!((new.claim.task, new.attempts), (old.claim.task, 2));
    let lost = ledger.commit(&old.claim, finish("old", vec![draft(1, 1)])).await.unwrap();
    assert!(matches!(lost, CommitResult::Lost));
    assert!(matches!(ledger.say(&old.claim, "c1.0", draft(1, 1)).await.unwrap(), SayResult::Lost));
    assert!(ledger.due(&account(), &instance("b")).await.unwrap().is_empty());
    finished(ledger.as_ref(), &new.claim, finish("new", vec![])).await;
    let detail = ledger.task(new.claim.task).await.unwrap().unwrap();
    assert_eq!(detail.transcript, [said("new")]);
    let late = ledger.commit(&new.claim, finish("again", vec![])).await.unwrap();
    assert!(matches!(late, CommitResult::Lost), "an ended task has no claim");
}

async fn a_dead_boots_claims_end(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    let step = Advance::Step {
        append: vec![said("half")],
        header: r#"{"steps":1}"#.to_owned(),
        facts: Some(Facts { taint: Taint::Raw, ..facts() }),
        usage: Usage { calls: 1, ..Usage::default() },
        durable: true,
    };
    let go_on = ledger.commit(&first.claim, step).await.unwrap();
    assert!(matches!(go_on, CommitResult::Continue { stop: false, .. }));
    drop(ledger);
    let ledger = bed.open();
    assert!(ledger.ready(at(1), 9).await.unwrap().is_empty(), "nobody has reclaimed yet");
    assert_eq!(ledger.reclaim(&instance("b"), at(1)).await.unwrap(), 1);
    assert_eq!(ledger.reclaim(&instance("b"), at(1)).await.unwrap(), 0);
    let again = ledger.claim(&lane(1), &instance("b"), at(1)).await.unwrap().unwrap();
    assert_eq!(again.transcript, [said("half")]);
    assert_eq!(again.header.as_deref(), Some(r#"{"steps":1}"#));
    assert!(again.facts.taint == Taint::Raw);
    assert_eq!(again.heard.len(), 1);
    assert_eq!(again.attempts, 2);
}

async fn what_ran_at_two_deaths_is_suspected(bed: &dyn Fixture) {
    let ledger = bed.open();
    started(ledger.as_ref(), 1, 1).await;
    for (boots, suspected) in [("b", 0), ("c", 1)] {
        ledger.reclaim(&instance(boots), at(1)).await.unwrap();
        assert_eq!(ledger.suspects(2).await.unwrap().len(), suspected);
        ledger.claim(&lane(1), &instance(boots), at(1)).await.unwrap().unwrap();
    }
    ledger.reclaim(&instance("d"), at(1)).await.unwrap();
    started(ledger.as_ref(), 2, 1).await;
    assert_eq!(ledger.suspects(2).await.unwrap(), [lane(1)], "the other ran at none");
    let alone = ledger.claim(&lane(1), &instance("d"), at(1)).await.unwrap().unwrap();
    assert_eq!(alone.attempts, 4);
    ledger.acquit(&alone.claim).await.unwrap();
    ledger.reclaim(&instance("e"), at(1)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("e"), at(1)).await.unwrap().unwrap();
    assert_eq!(again.attempts, 4, "that death was not its own");
}

async fn a_claim_carries_history(bed: &dyn Fixture) {
    let ledger = bed.open();
    for order in 1..=18 {
        let claimed = started(ledger.as_ref(), 1, order).await;
        let end = match order % 3 {
            0 => End::Failed { why: "no".to_owned() },
            1 => End::Stopped,
            _ => End::Done,
        };
        let mut advance = finish(&format!("answer {order}"), vec![]);
        if let Advance::Finish { end: e, .. } = &mut advance {
            *e = end;
        }
        finished(ledger.as_ref(), &claimed.claim, advance).await;
    }
    let other = started(ledger.as_ref(), 2, 1).await;
    assert!(other.history.is_empty(), "another conversation's");
    let claimed = started(ledger.as_ref(), 1, 19).await;
    let expected: Vec<_> = (1..=18).map(|o| vec![said(&format!("answer {o}"))]).collect();
    assert_eq!(claimed.history, expected);
    let ends: Vec<_> = claimed.history.iter().map(|task| (task.finish, task.is_short)).collect();
    assert_eq!(ends, (1..=18).map(|end| (end, false)).collect::<Vec<_>>());
}

async fn a_cut_holds_until_the_next_one_or_a_reset(bed: &dyn Fixture) {
    let ledger = bed.open();
    let end_with = async |order: i64, cut: Option<HistoryStart>| {
        let claimed = started(ledger.as_ref(), 1, order).await;
        let mut advance = finish(&format!("answer {order}"), vec![]);
        if let Advance::Finish { cut: c, .. } = &mut advance {
            *c = cut;
        }
        finished(ledger.as_ref(), &claimed.claim, advance).await;
        claimed.history.iter().map(|task| (task.finish, task.is_short)).collect::<Vec<_>>()
    };
    for order in 1..=4 {
        end_with(order, None).await;
    }
    let all = end_with(5, Some(HistoryStart { from: 3, short: 4 })).await;
    assert_eq!(all.len(), 4, "it is cut for the next one");
    let cut = [(3, true), (4, false), (5, false)];
    assert_eq!(end_with(6, None).await, cut);
    assert_eq!(end_with(7, None).await, [&cut[..], &[(6, false)]].concat());
    let late = started(ledger.as_ref(), 1, 8).await;
    let row = push(ledger.as_ref(), arrival(message(1, 9), Disposition::Command), no_fuse()).await;
    let reset = CommandEffect::Reset(draft(1, 1));
    ledger.command(row.commands[0].0, reset).await.unwrap();
    let mut advance = finish("late", vec![]);
    if let Advance::Finish { cut, .. } = &mut advance {
        *cut = Some(HistoryStart { from: 7, short: 7 });
    }
    finished(ledger.as_ref(), &late.claim, advance).await;
    assert!(end_with(10, None).await.is_empty(), "the history before the reset");
    assert_eq!(end_with(11, None).await, [(1, false)], "no cut of the one before counts in it");
}

async fn what_is_said_elsewhere_is_said_once_and_known_there(bed: &dyn Fixture) {
    let ledger = bed.open();
    let before = started(ledger.as_ref(), 2, 1).await;
    finished(ledger.as_ref(), &before.claim, finish("before", vec![])).await;
    let asking = started(ledger.as_ref(), 1, 1).await;
    let relay = || Relay { draft: draft(2, 1), facts: facts(), items: vec![said("tea is ready")] };
    let first = ledger.relay(&asking.claim, "to:tea", relay()).await.unwrap();
    assert!(matches!(first, SayResult::New(_)), "{first:?}");
    let again = ledger.relay(&asking.claim, "to:tea", relay()).await.unwrap();
    assert!(matches!(again, SayResult::Known(..)), "{again:?}");
    let lost = Claim { number: asking.claim.number + 1, ..asking.claim.clone() };
    let lost = ledger.relay(&lost, "to:milk", relay()).await.unwrap();
    assert!(matches!(lost, SayResult::Lost), "{lost:?}");
    let there = started(ledger.as_ref(), 2, 2).await;
    assert_eq!(there.history, [vec![said("before")], vec![said("tea is ready")]]);
    finished(ledger.as_ref(), &asking.claim, finish("done", vec![])).await;
    let here = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(here.history, [vec![said("done")]], "nothing of it stands where it was asked for");
}

async fn a_finish_hands_over(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    let mut advance = finish("yes", vec![draft(1, 2)]);
    if let Advance::Finish { hand_over, .. } = &mut advance {
        *hand_over = true;
    }
    let CommitResult::Ended { queued, next, .. } =
        ledger.commit(&first.claim, advance).await.unwrap()
    else {
        panic!("it should have ended")
    };
    let next = next.unwrap();
    assert_eq!(next.heard[0].1.order, 2);
    assert_eq!(next.history, [vec![said("yes")]]);
    assert_eq!(next.claim.instance, first.claim.instance);
    assert_eq!(queued[0].parts.len(), 2);
    assert!(queued[0].parts.iter().all(|p| p.answer && !p.unclear && p.attempts == 0));
}

fn park(on: ParkedOn, wake_at: Option<i64>) -> Advance {
    Advance::Park {
        append: vec![said("I wait")],
        header: "{}".to_owned(),
        on,
        ask: None,
        seek: None,
        wake_at: wake_at.map(at),
        usage: Usage::default(),
        hand_over: false,
        now: at(0),
    }
}

async fn a_parked_task_gives_back_its_lane(bed: &dyn Fixture) {
    let ledger = bed.open();
    let sleeper = started(ledger.as_ref(), 1, 1).await;
    ledger.commit(&sleeper.claim, park(ParkedOn::Time, Some(50))).await.unwrap();
    let passing = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(ledger.next_wake(at(0)).await.unwrap(), Some(at(50)));
    finished(ledger.as_ref(), &passing.claim, finish("done", vec![])).await;
    assert_eq!(ledger.counts().await.unwrap().parked, 1);
    assert!(ledger.ready(at(49), 9).await.unwrap().is_empty());
    assert_eq!(ledger.ready(at(50), 9).await.unwrap(), [lane(1)]);
    let awake = ledger.claim(&lane(1), &instance("a"), at(50)).await.unwrap().unwrap();
    assert_eq!((awake.claim.task, awake.attempts), (sleeper.claim.task, 1));
    assert_eq!(awake.transcript, [said("I wait")]);
}

async fn what_is_next_is_told_whatever_it_is(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let now = async |seconds: i64| {
        let upcoming = ledger.upcoming(at(seconds)).await.unwrap();
        (upcoming.due, upcoming.next.map(|next| (next - at(0)).num_seconds()))
    };
    assert_eq!(now(0).await, (false, None));
    let running = started(ledger, 1, 1).await;
    assert_eq!(now(0).await, (true, None), "it is under way");
    ledger.commit(&running.claim, park(ParkedOn::Time, Some(50))).await.unwrap();
    assert_eq!((now(0).await, now(50).await), ((false, Some(50)), (true, None)));
    let row = scheduling::kept(ledger, scheduling::new("a", 2, 40)).await;
    assert_eq!((now(0).await, now(40).await), ((false, Some(40)), (true, Some(50))));
    let words = OccurrenceAction::Say(Box::new(draft(2, 1)));
    let fired = ledger.fire(scheduling::firing(&row, 40, Some(900), words), no_fuse()).await;
    let FiringResult::Said(queued) = fired.unwrap() else { panic!("it is said") };
    assert_eq!(now(0).await, (true, Some(50)), "it is to be sent");
    let part = queued.parts[0].id;
    assert!(ledger.sending(part, &instance("a")).await.unwrap());
    assert_eq!(now(0).await, (true, Some(50)), "it is being sent");
    let later = |seconds: i64| Outcome::Retry { at: at(seconds), why: "a pause".to_owned() };
    ledger.settle(part, later(30)).await.unwrap();
    assert_eq!(now(0).await, (true, Some(50)), "a short pause belongs to it");
    ledger.settle(part, later(130)).await.unwrap();
    assert_eq!((now(0).await, now(51).await), ((false, Some(50)), (true, Some(130))));
    ledger.settle(part, Outcome::Sent(receipt("7"))).await.unwrap();
    assert_eq!((now(0).await, now(51).await), ((false, Some(50)), (true, Some(900))));
}

async fn what_a_tool_says_is_said_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    let SayResult::New(queued) = ledger.say(&claimed.claim, "c1.0", draft(1, 1)).await.unwrap()
    else {
        panic!("it is new")
    };
    let known = |said| match said {
        SayResult::Known(id, standing) => (id, standing),
        other => panic!("it is known: {other:?}"),
    };
    let again = ledger.say(&claimed.claim, "c1.0", draft(1, 1)).await.unwrap();
    assert_eq!(known(again), (queued.outbound, DeliveryState::Open));
    let outcome = crate::Outcome::Sent(receipt("77"));
    ledger.settle(queued.parts[0].id, outcome).await.unwrap();
    let again = ledger.say(&claimed.claim, "c1.0", draft(1, 1)).await.unwrap();
    let message = Some(MessageRef::new("77"));
    assert_eq!(known(again), (queued.outbound, DeliveryState::Delivered { message }));
    let other = ledger.say(&claimed.claim, "c1.1", draft(2, 1)).await.unwrap();
    assert!(matches!(other, SayResult::New(q) if !q.parts[0].answer), "to others it is no answer");
}

async fn lanes_are_served_by_age(bed: &dyn Fixture) {
    let ledger = bed.open();
    for n in [3, 1, 2, 3] {
        push(ledger.as_ref(), task(message(n, n * 10)), no_fuse()).await;
    }
    assert_eq!(ledger.ready(at(0), 9).await.unwrap(), [lane(3), lane(1), lane(2)]);
    assert_eq!(ledger.ready(at(0), 1).await.unwrap(), [lane(3)]);
}

async fn a_claim_that_is_given_back_is_no_attempt(bed: &dyn Fixture) {
    let ledger = bed.open();
    let crashed = started(ledger.as_ref(), 1, 1).await;
    ledger.commit(&crashed.claim, step("half", 1)).await.unwrap();
    ledger.reclaim(&instance("b"), at(1)).await.unwrap();
    for boot_name in ["b", "c", "d"] {
        let claimed = ledger.claim(&lane(1), &instance(boot_name), at(1)).await.unwrap().unwrap();
        assert_eq!(claimed.attempts, 2, "the crash counts, a stop does not");
        assert_eq!(claimed.transcript, [said("half")]);
        assert_eq!(claimed.header.as_deref(), Some(r#"{"steps":1}"#));
        let released = ledger.commit(&claimed.claim, Advance::Release).await.unwrap();
        let CommitResult::Ended { queued, next: None, usage, .. } = released else {
            panic!("it should have ended: {released:?}")
        };
        assert_eq!((queued.len(), usage.calls), (0, 1));
        let late = ledger.commit(&claimed.claim, Advance::Release).await.unwrap();
        assert!(matches!(late, CommitResult::Lost), "given back once");
        assert_eq!(ledger.ready(at(1), 9).await.unwrap(), [lane(1)]);
    }
    let lost = ledger.commit(&crashed.claim, Advance::Release).await.unwrap();
    assert!(matches!(lost, CommitResult::Lost));
}

async fn an_end_tells_the_whole_cost(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    ledger.commit(&first.claim, step("half", 3)).await.unwrap();
    ledger.reclaim(&instance("b"), at(1)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("b"), at(1)).await.unwrap().unwrap();
    let ended = ledger.commit(&again.claim, finish("yes", vec![])).await.unwrap();
    let CommitResult::Ended { usage, .. } = ended else {
        panic!("it should have ended: {ended:?}")
    };
    let whole =
        Usage { calls: 4, input: 100, cached: 10, output: 5, micro_usd: 7, ..Usage::default() };
    assert_eq!(usage, whole, "what the finish brought and what was spent before");
}

/// A step that says `text` and cost so many model calls.
fn step(text: &str, calls: u32) -> Advance {
    Advance::Step {
        append: vec![said(text)],
        header: r#"{"steps":1}"#.to_owned(),
        facts: None,
        usage: Usage { calls, ..Usage::default() },
        durable: true,
    }
}

async fn a_changing_message_is_known_until_it_is_forgotten(bed: &dyn Fixture) {
    for (of, place) in StatusChange::ALL.into_iter().zip([1, 3]) {
        is_known_until_it_is_forgotten(bed, of, place).await;
    }
}

async fn is_known_until_it_is_forgotten(bed: &dyn Fixture, of: StatusChange, place: i64) {
    let ledger = bed.open();
    let (first, second) =
        (started(ledger.as_ref(), place, 1).await, started(ledger.as_ref(), place + 1, 1).await);
    let (task, other) = (first.claim.task, second.claim.task);
    assert_eq!(ledger.noted_status(of, task).await.unwrap(), None);
    ledger.note_status(of, task, StatusNote::default()).await.unwrap();
    assert_eq!(
        ledger.noted_status(of, task).await.unwrap(),
        Some(StatusNote::default()),
        "about to be sent"
    );
    let message = Some(MessageRef::new("41"));
    let noted = StatusNote { message: message.clone(), part: None };
    ledger.note_status(of, task, noted.clone()).await.unwrap();
    ledger.note_status(of, other, StatusNote::default()).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.noted_status(of, task).await.unwrap(), Some(noted));
    assert!(ledger.stray_statuses(of).await.unwrap().is_empty(), "their tasks go on");
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    let stray = Stray { task, conversation: conversation(place), message };
    assert_eq!(ledger.stray_statuses(of).await.unwrap(), [stray]);
    ledger.forget_status(of, task).await.unwrap();
    assert!(ledger.stray_statuses(of).await.unwrap().is_empty());
    assert_eq!(ledger.noted_status(of, task).await.unwrap(), None);
}

async fn an_answer_takes_over_the_message_that_showed_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    for (place, over) in [(1, Some(MessageRef::new("41"))), (2, None)] {
        let claimed = started(ledger.as_ref(), place, 1).await;
        let task = claimed.claim.task;
        for of in StatusChange::ALL {
            ledger.note_status(of, task, StatusNote::at(MessageRef::new("41"))).await.unwrap();
        }
        let part = Part::new(conversation(place), &serde_json::json!({ "say": "y" }), "y");
        let sending = StatusNote { message: None, part: Some(part) };
        ledger.note_status(StatusChange::Answer, task, sending.clone()).await.unwrap();
        let noted = ledger.noted_status(StatusChange::Answer, task).await.unwrap();
        assert_eq!(noted, Some(sending), "the call is known again");
        ledger
            .note_status(StatusChange::Answer, task, StatusNote::at(MessageRef::new("41")))
            .await
            .unwrap();
        let mut said = draft(place, 1);
        said.outbound.over.clone_from(&over);
        finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![said])).await;
        let left = ledger.noted_status(StatusChange::Answer, task).await.unwrap();
        assert_eq!(left.is_some(), over.is_none(), "with its end, or by whoever takes it away");
        assert!(ledger.noted_status(StatusChange::Status, task).await.unwrap().is_some());
    }
}

async fn what_a_provider_wants_back_is_kept_until_the_end(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let form = |text: &str| OwnForm { origin: "o".into(), json: format!("\"{text} 😀\"").into() };
    let step = |n: u32| Advance::Keep {
        kept: vec![StepForm { step: format!("c{n}"), form: form(&format!("thought {n}")) }],
        with: Box::new(Advance::Step {
            append: vec![said("half")],
            header: "{}".to_owned(),
            facts: None,
            usage: Usage { calls: 1, ..Usage::default() },
            durable: true,
        }),
    };
    let mut claimed = started(ledger, 1, 1).await;
    for n in [1, 2] {
        ledger.commit(&claimed.claim, step(n)).await.unwrap();
    }
    // Whoever looks at the task sees how large it is, and no word of it.
    let seen = ledger.task(claimed.claim.task).await.unwrap().unwrap().own_forms;
    let seen: Vec<_> = seen.into_iter().map(|kept| (kept.step, kept.bytes)).collect();
    assert_eq!(seen, [("c1".to_owned(), 16), ("c2".to_owned(), 16)]);
    ledger.commit(&claimed.claim, Advance::Release).await.unwrap();
    claimed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    let kept = |n: u32| (format!("c{n}"), form(&format!("thought {n}")));
    assert_eq!(claimed.own_forms, [kept(1), kept(2)].into());
    finished(ledger, &claimed.claim, finish("whole", vec![])).await;
    // Nothing of it is left for what comes.
    let next = started(ledger, 1, 2).await;
    assert!(next.own_forms.is_empty());
}
