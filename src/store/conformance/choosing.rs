//! Laws of what an owner chooses for a conversation: each claim brings it, threads have that of their chat.

use super::forgetting::forget;
use super::*;
use crate::{ChosenHere, ChosenThere, CommandEffect};
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;

laws![
    what_is_chosen_comes_with_every_claim,
    a_thread_takes_from_its_chat_what_it_has_none_of_itself,
    a_reset_leaves_what_is_chosen_and_forgetting_takes_it,
];

fn choice(model: Option<&str>, effort: Option<Effort>) -> Choice {
    Choice { model: model.map(str::to_owned), effort, ..Choice::default() }
}

fn model(name: &str) -> ChosenHere {
    ChosenHere::Model(Some(name.to_owned()))
}

fn agent(name: &str) -> ChosenHere {
    ChosenHere::Agent(Some(name.to_owned()))
}

/// Message `order` in thread 7 of place `n`.
fn in_thread(n: i64, order: i64) -> Inbound {
    let conversation = ConversationId::new(account(), format!("tg:-{n}:7"));
    Inbound { conversation, ..message(n, order) }
}

/// Carries out a command, and once more, which does nothing.
async fn choose(ledger: &dyn Ledger, inbound: Inbound, chosen: ChosenHere) {
    let accepted = push(ledger, arrival(inbound, Disposition::Command), no_fuse()).await;
    let row = accepted.commands[0].0;
    let effect = || CommandEffect::Choose(chosen.clone(), Some(draft(1, 1)));
    let done = ledger.command(row, effect()).await.unwrap().unwrap();
    assert_eq!(done.queued.unwrap().parts.len(), 1);
    assert!(ledger.command(row, effect()).await.unwrap().is_none(), "it is carried out once");
}

async fn what_is_chosen_comes_with_every_claim(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    assert_eq!(first.chosen, Choice::default());
    choose(ledger.as_ref(), message(1, 2), model("strong")).await;
    choose(ledger.as_ref(), message(1, 3), ChosenHere::Effort(Some(Effort::High))).await;
    let both = choice(Some("strong"), Some(Effort::High));
    assert_eq!(ledger.chosen(&conversation(1)).await.unwrap().own, both);
    // As the task's next claim, and as one that is fused with its message.
    ledger.commit(&first.claim, Advance::Release).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert_eq!((again.claim.task, &again.chosen), (first.claim.task, &both));
    finished(ledger.as_ref(), &again.claim, finish("yes", vec![])).await;
    assert_eq!(started(ledger.as_ref(), 1, 10).await.chosen, both);
    assert_eq!(started(ledger.as_ref(), 2, 11).await.chosen, Choice::default());
    choose(ledger.as_ref(), message(1, 12), ChosenHere::Model(None)).await;
    let own = async || ledger.chosen(&conversation(1)).await.unwrap().own;
    assert_eq!(own().await, choice(None, Some(Effort::High)));
    choose(ledger.as_ref(), message(1, 13), agent("reader")).await;
    let with_agent =
        Choice { agent: Some("reader".to_owned()), ..choice(None, Some(Effort::High)) };
    assert_eq!(own().await, with_agent);
    choose(ledger.as_ref(), message(1, 14), ChosenHere::Agent(None)).await;
    assert_eq!(own().await, choice(None, Some(Effort::High)));
}

async fn a_thread_takes_from_its_chat_what_it_has_none_of_itself(bed: &dyn Fixture) {
    let ledger = bed.open();
    choose(ledger.as_ref(), message(1, 1), model("strong")).await;
    choose(ledger.as_ref(), message(1, 2), ChosenHere::Effort(Some(Effort::Low))).await;
    choose(ledger.as_ref(), message(1, 5), agent("reader")).await;
    choose(ledger.as_ref(), in_thread(1, 3), ChosenHere::Effort(Some(Effort::Max))).await;
    let reads = |choice| Choice { agent: Some("reader".to_owned()), ..choice };
    let accepted = push(ledger.as_ref(), task(in_thread(1, 4)), fuse(1)).await;
    let claimed = &accepted.claimed[0];
    let both = reads(choice(Some("strong"), Some(Effort::Max)));
    assert_eq!(claimed.chosen, both);
    // As the task's next claim, too.
    ledger.commit(&claimed.claim, Advance::Release).await.unwrap();
    let again =
        ledger.claim(&Lane::of(&claimed.conversation), &instance("a"), at(9)).await.unwrap();
    assert_eq!(again.unwrap().chosen, both);
    let there = ledger.chosen(&claimed.conversation).await.unwrap();
    let expected = ChosenThere {
        own: choice(None, Some(Effort::Max)),
        chat: reads(choice(Some("strong"), Some(Effort::Low))),
    };
    assert_eq!(there, expected);
    let chat = ledger.chosen(&conversation(1)).await.unwrap();
    assert_eq!(chat.chat, Choice::default(), "a chat is nobody's thread");
}

async fn a_reset_leaves_what_is_chosen_and_forgetting_takes_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    choose(ledger.as_ref(), message(1, 1), model("strong")).await;
    choose(ledger.as_ref(), message(1, 4), agent("reader")).await;
    let reset = push(ledger.as_ref(), arrival(message(1, 2), Disposition::Command), no_fuse());
    let row = reset.await.commands[0].0;
    ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap();
    let own = async || ledger.chosen(&conversation(1)).await.unwrap().own;
    let kept = Choice { agent: Some("reader".to_owned()), ..choice(Some("strong"), None) };
    assert_eq!(own().await, kept);
    forget(ledger.as_ref(), 1, 5).await;
    assert_eq!(own().await, Choice::default());
}
