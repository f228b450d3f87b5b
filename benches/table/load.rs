//! The load driver: pushes messages through a bot and checks that each is answered once, in order.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use selkie_playground::Playground;
use selkie_playground::telegram::{BotMessage, FIRST_PERSON, Pace, Spot};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What a load came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Chats that took part.
    pub chats: usize,
    /// Messages sent.
    pub messages: usize,
    /// Messages answered at least once.
    pub answered: usize,
    /// Messages nobody answered.
    pub lost: usize,
    /// Answers beyond the first of a message.
    pub duplicated: usize,
    /// Answers that came after the answer to a later message of the chat.
    pub out_of_order: usize,
    /// Messages that shared their answer with another.
    pub merged: usize,
    /// From the first message to the last answer.
    pub wall: Duration,
    /// From the update's being there to its answer, sorted.
    latencies: Vec<Duration>,
}

impl Report {
    /// Answered messages per second.
    pub fn per_second(&self) -> f64 {
        let seconds = self.wall.as_secs_f64();
        if seconds > 0.0 { self.answered as f64 / seconds } else { 0.0 }
    }

    /// The latency that this share (0 to 1) of the answers does not pass.
    pub fn latency(&self, share: f64) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        let at = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
        self.latencies.get(at).copied().unwrap_or_default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |share: f64| self.latency(share).as_secs_f64() * 1e3;
        write!(
            f,
            "{} messages in {} chats: {} answered, {} lost, {} duplicated, {} out of order, {} merged; \
             {:.2} s, {:.0} msg/s; latency p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
            self.messages,
            self.chats,
            self.answered,
            self.lost,
            self.duplicated,
            self.out_of_order,
            self.merged,
            self.wall.as_secs_f64(),
            self.per_second(),
            ms(0.5),
            ms(0.9),
            ms(0.99),
            ms(1.0),
        )
    }
}

/// Drives a bot that polls this playground and answers with words that contain the message.
pub struct Load<'a> {
    playground: &'a Playground,
    patience: Duration,
    round: u64,
}

impl<'a> Load<'a> {
    /// Lifts the pace, stops keeping requests, and waits up to `patience` for each next answer.
    pub fn new(playground: &'a Playground, patience: Duration) -> Self {
        playground.telegram().set_pace(Pace::Lifted);
        playground.telegram().set_load_mode(true);
        playground.model().set_load_mode(true);
        Self { playground, patience, round: 0 }
    }

    /// Sends `messages` over `chats` private chats at once and waits for the answers.
    pub async fn burst(&mut self, chats: usize, messages: usize) -> Report {
        let mut ledger = self.ledger(chats);
        for number in 0..messages {
            ledger.send(self.playground, number % chats.max(1));
            // Lets the server hand out what is there, also where both share one thread.
            if number % 64 == 63 {
                tokio::task::yield_now().await;
            }
        }
        while ledger.answered.len() < messages && ledger.hear(self.patience).await {}
        ledger.hear_what_is_there();
        ledger.report(chats, messages)
    }

    /// Sends `messages` to one chat, each so long after the answer to the one before: as people write, and a bot in
    /// between has gone to sleep.
    pub async fn paced(&mut self, messages: usize, pause: Duration) -> Report {
        let mut ledger = self.ledger(1);
        for number in 0..messages {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            ledger.send(self.playground, 0);
            while ledger.answered.len() <= number {
                if !ledger.hear(self.patience).await {
                    return ledger.report(1, number + 1);
                }
            }
        }
        ledger.hear_what_is_there();
        ledger.report(1, messages)
    }

    fn ledger(&mut self, chats: usize) -> Ledger {
        self.round += 1;
        let telegram = self.playground.telegram();
        let people = (0..chats.max(1))
            .map(|number| telegram.add_person(person(number), &format!("Load {number}")))
            .collect();
        Ledger {
            round: self.round,
            people,
            heard: telegram.watch(),
            sent: HashMap::new(),
            next: HashMap::new(),
            answered: HashMap::new(),
            shared: HashMap::new(),
            latest: HashMap::new(),
            duplicated: 0,
            out_of_order: 0,
            latencies: vec![],
            started: Instant::now(),
            ended: Instant::now(),
        }
    }
}

fn person(number: usize) -> i64 {
    FIRST_PERSON + i64::try_from(number).unwrap_or(0)
}

/// A message: its chat and its number there.
type Key = (i64, u64);

struct Ledger {
    round: u64,
    people: Vec<Spot>,
    heard: mpsc::UnboundedReceiver<BotMessage>,
    sent: HashMap<Key, std::time::Instant>,
    next: HashMap<i64, u64>,
    /// The bot's message that answered.
    answered: HashMap<Key, i64>,
    /// How many messages each of the bot's messages answered.
    shared: HashMap<(i64, i64), usize>,
    latest: HashMap<i64, u64>,
    duplicated: usize,
    out_of_order: usize,
    latencies: Vec<Duration>,
    started: Instant,
    ended: Instant,
}

impl Ledger {
    fn send(&mut self, playground: &Playground, chat: usize) {
        let spot = self.people[chat];
        let number = self.next.entry(spot.chat).or_default();
        *number += 1;
        let text = format!("load{}x{number} of this chat", self.round);
        self.sent.insert((spot.chat, *number), std::time::Instant::now());
        playground.telegram().say(spot, spot.chat, &text);
    }

    /// Hears one thing the bot said; false when nothing came within `patience`.
    async fn hear(&mut self, patience: Duration) -> bool {
        match tokio::time::timeout(patience, self.heard.recv()).await {
            Ok(Some(said)) => {
                self.count(&said);
                true
            }
            _ => false,
        }
    }

    fn hear_what_is_there(&mut self) {
        while let Ok(said) = self.heard.try_recv() {
            self.count(&said);
        }
    }

    fn count(&mut self, said: &BotMessage) {
        for number in numbers(&said.text, self.round) {
            let key = (said.chat, number);
            let Some(sent) = self.sent.get(&key) else { continue };
            match self.answered.get(&key) {
                // An edit of the same message is no second answer.
                Some(message) if *message == said.message_id => continue,
                Some(_) => {
                    self.duplicated += 1;
                    continue;
                }
                None => {}
            }
            self.answered.insert(key, said.message_id);
            self.latencies.push(said.at.saturating_duration_since(*sent));
            *self.shared.entry((said.chat, said.message_id)).or_default() += 1;
            let latest = self.latest.entry(said.chat).or_default();
            if number < *latest {
                self.out_of_order += 1;
            }
            *latest = number.max(*latest);
            self.ended = Instant::now();
        }
    }

    fn report(mut self, chats: usize, messages: usize) -> Report {
        self.latencies.sort_unstable();
        Report {
            chats,
            messages,
            answered: self.answered.len(),
            lost: messages - self.answered.len(),
            duplicated: self.duplicated,
            out_of_order: self.out_of_order,
            merged: self.shared.values().map(|count| count - 1).sum(),
            wall: self.ended.saturating_duration_since(self.started),
            latencies: self.latencies,
        }
    }
}

/// The numbers of this round's messages in a text.
pub fn numbers(text: &str, round: u64) -> Vec<u64> {
    let mark = format!("load{round}x");
    let tails = text.split(&mark).skip(1);
    tails
        .filter_map(|tail| {
            let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            tail[..end].parse().ok()
        })
        .collect()
}
