//! Every list of the command line fits a terminal of 80 cells, whatever people are called and whatever they write, and so do
//! its sentences.

use std::process::Command;

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::approvals::Team;
use crate::support::joined::joined;
use crate::support::terminal::AtTerminal;
use crate::support::world::World;

/// Wide letters, a picture of several characters, and what turns the direction of text.
const NAME: &str =
    "Grace 日本語の長い名前 👩\u{200d}🔬 \u{202e}Hopper of the long name that goes on";
const WORDS: &str = "please look after the lighthouse, 灯台を見てください、お願いします, and write down what you see there, \
    every ship and every star, so that nobody has to ask again 👩\u{200d}🔬👩\u{200d}🔬";

const LISTS: [&[&str]; 15] = [
    &["doctor"],
    &["status"],
    &["schedules", "list"],
    &["schedules", "history", "1"],
    &["tools", "list"],
    &["tools", "list", "--in", "telegram:group"],
    &["config", "show"],
    &["config", "check"],
    &["contacts", "list"],
    &["sessions", "list"],
    &["todos", "list"],
    &["approvals", "list"],
    &["trace"],
    &["memory", "list"],
    &["pair", "list"],
];

#[tokio::test(flavor = "multi_thread")]
async fn no_list_is_wider_than_a_terminal() {
    let team = Team::with(json!({})).await;
    let world = &team.world;
    world.telegram().add_person(GRACE, NAME);
    let _daemon = world.daemon();
    team.set_folder().await;
    world.ask(WORDS).await;
    world.ask_in(GROUP, GRACE, &format!("@selkie_demo_bot {WORDS}")).await;
    let add = ["schedules", "add", "--cron", "0 8 * * 1-5", "--prompt", WORDS];
    let remind = ["schedules", "add", "--in", "20m", "--remind", WORDS];
    let todo = json!({ "action": "add", "content": WORDS, "people": [] }).to_string();
    for args in [&add[..], &remind, &["tools", "call", "todo_update", &todo]] {
        let (code, out, err) = world.home.run(args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
    }
    team.asks().await;
    for args in LISTS {
        let (_, out, err) = world.home.run(args);
        assert!(!out.is_empty(), "{args:?}: {err}");
        assert!(!out.contains('\u{202e}'), "{args:?} is turned: {out}");
        for line in out.lines() {
            assert!(line.width() <= 80, "{args:?} has {} cells: {line}", line.width());
        }
    }
    for (args, part) in [
        (&["todos", "list"][..], "nobody has to ask again"),
        (&["schedules", "list"], "once on "),
        (&["approvals", "list"], "write_file"),
        (&["contacts", "list"], "日本語の長い名前"),
    ] {
        let (_, out, _) = world.home.run(args);
        assert!(joined(&out).contains(part), "{args:?}: {out}");
    }
}

/// What says a sentence that is longer than a line.
const SENTENCES: [&[&str]; 8] = [
    &["tools", "why", "bash", "--in", "telegram:group"],
    &["schedules", "list"],
    &["tweets", "list"],
    &["todos", "list"],
    &["man", "a-folder-with-a-name-that-leaves-no-room-for-more-words-on-a-line"],
    &["support-bundle", "bundle.tar.gz"],
    &["errors"],
    &["export", "tg:4711"],
];

#[tokio::test(flavor = "multi_thread")]
async fn no_sentence_is_wider_than_a_terminal() {
    let world = World::start().await;
    world.telegram().add_person(ADA, NAME);
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let (code, _, err) = world.home.run(&["ask", "hello"]);
    assert_eq!(code, 0, "{err}");
    for args in SENTENCES {
        fits(&world, world.home.command(args)).await;
    }
    // A demo by itself: this home's config is another world's.
    let mut story = Command::new(env!("CARGO_BIN_EXE_selkie"));
    story.args(["demo", "--story", "approval"]).env_clear().current_dir(world.home.folder());
    fits(&world, story).await;
}

/// Runs a command at a terminal of 80 cells.
async fn fits(world: &World, command: Command) {
    let called = format!("{command:?}");
    let terminal = AtTerminal::start_with(command, 80);
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success() && !shown.is_empty(), "{called}: {shown}");
    // What people wrote is quoted as it is.
    for line in shown.lines().filter(|line| !line.starts_with('>')) {
        assert!(line.width() <= 80, "{called} has {} cells: {line}", line.width());
    }
}
