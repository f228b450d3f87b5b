//! The README's table, by one command: `cargo bench --bench table`. The release daemon as a real process
//! beside a bare loop, both against the playground and its load in this process: the same answers, the same
//! pauses, on the same machine in the same run.

mod bare_loop;
mod load;
mod machine;
mod process;
mod streaming;
mod subject;

use std::path::Path;
use std::time::Duration;

use selkie_playground::{Behaviour, Options, Pace, Playground};

use crate::load::{Load, Report};
use crate::process::Memory;
use crate::streaming::Late;
use crate::subject::{Kind, Subject};

/// How many starts are measured.
const STARTS: usize = 15;
/// How many single messages, and how long after the answer to the one before each is sent: a bot that has
/// gone to sleep in between pays for waking up.
const SINGLES: [(usize, Duration); 3] =
    [(400, Duration::ZERO), (300, Duration::from_millis(50)), (60, Duration::from_millis(300))];
/// Messages of the two bursts.
const SMALL: usize = 1_000;
const LARGE: usize = 10_000;
/// Chats of a burst.
const CHATS: usize = 100;
/// An answer that takes longer is lost.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Until what is measured has done what it still had to do.
const MOMENT: Duration = Duration::from_secs(2);
/// Longer than selkie waits before it gives memory back.
const REST: Duration = Duration::from_secs(12);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    if let [_, word, telegram, token, model] = arguments.as_slice()
        && word == subject::BARE
    {
        runtime.block_on(bare_loop::run(telegram.clone(), token.clone(), model.clone()));
    }
    runtime.block_on(table());
}

async fn table() {
    let folder = tempfile::Builder::new().prefix("selkie-bench-").tempdir().expect("a folder");
    println!("machine: {}\n", machine::name());
    let slept = SINGLES.map(|(count, pause)| Slept {
        pause,
        sync: machine::fdatasync_p50(folder.path(), count, pause),
        mebibyte: machine::mebibyte_p50(count, pause),
    });
    let bare = measure(Kind::Bare, folder.path()).await;
    let ours = measure(Kind::Selkie, folder.path()).await;
    println!("| | bare loop | selkie | wanted |\n|---|--:|--:|--:|");
    let row = |name: &str, bare: String, ours: String, wanted: &str| {
        println!("| {name} | {bare} | {ours} | {wanted} |");
    };
    let ms = |d: Duration| format!("{:.1} ms", millis(d));
    row("cold start to the first poll, p50", ms(bare.start), ms(ours.start), "≤ 15 ms");
    let mib = |m: f64| format!("{m:.1} MiB");
    let memory = |m: Memory| format!("{:.1} MiB ({:.1} its own)", m.resident, m.own);
    row("memory, idle", memory(bare.idle), memory(ours.idle), "≤ 18 MiB (4 its own)");
    let ms2 = |d: Duration| format!("{:.2} ms", millis(d));
    for ((bare, ours), slept) in bare.singles.iter().zip(&ours.singles).zip(slept) {
        let after = slept.pause.as_millis();
        let budget = millis(bare.p50) + 3.0 * millis(slept.sync) + 0.8;
        let wanted = format!("≤ {budget:.2} ms (bare + 3 syncs + 0.8 ms)");
        let both = |s: &Single| format!("{} ({})", ms2(s.p50), ms2(s.p99));
        row(
            &format!("one message, {after} ms after an answer, p50 (p99)"),
            both(bare),
            both(ours),
            &wanted,
        );
        let disk = "— one fdatasync of this disk after the same pause, p50";
        row(disk, "–".to_owned(), ms2(slept.sync), "");
        row("— processor time a message", ms2(bare.cpu), ms2(ours.cpu), "≤ 1.2 ms");
        let memory = "— 1 MiB of memory, read again after the same pause, p50";
        row(memory, "–".to_owned(), ms2(slept.mebibyte), "");
    }
    for (name, bare, ours) in
        [("1,000", &bare.small, &ours.small), ("10,000", &bare.large, &ours.large)]
    {
        let rate = |b: &Burst| format!("{:.0} msg/s", b.report.per_second());
        row(&format!("burst of {name} in {CHATS} chats"), rate(bare), rate(ours), "≥ 1,000 msg/s");
        let faults = |b: &Burst| {
            let Report { lost, duplicated, out_of_order, merged, .. } = &b.report;
            format!("{lost} / {duplicated} / {out_of_order} / {merged}")
        };
        row("— lost / twice / out of order / merged", faults(bare), faults(ours), "0 / 0 / 0 / 0");
        let cpu = |b: &Burst| format!("{:.2} ms", millis(b.cpu) / b.report.messages as f64);
        row("— processor time a message", cpu(bare), cpu(ours), "≤ 0.8 ms");
        let calls = |b: &Burst| format!("{:.2}", b.calls as f64 / b.report.messages as f64);
        row("— model calls a message", calls(bare), calls(ours), "1");
    }
    let times = |m: &Measured, then: Memory| {
        format!("{} = {:.1}×", memory(then), then.resident / m.idle.resident)
    };
    let busy = format!("memory right after {} messages", messages());
    row(&busy, times(&bare, bare.busy), times(&ours, ours.busy), "");
    row(
        "— after twelve seconds of rest",
        times(&bare, bare.rested),
        times(&ours, ours.rested),
        "≤ 2× idle",
    );
    for streamed in streamed_rows(&streaming::measure(folder.path()).await) {
        row(&streamed.name, "–".to_owned(), streamed.measured, &streamed.wanted);
    }
    row(
        "bytes a message, in pages that the store uses",
        "–".to_owned(),
        format!("{:.0}", ours.bytes),
        "≤ 1,400",
    );
    let size = |path: &Path| std::fs::metadata(path).map_or(0.0, |m| m.len() as f64 / 1048576.0);
    row("binary", "–".to_owned(), mib(size(Path::new(env!("CARGO_BIN_EXE_selkie")))), "≤ 22 MiB");
}

/// What the machine itself takes after a pause.
struct Slept {
    pause: Duration,
    sync: Duration,
    mebibyte: Duration,
}

/// A row that the bare loop has no part in.
struct Row {
    name: String,
    measured: String,
    wanted: String,
}

/// The rows of answers while they are written.
fn streamed_rows(late: &Late) -> [Row; 4] {
    let both = |times: &[Duration]| {
        let last = times.len() - 1;
        format!("{:.1} ms ({:.1} ms)", millis(times[last / 2]), millis(times[last]))
    };
    let row = |name: &str, times: &[Duration], wanted: String| Row {
        name: name.to_owned(),
        measured: both(times),
        wanted,
    };
    let from = "first token at the terminal, over the model's own time, p50 (longest)";
    let read = "— from the model's writing it until it is read";
    let chat = "first words in a chat after the model's first, p50 (longest)";
    let last =
        "last word in a chat after the model's, answer shown while it is written, p50 (longest)";
    [
        row(from, &late.terminal, "≤ 30 ms".to_owned()),
        row(read, &late.read, String::new()),
        row(chat, &late.chat, "≤ 2,000 ms (one edit interval)".to_owned()),
        row(last, &late.streamed, format!("as shown whole: {}", both(&late.whole))),
    ]
}

struct Measured {
    start: Duration,
    idle: Memory,
    singles: Vec<Single>,
    small: Burst,
    large: Burst,
    /// Memory right after the last message, and after a rest.
    busy: Memory,
    rested: Memory,
    /// What a message takes of the store's pages that are in use after a clean stop.
    bytes: f64,
}

/// Messages one at a time: their latency, and the processor time of each.
struct Single {
    p50: Duration,
    p99: Duration,
    cpu: Duration,
}

struct Burst {
    report: Report,
    cpu: Duration,
    calls: u64,
}

async fn measure(kind: Kind, folder: &Path) -> Measured {
    let (mut starts, mut empty) = (Vec::with_capacity(STARTS), 0);
    for _ in 0..STARTS {
        let playground = playground().await;
        let (subject, took) = Subject::start(kind, &playground, folder).await;
        starts.push(took);
        empty = subject.stop();
        playground.stop().await;
    }
    starts.sort();
    let playground = playground().await;
    let (subject, _) = Subject::start(kind, &playground, folder).await;
    subject.settle(MOMENT).await;
    let idle = process::memory(subject.pid());
    let mut load = Load::new(&playground, TIMEOUT);
    let mut singles = Vec::new();
    for (count, pause) in SINGLES {
        let cpu = process::cpu(subject.pid());
        let report = load.paced(count, pause).await;
        eprintln!("{kind:?}, {} ms between: {report}", pause.as_millis());
        let cpu = (process::cpu(subject.pid()) - cpu) / count as u32;
        singles.push(Single { p50: report.latency(0.5), p99: report.latency(0.99), cpu });
    }
    let small = burst(&mut load, &playground, &subject, SMALL).await;
    let large = burst(&mut load, &playground, &subject, LARGE).await;
    subject.settle(MOMENT).await;
    let busy = process::memory(subject.pid());
    subject.settle(REST).await;
    let rested = process::memory(subject.pid());
    let bytes = (subject.stop() - empty) as f64 / messages() as f64;
    playground.stop().await;
    Measured { start: starts[starts.len() / 2], idle, singles, small, large, busy, rested, bytes }
}

/// How many messages a subject gets in all.
fn messages() -> usize {
    SINGLES.iter().map(|(count, _)| count).sum::<usize>() + SMALL + LARGE
}

async fn burst(
    load: &mut Load<'_>,
    playground: &Playground,
    subject: &Subject,
    messages: usize,
) -> Burst {
    let (cpu, calls) = (process::cpu(subject.pid()), playground.model().calls());
    let report = load.burst(CHATS, messages).await;
    eprintln!("{:?}: {report}", subject.kind());
    Burst {
        report,
        cpu: process::cpu(subject.pid()) - cpu,
        calls: playground.model().calls() - calls,
    }
}

async fn playground() -> Playground {
    let options = Options { pace: Pace::Lifted, behaviour: Behaviour::Echo, ..Options::default() };
    Playground::start(options).await.expect("a playground on a free port")
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
