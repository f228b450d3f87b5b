//! Search over 50,000 remembered lines, and what a task reads unasked of 5,000. Prints numbers, asserts what was found.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use selkie::domain::clock::{Clock as _, SystemClock};
use selkie::domain::facts::Trust;
use selkie::domain::taint::Taint;
use selkie::domain::vector::UnitVector;
use selkie::llm::{Embeddings, NotEmbedded};
use selkie::memory::{MemoryBook, MemoryParts, Places};
use selkie::people::files::Files;
use selkie::store::sql::SqlLedger;
use selkie::store::sqlite::Sqlite;
use selkie::tools::memory::port::{Memory, MemoryQuery, Rememberer};
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};

/// Lines of the large memory, and of one of its files.
const LINES: usize = 50_000;
const IN_A_FILE: usize = 5_000;
/// Searches that are measured.
const SEARCHES: usize = 300;
const SEARCHES_BY_MEANING: usize = 30;
/// How many numbers a vector has.
const WIDTH: u64 = 1_536;

const PEOPLE: [&str; 8] = ["Ada", "Bo", "Mei", "Grace", "Linus", "Zoe", "Ken", "Ann"];
const VERBS: [&str; 6] = ["likes", "wants", "met", "bought", "sold", "plans"];
const THINGS: [&str; 10] = [
    "tea",
    "cake",
    "a house",
    "the boat",
    "maps",
    "wool",
    "a garden",
    "books",
    "the report",
    "cheese",
];

struct Alone;

impl Places for Alone {
    fn place(&self, conversation: &ConversationId) -> PlaceId {
        PlaceId::new(conversation.account().clone(), conversation.key())
    }
}

/// A line that no other one is.
fn line(n: usize) -> String {
    let (who, verb) = (PEOPLE[n % PEOPLE.len()], VERBS[n / 8 % VERBS.len()]);
    let what = THINGS[n / 48 % THINGS.len()];
    format!("- {who} {verb} {what} since spring, noted as item{n} in the list of room{}\n", n % 997)
}

fn fill(state: &Path, subject: &str, lines: usize) {
    let folder = state.join("memory").join(subject);
    fs::create_dir_all(&folder).expect("a folder");
    for (file, begin) in (0..lines).step_by(IN_A_FILE).enumerate() {
        let text: String = (begin..(begin + IN_A_FILE).min(lines)).map(line).collect();
        fs::write(folder.join(format!("{file}.md")), text).expect("a file");
    }
}

fn by(key: &str) -> Rememberer {
    Rememberer {
        conversation: ConversationId::new(AccountId::new("bird:1"), key),
        sees_general: false,
        own_memory: None,
        author: PersonId::new("bird:2"),
        trust: Trust::Owner,
        level: Taint::Clean,
        now: SystemClock.now(),
    }
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Tells the meaning of a text by its bytes alone, in no time: what is left is the search.
struct ByBytes;

#[async_trait]
impl Embeddings for ByBytes {
    fn model(&self) -> &str {
        "by-bytes"
    }

    async fn embed(&self, texts: &[String], _: Duration) -> Result<Vec<UnitVector>, NotEmbedded> {
        let number = |text: &str, n: u64| {
            let seed =
                text.bytes().fold(n + 1, |a, b| a.wrapping_mul(0x0100_0000_01b3) ^ u64::from(b));
            f32::from(i16::try_from(seed.wrapping_mul(0x9e37_79b9) >> 49).unwrap_or_default())
                - 16_384.0
        };
        let of = |text: &String| (0..WIDTH).map(|n| number(text, n)).collect();
        Ok(texts.iter().map(|text| UnitVector::of(of(text)).expect("a direction")).collect())
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// Search over as many lines that have vectors.
async fn by_meaning(book: &MemoryBook) {
    let vectors = book.vectors().expect("they are asked for");
    let begun = Instant::now();
    assert_eq!(vectors.take_in().await, None);
    println!("vectors of {WIDTH} numbers, kept: {:?}", begun.elapsed());
    let mut times = Vec::new();
    for n in 0..SEARCHES_BY_MEANING {
        let sought = MemoryQuery { query: format!("what of item{n}?"), most: 6, least: 0.35 };
        let begun = Instant::now();
        book.search(&by("bird:large"), sought).await.expect("an answer");
        times.push(begun.elapsed());
    }
    let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
    println!("search over {LINES} lines by words and by meaning: p50 {p50:?}, p99 {p99:?}");
}

fn main() {
    let home = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(SystemClock);
    fill(home.path(), "bird.large", LINES);
    fill(home.path(), "bird.other", LINES / 10);
    let now = SystemClock.now();
    let engine = Sqlite::open(&home.path().join("selkie.db"), now).expect("a store");
    let ledger = Arc::new(SqlLedger::over(Arc::new(engine), clock.clone()));
    let files = Arc::new(Files::new(home.path().to_owned(), clock.clone()));
    let with_meaning = MemoryBook::new(MemoryParts {
        files: Arc::clone(&files),
        ledger: Arc::clone(&ledger) as _,
        places: Arc::new(Alone),
        clock: clock.clone(),
        embeddings: Some(Arc::new(ByBytes)),
    });
    let book = MemoryBook::new(MemoryParts {
        files,
        ledger,
        places: Arc::new(Alone),
        clock,
        embeddings: None,
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let begun = Instant::now();
        book.follow().await;
        println!("index of {} lines, made: {:?}", LINES + LINES / 10, begun.elapsed());
        let begun = Instant::now();
        book.follow().await;
        println!("index, looked at again: {:?}", begun.elapsed());
        for (name, query) in [
            ("one rare word", "item#"),
            ("two words, one of them rare", "tea item#"),
            ("three common words", "Ada likes tea"),
            ("a question", "what do you know about the garden of Grace?"),
        ] {
            let mut times = Vec::new();
            for n in 0..SEARCHES {
                let query = query.replace('#', &(n * 131 % LINES).to_string());
                let sought = MemoryQuery { query, most: 6, least: 0.35 };
                let begun = Instant::now();
                let found = book.search(&by("bird:large"), sought).await.expect("an answer");
                times.push(begun.elapsed());
                assert!(found.text.contains("score"), "{}", found.text);
            }
            let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
            println!("search over {LINES} lines, {name}: p50 {p50:?}, p99 {p99:?}");
        }
        by_meaning(&with_meaning).await;
    });
}
