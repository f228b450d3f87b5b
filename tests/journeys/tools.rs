//! Real tool calls by the offline stand-in: the list, reactions, files out, hidden tools; each chat its own.

use bytes::Bytes;
use selkie_playground::telegram::{ADA, FileKind, GRACE, GROUP};

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
    assert_eq!(other, "Your list is empty.");
    assert!(world.telegram().tally(ADA).is_clean());
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
    world.ask("send me notes.txt").await;
    let (kind, name, bytes) = sent(&world);
    assert_eq!((kind, name.as_str()), (FileKind::Document, "notes.txt"));
    assert_eq!(bytes, "high water 06:12");
    let missing = world.ask("send me nothing.txt").await;
    assert!(missing.contains("nothing.txt"), "{missing}");
    let outside = world.ask("send me /etc/passwd").await;
    assert!(outside.contains("refusing to send file outside"), "{outside}");
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_and_voice_notes_are_sent_as_what_they_are() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("write a.png: not really a picture").await;
    let refused = world.ask("send photo a.png").await;
    println!("a text as a photo: {refused}");
    world.ask("write b.ogg: not really a voice").await;
    println!("a text as a voice note: {}", world.ask("send voice b.ogg").await);
    let kinds: Vec<_> = world.said(ADA).into_iter().filter_map(|m| m.file).map(|f| f.kind).collect();
    assert_eq!(kinds, [FileKind::Photo, FileKind::Voice]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_or_unknown_tool_is_refused_with_its_reason() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let text = "@selkie_demo_bot call write_file {\"path\": \"/tmp/x\", \"content\": \"x\"}";
    let answer = world.ask_in(GROUP, GRACE, text).await;
    println!("write outside in a group: {answer}");
    assert!(!std::path::Path::new("/tmp/x").exists() || !answer.contains("Written"));
    let answer = world.ask("call todo_raed {}").await;
    assert!(answer.contains("did you mean todo_read"), "{answer}");
    let answer = world.ask("call telegram_send_file {\"path\": \"x\", \"chat_id\": \"tg:-1\"}").await;
    println!("another chat: {answer}");
}

/// The last file the bot sent to Ada.
fn sent(world: &World) -> (FileKind, String, Bytes) {
    let said = world.said(ADA);
    let file = said.iter().rev().find_map(|m| m.file.as_ref()).expect("a file was sent");
    let id = file.url.rsplit('/').next().expect("an id");
    let (_, bytes) = world.telegram().file(id).expect("its bytes");
    (file.kind, file.name.clone(), bytes)
}
