//! Voice messages whose words are not to be had: the person and the model read why, and the message is answered with what it
//! holds besides.

use selkie_playground::telegram::{ADA, FileDraft, GRACE, MessageView, PRIVATE};
use selkie_playground::{SpeechMode, telegram};
use serde_json::json;

use super::voice::{answered, asked, listening, note, say};
use crate::support::rows::number;
use crate::support::world::World;

/// Waits for what a person is told beside the answer.
async fn told(world: &World, words: &str) -> MessageView {
    let own = |m: &MessageView| m.from.is_bot && !m.text.starts_with("echo: ");
    let is_it = |m: &MessageView| own(m) && m.text.contains(words);
    world.within(words, world.telegram().wait_for(PRIVATE, is_it)).await
}

/// How often the bot has said so.
fn times(world: &World, chat: i64, words: &str) -> usize {
    let messages = world.telegram().messages(chat);
    let own = |m: &&MessageView| m.from.is_bot && !m.text.starts_with("echo: ");
    messages.iter().filter(own).filter(|m| m.text.contains(words)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_listens_a_chat_is_told_once_and_the_model_each_time() {
    const DEAF: &str = "I cannot hear voice messages here.";
    let world = World::with_allowed(json!([GRACE])).await;
    let daemon = world.daemon();
    for _ in 0..2 {
        say(&world, "anybody there?").await;
        let prompt = world.last_prompt();
        let (_, file) = prompt.rsplit_once("(file: ").expect("a file");
        assert!(file.contains("voice.ogg (voice, audio/ogg"), "{file}");
        assert!(file.contains("nobody can hear voice messages here"), "{file}");
    }
    let said = told(&world, DEAF).await;
    assert!(said.text.contains("set transcription in the config"), "an owner: {}", said.text);
    daemon.stop().await;
    let _daemon = world.daemon();
    say(&world, "and now?").await;
    assert_eq!(times(&world, ADA, DEAF), 1, "after a restart, too");
    let hers = world.telegram().upload(GRACE, GRACE, note(&world, "hello"));
    answered(&world, GRACE, hers).await;
    let is_it = |m: &MessageView| m.from.is_bot && m.text.starts_with(DEAF);
    let said = world.within("her line", world.telegram().wait_for(GRACE, is_it)).await;
    assert!(!said.text.contains("config"), "{}", said.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_trouble_the_server_gives_the_message_is_answered() {
    const AWAY: &str = "does not answer just now";
    const UNUSABLE: &str = "the speech recognition could not read it";
    let world = listening(json!({ "timeout": "2s" })).await;
    let _daemon = world.daemon();
    let speech = world.playground.model().speech();
    for (n, (does, why, tries)) in [
        (SpeechMode::Busy, AWAY, 2),
        (SpeechMode::Away, AWAY, 2),
        (SpeechMode::Silent, AWAY, 2),
        (SpeechMode::Refuses, UNUSABLE, 1),
        (SpeechMode::Page, UNUSABLE, 1),
        (SpeechMode::Huge, UNUSABLE, 1),
        (SpeechMode::Good, "I heard no words in it", 1),
    ]
    .into_iter()
    .enumerate()
    {
        speech.set(does);
        let before = asked(&world);
        let earlier = times(&world, ADA, why);
        let silence = FileDraft { caption: format!("what of this, {n}?"), ..note(&world, "") };
        let said = world.telegram().upload(PRIVATE, ADA, silence);
        answered(&world, ADA, said).await;
        let prompt = world.last_prompt();
        assert!(prompt.contains(&format!("what of this, {n}?")), "{does:?}: {prompt}");
        let (_, file) = prompt.rsplit_once("(file: ").expect("a file");
        assert!(file.contains("its words are not known") && file.contains(why), "{file}");
        assert_eq!(asked(&world) - before, tries, "{does:?}");
        assert_eq!(times(&world, ADA, why), earlier + 1, "{does:?}: the person, in a sentence");
    }
    speech.set(SpeechMode::BusyOnce);
    let answer = say(&world, "still here").await;
    assert!(answer.contains("(voice, 0:14) still here"), "asked once more: {answer}");
    let none = "SELECT count(*) FROM inbox WHERE spoken IS NOT NULL";
    assert_eq!(number(&world.home, none), Some(1), "nothing else is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_too_large_or_too_much_is_not_sent() {
    let mut world = listening(json!({ "max_duration": "10s", "max_mb": 1, "per_day": 2 })).await;
    let telegram = json!({
        "bot_token": telegram::TOKEN, "base_url": world.playground.telegram_base_url(), "pace": "lifted",
        "allowed_chat_ids": [GRACE],
    });
    world.home.set("telegram", telegram);
    let _daemon = world.daemon();
    say(&world, "a long story").await;
    told(&world, "it is longer than 10 seconds").await;
    let short = |draft: FileDraft| FileDraft { seconds: 2, ..draft };
    let large = FileDraft { told_size: Some(2_000_000), ..short(note(&world, "x")) };
    let said = world.telegram().upload(PRIVATE, ADA, large);
    answered(&world, ADA, said).await;
    told(&world, "it is larger than 1 MB").await;
    assert_eq!(asked(&world), 0);
    for n in 1..=3 {
        let said = world.telegram().upload(GRACE, GRACE, short(note(&world, &format!("{n}"))));
        answered(&world, GRACE, said).await;
        let own = world.telegram().upload(PRIVATE, ADA, short(note(&world, &format!("own {n}"))));
        answered(&world, ADA, own).await;
    }
    assert_eq!(asked(&world), 2 + 3, "two of hers, and all of the owner's");
    assert_eq!(times(&world, GRACE, "I listen to 2 of one person in a day"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_whether_somebody_listens() {
    let world = listening(json!({})).await;
    let looked = async || {
        let mut command = world.home.command(&["doctor"]);
        let output = tokio::task::spawn_blocking(move || command.output()).await.expect("doctor");
        String::from_utf8_lossy(&output.expect("doctor").stdout).into_owned()
    };
    let shown = looked().await;
    assert!(shown.contains("ears answers"), "{shown}");
    world.playground.model().speech().set(SpeechMode::Refuses);
    let shown = looked().await;
    assert!(shown.contains("ears does not answer: it answers 400"), "{shown}");
    assert!(shown.contains("check transcription (endpoint, model"), "{shown}");
}
