//! Real tool calls by the offline stand-in: the list, reactions, files out, hidden tools; each chat its own.

use bytes::Bytes;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE, GROUP, PRIVATE};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_kept_over_a_restart_and_seen_by_its_own_chat_alone() {
    let world = World::offline().await;
    let daemon = world.daemon();
    assert!(world.ask("note: buy milk, then note: feed the cat").await.contains("Noted"));
    assert!(world.ask("done 1").await.contains("Done: buy milk."));
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    let list = world.ask("tell me my list").await;
    assert!(list.contains("1. buy milk (done)\n2. feed the cat"), "{list}");
    let other = world.ask_in(GROUP, GRACE, "@selkie_demo_bot tell me my list").await;
    assert_eq!(other, "This chat's list is empty.");
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reaction_lands_on_the_message_that_asked_for_it() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let message = world.telegram().say(ADA, ADA, "react with 👍");
    assert_eq!(world.answer(ADA, message).await, "Reacted with 👍.");
    let reacted: Vec<_> = world
        .telegram()
        .messages(ADA)
        .into_iter()
        .flat_map(|m| m.reactions.into_iter().map(move |r| (m.id, r.emoji, r.by)))
        .collect();
    assert_eq!(reacted, [(message, "👍".to_owned(), "selkie".to_owned())]);
    let refused = world.ask("react with 🦭").await;
    assert!(refused.contains("invalid emoji: 🦭"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_written_listed_and_sent() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    assert!(world.ask("write notes.txt: high water 06:12").await.contains("Written: notes.txt."));
    let files = world.ask("list files").await;
    assert!(files.contains("notes.txt"), "{files}");
    assert!(world.ask("read notes.txt").await.contains("high water 06:12"));
    tell(&world, "send me notes.txt", "Sent: notes.txt.").await;
    let (kind, name, bytes) = sent(&world);
    assert_eq!((kind, name.as_str()), (FileKind::Document, "notes.txt"));
    assert_eq!(bytes, "high water 06:12");
    tell(&world, "send me nothing.txt", "nothing.txt").await;
    tell(&world, "send me /etc/passwd", "refusing to send file outside").await;
    assert_eq!(world.said(ADA).iter().filter(|m| m.file.is_some()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_and_voice_notes_are_sent_as_what_they_are() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let picture =
        FileDraft::new(FileKind::Document, "seal.png", &b"\x89PNG\r\n\x1a\n and so on"[..]);
    let message = world.telegram().upload(PRIVATE, ADA, picture);
    world.answer(ADA, message).await;
    tell(&world, "send photo seal.png", "Sent: ").await;
    let (kind, _, bytes) = sent(&world);
    assert_eq!((kind, bytes.starts_with(b"\x89PNG")), (FileKind::Photo, true));
    world.ask("write voice.ogg: not really a voice").await;
    tell(&world, "send voice voice.ogg", "Sent: voice.ogg.").await;
    assert_eq!(sent(&world).0, FileKind::Voice);
    world.ask("write text.png: no picture").await;
    tell(&world, "send photo text.png", "telegram_send_photo did not work").await;
}

/// Ada says something; a file and words may come back, so the words are waited for.
async fn tell(world: &World, text: &str, expected: &str) {
    world.telegram().say(ADA, ADA, text);
    world.hears(ADA, expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_elsewhere_or_unknown_is_refused_with_its_reason() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let outside = std::env::temp_dir().join(format!("selkie-{}", std::process::id()));
    let write = json!({"path": outside, "content": "x"});
    let answer =
        world.ask_in(GROUP, GRACE, &format!("@selkie_demo_bot call write_file {write}")).await;
    assert!(answer.contains("refusing to write outside"), "{answer}");
    assert!(!outside.exists());
    let answer = world.ask("call todo_raed {}").await;
    assert!(answer.contains("did you mean todo_read"), "{answer}");
    let answer = world.ask("call message_react {\"emoji\": \"👍\", \"chat_id\": -100200300}").await;
    assert!(
        answer.contains("unauthorized chat_id: -100200300 is another conversation"),
        "{answer}"
    );
    assert!(world.telegram().messages(GROUP).iter().all(|m| m.reactions.is_empty()));
}

/// The last file the bot sent to Ada.
fn sent(world: &World) -> (FileKind, String, Bytes) {
    let said = world.said(ADA);
    let file = said.iter().rev().find_map(|m| m.file.as_ref()).expect("a file was sent");
    let id = file.url.rsplit('/').next().expect("an id");
    let (_, bytes) = world.telegram().file(id).expect("its bytes");
    (file.kind, file.name.clone(), bytes)
}
