//! Words that the bot says aloud: by its tool, and behind its answers to voice messages; never in the text's place, and once.

use std::process::Command;

use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE, GROUP, MessageView, PRIVATE};
use selkie_playground::{Maker, MakerMode, SaidWords, SpeechMode, Turn, line_platform, slack};
use serde_json::{Value, json};

use crate::support::line::Line;
use crate::support::rows::number;
use crate::support::world::World;

/// The key of the server, which nobody hears.
const KEY: &str = "sk-tongue-key-1234567890";
const WORDS: &str = "Good **morning**, see https://a.example/x";
const PLAIN: &str = "Good morning, see";

/// A world whose bot speaks.
async fn speaking() -> World {
    let mut world = World::start().await;
    set_speech(&mut world, json!({}));
    world
}

fn set_speech(world: &mut World, more: Value) {
    let endpoint = world.playground.model_endpoint();
    let mut section =
        json!({ "endpoint": endpoint, "model": "tongue", "voice": "alloy", "api_key": KEY });
    for (key, value) in more.as_object().into_iter().flatten() {
        section[key] = value.clone();
    }
    world.home.set("speech", section);
}

/// Lets it answer voice messages in kind, and understand them.
fn in_kind(world: &mut World) {
    let endpoint = world.playground.model_endpoint();
    world.home.set("transcription", json!({ "endpoint": endpoint, "model": "ears" }));
    let place = json!({ "voice": "in_kind" });
    world.home.set("places", json!({ "tg:4711": place, "tg:-1001": place }));
}

fn says(text: &str, then: &str) -> Vec<Turn> {
    vec![Turn::call("say_aloud", json!({ "text": text })), Turn::text(then)]
}

/// Ada's voice note.
fn note(world: &World, words: &str) -> FileDraft {
    let bytes = format!("OggS {words}");
    world.playground.model().speech().says(bytes.clone(), words);
    FileDraft { seconds: 3, ..FileDraft::new(FileKind::Voice, "v.ogg", bytes) }
}

/// Waits for the next file of the bot behind a message.
async fn recording(world: &World, behind: i64) -> MessageView {
    let is_it = |m: &MessageView| m.from.is_bot && m.id > behind && m.file.is_some();
    world.within("a recording", world.telegram().wait_for(ADA, is_it)).await
}

fn bytes(world: &World, message: &MessageView) -> Vec<u8> {
    let file = message.file.as_ref().expect("a file");
    let id = file.url.rsplit('/').next().expect("an id");
    world.telegram().file(id).expect("its bytes").1.to_vec()
}

fn recordings(world: &World) -> usize {
    world.said(ADA).iter().filter(|message| message.file.is_some()).count()
}

fn said(world: &World) -> Vec<SaidWords> {
    world.playground.model().maker().said()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_telegram_it_is_a_voice_note_with_its_words() {
    let world = speaking().await;
    let _daemon = world.daemon();
    world.playground.model().script(says(WORDS, "There you are."));
    let asked = world.telegram().say(ADA, ADA, "say good morning");
    let note = recording(&world, asked).await;
    let file = note.file.clone().expect("a file");
    assert_eq!((file.kind, file.name.as_str()), (FileKind::Voice, "voice.ogg"));
    assert_eq!(file.caption.as_deref(), Some("Good morning, see https://a.example/x"));
    let words = SaidWords { text: PLAIN.to_owned(), voice: "alloy".to_owned() };
    assert_eq!(said(&world), [words]);
    assert_eq!(bytes(&world, &note), Maker::recording(PLAIN));
    world.hears(ADA, "There you are.").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("said aloud, with the words beside it"), "{prompt}");
    assert_eq!((recordings(&world), world.malformed()), (1, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_slack_it_is_a_file_with_its_words() {
    let mut world = World::with_slack().await;
    set_speech(&mut world, json!({}));
    let _daemon = world.daemon();
    world.playground.model().script(says("Good morning", "There you are."));
    let ts = world.slack().say(slack::DM, slack::ADA, "say good morning");
    let answers = || world.slack().answers(slack::DM, &ts);
    let with_file = |_: &selkie_playground::Slack| {
        answers().into_iter().find(|message| !message.files.is_empty())
    };
    let sent = world.within("a recording", world.slack().wait_until(with_file)).await;
    assert!(sent.text.contains("Good morning"), "{sent:?}");
    let file = world.slack().file(&sent.files[0]).expect("its bytes");
    assert_eq!(file, Maker::recording("Good morning"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_hidden_where_nobody_speaks_and_where_no_recording_can_be_sent() {
    let mut world = World::start().await;
    let why = |world: &World, place: &str| {
        let (_, out, err) = world.home.run(&["tools", "why", "say_aloud", "--in", place]);
        format!("{out}{err}")
    };
    let told = why(&world, "telegram:private");
    assert!(told.contains("speech is not set in the config"), "{told}");
    set_speech(&mut world, json!({}));
    let told = why(&world, "telegram:private");
    assert!(told.contains("available"), "{told}");
    let told = why(&world, "line:user");
    assert!(told.contains("a tool of telegram conversations; this is line:user"), "{told}");
    world.playground.model().script(says("Good morning", "In writing, then."));
    let line = Line::of(world, json!({})).await;
    let answer = line.ask(line_platform::ADA, "say good morning").await.text;
    assert_eq!(answer, "In writing, then.");
    assert_eq!(said(&line.world), vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_recording_is_told_to_the_model_and_another_kind_is_a_file() {
    let mut world = speaking().await;
    set_speech(&mut world, json!({ "timeout": "2s" }));
    let _daemon = world.daemon();
    let maker = world.playground.model().maker();
    for (mode, told) in [
        (MakerMode::Page, "it answers with a web page instead of a recording"),
        (MakerMode::Empty, "it answers with nothing"),
        (MakerMode::Huge, "it is larger than 20480 KiB"),
        (MakerMode::Refuses, "it answers 400: Your request was rejected."),
        // Whichever of its two waits ends first.
        (MakerMode::Silent, " 2s)"),
    ] {
        maker.set(mode);
        world.playground.model().script(says("Good morning", "In writing, then."));
        assert_eq!(world.ask("say good morning").await, "In writing, then.");
        let prompt = world.last_prompt();
        assert!(prompt.contains(told) && prompt.contains("write it instead"), "{mode:?}: {prompt}");
    }
    assert_eq!(recordings(&world), 0);
    maker.set(MakerMode::BusyOnce);
    world.playground.model().script(says("Once more", "Done."));
    let asked = world.telegram().say(ADA, ADA, "say it");
    assert_eq!(bytes(&world, &recording(&world, asked).await), Maker::recording("Once more"));
    world.hears(ADA, "Done.").await;
    maker.set(MakerMode::Other);
    world.playground.model().script(says("As a file", "Done, too."));
    let asked = world.telegram().say(ADA, ADA, "say it");
    let file = recording(&world, asked).await.file.expect("a file");
    assert_eq!((file.kind, file.name.as_str()), (FileKind::Document, "voice.wav"));
    assert_eq!(file.caption.as_deref(), Some("As a file"));
    world.hears(ADA, "Done, too.").await;
    for (args, why) in [
        (json!({ "text": "a".repeat(4_097) }), "4096 can be said at once"),
        (json!({ "text": "a", "voice": "-f/etc/passwd" }), "voice takes a name of letters"),
        (json!({ "text": "```\ncode\n```" }), "nothing in it that can be said aloud"),
    ] {
        let turns = vec![Turn::call("say_aloud", args), Turn::text("No.")];
        world.playground.model().script(turns);
        world.ask("say it").await;
        let prompt = world.last_prompt();
        assert!(prompt.contains(why), "{why}: {prompt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_behind_it_says_nothing_twice() {
    let mut world = speaking().await;
    world.home.set("debug", json!({ "crash_at": CrashPoint::AfterSaid.name() }));
    world.playground.model().script(says("Good morning", "There you are."));
    world.telegram().say(ADA, ADA, "say good morning");
    world.daemon().gone().await;
    world.home.set("debug", json!({}));
    let _daemon = world.daemon();
    world.hears(ADA, "There you are.").await;
    assert_eq!(recordings(&world), 1);
    assert_eq!(world.telegram().counted("sendVoice"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_has_so_many_in_a_day_and_an_owner_as_many_as_they_like() {
    let mut world = speaking().await;
    set_speech(&mut world, json!({ "per_day": 1 }));
    let _daemon = world.daemon();
    for (person, prompt) in [(GRACE, "aloud"), (GRACE, "reached: write it instead"), (ADA, "aloud")]
    {
        world.playground.model().script(says("Good morning", "There you are."));
        world.ask_in(GROUP, person, "@selkie_demo_bot say good morning").await;
        let last = world.last_prompt();
        assert!(last.contains(prompt), "{prompt}: {last}");
    }
    assert_eq!(said(&world).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voice_message_is_answered_in_kind_behind_the_text_where_that_is_set() {
    let mut world = speaking().await;
    in_kind(&mut world);
    let _daemon = world.daemon();
    let model = world.playground.model();
    let maker = model.maker();
    // The text waits for nothing.
    maker.set(MakerMode::Silent);
    model.script(vec![Turn::text(format!("{WORDS} {KEY}")), Turn::text("Typed.")]);
    let asked = world.telegram().upload(PRIVATE, ADA, note(&world, "what is new?"));
    let answer = world.answer(ADA, asked).await;
    assert!(answer.starts_with("Good morning, see"), "{answer}");
    assert_eq!(recordings(&world), 0);
    maker.set(MakerMode::Good);
    let sent = recording(&world, asked).await;
    let file = sent.file.clone().expect("a file");
    assert_eq!((file.kind, file.caption), (FileKind::Voice, None));
    assert_eq!(bytes(&world, &sent), Maker::recording(&format!("{PLAIN} [redacted]")));
    // What is typed is answered in writing, and so is what cannot be said.
    assert_eq!(world.ask("and now?").await, "Typed.");
    maker.set(MakerMode::Page);
    model.script(vec![Turn::text("In writing alone.")]);
    let asked = world.telegram().upload(PRIVATE, ADA, note(&world, "and this?"));
    assert_eq!(world.answer(ADA, asked).await, "In writing alone.");
    let told = |log: &str| log.matches("an answer is not said aloud").count() == 1;
    world.within("a line of the log", world.home.logged(0, told)).await;
    assert_eq!((recordings(&world), said(&world).len()), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_in_kind_where_that_is_not_set_or_the_tool_has_spoken() {
    let mut world = speaking().await;
    in_kind(&mut world);
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(says("Good morning", "There you are."));
    let asked = world.telegram().upload(PRIVATE, ADA, note(&world, "say good morning"));
    recording(&world, asked).await;
    world.hears(ADA, "There you are.").await;
    // In a topic of its own nothing is set.
    model.speech().set(SpeechMode::Good);
    world.home.set("places", json!({ "tg:4711": { "voice": "text" } }));
    let (code, out, err) = world.home.run(&["reload"]);
    assert_eq!(code, 0, "{out}{err}");
    model.script(vec![Turn::text("In writing.")]);
    let asked = world.telegram().upload(PRIVATE, ADA, note(&world, "and now?"));
    assert_eq!(world.answer(ADA, asked).await, "In writing.");
    world.ask("the end").await;
    assert_eq!((recordings(&world), said(&world).len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_behind_the_answer_leaves_one_recording_at_most() {
    for (edge, least) in [("after_finish", 0), ("after_sending:2", 0), ("after_deliver:2", 1)] {
        let mut world = speaking().await;
        in_kind(&mut world);
        world.home.set("debug", json!({ "crash_at": edge }));
        world.playground.model().script(vec![Turn::text("Good morning")]);
        let asked = world.telegram().upload(PRIVATE, ADA, note(&world, "what is new?"));
        world.daemon().gone().await;
        world.home.set("debug", json!({}));
        let _daemon = world.daemon();
        world.hears(ADA, "Good morning").await;
        if least == 1 {
            recording(&world, asked).await;
        }
        world.ask("the end").await;
        assert!((least..=1).contains(&recordings(&world)), "{edge}: {}", recordings(&world));
        let rows = "SELECT count(*) FROM outbound WHERE body LIKE '%voice%'";
        assert!(number(&world.home, rows) <= Some(1), "{edge}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_this_machine_says_it() {
    let mut world = World::start().await;
    let folder = world.home.folder().join("voices");
    std::fs::create_dir_all(&folder).expect("a folder");
    let voice = folder.join("alloy.ogg");
    std::fs::write(&voice, Maker::recording("from a program")).expect("a recording");
    let path = voice.to_str().expect("a path").to_owned();
    // One writes to its standard output, the other one to the file; both read the words.
    for command in [json!(["/bin/cat", path]), json!(["/bin/cp", path, "{file}"])] {
        world.home.set("speech", json!({ "command": command }));
        let daemon = world.daemon();
        world.playground.model().script(says("Good morning", "There you are."));
        let asked = world.telegram().say(ADA, ADA, "say good morning");
        let sent = recording(&world, asked).await;
        assert_eq!(bytes(&world, &sent), Maker::recording("from a program"));
        world.hears(ADA, "There you are.").await;
        assert!(daemon.stop().await.success());
        let left = std::fs::read_dir(world.home.cache().join("speech")).expect("a folder");
        assert_eq!(left.count(), 0, "nothing of a run is left");
    }
    world.home.set("speech", json!({ "command": ["/bin/cat"] }));
    let _daemon = world.daemon();
    world.playground.model().script(says("Good morning", "In writing, then."));
    world.ask("say good morning").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("it writes with something else instead of"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs espeak-ng and opusenc: tests/run --speech"]
async fn real_speech_is_made_by_a_program() {
    let mut world = World::start().await;
    let script = "espeak-ng -v en-us --stdout | opusenc --quiet - -";
    world.home.set("speech", json!({ "command": ["/bin/sh", "-c", script] }));
    let _daemon = world.daemon();
    world.playground.model().script(says("Good morning to all of you", "There you are."));
    let asked = world.telegram().say(ADA, ADA, "say good morning");
    let sent = recording(&world, asked).await;
    assert_eq!(sent.file.as_ref().expect("a file").kind, FileKind::Voice);
    let ogg = world.home.folder().join("heard.ogg");
    std::fs::write(&ogg, bytes(&world, &sent)).expect("a file");
    let info = Command::new("opusinfo").arg(&ogg).output().expect("opusinfo");
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains("Playback length: 0m:01"), "{info}");
}
