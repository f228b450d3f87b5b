//! What a message replies to comes along with its files: fetched once, marked as others' words, gone when it is taken back.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use image::{ImageFormat, RgbImage};
use selkie_playground::line_platform::{self, BOT_NAME, Draft, MediaKind};
use selkie_playground::slack;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE, GROUP, Spot, TOKEN, TOPIC};
use serde_json::json;

use crate::support::contract::counted;
use crate::support::line::{self, Line};
use crate::support::rows::texts;
use crate::support::world::World;

fn drawn() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

/// Lets the world's model see pictures.
fn seeing(world: &mut World) {
    let llm = json!({
        "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": "m",
        "api_key": "sk-playground-key-1234567890", "sees_images": true,
    });
    world.home.set("llm", llm);
}

/// How many pictures the last request shows.
fn shown(world: &World) -> usize {
    let asked = world.playground.model().requests();
    let body = asked.last().expect("a request").body.to_string();
    body.matches("data:image/").count()
}

/// The files of the cache with this name.
fn cached(world: &World, name: &str) -> Vec<PathBuf> {
    fn walk(folder: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().map_while(Result::ok) {
            let path = entry.path();
            if path.is_dir() { walk(path, found) } else { found.push(path) }
        }
    }
    let mut found = vec![];
    walk(world.home.cache(), &mut found);
    found.retain(|path| path.ends_with(name));
    found
}

/// Whether the newest answer was written while others' words were read.
fn is_raw(world: &World) -> bool {
    let newest = "SELECT item FROM transcript WHERE item LIKE '%\"item\":\"said\"%' ORDER BY task DESC LIMIT 1";
    texts(&world.home, newest)[0].contains(r#""taint":"derived""#)
}

/// Ada replies to a message and waits for the answer.
async fn replied(world: &World, spot: impl Into<Spot>, to: i64, text: &str) {
    let spot = spot.into();
    let asked = world.telegram().reply(spot, ADA, to, text);
    world.within("an answer", world.telegram().wait_for_answer(spot, asked)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_telegram_a_reply_brings_the_picture_and_fetches_it_once() {
    let mut world = World::with_allowed(json!([GROUP.chat, TOPIC.chat])).await;
    seeing(&mut world);
    let _daemon = world.daemon();
    for spot in [GROUP, TOPIC] {
        let draft = FileDraft::new(FileKind::Photo, "p.png", drawn());
        let draft = FileDraft { caption: "guess what".into(), ..draft };
        let picture = world.telegram().upload(spot, GRACE, draft);
        replied(&world, spot, picture, "@selkie_demo_bot what is this?").await;
        assert_eq!(shown(&world), 1, "{spot:?}");
        let prompt = world.last_prompt();
        let (_, quote) = prompt.rsplit_once("<<<untrusted quote of Grace").expect("a quote");
        let (quote, own) = quote.split_once(">>>").expect("its end");
        assert!(
            quote.contains("guess what") && quote.contains("(file: file_cache_dir/"),
            "{quote}"
        );
        assert!(own.contains("what is this?") && !own.contains("(file: "), "{own}");
        assert!(is_raw(&world), "an owner's task that reads others' files");
        let fetched = world.telegram().counted("getFile");
        replied(&world, spot, picture, "@selkie_demo_bot and its colour?").await;
        assert_eq!(world.telegram().counted("getFile"), fetched, "it is there already");
        let there = cached(&world, "photo.jpg");
        there.iter().for_each(|file| fs::remove_file(file).expect("a file"));
        replied(&world, spot, picture, "@selkie_demo_bot look again").await;
        assert_eq!(world.telegram().counted("getFile"), fetched + 1, "it was not there any more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_telegram_every_kind_of_file_comes_along_and_an_album_as_a_whole() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for (kind, name, told) in [
        (FileKind::Document, "tide.txt", "/tide.txt (document"),
        (FileKind::Voice, "v.ogg", "/voice.ogg (voice"),
    ] {
        let sent = world.telegram().upload(GROUP, GRACE, FileDraft::new(kind, name, "high tide"));
        replied(&world, GROUP, sent, "@selkie_demo_bot what does it say?").await;
        assert!(world.last_prompt().contains(told), "{told}: {}", world.last_prompt());
    }
    let page = |n: u8| FileDraft::new(FileKind::Document, &format!("{n}.txt"), "page");
    let album = world.telegram().album(GROUP, GRACE, (1..=3).map(page).collect());
    replied(&world, GROUP, album[1], "@selkie_demo_bot what are these?").await;
    for n in 1..=3 {
        let name = format!("/{n}.txt (document");
        assert!(world.last_prompt().contains(&name), "{name}: {}", world.last_prompt());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_replied_to_is_fetched_by_the_same_limits() {
    let mut world = World::start().await;
    let telegram = json!({
        "bot_token": TOKEN, "base_url": world.playground.telegram_base_url(), "pace": "lifted",
        "allowed_chat_ids": [GROUP.chat], "max_download_bytes": 1_000,
    });
    world.home.set("telegram", telegram);
    let _daemon = world.daemon();
    let draft = FileDraft::new(FileKind::Document, "big.txt", "x".repeat(2_000));
    let big = world.telegram().upload(GROUP, GRACE, draft);
    replied(&world, GROUP, big, "@selkie_demo_bot what does it say?").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("(file: big.txt (could not be fetched: "), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_slack_thread_what_began_it_and_what_stands_above_bring_their_files() {
    let mut world = World::with_slack().await;
    seeing(&mut world);
    let _daemon = world.daemon();
    let slack = world.slack();
    for was_there in [false, true] {
        slack.set_member(slack::CHANNEL, was_there);
        let root = slack.upload(slack::CHANNEL, slack::GRACE, "kettle.png", drawn());
        slack.reply(slack::CHANNEL, slack::LINUS, &root, "mine is older");
        slack.upload_below(&root, slack::CHANNEL, slack::GRACE, "lid.txt");
        // Slack gives no order to events on several connections.
        let heard = "SELECT count(*) FROM inbox WHERE inbound LIKE '%lid.txt%' OR inbound LIKE '%is older%'";
        counted(&world, heard, if was_there { 4 } else { 0 }).await;
        slack.set_member(slack::CHANNEL, true);
        let text = format!("<@{}> what is this?", slack::BOT);
        let asked = slack.reply(slack::CHANNEL, slack::ADA, &root, &text);
        world.within("an answer", slack.wait_for_answer(slack::CHANNEL, &asked)).await;
        let prompt = world.last_prompt();
        assert_eq!(shown(&world), 1, "was there: {was_there}: {prompt}");
        let at = |words: &str| prompt.find(words).unwrap_or_else(|| panic!("{words} in {prompt}"));
        assert!(at("/kettle.png (photo") < at("mine is older"), "{prompt}");
        assert!(at("mine is older") < at("/lid.txt (document"), "{prompt}");
        assert!(at("/lid.txt (document") < at("what is this?"), "{prompt}");
        assert!(is_raw(&world), "an owner's task that reads others' files");
        // They stand in the history: the thread's next question does not bring them again.
        let calls = world.playground.model().calls();
        let asked = slack.reply(slack::CHANNEL, slack::ADA, &root, &format!("{text} again"));
        world.within("an answer", slack.wait_for_answer(slack::CHANNEL, &asked)).await;
        assert_eq!(world.playground.model().calls(), calls + 1);
        assert_eq!(cached(&world, "kettle.png").len(), 1 + usize::from(was_there));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_line_a_quoted_picture_comes_along_until_it_is_taken_back() {
    use line_platform::{ADA, GROUP, LINUS};
    let mut world = World::start().await;
    seeing(&mut world);
    line::add(&mut world, json!({}));
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    let sent = line.platform().upload(GROUP, LINUS, Draft::new(MediaKind::Image, "", drawn()));
    let ask = async |line: &Line, text: &str| {
        let text = format!("{BOT_NAME} {text}");
        let asked = line.platform().reply(GROUP, ADA, &sent, &text);
        line.answer(GROUP, &asked).await;
        line.world.last_prompt()
    };
    let prompt = ask(&line, "what is this?").await;
    assert!(
        prompt.contains("<<<untrusted quote of Linus") && prompt.contains("(photo"),
        "{prompt}"
    );
    assert_eq!((shown(&line.world), line.platform().calls_of("content").len()), (1, 1));
    // What is quoted is known after a restart, too, and is there already.
    let Line { world, daemon } = line;
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    let prompt = ask(&line, "and its colour?").await;
    let (_, newest) = prompt.rsplit_once("<<<untrusted quote of Linus").expect("a quote");
    assert!(newest.contains("(photo"), "{newest}");
    assert_eq!(line.platform().calls_of("content").len(), 1);
    line.platform().unsend(GROUP, LINUS, &sent);
    let gone = "SELECT count(*) FROM inbox WHERE disposition = 'unsend' AND done_at IS NOT NULL";
    counted(&line.world, gone, 1).await;
    assert_eq!(cached(&line.world, &format!("{sent}.jpg")), Vec::<PathBuf>::new());
    let transcript =
        "SELECT item FROM transcript WHERE item LIKE '%\"item\":\"heard\"%file_cache_dir%'";
    assert_eq!(texts(&line.world.home, transcript), Vec::<String>::new());
    let prompt = ask(&line, "and now?").await;
    let (_, newest) = prompt.rsplit_once("<<<untrusted quote of").expect("a quote");
    assert!(!newest.contains("(file: "), "{newest}");
}
