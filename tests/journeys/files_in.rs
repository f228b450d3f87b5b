//! Files that people send: fetched into the conversation's own folder, under plain names, read by tools.

use std::fs;
use std::path::{Path, PathBuf};

use selkie_playground::Turn;
use selkie_playground::telegram::{
    ADA, FileDraft, FileKind, GRACE, GROUP, MessageView, PRIVATE, TOKEN,
};
use serde_json::json;

use crate::support::world::World;

fn document(name: &str, text: &str) -> FileDraft {
    FileDraft::new(FileKind::Document, name, text.to_owned())
}

/// Ada uploads a file and waits for the answer.
async fn upload(world: &World, file: FileDraft) -> String {
    let message = world.telegram().upload(PRIVATE, ADA, file);
    world.answer(ADA, message).await
}

/// Every file below the cache folder.
fn cached(world: &World) -> Vec<PathBuf> {
    fn walk(folder: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().map_while(Result::ok) {
            let path = entry.path();
            if path.is_dir() { walk(path, found) } else { found.push(path) }
        }
    }
    let mut found = vec![];
    walk(world.home.cache(), &mut found);
    found.sort();
    found
}

/// The path by which the last prompt names a file.
fn told(world: &World) -> String {
    let prompt = world.last_prompt();
    let (_, rest) = prompt.rsplit_once("(file: ").unwrap_or_else(|| panic!("no file in {prompt}"));
    rest.split_once(" (").expect("a kind after the path").0.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_lands_in_the_chats_own_folder_and_read_file_reads_it() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let file = FileDraft { caption: "what is in it?".into(), ..document("tide.txt", "06:12 high") };
    assert!(upload(&world, file).await.contains("what is in it?"));
    let path = told(&world);
    assert!(path.starts_with("file_cache_dir/") && path.ends_with("/tide.txt"), "{path}");
    let turns = vec![Turn::call("read_file", json!({ "path": path })), Turn::text("read")];
    world.playground.model().script(turns);
    assert_eq!(world.ask("read it").await, "read");
    let prompt = world.last_prompt();
    assert!(prompt.contains("1 | 06:12 high"), "{prompt}");
    // The same file is nobody else's.
    let turns = vec![Turn::call("read_file", json!({ "path": path })), Turn::text("tried")];
    world.playground.model().script(turns);
    world.ask_in(GROUP, GRACE, "@selkie_demo_bot read Ada's file").await;
    assert!(!world.last_prompt().contains("06:12"), "{}", world.last_prompt());
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_and_voice_notes_come_with_what_they_are() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for (kind, name, word) in
        [(FileKind::Photo, "p.jpg", "photo"), (FileKind::Voice, "v.ogg", "voice")]
    {
        let said =
            world.telegram().upload(PRIVATE, ADA, FileDraft::new(kind, name, vec![7_u8; 1_000]));
        // Who sends a voice note where nobody listens is told so first.
        let is_it = |m: &MessageView| m.from.is_bot && m.id > said && m.text.starts_with("echo: ");
        world.within("an answer", world.telegram().wait_for(PRIVATE, is_it)).await;
        let prompt = world.last_prompt();
        let (_, line) = prompt.rsplit_once("(file: ").expect("a file");
        let line = line.split_once("\\n").map_or(line, |(line, _)| line);
        assert!(line.contains(word) && line.contains("1000 bytes"), "{line}");
    }
    assert_eq!(cached(&world).len(), 2, "{:?}", cached(&world));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_is_one_task() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let mut files: Vec<_> = (1..=3).map(|n| document(&format!("{n}.txt"), "page")).collect();
    files[0].caption = "three pages".into();
    let messages = world.telegram().album(PRIVATE, ADA, files);
    world.answer(ADA, messages[0]).await;
    assert_eq!(world.playground.model().calls(), 1, "one task for the album");
    let prompt = world.last_prompt();
    for name in ["1.txt", "2.txt", "3.txt", "three pages"] {
        assert!(prompt.contains(name), "{name} is missing in {prompt}");
    }
    world.telegram().say(ADA, ADA, "a task of its own");
    world.hears(ADA, "a task of its own").await;
    assert_eq!(world.said(ADA).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_leaves_the_folder_or_hides_what_it_is() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let names = ["../../../escape.txt", "nul\0byte.txt", "cod\u{202e}txt.exe", "/etc/passwd", ".."];
    for (n, name) in names.into_iter().enumerate() {
        upload(&world, document(name, &format!("content {n}"))).await;
        let path = told(&world);
        let odd = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!path.contains("..") && !path.contains(odd), "{name:?} became {path:?}");
    }
    let found = cached(&world);
    assert_eq!(found.len(), names.len(), "{found:?}");
    // Each message has a folder of its own.
    let folder = |file: &PathBuf| file.ancestors().nth(2).map(Path::to_owned);
    assert!(found.iter().all(|file| folder(file) == folder(&found[0])), "{found:?}");
    assert!(!world.home.state().join("escape.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_name_twice_is_two_files() {
    let world = World::start().await;
    let _daemon = world.daemon();
    upload(&world, document("a.txt", "first")).await;
    let first = told(&world);
    upload(&world, document("a.txt", "second")).await;
    assert_ne!(told(&world), first);
    let texts: Vec<_> =
        cached(&world).iter().map(|f| fs::read_to_string(f).expect("text")).collect();
    assert!(
        texts.contains(&"first".to_owned()) && texts.contains(&"second".to_owned()),
        "{texts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_big_is_said_and_the_message_is_answered() {
    let mut world = World::start().await;
    let telegram = json!({
        "bot_token": TOKEN, "base_url": world.playground.telegram_base_url(), "pace": "lifted",
        "max_download_bytes": 1_000,
    });
    world.home.set("telegram", telegram);
    let _daemon = world.daemon();
    let told = FileDraft { told_size: Some(30_000_000), ..document("huge.bin", "small") };
    let big = document("big.txt", &"x".repeat(2_000));
    // What the platform tells is not what comes.
    let lying = FileDraft { told_size: Some(10), ..document("lying.txt", &"x".repeat(2_000)) };
    for file in [told, big, lying] {
        let name = file.name.clone();
        upload(&world, file).await;
        let prompt = world.last_prompt();
        let said = format!("(file: {name} (could not be fetched: ");
        assert!(prompt.contains(&said), "{name}: {prompt}");
    }
    assert_eq!(cached(&world), Vec::<PathBuf>::new());
}
