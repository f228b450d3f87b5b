//! Where people speak: private chats and groups on Telegram, threads of a Slack channel, groups on LINE. In each lane a few
//! questions wait for their answers at any time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use selkie_playground::telegram::FIRST_PERSON;
use selkie_playground::{Playground, Spot, line_platform, slack, telegram};

use crate::tally;

/// Private chats on Telegram.
const CHATS: i64 = 40;
/// Threads that are alive in the Slack channel.
const THREADS: usize = 20;
/// Questions in a thread, until another is opened in its place.
const IN_A_THREAD: usize = 8;
/// A question that waits longer is not waited for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Which sort of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Private chats on Telegram.
    Private,
    /// Groups on Telegram.
    Group,
    /// Threads in a Slack channel.
    Slack,
    /// Groups on LINE.
    Line,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Private, Self::Group, Self::Slack, Self::Line];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "Telegram, private",
            Self::Group => "Telegram, groups",
            Self::Slack => "Slack, a channel's threads",
            Self::Line => "LINE, groups",
        }
    }

    /// How many questions of a lane wait at most.
    fn depth(self) -> usize {
        match self {
            Self::Private => 3,
            Self::Slack => 2,
            Self::Group | Self::Line => 10,
        }
    }
}

/// A lane's place.
enum Place {
    Telegram(Spot),
    Slack { root: Option<String>, asked: usize },
    Line(&'static str),
}

/// One lane.
struct Lane {
    kind: Kind,
    place: Place,
    waiting: BTreeMap<usize, Instant>,
}

/// All lanes.
pub struct Lanes {
    lanes: Vec<Lane>,
    /// The lane of each question that waits.
    of: BTreeMap<usize, usize>,
    next: usize,
}

/// A question.
pub struct Asked {
    /// By its number.
    pub number: usize,
    /// Where.
    pub kind: Kind,
    /// The chat on Telegram.
    pub chat: Option<i64>,
    lane: usize,
}

impl Lanes {
    /// Lets the people into their chats.
    pub fn new(playground: &Playground) -> Self {
        let person = |number| {
            let id = FIRST_PERSON + number;
            playground.telegram().add_person(id, &format!("Soak {number}"))
        };
        let private = (0..CHATS).map(|n| (Kind::Private, Place::Telegram(person(n))));
        let groups = [telegram::GROUP, telegram::TOPIC];
        let groups = groups.into_iter().map(|spot| (Kind::Group, Place::Telegram(spot)));
        let thread = |_| (Kind::Slack, Place::Slack { root: None, asked: 0 });
        let rooms = [line_platform::GROUP, line_platform::ROOM];
        let rooms = rooms.into_iter().map(|room| (Kind::Line, Place::Line(room)));
        let all = private.chain(groups).chain((0..THREADS).map(thread)).chain(rooms);
        let lane = |(kind, place)| Lane { kind, place, waiting: BTreeMap::new() };
        Self { lanes: all.map(lane).collect(), of: BTreeMap::new(), next: 0 }
    }

    /// Finds the next lane that has room for a question and is of a kind that may ask; `None` when there is none.
    pub fn next(&mut self, number: usize, may: impl Fn(Kind) -> bool) -> Option<Asked> {
        let count = self.lanes.len();
        let mut turns = (0..count).map(|turn| (self.next + turn) % count);
        let lanes = &self.lanes;
        let at = turns.find(|at| {
            lanes[*at].waiting.len() < lanes[*at].kind.depth() && may(lanes[*at].kind)
        })?;
        self.next = at + 1;
        let lane = &mut self.lanes[at];
        lane.waiting.insert(number, Instant::now());
        self.of.insert(number, at);
        let chat = match lane.place {
            Place::Telegram(spot) => Some(spot.chat),
            _ => None,
        };
        Some(Asked { number, kind: lane.kind, chat, lane: at })
    }

    /// Says it.
    pub fn say(&mut self, playground: &Playground, asked: &Asked) {
        self.lanes[asked.lane].place.say(playground, asked.number);
    }

    /// A question was answered; whether it waited.
    pub fn answered(&mut self, number: usize) -> bool {
        let lane = self.of.remove(&number);
        lane.is_some_and(|at| self.lanes[at].waiting.remove(&number).is_some())
    }

    /// Waits no more for what has waited too long; returns how much that was.
    pub fn lose_patience(&mut self) -> usize {
        let before = self.of.len();
        for lane in &mut self.lanes {
            lane.waiting.retain(|_, since| since.elapsed() < TIMEOUT);
        }
        let lanes = &self.lanes;
        self.of.retain(|number, at| lanes[*at].waiting.contains_key(number));
        before - self.of.len()
    }

    /// How many questions wait.
    pub fn waiting(&self) -> usize {
        self.of.len()
    }
}

impl Place {
    fn say(&mut self, playground: &Playground, number: usize) {
        let word = tally::word(number);
        match self {
            Self::Telegram(spot) => {
                let is_private = spot.chat >= FIRST_PERSON;
                let (user, named) = match is_private {
                    true => (spot.chat, ""),
                    false => (telegram::ADA, "@selkie_demo_bot "),
                };
                let text = format!("{named}say it back, please: {word}");
                playground.telegram().say(*spot, user, &text);
            }
            Self::Slack { root, asked } => {
                let text = format!("<@{}> say it back, please: {word}", slack::BOT);
                let channel = slack::CHANNEL;
                *asked += 1;
                if *asked > IN_A_THREAD {
                    (*root, *asked) = (None, 1);
                }
                match root {
                    Some(root) => drop(playground.slack().reply(channel, slack::ADA, root, &text)),
                    None => *root = Some(playground.slack().say(channel, slack::ADA, &text)),
                }
            }
            Self::Line(room) => {
                let text = format!("{} say it back, please: {word}", line_platform::BOT_NAME);
                playground.line().say(room, line_platform::ADA, &text);
            }
        }
    }
}
