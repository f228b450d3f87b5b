//! Laws of messages that are taken back: their text is nowhere any more, and they are not answered.

use selkie_channel_core::Quote;

use super::*;
use crate::domain::ids::InboxId;
use crate::domain::transcript::{Quoted, Received};

laws![what_is_taken_back_is_nowhere, a_running_task_whose_message_is_taken_back_stops,];

pub fn unsend(n: i64, order: i64) -> Arrival {
    let mut inbound = message(n, order);
    inbound.key.push_str(":unsend");
    (inbound.what, inbound.text) = (What::Unsent, String::new());
    arrival(inbound, Disposition::Unsent)
}

fn heard(row: InboxId, inbound: &Inbound) -> Item {
    Item::Received(Received {
        inbox: Some(row),
        local: String::new(),
        at: inbound.at,
        speaker: "Ann".to_owned(),
        text: inbound.text.clone(),
        quote: inbound.quote.as_ref().map(|q| Quoted {
            speaker: q.speaker.clone(),
            text: q.text.clone(),
            ours: q.ours,
            level: Taint::Clean,
        }),
        forwarded: false,
        talk: false,
        relayed: false,
        files: vec!["file.txt".to_owned()],
        pictures: Vec::new(),
    })
}

/// Everything that is stored of some messages, as JSON.
async fn stored(ledger: &dyn Ledger, orders: &[i64]) -> String {
    let mut text = String::new();
    for order in orders {
        let chains = ledger.trace(&format!("tg:8:-1:{order}")).await.unwrap();
        text.push_str(&serde_json::to_string(&chains).unwrap());
    }
    text
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
    });
    push(ledger, arrival(message(1, 3), Disposition::Context), no_fuse()).await;
    let second = push(ledger, task(quoting), fuse(1)).await.claimed.remove(0);
    let mut end = finish("yes", vec![]);
    let Advance::Finish { append, .. } = &mut end else { unreachable!() };
    append.insert(0, heard(second.heard[0].0, &second.heard[0].1));
    let Item::Received(own) = append[0].clone() else { unreachable!() };
    let talk = Received { inbox: None, text: "[00:00] Ann: text 3".to_owned(), quote: None, ..own };
    append.insert(0, Item::Received(talk));
    finished(ledger, &second.claim, end).await;
    push(ledger, task(message(1, 4)), no_fuse()).await;
    push(ledger, task(message(1, 5)), no_fuse()).await;
    for order in [1, 3, 4] {
        let accepted = push(ledger, unsend(1, order), no_fuse()).await;
        assert!(accepted.stopping.is_empty());
    }
    let all = stored(ledger, &[1, 2, 3, 4, 5]).await;
    for gone in ["text 1", "text 3", "text 4"] {
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
    assert!(matches!(told, Committed::Continue { stop: true, .. }));
    let all = stored(ledger.as_ref(), &[1]).await;
    assert!(!all.contains("text 1"), "what it wrote later is scrubbed too: {all}");
    let none = push(ledger.as_ref(), unsend(7, 1), no_fuse()).await;
    assert!(none.stopping.is_empty(), "a message nobody heard");
    assert!(ledger.conversations(9).await.unwrap().len() == 1, "makes no conversation");
}
