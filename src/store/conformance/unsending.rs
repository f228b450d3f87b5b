//! Laws of messages that are taken back: their text is nowhere any more, and they are not answered.

use selkie_channel_core::{Attachment, AttachmentKind, Quote};

use super::*;
use crate::{SeenMarks, UnsentFiles, UnsentMessage};
use selkie_domain::ids::InboxId;
use selkie_domain::transcript::{QuotedWords, UserMessage};

laws![
    what_is_taken_back_is_nowhere,
    a_running_task_whose_message_is_taken_back_stops,
    what_is_taken_back_goes_in_every_thread_of_its_place_and_in_none_elsewhere,
    what_comes_after_it_was_taken_back_is_not_kept,
    what_a_running_task_has_read_goes_and_the_task_goes_on,
    what_is_taken_back_before_a_run_has_taken_it_in_is_not_written_down,
    files_go_when_no_task_fetches_them_any_more,
    files_stay_while_a_task_that_replies_to_them_runs,
    files_of_a_message_are_known_with_their_album_until_it_is_taken_back,
];

pub fn unsend(n: i64, order: i64) -> Arrival {
    let mut inbound = message(n, order);
    inbound.key.push_str(":unsend");
    (inbound.what, inbound.text) = (What::Unsent, String::new());
    arrival(inbound, Disposition::Unsent)
}

fn heard(row: InboxId, inbound: &Inbound) -> Item {
    Item::Received(UserMessage {
        inbox: Some(row),
        local: String::new(),
        at: inbound.at,
        speaker: "Ann".to_owned(),
        text: inbound.text.clone(),
        quote: inbound.quote.as_ref().map(|q| QuotedWords {
            speaker: q.speaker.clone(),
            text: q.text.clone(),
            ours: q.ours,
            level: Taint::Clean,
            files: vec!["of-a-quote.txt".to_owned()],
            pictures: Vec::new(),
        }),
        forwarded: false,
        origin: "News".to_owned(),
        talk: false,
        relayed: false,
        agent: None,
        spoken: Vec::new(),
        files: vec!["file.txt".to_owned()],
        pictures: Vec::new(),
    })
}

/// Everything that is stored of some messages, as JSON.
async fn stored(ledger: &dyn Ledger, orders: &[i64]) -> String {
    let mut text = String::new();
    for order in orders {
        text.push_str(&traced(ledger, &format!("tg:8:-1:{order}")).await);
    }
    text
}

/// Everything that is stored of one.
async fn traced(ledger: &dyn Ledger, key: &str) -> String {
    serde_json::to_string(&ledger.trace(key).await.unwrap()).unwrap()
}

async fn what_is_taken_back_is_nowhere(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    // One is answered, a later one quotes it and is answered too, one waits, one is talk.
    let first = started(ledger, 1, 1).await;
    let mut end = finish("yes", vec![]);
    let Advance::Finish { append, .. } = &mut end else { unreachable!() };
    append.insert(0, heard(first.heard[0].0, &first.heard[0].1));
    finished(ledger, &first.claim, end).await;
    let mut quoting = message(1, 2);
    quoting.text = "really?".to_owned();
    quoting.quote = Some(Quote {
        message: MessageRef::new("1"),
        speaker: "Ann".to_owned(),
        text: "text 1".to_owned(),
        ours: false,
        attachments: Vec::new(),
    });
    push(ledger, arrival(message(1, 3), Disposition::Context), no_fuse()).await;
    let second = push(ledger, task(quoting), fuse(1)).await.claimed.remove(0);
    let mut end = finish("yes", vec![]);
    let Advance::Finish { append, .. } = &mut end else { unreachable!() };
    append.insert(0, heard(second.heard[0].0, &second.heard[0].1));
    let Item::Received(own) = append[0].clone() else { unreachable!() };
    let text = "[00:00] Ann: text 3".to_owned();
    let talk = UserMessage { inbox: None, text, quote: None, talk: true, ..own };
    append.insert(0, Item::Received(talk));
    finished(ledger, &second.claim, end).await;
    push(ledger, task(message(1, 4)), no_fuse()).await;
    push(ledger, task(message(1, 5)), no_fuse()).await;
    for order in [1, 3, 4] {
        let accepted = push(ledger, unsend(1, order), no_fuse()).await;
        assert!(accepted.stopping.is_empty());
    }
    let all = stored(ledger, &[1, 2, 3, 4, 5]).await;
    for gone in ["text 1", "text 3", "text 4", "of-a-quote.txt"] {
        assert!(!all.contains(gone), "{gone}: {all}");
    }
    assert!(all.contains("text 5") && all.contains("really?"), "{all}");
    let next = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert_eq!(next.heard[0].1.text, "text 5", "the one that was taken back is not answered");
    assert!(ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().is_none());
}

async fn a_running_task_whose_message_is_taken_back_stops(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    let accepted = push(ledger.as_ref(), unsend(1, 1), no_fuse()).await;
    assert_eq!(accepted.stopping, [claimed.claim.task]);
    let step = Advance::Step {
        append: vec![heard(claimed.heard[0].0, &claimed.heard[0].1)],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    let told = ledger.commit(&claimed.claim, step).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }));
    let all = stored(ledger.as_ref(), &[1]).await;
    assert!(!all.contains("text 1"), "what it wrote later is scrubbed too: {all}");
    let none = push(ledger.as_ref(), unsend(7, 1), no_fuse()).await;
    assert!(none.stopping.is_empty(), "a message nobody heard");
    assert!(ledger.conversations(9).await.unwrap().len() == 1, "makes no conversation");
}

fn in_thread(inbound: Inbound, thread: &str) -> Inbound {
    let conversation = ConversationId::new(account(), format!("tg:-1:{thread}"));
    Inbound { key: format!("{}:{thread}", inbound.key), conversation, ..inbound }
}

fn step(append: Vec<Item>) -> Advance {
    let (header, usage) = ("{}".to_owned(), Usage::default());
    Advance::Step { append, header, facts: None, usage, durable: false }
}

/// The event that takes it back tells the place, and no thread of it.
async fn what_is_taken_back_goes_in_every_thread_of_its_place_and_in_none_elsewhere(
    bed: &dyn Fixture,
) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(in_thread(message(1, 1), "a")), no_fuse()).await;
    push(ledger, arrival(message(1, 1), Disposition::Gate), no_fuse()).await;
    let mut edit = in_thread(message(1, 1), "e");
    edit.what = What::Edit;
    push(ledger, arrival(edit, Disposition::Edit), no_fuse()).await;
    // The same number in another place, and one that made no conversation.
    push(ledger, task(message(2, 1)), no_fuse()).await;
    push(ledger, arrival(message(3, 1), Disposition::Ignored("not_allowed")), no_fuse()).await;
    push(ledger, unsend(1, 1), no_fuse()).await;
    for key in ["tg:8:-1:1", "tg:8:-1:1:a", "tg:8:-1:1:e"] {
        let kept = traced(ledger, key).await;
        assert!(!kept.contains("text 1"), "{key}: {kept}");
    }
    for other in ["tg:8:-2:1", "tg:8:-3:1"] {
        assert!(traced(ledger, other).await.contains("text 1"), "{other}");
    }
    let thread = ConversationId::new(account(), "tg:-1:a");
    let waits = ledger.claim(&Lane::of(&thread), &instance("a"), at(9)).await.unwrap();
    assert!(waits.is_none(), "it is not answered");
    assert!(ledger.knocking().await.unwrap().is_empty(), "nor does the gate wait with it");
    push(ledger, unsend(3, 1), no_fuse()).await;
    assert!(!traced(ledger, "tg:8:-3:1").await.contains("text 1"), "whoever wrote it");
}

async fn what_comes_after_it_was_taken_back_is_not_kept(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, unsend(1, 1), no_fuse()).await;
    let accepted = push(ledger, task(in_thread(message(1, 1), "a")), fuse(1)).await;
    assert!(accepted.claimed.is_empty() && accepted.ready.is_empty());
    let mut edit = message(1, 1);
    (edit.what, edit.text) = (What::Edit, "text 1, changed".to_owned());
    push(ledger, arrival(edit, Disposition::Edit), no_fuse()).await;
    let kept = stored(ledger, &[1]).await;
    assert!(!kept.contains("text 1"), "{kept}");
    let kept = traced(ledger, "tg:8:-1:1:a").await;
    assert!(!kept.contains("text 1"), "{kept}");
    let elsewhere = push(ledger, task(message(2, 1)), fuse(1)).await;
    assert_eq!(elsewhere.claimed.len(), 1, "a number is of one place");
}

async fn what_a_running_task_has_read_goes_and_the_task_goes_on(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, arrival(message(1, 1), Disposition::Context), no_fuse()).await;
    let mut asking = message(1, 2);
    asking.quote = Some(Quote {
        message: MessageRef::new("1"),
        speaker: "Ann".to_owned(),
        text: "text 1".to_owned(),
        ours: false,
        attachments: Vec::new(),
    });
    let claimed = push(ledger, task(asking), fuse(1)).await.claimed.remove(0);
    assert_eq!(claimed.context.len(), 1);
    let accepted = push(ledger, unsend(1, 1), no_fuse()).await;
    assert!(accepted.stopping.is_empty(), "another's line ends nobody's task");
    let own = heard(claimed.heard[0].0, &claimed.heard[0].1);
    let Item::Received(of_own) = own.clone() else { unreachable!() };
    let text = "00:00 Ann: text 1\n00:01 Bob: tea?".to_owned();
    let talk = UserMessage { inbox: None, text, quote: None, talk: true, ..of_own };
    let told = ledger.commit(&claimed.claim, step(vec![Item::Received(talk), own])).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: false, .. }), "{told:?}");
    finished(ledger, &claimed.claim, finish("yes", vec![])).await;
    let kept = serde_json::to_string(&ledger.task(claimed.claim.task).await.unwrap()).unwrap();
    assert!(!kept.contains("text 1") && kept.contains("text 2"), "{kept}");
    assert!(!kept.contains("of-a-quote.txt"), "{kept}");
}

async fn what_is_taken_back_before_a_run_has_taken_it_in_is_not_written_down(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let claimed = started(ledger, 1, 1).await;
    push(ledger, task(message(1, 2)), no_fuse()).await;
    let came = ledger.inflow(&claimed.claim, at(5)).await.unwrap().waiting.remove(0);
    push(ledger, unsend(1, 2), no_fuse()).await;
    let append = vec![heard(came.heard[0].0, &came.heard[0].1)];
    let seen = SeenMarks { tasks: vec![came.seen()], edits: vec![], step: 2 };
    let absorb = Advance::Absorb { seen, with: Box::new(step(append)) };
    ledger.commit(&claimed.claim, absorb).await.unwrap();
    let kept = serde_json::to_string(&ledger.task(claimed.claim.task).await.unwrap()).unwrap();
    assert!(!kept.contains("text 2"), "{kept}");
}

async fn files_go_when_no_task_fetches_them_any_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let running = started(ledger, 1, 1).await;
    assert_eq!(ledger.unsent().await.unwrap(), UnsentFiles::default());
    push(ledger, unsend(1, 1), no_fuse()).await;
    let unsent = ledger.unsent().await.unwrap();
    let message = UnsentMessage { place_row: running.place_row, row: running.heard[0].0 };
    assert_eq!((unsent.messages, unsent.over.len()), (vec![message], 0), "it may bring them still");
    finished(ledger, &running.claim, finish("yes", vec![])).await;
    let unsent = ledger.unsent().await.unwrap();
    assert_eq!((&unsent.messages[..], unsent.over.len()), (&[message][..], 1));
    assert!(ledger.is_forgetting().await.unwrap());
    ledger.unsent_gone(unsent).await.unwrap();
    assert_eq!(ledger.unsent().await.unwrap(), UnsentFiles::default());
    assert!(!ledger.is_forgetting().await.unwrap());
}

async fn files_stay_while_a_task_that_replies_to_them_runs(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, arrival(message(1, 1), Disposition::Context), no_fuse()).await;
    let mut asking = message(1, 2);
    asking.quote = Some(Quote {
        message: MessageRef::new("1"),
        speaker: "Ann".to_owned(),
        text: "text 1".to_owned(),
        ours: false,
        attachments: vec![file("a")],
    });
    let claimed = push(ledger, task(asking), fuse(1)).await.claimed.remove(0);
    push(ledger, unsend(1, 1), no_fuse()).await;
    assert!(!stored(ledger, &[2]).await.contains("handle"), "what is quoted goes with its files");
    assert_eq!(ledger.unsent().await.unwrap().over.len(), 0, "it may fetch them still");
    finished(ledger, &claimed.claim, finish("yes", vec![])).await;
    assert_eq!(ledger.unsent().await.unwrap().over.len(), 1);
}

fn file(handle: &str) -> Attachment {
    Attachment {
        handle: handle.to_owned(),
        kind: AttachmentKind::Photo,
        name: String::new(),
        mime: None,
        size: None,
        duration: None,
    }
}

async fn files_of_a_message_are_known_with_their_album_until_it_is_taken_back(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let picture = |n, order: i64, album: Option<&str>| {
        let inbound = message(n, order);
        let attachments = vec![file(&order.to_string())];
        Inbound { attachments, album: album.map(str::to_owned), ..inbound }
    };
    for inbound in [picture(1, 1, Some("a")), picture(1, 2, Some("a")), picture(1, 3, None)] {
        push(ledger, arrival(inbound, Disposition::Context), no_fuse()).await;
    }
    // The same numbers elsewhere.
    push(ledger, arrival(picture(2, 2, Some("a")), Disposition::Context), no_fuse()).await;
    let mut edit = picture(1, 1, Some("a"));
    (edit.what, edit.key) = (What::Edit, format!("{}:e", edit.key));
    push(ledger, arrival(edit, Disposition::Edit), no_fuse()).await;
    let thread = in_thread(message(1, 9), "t");
    push(ledger, task(thread.clone()), no_fuse()).await;
    let files = async |from: &ConversationId, of: &str| {
        let found = ledger.files_of(from, &MessageRef::new(of)).await.unwrap();
        found.into_iter().map(|one| one.attachments[0].handle.clone()).collect::<Vec<_>>()
    };
    let here = conversation(1);
    assert_eq!(files(&here, "2").await, ["2", "1"], "what is replied to comes first");
    assert_eq!(files(&here, "3").await, ["3"]);
    assert_eq!(files(&thread.conversation, "3").await, ["3"], "a thread is of the same place");
    assert_eq!(files(&here, "4").await, [""; 0]);
    push(ledger, unsend(1, 2), no_fuse()).await;
    assert_eq!(files(&here, "2").await, ["1"], "it is of the album still, and gone itself");
}
