//! Laws of answers in words, and of several choices: whose they are, and what becomes of those too late.

use selkie_channel_core::{AddressReason, Audience, Quote};

use super::asking::{answered, asking, claim, park, parked, tapped};
use super::*;
use crate::TapEffect;
use selkie_domain::question::{QuestionResult, QuestionState};

laws![
    words_answer_the_question_of_their_speaker,
    words_that_fit_no_question_or_two_start_a_task,
    talk_of_a_group_is_no_answer_in_own_words,
    an_answer_that_comes_too_late_is_a_task,
    several_are_picked_one_after_the_other,
];

/// A message of conversation 1 by a speaker.
fn words(order: i64, by: &str, text: &str) -> Arrival {
    let mut arrival = task(message(1, order));
    arrival.inbound.speaker.id = PersonId::new(by);
    arrival.inbound.text = text.to_owned();
    arrival
}

async fn words_answer_the_question_of_their_speaker(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let foreign = push(ledger.as_ref(), words(2, "tg:2", "tea"), no_fuse()).await;
    assert!(foreign.commands.is_empty(), "only who was asked answers");
    let mut context = words(3, "tg:1", "2");
    context.disposition = Disposition::Context;
    let accepted = push(ledger.as_ref(), context, fuse(1)).await;
    assert_eq!((accepted.commands.len(), accepted.claimed.len()), (1, 0));
    let row = accepted.commands[0].0;
    let question = ledger.question_of(row).await.unwrap().unwrap();
    assert_eq!((question.key.as_str(), question.state), ("q1", QuestionState::Open));
    assert_eq!(ledger.open_commands().await.unwrap().len(), 1);
    assert!(answered(ledger.as_ref(), row, "q1").await.done);
    let after = push(ledger.as_ref(), words(4, "tg:1", "2"), no_fuse()).await;
    assert!(after.commands.is_empty(), "nothing is open");
}

async fn words_that_fit_no_question_or_two_start_a_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let mut quoting = words(4, "tg:1", "tea");
    quoting.inbound.quote = Some(Quote {
        message: MessageRef::new("5"),
        speaker: "bot".to_owned(),
        text: String::new(),
        ours: true,
        attachments: Vec::new(),
    });
    let mut forwarded = words(5, "tg:1", "tea");
    forwarded.inbound.forwarded = true;
    let mut album = words(6, "tg:1", "tea");
    album.inbound.album = Some("a".to_owned());
    for arrival in [words(2, "tg:1", "hello"), quoting, forwarded, album] {
        let accepted = push(ledger.as_ref(), arrival, no_fuse()).await;
        assert!(accepted.commands.is_empty());
    }
    assert_eq!(ledger.counts().await.unwrap().waiting, 4);
    let free = started(ledger.as_ref(), 2, 1).await;
    ledger.commit(&free.claim, park(asking("q2", 2, true))).await.unwrap();
    let mut second = words(2, "tg:2", "hello");
    (second.inbound.conversation, second.inbound.place) = (conversation(2), place(2));
    second.inbound.key.push_str(":2");
    if let Disposition::Task(new) = &mut second.disposition {
        new.cause = cause(&second.inbound);
    }
    let second = push(ledger.as_ref(), second, fuse(1)).await.claimed.remove(0);
    ledger.commit(&second.claim, park(asking("q3", 2, true))).await.unwrap();
    let mut both = words(7, "tg:1", "water");
    (both.inbound.conversation, both.inbound.place) = (conversation(2), place(2));
    let accepted = push(ledger.as_ref(), both, no_fuse()).await;
    assert!(accepted.commands.is_empty(), "nobody knows which of the two");
}

async fn talk_of_a_group_is_no_answer_in_own_words(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, true)).await;
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    assert!(ledger.sending(due[0].id, &instance("a")).await.unwrap());
    ledger.settle(due[0].id, crate::Outcome::Sent(receipt("77"))).await.unwrap();
    let said = |order: i64, text: &str, addressed: AddressReason, quoting: Option<&str>| {
        let mut arrival = words(order, "tg:1", text);
        let inbound = &mut arrival.inbound;
        (inbound.audience, inbound.addressed) = (Audience::Group, addressed);
        inbound.quote = quoting.map(|message| Quote {
            message: MessageRef::new(message),
            speaker: String::new(),
            text: String::new(),
            ours: true,
            attachments: Vec::new(),
        });
        arrival
    };
    for (order, text, addressed, quoting, answers) in [
        (2, "see you at five", AddressReason::No, None, false),
        (3, "rather water", AddressReason::No, Some("5"), false),
        (4, "rather water", AddressReason::Reply, Some("5"), false),
        (5, "TEA", AddressReason::No, None, true),
        (6, "2", AddressReason::No, None, true),
        (7, "rather water", AddressReason::No, Some("77"), true),
        (8, "rather water", AddressReason::Reply, Some("77"), true),
        (9, "rather water", AddressReason::Mention, None, true),
    ] {
        let accepted =
            push(ledger.as_ref(), said(order, text, addressed, quoting), no_fuse()).await;
        assert_eq!(
            accepted.commands.len(),
            usize::from(answers),
            "{text} {addressed:?} {quoting:?}"
        );
    }
}

async fn an_answer_that_comes_too_late_is_a_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, true)).await;
    let batch = vec![words(2, "tg:1", "water"), words(3, "tg:1", "or milk")];
    let accepted = ledger.accept(batch.clone(), None, no_fuse()).await.unwrap();
    assert_eq!(accepted.commands.len(), 2, "both may be it");
    let effect = |arrival: &Arrival| TapEffect::Answer {
        key: "q1".to_owned(),
        given: QuestionResult::Words { text: arrival.inbound.text.clone() },
        revision: None,
        otherwise: Some(Box::new(arrival.clone())),
    };
    for ((row, _), arrival) in accepted.commands.iter().zip(&batch) {
        ledger.answer(*row, effect(arrival)).await.unwrap().unwrap();
    }
    let awake = claim(ledger.as_ref(), 1, 5).await.unwrap();
    assert_eq!(awake.claim.task, asked.claim.task);
    let water = QuestionResult::Words { text: "water".to_owned() };
    assert_eq!(awake.settled.unwrap().question.given, Some(water));
    finished(ledger.as_ref(), &awake.claim, finish("done", vec![])).await;
    let next = claim(ledger.as_ref(), 1, 5).await.unwrap();
    assert_eq!(next.heard.len(), 1);
    assert_eq!(next.heard[0].1.text, "or milk", "the second is a task of its own");
}

async fn several_are_picked_one_after_the_other(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let pick = |from: &[&str], to: &[&str]| TapEffect::Pick {
        key: "q1".to_owned(),
        from: from.iter().map(|s| (*s).to_owned()).collect(),
        to: to.iter().map(|s| (*s).to_owned()).collect(),
        revision: Some(draft(1, 1)),
    };
    for (order, from, to, takes) in [
        (2, &[][..], &["2"][..], true),
        (3, &[][..], &["1"][..], false),
        (4, &["2"][..], &["1", "2"][..], true),
    ] {
        let row = tapped(ledger.as_ref(), 1, order).await;
        let done = ledger.answer(row, pick(from, to)).await.unwrap().unwrap();
        assert_eq!((done.done, done.queued.is_some()), (takes, takes));
        assert!(done.ready.is_none(), "it is still open");
    }
    let question = ledger.question(&account(), "q1").await.unwrap().unwrap();
    assert_eq!(
        (question.picked, question.state),
        (vec!["1".into(), "2".into()], QuestionState::Open)
    );
}
