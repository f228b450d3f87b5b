//! A state folder full of schedules, and what became of those that were due.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;
use selkie::domain::clock::{Clock as _, SystemClock};
use selkie::domain::facts::Trust;
use selkie::domain::schedule::{Action, Maker, Schedule, Terms};
use selkie::domain::taint::Taint;
use selkie::store::{Ledger, Location, NewSchedule, open};
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};
use selkie_playground::telegram::FIRST_PERSON;
use selkie_playground::telegram::TOKEN;

/// The chats they speak in.
pub const CHATS: usize = 100;
/// Written at once.
const TOGETHER: usize = 1_000;
/// How long everything may take to fire.
const TIMEOUT: Duration = Duration::from_secs(120);

/// When a schedule comes due.
pub struct Due {
    /// As it is written.
    pub written: String,
    /// First.
    pub at: DateTime<Utc>,
}

/// When the n-th schedule comes due.
pub type When<'a> = &'a dyn Fn(usize) -> Due;

/// A state folder without a daemon.
pub struct Shelf {
    pub ledger: Arc<dyn Ledger>,
}

impl Shelf {
    /// Opens the folder of a home.
    pub fn open(home: &Path) -> Self {
        let state = home.join("state");
        std::fs::create_dir_all(&state).expect("a folder");
        Self { ledger: open(&state).expect("a ledger") }
    }

    /// Makes so many schedules.
    pub async fn fill(&self, many: usize, when: When<'_>) {
        let all: Vec<usize> = (0..many).collect();
        for some in all.chunks(TOGETHER) {
            let kept = some.iter().map(|n| self.ledger.schedule(schedule(*n, when(*n))));
            try_join_all(kept).await.expect("kept");
        }
    }

    pub async fn close(self) {
        self.ledger.close().await;
    }
}

/// Who has the n-th schedule, in their private chat.
pub fn person(n: usize) -> i64 {
    FIRST_PERSON + i64::try_from(n % CHATS).unwrap_or(0)
}

fn schedule(n: usize, due: Due) -> NewSchedule {
    let account = AccountId::new(format!("tg:{}", TOKEN.split(':').next().unwrap_or_default()));
    let key = format!("tg:{}", person(n));
    let Due { written, at } = due;
    NewSchedule {
        key: format!("{n} {written}"),
        location: Location {
            conversation: ConversationId::new(account.clone(), &*key),
            place: PlaceId::new(account, &*key),
            title: String::new(),
        },
        schedule: Schedule {
            v: Schedule::VERSION,
            title: String::new(),
            when: written,
            zone: "Europe/Berlin".to_owned(),
            action: Action::Say { markdown: "time to feed the seal".to_owned() },
            maker: Maker {
                person: PersonId::new(&*key),
                name: String::new(),
                trust: Trust::Owner,
                taint: Taint::Clean,
                is_cleared: true,
            },
            terms: Terms::default(),
        },
        next_at: Some(at),
        most: u32::MAX,
        now: SystemClock.now(),
    }
}

/// What became of the schedules that were due.
pub struct Fired {
    /// The times, in the order in which their tasks were made.
    times: Vec<i64>,
    /// When the first and the last of them were carried out, in milliseconds.
    first: i64,
    last: i64,
    /// Times that stand there twice.
    pub twice: usize,
    /// Times that were carried out after a later one.
    pub out_of_order: usize,
}

impl Fired {
    /// Tasks a second.
    pub fn rate(&self) -> f64 {
        let seconds = (self.last - self.first).max(1) as f64 / 1e3;
        self.times.len() as f64 / seconds
    }

    /// How many are missing of so many.
    pub fn lost(&self, of: usize) -> usize {
        of.saturating_sub(self.times.len())
    }
}

/// Waits until so many have fired, and reads them.
pub async fn fired(home: &Path, wanted: usize) -> Fired {
    let database = rusqlite::Connection::open(home.join("state/selkie.db")).expect("a database");
    let begun = Instant::now();
    loop {
        let sql = "SELECT COUNT(*) FROM occurrence";
        let count: i64 = database.query_row(sql, [], |row| row.get(0)).expect("a count");
        if usize::try_from(count).is_ok_and(|count| count >= wanted) || begun.elapsed() > TIMEOUT {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let sql = "SELECT at, fired_at FROM occurrence WHERE task IS NOT NULL ORDER BY task";
    let mut rows = database.prepare(sql).expect("a query");
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    let rows: Vec<(i64, i64)> = rows.map(|row| row.expect("a row")).collect();
    let times: Vec<i64> = rows.iter().map(|(at, _)| *at).collect();
    let out_of_order = times.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let mut sorted = times.clone();
    sorted.sort_unstable();
    let twice = sorted.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let first = rows.iter().map(|(_, fired)| *fired).min().unwrap_or_default();
    let last = rows.iter().map(|(_, fired)| *fired).max().unwrap_or_default();
    Fired { times, first, last, twice, out_of_order }
}
