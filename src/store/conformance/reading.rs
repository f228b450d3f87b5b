//! Laws of reading: lists, chains, counts, health.

use super::*;
use crate::read::{Origin, TaskUsage};
use crate::spoken::SpokenFor;
use crate::{CommandEffect, DeliveryState, Outcome, WritingCall};
use selkie_domain::task::TaskState;
use selkie_domain::usage::ModelCall;

laws![
    a_chain_leads_from_event_to_receipt,
    what_stands_in_no_transcript_is_told_with_why_it_was_said,
    what_was_said_for_no_message_is_found_by_its_receipt,
    what_is_quoted_is_found_by_its_id,
    lists_and_counts,
    what_each_call_of_a_model_has_used_stands_with_what_it_wrote,
    a_plain_message_costs_three_syncs_or_two,
    what_departs_is_in_doubt_after_a_death_and_only_then,
    where_somebody_last_spoke_in_private_is_found,
];

async fn a_chain_leads_from_event_to_receipt(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 4711).await;
    let queued = finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
    let part = queued[0].parts[0].id;
    ledger.sending(part, &instance("a")).await.unwrap();
    ledger.settle(part, Outcome::Sent(receipt("4712"))).await.unwrap();
    for name in ["4711", "4712", "tg:8:-1:4711", &claimed.claim.task.to_string()] {
        let chain = ledger.trace(name).await.unwrap();
        assert_eq!(chain.len(), 1, "{name}");
        let event = chain[0].event().unwrap();
        assert_eq!((event.disposition.as_str(), &event.inbound), ("task", &message(1, 4711)));
        let task = chain[0].task.as_ref().unwrap();
        assert_eq!((task.row.state, &task.transcript), (TaskState::Done, &vec![said("yes")]));
        let out = &chain[0].outbounds[0];
        assert_eq!(
            out.standing,
            DeliveryState::Delivered { message: Some(MessageRef::new("4712")) }
        );
        assert_eq!((out.parts[0].state.as_str(), out.parts[0].attempts), ("sent", 1));
        assert_eq!(out.parts[0].receipt, Some(receipt("4712")));
    }
    assert!(ledger.trace("nonsense").await.unwrap().is_empty());
}

async fn what_stands_in_no_transcript_is_told_with_why_it_was_said(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let answered = started(ledger, 1, 1).await;
    finished(ledger, &answered.claim, finish("hello", vec![draft(1, 1)])).await;
    let row =
        push(ledger, arrival(message(1, 2), Disposition::Command), no_fuse()).await.fresh[0].row;
    ledger.command(row, CommandEffect::Say(Some(draft(1, 1)))).await.unwrap();
    let queued = ledger.say_once("say:x", draft(1, 1)).await.unwrap().unwrap();
    ledger.settle(queued.parts[0].id, Outcome::Sent(receipt("232"))).await.unwrap();
    ledger.say_once("notice:alert:disk:1", draft(1, 1)).await.unwrap();
    ledger.say_once("say:y", draft(2, 1)).await.unwrap();
    let spoken = ledger.spoken(&conversation(1), 9).await.unwrap();
    let why: Vec<&SpokenFor> = spoken.iter().map(|one| &one.said_for).collect();
    let notice = SpokenFor::Notice { about: "how selkie is doing" };
    assert_eq!(why, [&SpokenFor::Command { inbox: row }, &SpokenFor::Say, &notice]);
    assert_eq!((spoken[1].text.as_str(), spoken[1].at), ("hello", at(0)));
    let delivered = DeliveryState::Delivered { message: Some(MessageRef::new("232")) };
    assert_eq!((&spoken[1].standing, &spoken[2].standing), (&delivered, &DeliveryState::Open));
    assert_eq!(ledger.spoken(&conversation(1), 1).await.unwrap()[0].said_for, notice, "the newest");
    assert!(ledger.spoken(&conversation(7), 9).await.unwrap().is_empty());

    let heard = ledger.unanswered(&conversation(1), 9).await.unwrap();
    assert_eq!(heard.iter().map(|one| one.inbox).collect::<Vec<_>>(), [row]);
    assert_eq!(
        (heard[0].at, heard[0].why.as_deref()),
        (at(2), Some("a command without an answer"))
    );
}

async fn what_was_said_for_no_message_is_found_by_its_receipt(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let several = Receipt { also: vec![MessageRef::new("233")], ..receipt("232") };
    let queued = ledger.say_once("say:x", draft(1, 1)).await.unwrap().unwrap();
    ledger.settle(queued.parts[0].id, Outcome::Sent(several.clone())).await.unwrap();
    for name in ["232", "233"] {
        let chains = ledger.trace(name).await.unwrap();
        let [chain] = chains.as_slice() else { panic!("{name}: {chains:?}") };
        let Origin::Spoken { spoken, .. } = &chain.origin else { panic!("{:?}", chain.origin) };
        assert_eq!((spoken, chain.stored_at), (&SpokenFor::Say, at(0)));
        assert!(chain.task.is_none() && chain.event().is_none());
        assert_eq!(chain.outbounds[0].id, queued.outbound);
        assert_eq!(chain.outbounds[0].parts[0].receipt, Some(several.clone()));
    }
    // The second message of a task's answer leads to the task, too.
    let claimed = started(ledger, 1, 4711).await;
    let queued = finished(ledger, &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
    let several = Receipt { also: vec![MessageRef::new("4713")], ..receipt("4712") };
    ledger.settle(queued[0].parts[0].id, Outcome::Sent(several)).await.unwrap();
    let chains = ledger.trace("4713").await.unwrap();
    assert_eq!(chains.len(), 1);
    assert_eq!(chains[0].task.as_ref().map(|task| task.row.id), Some(claimed.claim.task));
}

async fn what_is_quoted_is_found_by_its_id(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 4711).await;
    let queued = finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
    let part = queued[0].parts[0].id;
    ledger.sending(part, &instance("a")).await.unwrap();
    ledger.settle(part, Outcome::Sent(receipt("4712"))).await.unwrap();
    let quoted = async |n, id| ledger.quoted(&conversation(n), &MessageRef::new(id)).await.unwrap();
    let ours = quoted(1, "4712").await.unwrap();
    assert_eq!((ours.text.as_str(), ours.ours), ("hello", true));
    let theirs = quoted(1, "4711").await.unwrap();
    assert_eq!((theirs.text.as_str(), theirs.ours), ("text 4711", false));
    let level =
        async |n, id| ledger.provenance_of(&conversation(n), &MessageRef::new(id)).await.unwrap();
    let level_to = async |id, reader| level(1, id).await.map(|whose| whose.read_by(reader));
    assert_eq!(level_to("4712", Trust::Allowed).await, Some(Taint::Clean));
    assert_eq!(level_to("4712", Trust::Owner).await, Some(Taint::Raw), "said for somebody else");
    assert_eq!(level(1, "4711").await, None, "not ours");
    let tainted = started(ledger.as_ref(), 1, 4720).await;
    let mut end = finish("so they say", vec![draft(1, 1)]);
    if let Advance::Finish { append, .. } = &mut end {
        *append = vec![Item::said("so they say", Taint::Raw)];
    }
    let queued = finished(ledger.as_ref(), &tainted.claim, end).await;
    let part = queued[0].parts[0].id;
    ledger.sending(part, &instance("a")).await.unwrap();
    let several =
        Receipt { also: ["4722", "4723"].map(MessageRef::new).to_vec(), ..receipt("4721") };
    ledger.settle(part, Outcome::Sent(several)).await.unwrap();
    for id in ["4721", "4722", "4723"] {
        let level = level_to(id, Trust::Allowed).await;
        assert_eq!(level, Some(Taint::Derived), "{id}: as it was written");
        assert!(quoted(1, id).await.unwrap().ours, "{id}");
    }
    assert!(quoted(2, "4722").await.is_none() && quoted(1, "4724").await.is_none());
    assert!(quoted(2, "4712").await.is_none(), "another conversation's");
    assert!(quoted(1, "4713").await.is_none());
}

async fn lists_and_counts(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    let running = started(ledger.as_ref(), 1, 2).await;
    push(ledger.as_ref(), task(message(1, 3)), no_fuse()).await;
    push(ledger.as_ref(), task(message(2, 9)), no_fuse()).await;

    let rows = ledger.conversations(9).await.unwrap();
    assert_eq!(
        rows.iter().map(|r| r.id.clone()).collect::<Vec<_>>(),
        [conversation(2), conversation(1)]
    );
    assert_eq!((rows[1].title.as_str(), rows[1].tasks), ("Group 1", 3));
    let tasks = ledger.tasks(Some(&conversation(1)), 2).await.unwrap();
    assert_eq!(tasks.iter().map(|t| t.asked.as_str()).collect::<Vec<_>>(), ["text 3", "text 2"]);
    assert_eq!(ledger.tasks(None, 9).await.unwrap().len(), 4);
    assert!(ledger.tasks(Some(&conversation(7)), 9).await.unwrap().is_empty());
    let status = ledger.status(&conversation(1)).await.unwrap();
    assert_eq!(status.running, Some((running.claim.task, at(0))));
    assert_eq!((status.waiting, status.tasks, status.usage.input), (1, 2, 100));
    let used = ledger.used_since(at(0)).await.unwrap();
    assert_eq!((used.tasks, used.usage.input), (4, 100));
    assert_eq!(ledger.used_since(at(1_000)).await.unwrap(), TaskUsage::default());
    assert_eq!(ledger.counts().await.unwrap().running, 1);
    ledger.healthy().await.unwrap();
    assert!(ledger.task(selkie_domain::ids::TaskId(99)).await.unwrap().is_none());
}

async fn what_each_call_of_a_model_has_used_stands_with_what_it_wrote(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let once =
        Usage { calls: 1, input: 100, cached: 10, output: 5, micro_usd: 7, ..Usage::default() };
    let call = |by: &str, took_ms, usage| ModelCall { by: by.to_owned(), took_ms, usage };
    let wrote = |item, call: &ModelCall| vec![WritingCall { item, call: call.clone() }];
    let counted = |calls, with| Advance::Counted { calls, with: Box::new(with) };
    let calls = async |task| ledger.task(task).await.unwrap().unwrap().model_calls;

    // The only call's numbers are the task's.
    let alone = started(ledger, 1, 1).await;
    let only = call("main/a", 40, Some(once));
    finished(ledger, &alone.claim, counted(wrote(0, &only), finish("yes", vec![]))).await;
    assert_eq!(calls(alone.claim.task).await, wrote(0, &only));

    // Several have their own, whichever model each was.
    let several = started(ledger, 1, 2).await;
    let noted = |text: &str| Item::Noted { text: text.to_owned() };
    let tried = Usage { calls: 3, input: 1_000, ..once };
    let step = Advance::Step {
        append: vec![noted("a"), said("half"), noted("b")],
        header: "{}".to_owned(),
        facts: None,
        usage: tried,
        durable: false,
    };
    let (first, last) = (call("main/b", 9_000, Some(tried)), call("main/a", 3, Some(once)));
    ledger.commit(&several.claim, counted(wrote(1, &first), step)).await.unwrap();
    finished(ledger, &several.claim, counted(wrote(0, &last), finish("whole", vec![]))).await;
    let all = [wrote(1, &first), wrote(3, &last)].concat();
    assert_eq!(calls(several.claim.task).await, all);

    let third = started(ledger, 1, 3).await;
    finished(ledger, &third.claim, finish("said without a model", vec![])).await;
    assert_eq!(calls(third.claim.task).await, []);
    let traced = ledger.trace(&several.claim.task.to_string()).await.unwrap();
    assert_eq!(traced[0].task.as_ref().unwrap().model_calls, all);
}

async fn a_plain_message_costs_three_syncs_or_two(bed: &dyn Fixture) {
    let ledger = bed.open();
    push(ledger.as_ref(), task(message(1, 1)), no_fuse()).await;
    for (order, leaves) in [(2, false), (3, true), (4, false), (5, true)] {
        let before = ledger.syncs();
        let next = vec![task(message(order, order))];
        let accepted = ledger.accept(next, Some(cursor("x")), fuse(1)).await.unwrap();
        let claim = &accepted.claimed[0].claim;
        let mut end = finish("yes", vec![draft(order, 2)]);
        if let Advance::Finish { departs, .. } = &mut end {
            *departs = leaves;
        }
        let parts = finished(ledger.as_ref(), claim, end).await.remove(0).parts;
        assert_eq!((parts[0].departs, parts[1].departs), (leaves, false), "the first, at once");
        if !leaves {
            assert!(ledger.sending(parts[0].id, &instance("a")).await.unwrap());
        }
        ledger.settle(parts[0].id, Outcome::Sent(receipt("1"))).await.unwrap();
        assert_eq!(ledger.syncs() - before, if leaves { 2 } else { 3 });
    }
}

async fn what_departs_is_in_doubt_after_a_death_and_only_then(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    let mut end = finish("yes", vec![draft(1, 1)]);
    if let Advance::Finish { departs, .. } = &mut end {
        *departs = true;
    }
    let part = finished(ledger.as_ref(), &claimed.claim, end).await.remove(0).parts.remove(0);
    assert!(
        part.departs && !ledger.sending(part.id, &instance("a")).await.unwrap(),
        "it is marked"
    );
    let stays = Outcome::Retry { at: at(0), why: "it did not leave".to_owned() };
    ledger.settle(part.id, stays).await.unwrap();
    let due = ledger.due(&account(), &instance("b")).await.unwrap();
    assert_eq!(due.iter().map(|due| due.unclear).collect::<Vec<_>>(), [false]);
    assert!(ledger.sending(part.id, &instance("b")).await.unwrap());
    let due = ledger.due(&account(), &instance("c")).await.unwrap();
    assert_eq!(due.iter().map(|due| due.unclear).collect::<Vec<_>>(), [true]);
}

async fn where_somebody_last_spoke_in_private_is_found(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let accounts = [account()];
    let last = async |person: &str, accounts: &[AccountId]| {
        ledger.last_private(&PersonId::new(person), accounts).await.unwrap()
    };
    let heard = async |n: i64, order: i64, by: &str, audience: Audience| {
        let group = message(n, order);
        let speaker = Speaker { id: PersonId::new(by), ..group.speaker.clone() };
        let text = r#"{"speaker":{"id":"tg:1"}}"#.to_owned();
        let inbound = Inbound { speaker, audience, text, ..group };
        push(ledger, arrival(inbound, Disposition::Context), no_fuse()).await;
    };
    assert_eq!(last("tg:1", &accounts).await, None);
    heard(1, 1, "tg:1", Audience::Group).await;
    assert_eq!(last("tg:1", &accounts).await, None, "that is no private word");
    heard(2, 2, "tg:1", Audience::Direct).await;
    heard(3, 3, "tg:1", Audience::Direct).await;
    heard(4, 4, "tg:11", Audience::Direct).await;
    heard(1, 5, "tg:1", Audience::Group).await;
    assert_eq!(last("tg:1", &accounts).await, Some(conversation(3)));
    heard(2, 6, "tg:1", Audience::Direct).await;
    assert_eq!(last("tg:1", &accounts).await, Some(conversation(2)));
    assert_eq!(last("tg:11", &accounts).await, Some(conversation(4)));
    assert_eq!(last("tg:%", &accounts).await, None, "an id is no pattern");
    assert_eq!(last("tg:1", &[AccountId::new("tg:9")]).await, None, "by an account that is there");
}
