//! Measures schedules: what 100,000 of them cost a daemon that starts and rests, how fast 10,000 that are due fire, and how
//! long the next time of an expression takes to find.
//!
//! `cargo bench --bench schedules` prints a table with what is wanted. `-- FOLDER` measures another disk.

#[path = "../table/process.rs"]
#[expect(dead_code, reason = "this one asks for memory alone")]
mod process;
mod shelf;
mod subject;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use selkie::domain::clock::{Clock as _, SystemClock};
use selkie::schedule::expression::Expression;
use selkie::schedule::zone::Zone;
use selkie_playground::{Behaviour, Options, Pace, Playground};

use shelf::{Due, Shelf};
use subject::Subject;

/// Schedules that are not due.
const MANY: usize = 100_000;
/// Schedules that are due within one minute.
const AT_ONCE: usize = 10_000;
/// Starts of each kind; the median counts.
const STARTS: usize = 5;
/// Looks for what is due.
const LOOKS: usize = 2_000;
/// Next times of each expression.
const STEPS: u32 = 20_000;

fn main() {
    let folder = std::env::args().skip(1).find(|a| !a.starts_with("--")).map(PathBuf::from);
    let base = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let dir = tempfile::tempdir_in(base).expect("a folder to measure in");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    println!("| | measured | wanted |\n|---|--:|--:|");
    runtime.block_on(async {
        resting(dir.path()).await;
        firing(dir.path()).await;
    });
    for text in ["0 8 * * 1-5", "*/5 * * * *", "30 2 * * *", "0 0 29 2 *", "0 9 1,15 * 1"] {
        next(text);
    }
}

fn row(what: &str, measured: &str, wanted: &str, is_met: bool) {
    let missed = if is_met { "" } else { " (missed)" };
    println!("| {what} | {measured}{missed} | {wanted} |");
}

/// What a daemon takes that has much to do later, and nothing now.
async fn resting(dir: &Path) {
    let mut kinds = Vec::new();
    for many in [0, MANY] {
        let home = dir.join(format!("resting-{many}"));
        let shelf = Shelf::open(&home);
        shelf.fill(many, &daily()).await;
        let mut looks = looks(&shelf).await;
        shelf.close().await;
        let mut starts = Vec::new();
        let mut memory = 0.0;
        for _ in 0..STARTS {
            let playground = playground().await;
            let (subject, took) = Subject::start(&playground, &home).await;
            starts.push(took);
            tokio::time::sleep(Duration::from_secs(2)).await;
            memory = process::memory(subject.pid()).resident;
            subject.stop();
            playground.stop().await;
        }
        kinds.push((median(&mut starts), memory, median(&mut looks)));
    }
    let [(empty_start, empty_memory, empty_look), (start, memory, look)] = kinds[..] else {
        return;
    };
    let ms = |took: Duration| took.as_secs_f64() * 1e3;
    let shown = format!("{:.0} ms (without any {:.0} ms)", ms(start), ms(empty_start));
    row("start with 100,000 schedules, p50", &shown, "< 1 s", start < Duration::from_secs(1));
    let more = memory - empty_memory;
    row("memory for them, at rest", &format!("{more:.1} MiB more"), "< 20 MB more", more < 19.0);
    let shown = format!("{:.0} µs (without any {:.0} µs)", ms(look) * 1e3, ms(empty_look) * 1e3);
    let is_flat = look < empty_look * 2 + Duration::from_micros(20);
    row("a look for what is due, p50", &shown, "the same", is_flat);
}

/// What the ticker asks at each turn: what is due, and when the next one is.
async fn looks(shelf: &Shelf) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..LOOKS {
        let since = Instant::now();
        assert!(shelf.ledger.due_schedules(now(), 256).await.expect("a look").is_empty());
        shelf.ledger.next_due().await.expect("a look");
        times.push(since.elapsed());
    }
    times
}

/// Everything of one minute comes due before the daemon starts: it fires as fast as it can.
async fn firing(dir: &Path) {
    let home = dir.join("firing");
    let shelf = Shelf::open(&home);
    shelf.fill(MANY, &daily()).await;
    // Within the last half minute nothing counts as missed; the bench itself takes some of it.
    let first = now() + TimeDelta::seconds(5);
    let each = TimeDelta::milliseconds(1);
    let once = |n: usize| {
        let at = first + each * i32::try_from(n).unwrap_or(0);
        Due { written: format!("at {}", at.to_rfc3339()), at }
    };
    shelf.fill(AT_ONCE, &once).await;
    shelf.close().await;
    let last = once(AT_ONCE - 1).at;
    let wait = (last - now()).to_std().unwrap_or_default();
    tokio::time::sleep(wait).await;
    let playground = playground().await;
    let (subject, _) = Subject::start(&playground, &home).await;
    let fired = shelf::fired(&home, AT_ONCE).await;
    subject.stop();
    playground.stop().await;
    let rate = fired.rate();
    row(
        "tasks made of schedules that are due",
        &format!("{rate:.0} a second"),
        "≥ 1,000",
        rate >= 1_000.0,
    );
    let faults = format!("{} / {} / {}", fired.lost(AT_ONCE), fired.twice, fired.out_of_order);
    let is_met = faults == "0 / 0 / 0";
    row("— of 10,000: lost / twice / out of order", &faults, "0 / 0 / 0", is_met);
}

/// The next time of an expression, one after the other.
fn next(text: &str) {
    let zone = Zone::named("Europe/Berlin").expect("a zone");
    let mut at = now();
    let expression = Expression::written(text, zone, at).expect("an expression");
    let since = Instant::now();
    for _ in 0..STEPS {
        // Over the end of what is searched it begins anew.
        at = expression.next_after(zone, at).unwrap_or_else(now);
    }
    let each = since.elapsed() / STEPS;
    let shown = format!("{:.2} µs", each.as_secs_f64() * 1e6);
    row(&format!("next time of `{text}`"), &shown, "≤ 5 µs", each <= Duration::from_micros(5));
}

/// Once a day, at some minute, tomorrow at the earliest.
fn daily() -> impl Fn(usize) -> Due {
    let tomorrow = now() + TimeDelta::days(1);
    move |n| {
        let (hour, minute) = (n / 60 % 24, n % 60);
        let at = tomorrow + TimeDelta::minutes(i64::try_from(n % 1_440).unwrap_or(0));
        Due { written: format!("{minute} {hour} * * *"), at }
    }
}

fn now() -> DateTime<Utc> {
    SystemClock.now()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

async fn playground() -> Playground {
    let options = Options { pace: Pace::Lifted, behaviour: Behaviour::Echo, ..Options::default() };
    let playground = Playground::start(options).await.expect("a playground on a free port");
    let telegram = playground.telegram();
    telegram.set_load_mode(true);
    for n in 0..shelf::CHATS {
        telegram.add_person(shelf::person(n), &format!("Person {n}"));
    }
    playground
}
