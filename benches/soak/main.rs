//! A long day in half an hour: `cargo bench --bench soak`. The release daemon as a real process over all channels, with
//! platforms and a model that fail, and `kill -9` in between. Each question is looked for by its own text among what the
//! platforms hold as delivered; one that was lost, or answered twice without a word about it, ends it with exit code 1.
//! `-- --messages N` asks N questions instead of 100,000.

mod gauge;
mod lanes;
mod ledger;
mod report;
mod subject;
mod tally;
mod trouble;

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use selkie_playground::telegram::BotMessage;
use selkie_playground::{Behaviour, DeliveredMessage, Keep, Options, Pace, Playground};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::gauge::Gauge;
use crate::lanes::{Kind, Lanes};
use crate::report::Report;
use crate::subject::Subject;
use crate::tally::Tally;
use crate::trouble::Trouble;

/// How many questions are asked unless it is said.
const MESSAGES: usize = 100_000;
/// After which share of the questions the daemon is killed, in thousandths: early, so that the last of these lives is long
/// enough to tell whether it grows; and once more behind the last look at what it takes.
const KILLS: [usize; 5] = [50, 100, 150, 200, 990];
/// The last part, after that look, in thousandths.
const LAST_PART: usize = 980;
/// Two kills have so much time between them.
const BETWEEN_KILLS: Duration = Duration::from_secs(10);
/// How long nothing may move before it is over.
const TIMEOUT: Duration = Duration::from_secs(120);
/// What chats go on holding, for looks at what arrived and for answers that are given again.
const KEEP: Keep = Keep { newest: 500, age: Duration::from_secs(60) };
/// How often they let go of the rest, and how often progress is told.
const FORGET: Duration = Duration::from_secs(5);
const TELL: Duration = Duration::from_secs(30);
/// After it the daemon has given back what it does not need at rest.
const REST: Duration = Duration::from_secs(12);

fn main() -> ExitCode {
    let messages = match messages(std::env::args().skip(1)) {
        Ok(messages) => messages,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(soak(messages))
}

/// The number of messages among the arguments; cargo's own `--bench` is passed over.
fn messages(mut arguments: impl Iterator<Item = String>) -> Result<usize, String> {
    let mut messages = MESSAGES;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--messages" => {
                let given = arguments.next().and_then(|number| number.parse().ok());
                messages = given.filter(|number| *number > 0).ok_or("--messages takes a number")?;
            }
            other => return Err(format!("{other}: the one argument is --messages N")),
        }
    }
    Ok(messages)
}

async fn soak(messages: usize) -> ExitCode {
    let folder = tempfile::Builder::new().prefix("selkie-soak-").tempdir().expect("a folder");
    let options =
        Options { pace: Pace::Lifted, behaviour: Behaviour::EchoLine, ..Options::default() };
    let playground = Playground::start(options).await.expect("a playground on a free port");
    playground.telegram().set_load_mode(true);
    playground.slack().set_load_mode(true);
    playground.line().set_load_mode(true);
    playground.line().set_quota(None, 0);
    playground.model().set_load_mode(true);
    let subject = Subject::start(&playground, folder.path()).await;
    let mut soak = Soak::new(playground, subject, messages);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let start = soak.subject.gauge(0);
    let begun = Instant::now();
    soak.ask_until(messages * LAST_PART / 1_000).await;
    soak.settle().await;
    tokio::time::sleep(REST).await;
    let end = soak.subject.gauge(soak.asked);
    soak.ask_until(messages).await;
    soak.settle().await;
    let report = soak.report(begun, start, end);
    println!("{report}");
    if report.is_clean() {
        return ExitCode::SUCCESS;
    }
    let kept = folder.keep();
    eprintln!("Something is wrong; config, log and state stay in {}", kept.display());
    ExitCode::FAILURE
}

/// What the platforms tell as it is said.
struct Feeds {
    telegram: UnboundedReceiver<BotMessage>,
    slack: UnboundedReceiver<DeliveredMessage>,
    line: UnboundedReceiver<DeliveredMessage>,
}

impl Feeds {
    /// The numbers of the questions that were answered since.
    fn numbers(&mut self) -> Vec<usize> {
        let telegram = std::iter::from_fn(|| self.telegram.try_recv().ok());
        let mut numbers: Vec<usize> =
            telegram.filter_map(|said| tally::number(&said.text)).collect();
        for feed in [&mut self.slack, &mut self.line] {
            let said = std::iter::from_fn(|| feed.try_recv().ok());
            numbers.extend(said.filter_map(|said| tally::number(&said.text)));
        }
        numbers
    }
}

struct Soak {
    playground: Playground,
    subject: Subject,
    feeds: Feeds,
    lanes: Lanes,
    trouble: Trouble,
    tally: Tally,
    messages: usize,
    asked: usize,
    /// How many each sort of place has still to ask.
    left: BTreeMap<Kind, usize>,
    kills: VecDeque<usize>,
    killed: usize,
    last_kill: Option<Instant>,
    middle: Option<Gauge>,
    forgot: Instant,
    told: Instant,
    /// When something was answered last.
    moved: Instant,
}

impl Soak {
    fn new(playground: Playground, subject: Subject, messages: usize) -> Self {
        let feeds = Feeds {
            telegram: playground.telegram().watch(),
            slack: playground.slack().watch(),
            line: playground.line().watch(),
        };
        let share = |at: usize| messages / 4 + usize::from(at < messages % 4);
        let left = Kind::ALL.into_iter().enumerate().map(|(at, kind)| (kind, share(at)));
        let now = Instant::now();
        Self {
            lanes: Lanes::new(&playground),
            feeds,
            playground,
            subject,
            trouble: Trouble::default(),
            tally: Tally::new(messages),
            messages,
            asked: 0,
            left: left.collect(),
            kills: KILLS.iter().map(|share| messages * share / 1_000).collect(),
            killed: 0,
            last_kill: None,
            middle: None,
            forgot: now,
            told: now,
            moved: now,
        }
    }

    /// Asks until so many were asked, a few at a time.
    async fn ask_until(&mut self, most: usize) {
        while self.asked < most && self.moved.elapsed() < TIMEOUT {
            self.look();
            let left = &mut self.left;
            let asked = self.lanes.next(self.asked, |kind| left[&kind] > 0);
            let Some(asked) = asked else {
                tokio::time::sleep(Duration::from_millis(2)).await;
                continue;
            };
            left.entry(asked.kind).and_modify(|left| *left -= 1);
            self.asked += 1;
            self.trouble.at(&self.playground, &asked);
            self.lanes.say(&self.playground, &asked);
            self.kill_if_due();
            if self.asked * 2 >= self.messages && self.middle.is_none() {
                self.middle = Some(self.subject.gauge(self.asked));
            }
        }
    }

    /// Waits until everything is answered and nothing is left to do.
    async fn settle(&mut self) {
        self.moved = Instant::now();
        while self.moved.elapsed() < TIMEOUT && !self.is_settled() {
            self.look();
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        self.look();
    }

    fn is_settled(&self) -> bool {
        self.lanes.waiting() == 0
            && self.playground.telegram().pending_updates() == 0
            && self.playground.line().pending_events() == 0
            && self.playground.slack().envelopes().1 == 0
            && ledger::open_work(&self.subject.database()) == Some(0)
    }

    /// Reads what was answered, lets chats go of what is old, and tells how far it is.
    fn look(&mut self) {
        for number in self.feeds.numbers() {
            if self.lanes.answered(number) {
                self.moved = Instant::now();
            }
        }
        if self.forgot.elapsed() >= FORGET {
            self.forgot = Instant::now();
            assert!(!self.subject.is_gone(), "the daemon ended:\n{}", self.subject.log());
            let late = self.lanes.lose_patience();
            if late > 0 {
                eprintln!("{late} questions have waited for a minute and are waited for no more");
            }
            self.forget(&KEEP);
        }
        if self.told.elapsed() >= TELL {
            self.told = Instant::now();
            let waiting = self.lanes.waiting();
            eprintln!("{} asked, {waiting} wait; {:?}", self.asked, self.left);
        }
    }

    /// Counts what goes out of the chats.
    fn forget(&mut self, keep: &Keep) {
        let telegram = self.playground.telegram().forget(keep);
        let slack = self.playground.slack().forget(keep);
        let line = self.playground.line().forget(keep);
        telegram.iter().chain(&slack).chain(&line).for_each(|said| self.tally.count(&said.text));
    }

    fn kill_if_due(&mut self) {
        let is_due = self.kills.front().is_some_and(|at| self.asked >= *at)
            && self.last_kill.is_none_or(|last| last.elapsed() >= BETWEEN_KILLS);
        if is_due {
            self.kills.pop_front();
            self.subject.kill_and_restart();
            self.killed += 1;
            self.last_kill = Some(Instant::now());
        }
    }

    fn report(mut self, begun: Instant, start: Gauge, end: Gauge) -> Report {
        let wall = begun.elapsed();
        let cpu = self.subject.cpu();
        self.subject.stop();
        self.forget(&Keep { newest: 0, age: Duration::ZERO });
        let database = self.subject.database();
        Report {
            verdict: self.tally.verdict(self.asked, &ledger::doubtful(&database)),
            asked: self.asked,
            wanted: self.messages,
            killed: self.killed,
            trouble: self.trouble.made,
            wall,
            cpu,
            gauges: [start, self.middle.unwrap_or_default(), end],
            parts: ledger::states(&database),
        }
    }
}
