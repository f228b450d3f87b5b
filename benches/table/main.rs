//! The README's table, by one command: `cargo bench --bench table`. The release daemon as a real process
//! beside a bare loop, both against the playground in this process, on the same machine in the same run.

mod bare_loop;
mod process;
mod subject;

use std::path::Path;
use std::time::Duration;

use selkie_playground::load::{Load, Report};
use selkie_playground::{Behaviour, Options, Pace, Playground};

use crate::process::Memory;
use crate::subject::{Kind, Subject};

/// How many starts and single messages are measured.
const STARTS: usize = 15;
const SINGLES: usize = 400;
/// Chats of a burst.
const CHATS: usize = 100;
/// An answer that takes longer is lost.
const PATIENCE: Duration = Duration::from_secs(60);

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
    let sync = process::fdatasync_p50(folder.path());
    println!("machine: {}", machine());
    println!("fdatasync p50 of this disk: {:.3} ms\n", millis(sync));
    let bare = measure(Kind::Bare, folder.path()).await;
    let ours = measure(Kind::Selkie, folder.path()).await;
    let budget = millis(bare.single) + 3.0 * millis(sync) + 1.0;
    println!("| | bare loop | selkie | wanted |\n|---|--:|--:|--:|");
    let row = |name: &str, bare: String, ours: String, wanted: &str| {
        println!("| {name} | {bare} | {ours} | {wanted} |");
    };
    let ms = |d: Duration| format!("{:.1} ms", millis(d));
    row("cold start to the first poll, p50", ms(bare.start), ms(ours.start), "≤ 20 ms");
    let mib = |m: f64| format!("{m:.1} MiB");
    let memory = |m: Memory| format!("{:.1} MiB ({:.1} its own)", m.resident, m.own);
    row("memory, idle", memory(bare.idle), memory(ours.idle), "≤ 15 MiB");
    let ms2 = |d: Duration| format!("{:.2} ms", millis(d));
    let wanted = format!("≤ {budget:.2} ms (bare + 3 syncs + 1 ms)");
    row("one message at a time, p50", ms2(bare.single), ms2(ours.single), &wanted);
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
        row("— processor time a message", cpu(bare), cpu(ours), "≤ 1.5 ms");
        let calls = |b: &Burst| format!("{:.2}", b.calls as f64 / b.report.messages as f64);
        row("— model calls a message", calls(bare), calls(ours), "1");
    }
    let times =
        |m: &Measured| format!("{} = {:.1}×", memory(m.after), m.after.resident / m.idle.resident);
    row("memory after 11,400 messages", times(&bare), times(&ours), "≤ 2× idle");
    let size = |path: &Path| std::fs::metadata(path).map_or(0.0, |m| m.len() as f64 / 1048576.0);
    row("binary", "–".to_owned(), mib(size(Path::new(env!("CARGO_BIN_EXE_selkie")))), "≤ 30 MiB");
}

struct Measured {
    start: Duration,
    idle: Memory,
    single: Duration,
    small: Burst,
    large: Burst,
    after: Memory,
}

struct Burst {
    report: Report,
    cpu: Duration,
    calls: u64,
}

async fn measure(kind: Kind, folder: &Path) -> Measured {
    let mut starts = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let playground = playground().await;
        let (subject, took) = Subject::start(kind, &playground, folder).await;
        starts.push(took);
        subject.stop();
        playground.stop().await;
    }
    starts.sort();
    let playground = playground().await;
    let (subject, _) = Subject::start(kind, &playground, folder).await;
    subject.settle().await;
    let idle = process::memory(subject.pid());
    let mut load = Load::new(&playground, PATIENCE);
    let single = load.one_by_one(SINGLES).await.latency(0.5);
    let small = burst(&mut load, &playground, &subject, 1_000).await;
    let large = burst(&mut load, &playground, &subject, 10_000).await;
    subject.settle().await;
    let after = process::memory(subject.pid());
    subject.stop();
    playground.stop().await;
    Measured { start: starts[starts.len() / 2], idle, single, small, large, after }
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

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {cores} cores", model.unwrap_or("unknown processor"))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
