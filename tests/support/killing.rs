//! A real SIGKILL at every edge of the ledger, on any platform: what differs is a [`Play`].

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use serde_json::json;

use crate::support::once::marks;
use crate::support::rows::{number, settled, texts};
use crate::support::stage::{Room, Stage};
use crate::support::world::World;

/// At which passes of a point the process dies: for tools 1 is the file's appending, 2 a file sent, 4 the
/// list's writing or the second reaction.
const PASSES: [u32; 3] = [1, 2, 4];
/// Worlds at once.
const SIDE_BY_SIDE: usize = 6;

/// What is said, and what must be seen: each line by the texts of which it holds one.
pub struct Line {
    pub to: Room,
    pub message: &'static str,
    pub sees: &'static [&'static [&'static str]],
}

/// Writes one line of a script.
pub const fn line(
    to: Room,
    message: &'static str,
    sees: &'static [&'static [&'static str]],
) -> Line {
    Line { to, message, sees }
}

/// Appends to a file, and must not do it twice.
pub const APPEND: &str = r#"call write_file {"path": "log.txt", "content": "x", "mode": "append"}"#;

/// What is asked and answered in words on every platform, behind its own script.
const QUESTIONS: &[Line] = &[
    line(Room::Private, "ask me: tea or milk?", &[&["tea or milk?"]]),
    line(Room::Private, "2", &[&["You answered: milk"]]),
    line(Room::Private, "ask me: up or down?", &[&["up or down?"]]),
    line(Room::Private, "Down", &[&["You answered: down"]]),
    line(Room::Private, "note: one, then ask me: red or blue?", &[&["red or blue?"]]),
    line(Room::Private, "red", &[&["You answered: red"]]),
    line(Room::Private, "ask me: what is your name?", &[&["what is your name?"]]),
    line(Room::Private, "Ada", &[&["You answered: Ada"]]),
];

/// What is played on a platform while it is killed.
pub struct Play {
    /// The platform.
    pub stage: &'static Stage,
    /// The reactions on the message of this text in the private room.
    pub reactions: fn(&World, &str) -> Vec<String>,
    /// What is said after `write notes.txt: tide`; it holds one `/reset`, in private.
    pub script: &'static [Line],
    /// What reactions the script must leave, by the message's text.
    pub reacted: &'static [(&'static str, &'static str)],
    /// The key of the private conversation.
    pub private_key: &'static str,
}

/// Where everything is kept.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    /// In the state folder.
    InFile,
    /// In a database of a server.
    InPostgres,
}

/// Kills at every edge, in as many worlds.
pub async fn at_every_edge(play: &Play, kept: Kept) {
    // The gate and agents have stories of their own: nobody speaks to the bot in one, and these have three tasks each.
    let elsewhere = [CrashPoint::AfterGate, CrashPoint::AfterJudged, CrashPoint::AfterSpawn];
    let edges = CrashPoint::ALL.iter().filter(|point| !elsewhere.contains(point));
    let cases = edges.flat_map(|point| PASSES.map(|nth| (*point, nth)));
    stream::iter(cases)
        .for_each_concurrent(SIDE_BY_SIDE, |(point, nth)| async move {
            println!("{} at pass {nth}", point.name());
            one(play, kept, point, nth).await;
        })
        .await;
}

async fn one(play: &Play, kept: Kept, point: CrashPoint, nth: u32) {
    let mut world = (play.stage.world)().await;
    if let Kept::InPostgres = kept {
        world.home.keep_in_postgres();
    }
    let daemon = world.daemon();
    (play.stage.say)(&world, Room::Private, "write notes.txt: tide");
    settled(&world, 1).await;
    daemon.kill();
    let lines: Vec<&Line> = play.script.iter().chain(QUESTIONS).collect();
    let at = format!("{}:{nth}", point.name());
    let say = |world: &World, line: &&Line| (play.stage.say)(world, line.to, line.message);
    let has_died = through_a_kill(&mut world, &at, Said { before: 1, lines: &lines }, say).await;
    assert!(has_died, "{} was not passed {nth} times", point.name());
    check(play, &world, point);
}

/// What is said while the process dies.
pub struct Said<'l, L> {
    /// How many messages were heard before.
    pub before: i64,
    /// One after the other, each when the one before is settled.
    pub lines: &'l [L],
}

/// Says lines to a daemon that kills itself at an edge, and the rest to the one that follows; whether it has died.
pub async fn through_a_kill<L>(
    world: &mut World,
    at: &str,
    said: Said<'_, L>,
    say: impl Fn(&World, &L),
) -> bool {
    world.home.set("debug", json!({ "crash_at": at }));
    let dying = world.daemon();
    let mut gone = pin!(dying.gone());
    let mut second = None;
    for (heard, line) in (said.before + 1..).zip(said.lines) {
        say(world, line);
        if second.is_none() {
            let status = tokio::select! {
                biased;
                status = &mut gone => status,
                () = settled(world, heard) => continue,
            };
            assert_eq!(status.signal(), Some(9), "{at}: {status}");
            world.home.set("debug", json!({}));
            second = Some(world.daemon());
        }
        settled(world, heard).await;
    }
    second.is_some()
}

fn check(play: &Play, world: &World, point: CrashPoint) {
    let doubts: usize =
        [Room::Private, Room::Group].map(|room| order(play, world, room)).iter().sum();
    // Only between the mark and the receipt; an answer that leaves at once is marked in the write that ends its task.
    let is_doubtful = matches!(
        point,
        CrashPoint::AfterFinish | CrashPoint::AfterSending | CrashPoint::AfterDeliver
    );
    let allowed = usize::from(is_doubtful);
    assert!(doubts <= allowed, "{}: {doubts} marked", point.name());
    let unclear = "SELECT count(*) FROM part WHERE state IN ('unclear', 'repeated')";
    assert!(number(&world.home, unclear) <= Some(allowed as i64), "{}", point.name());
    let unfinished = texts(&world.home, "SELECT why FROM task WHERE state <> 'done'");
    assert_eq!(unfinished, Vec::<String>::new(), "{}", point.name());
    let epoch = format!("SELECT epoch FROM conversation WHERE key = '{}'", play.private_key);
    assert_eq!(number(&world.home, &epoch), Some(1), "{}: resets", point.name());
    for (text, emoji) in play.reacted {
        assert_eq!((play.reactions)(world, text), [*emoji], "{}", point.name());
    }
    appended(play, world, point);
}

/// Everything once and in order; returns how much is marked.
fn order(play: &Play, world: &World, room: Room) -> usize {
    let mut expected: Vec<Vec<&str>> = Vec::new();
    if room == Room::Private {
        expected.push(vec!["Written: notes.txt."]);
    }
    let all = play.script.iter().chain(QUESTIONS);
    let lines = all.filter(|line| line.to == room);
    expected.extend(lines.flat_map(|line| line.sees).map(|texts| texts.to_vec()));
    marks(&(play.stage.said)(world, room), &expected)
}

/// The file holds what the person was told: once, or once at most when nobody knows.
fn appended(play: &Play, world: &World, point: CrashPoint) {
    let said = (play.stage.said)(world, Room::Private);
    let told = said.iter().any(|line| line.contains("write_file answered"));
    let found: Vec<String> = files(&world.home.cache(), "log.txt");
    match told {
        true => assert_eq!(found, ["x"], "{}", point.name()),
        false => assert!(found.is_empty() || found == ["x"], "{}: {found:?}", point.name()),
    }
}

fn files(folder: &Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry, name));
        } else if entry.file_name().is_some_and(|n| n == name) {
            found.push(std::fs::read_to_string(entry).expect("a text"));
        }
    }
    found
}
