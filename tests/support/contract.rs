//! The contract of every channel: one list of stories, told with the built daemon against each emulated
//! platform. What differs between platforms is data: a [`Contract`].

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use selkie_playground::{Fault, FaultKind};
use serde_json::json;

use crate::support::daemon::Daemon;
use crate::support::once::{MARK, marks};
use crate::support::rows::{delivered, number, texts};
use crate::support::stage::{Room, Stage};
use crate::support::world::World;
use crate::support::{disk, secrecy};

use Story::{Received, Sent};

const SECRET_WORD: &str = "xylophone";
/// Everything that people have said, as it is stored and as models have read it.
const KEPT: &str = "SELECT inbound FROM inbox
    UNION ALL SELECT item FROM transcript WHERE item LIKE '%\"item\":\"heard\"%'";
const WAITING: &str = "SELECT count(*) FROM inbox WHERE disposition = 'task'";
const WITHDRAWN: &str = "SELECT count(*) FROM task WHERE why = 'its message was taken back'";
const TAKEN_BACK: &str = "SELECT count(*) FROM inbox WHERE disposition = 'unsend'";
const WITH_FILES: &str =
    "SELECT count(*) FROM inbox WHERE disposition = 'unsend' AND done_at IS NULL";

/// Worlds at once.
const SIDE_BY_SIDE: usize = 3;

/// A channel as its contract sees it.
pub struct Contract {
    /// The platform.
    pub stage: &'static Stage,
    /// How it hears; `None` when it only speaks.
    pub hearing: Option<Hearing>,
    /// SQL that counts the messages that have come so far.
    pub arrived: &'static str,
    /// The platform's name of the call by which words leave.
    pub call: &'static str,
    /// How often the bot made that call.
    pub calls: fn(&World) -> usize,
    /// Plans a fault of the platform.
    pub fault: fn(&World, Fault),
    /// A refusal that no repetition mends, with these words.
    pub refusal: fn(String) -> FaultKind,
    /// What must have come of an answer whose result was lost.
    pub doubt: Doubt,
    /// What makes the bot say something long, in numbered lines, and how many characters that is.
    pub long: (&'static str, usize),
    /// What one message holds, and how that is counted.
    pub holds: (usize, fn(&str) -> usize),
    /// What must stand nowhere.
    pub secrets: &'static [&'static str],
    /// Edges between the message and its answer at which the process may die without leaving a doubt.
    pub edges: &'static [&'static str],
}

/// How a channel hears.
pub struct Hearing {
    /// How many events the platform has not been acknowledged.
    pub unacknowledged: fn(&World) -> usize,
    /// What the log says when an event cannot be stored.
    pub refuses: &'static str,
    /// Whether the platform repeats what was not acknowledged in the order of its writing.
    pub in_order: bool,
    /// The platform delivers the event of Ada's newest message once more.
    pub again: fn(&World) -> BoxFuture<'_, ()>,
    /// How people take back what they have said; `None` where the platform tells no bot.
    pub taking_back: Option<TakingBack>,
}

/// How people take back what they have said.
pub struct TakingBack {
    /// Ada says something; gives the message.
    pub says: fn(&World, Room, &str) -> String,
    /// Ada sends a text file that is called so and holds this, in private; gives the message.
    pub sends: fn(&World, &str, &str) -> String,
    /// She takes a message back, and the platform tells it twice.
    pub takes_back: fn(&World, Room, &str),
}

/// What comes of an answer that has arrived while its result was lost.
pub struct Doubt {
    /// How often it stands in the chat.
    pub copies: usize,
    /// How many of them bear the mark.
    pub marked: usize,
    /// Whether the channel did what its platform offers to find out.
    pub resolved: fn(&World) -> bool,
}

/// A story by its name.
type Told = (&'static str, Story);

enum Story {
    /// Of channels that hear.
    Received(fn(&'static Contract, &'static Hearing) -> BoxFuture<'static, ()>),
    /// Of every channel.
    Sent(fn(&'static Contract) -> BoxFuture<'static, ()>),
}

/// Every channel is told all of them, but those of hearing when it only speaks.
const STORIES: &[Told] = &[
    ("stored before acknowledged", Received(|it, receiver| stored_first(it, receiver).boxed())),
    (
        "the same event twice is one answer",
        Received(|it, receiver| once_only(it, receiver).boxed()),
    ),
    (
        "what is taken back is not answered and not kept",
        Received(|it, hearing| taken_back(it, hearing).boxed()),
    ),
    ("a long answer is split and nothing is lost", Sent(|it| split(it).boxed())),
    ("a refusal is visible and holds nothing up", Sent(|it| refused(it).boxed())),
    ("a lost result is resolved by the platform's rule", Sent(|it| unclear(it).boxed())),
    ("a limit is waited out and nothing is lost", Sent(|it| limited(it).boxed())),
    ("no token stands anywhere", Sent(|it| secret(it).boxed())),
    ("a kill before the answer loses and doubles nothing", Sent(|it| killed(it).boxed())),
];

/// Tells all stories of a channel; fails with the names of those that went wrong.
pub async fn holds(it: &'static Contract) {
    let broken = Mutex::new(Vec::new());
    stream::iter(STORIES)
        .for_each_concurrent(SIDE_BY_SIDE, |(name, story)| {
            let told = match (story, &it.hearing) {
                (Sent(tell), _) => tell(it),
                (Received(tell), Some(receiver)) => tell(it, receiver),
                (Received(_), None) => std::future::ready(()).boxed(),
            };
            let broken = &broken;
            async move {
                if AssertUnwindSafe(told).catch_unwind().await.is_err() {
                    broken.lock().expect("no panic here").push(*name);
                }
            }
        })
        .await;
    let broken = broken.into_inner().expect("no panic here");
    assert!(broken.is_empty(), "{} breaks its contract: {broken:?}", it.stage.name);
}

impl Contract {
    fn say(&self, world: &World, text: &str) {
        (self.stage.say)(world, Room::Private, text);
    }

    fn said(&self, world: &World) -> Vec<String> {
        (self.stage.said)(world, Room::Private)
    }

    /// Ada says something, and everything is settled when so many messages have come in all.
    async fn ask(&self, world: &World, text: &str, messages: i64) {
        self.say(world, text);
        delivered(world, self.arrived, messages).await;
    }

    /// Everything was said once and in order; gives how many lines bear the mark.
    fn marked(&self, world: &World, expected: &[&str]) -> usize {
        let expected: Vec<_> = expected.iter().map(|text| vec![*text]).collect();
        marks(&self.said(world), &expected)
    }

    fn plan(&self, world: &World, kind: FaultKind) {
        (self.fault)(world, Fault::next(self.call, kind));
    }
}

/// Starts a daemon and waits until it is up: who only speaks must not be asked before.
async fn up(world: &World) -> Daemon {
    let from = world.home.log().len();
    let daemon = world.daemon();
    world.within("a daemon", world.home.logged(from, |log| log.contains("selkie is up"))).await;
    daemon
}

async fn stored_first(it: &Contract, receiver: &Hearing) {
    let world = (it.stage.world)().await;
    let daemon = world.home.start();
    it.ask(&world, "before", 1).await;
    disk::room(&daemon, Some(0));
    it.say(&world, "one");
    it.say(&world, "two");
    world.within("a refusal", world.home.logged(0, |log| log.contains(receiver.refuses))).await;
    assert_eq!((receiver.unacknowledged)(&world), 2);
    assert_eq!(it.said(&world).len(), 1);
    disk::room(&daemon, None);
    delivered(&world, it.arrived, 3).await;
    let first = it.said(&world).get(1).is_some_and(|text| text.contains("one"));
    let expected = if first || receiver.in_order { ["one", "two"] } else { ["two", "one"] };
    assert_eq!(it.marked(&world, &["before", expected[0], expected[1]]), 0);
    assert!(daemon.stop().await.success());
}

async fn once_only(it: &Contract, receiver: &Hearing) {
    let world = (it.stage.world)().await;
    let _daemon = up(&world).await;
    it.ask(&world, "once", 1).await;
    (receiver.again)(&world).await;
    it.ask(&world, "next", 2).await;
    it.ask(&world, "last", 3).await;
    assert_eq!(it.marked(&world, &["once", "next", "last"]), 0);
    assert_eq!(number(&world.home, it.arrived), Some(3));
}

/// Words and files, in private and in a thread, before the answer and behind it.
async fn taken_back(it: &Contract, hearing: &Hearing) {
    let Some(TakingBack { says, sends, takes_back }) = &hearing.taking_back else { return };
    let mut world = (it.stage.world)().await;
    world.home.set("debounce", json!("1h"));
    let daemon = up(&world).await;
    let waiting = [
        (Room::Private, says(&world, Room::Private, SECRET_WORD)),
        (Room::Group, says(&world, Room::Group, SECRET_WORD)),
        (Room::Private, sends(&world, "tide.txt", SECRET_WORD)),
    ];
    counted(&world, WAITING, 3).await;
    waiting.iter().for_each(|(room, message)| takes_back(&world, *room, message));
    // What she has said in private is one task.
    counted(&world, WITHDRAWN, 2).await;
    assert!(daemon.stop().await.success());
    world.home.set("debounce", json!("0s"));
    let _daemon = up(&world).await;
    let said = says(&world, Room::Group, SECRET_WORD);
    delivered(&world, it.arrived, 1).await;
    let file = sends(&world, "tide.txt", SECRET_WORD);
    delivered(&world, it.arrived, 2).await;
    assert!(!secrecy::holding(SECRET_WORD, &world.home.cache()).is_empty(), "the file was fetched");
    takes_back(&world, Room::Group, &said);
    takes_back(&world, Room::Private, &file);
    counted(&world, TAKEN_BACK, 5).await;
    counted(&world, WITH_FILES, 0).await;
    assert_eq!(secrecy::holding(SECRET_WORD, &world.home.cache()), Vec::<String>::new());
    let kept = texts(&world.home, KEPT);
    assert!(kept.iter().all(|text| !text.contains(SECRET_WORD)), "{kept:?}");
    assert_eq!((it.stage.said)(&world, Room::Group).len(), 1);
    assert_eq!(it.said(&world).len(), 1);
}

/// Waits until a count comes to this.
pub async fn counted(world: &World, count: &str, wanted: i64) {
    let there = async {
        while number(&world.home, count) != Some(wanted) {
            tokio::task::yield_now().await;
        }
    };
    world.within(count, there).await;
}

async fn split(it: &Contract) {
    let world = (it.stage.world)().await;
    let _daemon = up(&world).await;
    let (asked, length) = it.long;
    it.ask(&world, asked, 1).await;
    let parts = it.said(&world);
    let (most, measure) = it.holds;
    assert!(parts.len() > 1, "{parts:?}");
    assert!(parts.iter().all(|part| measure(part) <= most), "{parts:?}");
    let numbers: Vec<usize> = parts
        .iter()
        .flat_map(|part| part.lines())
        .filter_map(|line| line.strip_prefix("Line ")?.split_once(' ')?.0.parse().ok())
        .collect();
    let all: Vec<usize> = (1..=numbers.len()).collect();
    assert_eq!(numbers, all, "lines are lost, double or out of order");
    // A border may take the white space of its cut.
    let whole: usize = parts.iter().map(|part| part.len() + 1).sum();
    assert!(whole.abs_diff(length) <= length / 100, "{whole} characters of {length}");
}

async fn refused(it: &Contract) {
    let world = (it.stage.world)().await;
    let _daemon = up(&world).await;
    it.plan(&world, (it.refusal)("out_of_tea".to_owned()));
    it.ask(&world, "first", 1).await;
    let why = texts(&world.home, "SELECT reason FROM part WHERE state = 'refused'");
    assert!(why.len() == 1 && why[0].contains("out_of_tea"), "{why:?}");
    it.ask(&world, "second", 2).await;
    assert_eq!(it.marked(&world, &["second"]), 0);
}

async fn unclear(it: &Contract) {
    let world = (it.stage.world)().await;
    let _daemon = up(&world).await;
    it.plan(&world, FaultKind::CutAfter);
    it.ask(&world, "doubtful", 1).await;
    let said = it.said(&world);
    let marked = said.iter().filter(|text| text.contains(MARK)).count();
    assert_eq!((said.len(), marked), (it.doubt.copies, it.doubt.marked), "{said:?}");
    assert!(said.iter().all(|text| text.contains("doubtful")), "{said:?}");
    assert!((it.doubt.resolved)(&world), "nobody looked what became of it");
    it.ask(&world, "certain", 2).await;
    assert_eq!(it.marked(&world, &["doubtful", "certain"]), it.doubt.marked);
}

async fn limited(it: &Contract) {
    let world = (it.stage.world)().await;
    let _daemon = up(&world).await;
    it.plan(&world, FaultKind::TooMany { retry_after: 1 });
    it.say(&world, "early");
    let called = world.home.logged(0, |_| (it.calls)(&world) > 0);
    world.within("a call that is limited", called).await;
    it.ask(&world, "late", 2).await;
    assert_eq!(it.marked(&world, &["early", "late"]), 0);
    assert_eq!((it.calls)(&world), 3, "one call was refused, and each message took one more");
}

/// The platform itself repeats the tokens in what it refuses, and everything is logged.
async fn secret(it: &Contract) {
    let mut world = (it.stage.world)().await;
    world.home.set("logging", json!({ "level": "trace" }));
    let daemon = up(&world).await;
    it.plan(&world, (it.refusal)(format!("refused_for {}", it.secrets.join(" "))));
    it.ask(&world, "refused", 1).await;
    it.plan(&world, FaultKind::CutAfter);
    it.ask(&world, "unclear", 2).await;
    let (_, shown, errors) = world.home.run(&["config", "show"]);
    secrecy::demand(it.secrets, "the config as shown", (shown + &errors).as_bytes());
    secrecy::files(it.secrets, &world.home.state());
    assert!(daemon.stop().await.success());
    secrecy::files(it.secrets, &world.home.state());
    secrecy::files(it.secrets, &world.home.cache());
    secrecy::demand(it.secrets, "the log", world.home.log().as_bytes());
    secrecy::demand(it.secrets, "what was said", it.said(&world).join("\n").as_bytes());
}

async fn killed(it: &Contract) {
    for edge in it.edges {
        let mut world = (it.stage.world)().await;
        world.home.set("debug", json!({ "crash_at": edge }));
        let dying = up(&world).await;
        it.say(&world, "survives");
        world.within("the kill", dying.gone()).await;
        assert_eq!(it.said(&world), Vec::<String>::new(), "{edge}");
        world.home.set("debug", json!({}));
        let _daemon = up(&world).await;
        delivered(&world, it.arrived, 1).await;
        it.ask(&world, "afterwards", 2).await;
        assert_eq!(it.marked(&world, &["survives", "afterwards"]), 0, "{edge}");
    }
}
