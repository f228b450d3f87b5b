//! Telegram fails in the middle of a call, before and after its effect: every message is answered, and
//! what may be there twice bears the mark.

use selkie_playground::telegram::{ADA, FileDraft, FileKind, PRIVATE};
use selkie_playground::{Fault, FaultKind};

use crate::support::once::{marks, said};
use crate::support::rows::settled;
use crate::support::world::World;

/// Every way in which a call goes wrong without a word of the platform that tells what became of it.
fn kinds() -> [FaultKind; 6] {
    use FaultKind::{Bare, CutAfter, CutBefore, Garbage, Html, Truncate};
    [Html { status: 502 }, CutBefore, CutAfter, Truncate, Garbage, Bare]
}

/// Whether the call had its effect all the same.
fn had_effect(kind: &FaultKind) -> bool {
    use FaultKind::{Bare, CutAfter, Garbage, Truncate};
    matches!(kind, CutAfter | Truncate | Garbage | Bare)
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_are_neither_lost_nor_taken_twice() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("before").await;
    let mut expected = vec!["“before”".to_owned()];
    let more = [FaultKind::Duplicate, FaultKind::Redeliver, FaultKind::TooMany { retry_after: 1 }];
    for (n, kind) in (2..).zip(kinds().into_iter().chain(more)) {
        world.telegram().fault(Fault::next("getUpdates", kind));
        // Ends the poll that waits, so that the next one meets the fault.
        world.ask(&format!("first {n}")).await;
        world.ask(&format!("then {n}")).await;
        expected.extend([format!("“first {n}”"), format!("“then {n}”")]);
    }
    settled(&world, expected.len() as i64).await;
    let expected: Vec<Vec<&str>> = expected.iter().map(|text| vec![text.as_str()]).collect();
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_arrives_and_is_marked_when_it_may_be_there_twice() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    for (n, kind) in (1..).zip(kinds()) {
        world.telegram().fault(Fault::next("sendMessage", kind.clone()));
        let before = said(&world, PRIVATE).len();
        world.telegram().say(ADA, ADA, &format!("message {n}."));
        settled(&world, n).await;
        let seen = said(&world, PRIVATE).split_off(before);
        let text = format!("“message {n}.”");
        assert_eq!(marks(&seen, &[vec![text.as_str()]]), 1, "{kind:?}");
        assert_eq!(seen.len(), 1 + usize::from(had_effect(&kind)), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_arrives_and_is_marked_when_it_may_be_there_twice() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("write notes.txt: tide").await;
    for (n, kind) in (2..).zip(kinds()) {
        settled(&world, n - 1).await;
        world.telegram().fault(Fault::next("sendDocument", kind.clone()));
        let before = said(&world, PRIVATE).len();
        world.telegram().say(ADA, ADA, "send me notes.txt");
        settled(&world, n).await;
        let seen = said(&world, PRIVATE).split_off(before);
        let expected = [vec!["[file notes.txt]"], vec!["Sent: notes.txt."]];
        // Only a connection that breaks before the file has left proves that it did not arrive.
        let marked = marks(&seen, &expected);
        assert!(marked == 1 || kind == FaultKind::CutBefore, "{kind:?}: {seen:?}");
        assert_eq!(seen.len(), 2 + usize::from(had_effect(&kind)), "{kind:?}: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reaction_is_set_once_whatever_happens() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    for (n, kind) in (1..).zip(kinds()) {
        world.telegram().fault(Fault::next("setMessageReaction", kind.clone()));
        let message = world.telegram().say(ADA, ADA, "react with 👍");
        settled(&world, n).await;
        let messages = world.telegram().messages(PRIVATE);
        let reactions = messages.iter().find(|m| m.id == message).map(|m| m.reactions.len());
        assert_eq!(reactions, Some(1), "{kind:?}");
    }
    let expected = vec![vec!["Reacted with 👍."]; kinds().len()];
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_fetched_is_no_end_of_the_answer() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let mut expected = Vec::new();
    for (n, kind) in (1..).zip(kinds()) {
        world.telegram().fault(Fault::next("getFile", kind));
        let file = FileDraft::new(FileKind::Document, "tide.txt", "high water");
        let file = FileDraft { caption: format!("caption {n}."), ..file };
        world.telegram().upload(PRIVATE, ADA, file);
        settled(&world, n).await;
        expected.push(format!("caption {n}."));
    }
    let expected: Vec<Vec<&str>> = expected.iter().map(|text| vec![text.as_str()]).collect();
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
}
