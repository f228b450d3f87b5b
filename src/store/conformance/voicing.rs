//! Laws of voice: what was understood is written once, and goes with its message.

use selkie_channel_core::{Attachment, AttachmentKind};

use super::forgetting::{forget, swept};
use super::unsending::unsend;
use super::*;
use crate::{HeardVoice, Outcome};
use selkie_domain::ids::InboxId;
use selkie_domain::spoken::SpokenWords;

laws![
    what_was_understood_is_written_once_and_is_there_after_a_kill,
    what_was_understood_goes_with_its_message,
    what_was_understood_goes_with_a_forgotten_place,
];

fn voice(n: i64, order: i64) -> Inbound {
    let file = Attachment {
        handle: "f".to_owned(),
        kind: AttachmentKind::Voice,
        name: String::new(),
        mime: None,
        size: None,
        duration: Some(14),
    };
    Inbound { attachments: vec![file.clone(), file], ..message(n, order) }
}

fn heard(file: u32, words: &str) -> HeardVoice {
    HeardVoice { file, spoken: SpokenWords { seconds: Some(14), words: words.to_owned() } }
}

async fn stored(ledger: &dyn Ledger, n: i64, order: i64) -> InboxId {
    push(ledger, task(voice(n, order)), fuse(1)).await.fresh[0].row
}

async fn what_was_understood_is_written_once_and_is_there_after_a_kill(bed: &dyn Fixture) {
    let ledger = bed.open();
    let row = stored(ledger.as_ref(), 1, 1).await;
    assert_eq!(ledger.spoken_words(row).await.unwrap(), []);
    assert!(ledger.keep_spoken(row, heard(1, "second")).await.unwrap());
    assert!(ledger.keep_spoken(row, heard(0, "first")).await.unwrap());
    assert!(ledger.keep_spoken(row, heard(0, "otherwise")).await.unwrap(), "it stands");
    assert!(!ledger.keep_spoken(row, heard(2, "x")).await.unwrap(), "there is no third file");
    assert!(!ledger.keep_spoken(InboxId(4_711), heard(0, "x")).await.unwrap());
    let both = [heard(0, "first"), heard(1, "second")];
    assert_eq!(ledger.spoken_words(row).await.unwrap(), both);
    let unanswered = ledger.unanswered(&conversation(1), 9).await.unwrap();
    let words: Vec<&str> = unanswered[0].spoken.iter().map(|one| one.words.as_str()).collect();
    assert_eq!(words, ["first", "second"]);
    drop(ledger);
    assert_eq!(bed.open().spoken_words(row).await.unwrap(), both);
}

async fn what_was_understood_goes_with_its_message(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = stored(ledger, 1, 1).await;
    ledger.keep_spoken(row, heard(0, "first")).await.unwrap();
    let told =
        ledger.say_once(&format!("voice:{row}:0:heard"), draft(1, 1)).await.unwrap().unwrap();
    ledger.settle(told.parts[0].id, Outcome::Sent(receipt("900"))).await.unwrap();
    ledger.say_once(&format!("voice:{row}:1:heard"), draft(1, 1)).await.unwrap().unwrap();
    assert_eq!(ledger.spoken(&conversation(1), 9).await.unwrap().len(), 2);
    push(ledger, unsend(1, 1), no_fuse()).await;
    let shown = ledger.spoken(&conversation(1), 9).await.unwrap();
    assert!(shown.is_empty(), "what has shown it: {shown:?}");
    assert!(
        ledger.due(&account(), &instance("b")).await.unwrap().is_empty(),
        "nor is it sent later"
    );
    assert_eq!(ledger.spoken_words(row).await.unwrap(), []);
    assert!(!ledger.keep_spoken(row, heard(1, "late")).await.unwrap(), "what comes late goes too");
    assert_eq!(ledger.spoken_words(row).await.unwrap(), []);
}

async fn what_was_understood_goes_with_a_forgotten_place(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = stored(ledger, 1, 1).await;
    let other = stored(ledger, 2, 1).await;
    for row in [row, other] {
        ledger.keep_spoken(row, heard(0, "first")).await.unwrap();
    }
    forget(ledger, 1, 2).await;
    swept(ledger).await;
    assert_eq!(ledger.spoken_words(row).await.unwrap(), []);
    assert!(!ledger.keep_spoken(row, heard(0, "late")).await.unwrap());
    assert_eq!(ledger.spoken_words(other).await.unwrap(), [heard(0, "first")]);
}
