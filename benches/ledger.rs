//! Measures the write plan of a plain message on this disk: accept, finish, sending, settle.
//!
//! `cargo bench --bench ledger` prints messages a second with 64 tasks at a time, the latency of one
//! message alone, what a message takes in the file after a checkpoint, and the disk's own fdatasync beside
//! them. `-- FOLDER` measures another disk. The rows are as long as those of a short talk on Telegram.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use selkie::domain::clock::{Clock, SystemClock};
use selkie::domain::facts::{Facts, Mode, Occasion, Trust, Where};
use selkie::domain::ids::Boot;
use selkie::domain::taint::Taint;
use selkie::domain::transcript::{Heard, Item};
use selkie::domain::usage::Usage;
use selkie::store::{
    Advance, Arrival, Committed, Disposition, Draft, End, Fuse, Ledger, NewTask, Outcome,
};
use selkie_channel_core::{
    AccountId, Addressed, Audience, ConversationId, Cursor, Features, Inbound, MessageRef,
    Outbound, Part, PersonId, PlaceId, Receipt, Speaker, What,
};
use tokio_util::task::TaskTracker;

const TASKS: i64 = 64;
const EACH: i64 = 150;
const ALONE: i64 = 300;
/// Of so many messages the pages are counted: too few for a checkpoint.
const COUNTED: i64 = 20;
/// So many messages are kept to see what each takes.
const KEPT: i64 = 1_024;
const WAITING: i64 = 10_000;
const LANES: i64 = 100;

const TEXT: &str = "note: buy milk, then tell me my list";
/// As a run's header looks at the end of a plain message.
const HEADER: &str = r#"{"v":1,"since":"2026-11-20T12:00:00.000Z","steps":1,"usage":{"calls":1,"input":900,"cached":0,"output":40,"micro_usd":0},"circles":{"seen":[],"warned":false},"hushed":null,"refused":null,"set_aside":false,"fittings":0,"untrusted":false,"later":[],"asking":null}"#;
const SPEAKING: [&str; 4] =
    ["message_react", "telegram_send_file", "telegram_send_photo", "telegram_send_voice"];
const STYLE: &str = "You write for Telegram, often read on a phone: short paragraphs, Markdown (bold, italic, \
    strikethrough, code, fenced code, links, lists, quotes); headings become bold lines, tables fixed-width text.";

fn main() {
    let folder = std::env::args().skip(1).find(|a| !a.starts_with("--")).map(PathBuf::from);
    let base = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let dir = tempfile::tempdir_in(base).expect("a folder to measure in");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let sync = fdatasync(dir.path());
    println!("fdatasync of this disk   p50 {sync:?}");
    runtime.block_on(async {
        alone(&dir.path().join("alone")).await;
        together(&dir.path().join("together")).await;
        bytes(&dir.path().join("bytes")).await;
        burst(&dir.path().join("burst")).await;
    });
}

/// Returns the median time of a small append and its fdatasync.
fn fdatasync(dir: &Path) -> Duration {
    let mut file = File::create(dir.join("probe")).expect("a file");
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            file.write_all(&[7; 4096]).expect("room");
            let since = Instant::now();
            file.sync_data().expect("a sync");
            since.elapsed()
        })
        .collect();
    median(&mut times)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn alone(dir: &Path) {
    let ledger = selkie::store::open(dir).expect("a store");
    message(ledger.as_ref(), 1, -1).await;
    let before = log_pages(dir);
    let (mut times, mut pages) = (Vec::new(), 0);
    for order in 0..ALONE {
        if order == COUNTED {
            pages = log_pages(dir) - before;
        }
        let since = Instant::now();
        message(ledger.as_ref(), 1, order).await;
        times.push(since.elapsed());
    }
    let p50 = median(&mut times);
    let p99 = times[times.len() * 99 / 100];
    let syncs = ledger.syncs() as f64 / ALONE as f64;
    let pages = pages as f64 / COUNTED as f64;
    println!(
        "one message at a time    p50 {p50:?}  p99 {p99:?}  {syncs:.2} syncs, {pages:.1} pages a message"
    );
}

/// Returns how many pages the store's log holds; it only grows until it is first checkpointed.
fn log_pages(dir: &Path) -> u64 {
    let log = dir.join("selkie.db-wal").metadata().expect("a log");
    log.len() / (4096 + 24)
}

async fn together(dir: &Path) {
    let ledger = selkie::store::open(dir).expect("a store");
    let tracker = TaskTracker::new();
    let since = Instant::now();
    for n in 0..TASKS {
        let ledger = Arc::clone(&ledger);
        tracker.spawn(async move {
            for order in 0..EACH {
                message(ledger.as_ref(), n, order).await;
            }
        });
    }
    tracker.close();
    tracker.wait().await;
    let (took, count) = (since.elapsed(), TASKS * EACH);
    let rate = count as f64 / took.as_secs_f64();
    let syncs = ledger.syncs() as f64 / count as f64;
    println!("{TASKS} tasks at a time        {rate:.0} messages/s  {syncs:.2} syncs a message");
}

/// What a message takes in the file for good, one after the other and many at a time.
async fn bytes(dir: &Path) {
    let size = || dir.join("selkie.db").metadata().expect("a file").len();
    let run = async |at_a_time: i64, from: i64| {
        let ledger = selkie::store::open(dir).expect("a store");
        message(ledger.as_ref(), 1, from).await;
        ledger.close().await;
        // Its lock goes with it.
        drop(ledger);
        let before = size();
        let ledger = selkie::store::open(dir).expect("a store");
        let each = KEPT / at_a_time;
        let talks = (0..at_a_time).map(|n| {
            let ledger = Arc::clone(&ledger);
            async move {
                for order in 1..=each {
                    message(ledger.as_ref(), n + 1, from + order).await;
                }
            }
        });
        futures_util::future::join_all(talks).await;
        ledger.close().await;
        (size() - before) as f64 / (each * at_a_time) as f64
    };
    let (alone, together) = (run(1, 1_000_000).await, run(TASKS, 2_000_000).await);
    println!(
        "bytes a message          {alone:.0} one at a time  {together:.0} with {TASKS} at a time  (wanted: at most 1400)"
    );
}

/// 10,000 tasks wait over 100 lanes: what `ready` and a claim cost then.
async fn burst(dir: &Path) {
    let ledger = selkie::store::open(dir).expect("a store");
    let arrivals: Vec<_> = (0..WAITING).map(|i| arrival(i % LANES, i)).collect();
    let since = Instant::now();
    for batch in arrivals.chunks(100) {
        ledger.accept(batch.to_vec(), None, fuse(0)).await.expect("stored");
    }
    let stored = since.elapsed();
    let since = Instant::now();
    for _ in 0..100 {
        ledger.ready(now(), 4).await.expect("ready");
    }
    let ready = since.elapsed() / 100;
    let lanes = ledger.ready(now(), LANES as usize).await.expect("ready");
    let since = Instant::now();
    for lane in &lanes {
        ledger.claim(lane, &boot(), now()).await.expect("a claim").expect("a task");
    }
    let claim = since.elapsed() / LANES as u32;
    println!(
        "{WAITING} waiting in {LANES} lanes  stored in {stored:?}  ready {ready:?}  claim {claim:?}"
    );
}

/// The write plan of one plain message.
async fn message(ledger: &dyn Ledger, n: i64, order: i64) {
    let cursor = Cursor { account: account(), value: order.to_string() };
    let accepted = ledger.accept(vec![arrival(n, order)], Some(cursor), fuse(1)).await;
    let claimed = accepted.expect("stored").claimed.remove(0);
    let text = "The milk is on the list, and so are the eggs.".repeat(4);
    let heard = Item::Heard(Heard {
        inbox: Some(claimed.heard[0].0),
        at: now(),
        speaker: "Ann Lee (tg:4711)".to_owned(),
        text: TEXT.to_owned(),
        quote: None,
        forwarded: false,
        talk: false,
        files: Vec::new(),
        pictures: Vec::new(),
    });
    let finish = Advance::Finish {
        append: vec![heard, Item::said(text.clone(), Taint::Clean)],
        header: HEADER.to_owned(),
        facts: None,
        end: End::Done,
        say: vec![draft(n, text)],
        usage: Usage { calls: 1, input: 900, cached: 0, output: 40, micro_usd: 0 },
        set_aside: false,
        departs: true,
        hand_over: false,
        now: now(),
    };
    let committed = ledger.commit(&claimed.claim, finish).await.expect("committed");
    let Committed::Ended { queued, .. } = committed else { panic!("the claim was lost") };
    for part in &queued[0].parts {
        assert!(part.departs, "it was marked as it was stored");
        let receipt = Receipt {
            message: Some(MessageRef::new(order.to_string())),
            note: None,
            ..Receipt::default()
        };
        ledger.settle(part.id, Outcome::Sent(receipt)).await.expect("settled");
    }
}

fn now() -> DateTime<Utc> {
    SystemClock.now()
}

fn boot() -> Boot {
    Boot("019aa6f2-7c5e-7b1a-9d7e-0a1b2c3d4e5f".to_owned())
}

fn account() -> AccountId {
    AccountId::new("tg:110201543")
}

fn conversation(n: i64) -> ConversationId {
    ConversationId::new(account(), format!("tg:{n}"))
}

fn fuse(permits: usize) -> Fuse {
    Fuse { permits, boot: boot(), now: now() }
}

fn arrival(n: i64, order: i64) -> Arrival {
    let key = format!("tg:110201543:{n}:{order}");
    let inbound = Inbound {
        v: Inbound::VERSION,
        key: key.clone(),
        conversation: conversation(n),
        place: PlaceId::new(account(), format!("tg:{n}")),
        title: String::new(),
        order,
        at: now(),
        speaker: Speaker {
            id: PersonId::new("tg:4711"),
            name: "Ann Lee".to_owned(),
            username: Some("ann".to_owned()),
            is_bot: false,
        },
        audience: Audience::Direct,
        what: What::Message,
        message: Some(MessageRef::new(order.to_string())),
        addressed: Addressed::Direct,
        text: TEXT.to_owned(),
        command: None,
        quote: None,
        forwarded: false,
        attachments: Vec::new(),
        album: None,
        reply_window: None,
    };
    let facts = Facts {
        v: Facts::VERSION,
        place: Where::Channel(Features {
            channel: "telegram".to_owned(),
            kind: "private".to_owned(),
            audience: Audience::Direct,
            speaking: SPEAKING.map(str::to_owned).to_vec(),
            style: STYLE.to_owned(),
        }),
        speaker: Some(PersonId::new("tg:4711")),
        trust: Trust::Owner,
        taint: Taint::Clean,
        occasion: Occasion::Asked,
        mode: Mode::Normal,
        message: Some(MessageRef::new(order.to_string())),
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        at: now(),
    };
    let task = NewTask::new(format!("{}|{key}", account()), facts);
    Arrival { inbound, disposition: Disposition::Task(task) }
}

fn draft(n: i64, text: String) -> Draft {
    let call = |mode: Option<&str>| {
        serde_json::json!({ "method": "sendMessage", "params": {
            "chat_id": n, "text": text, "parse_mode": mode, "link_preview_options": { "is_disabled": true },
        } })
    };
    let part = Part {
        v: Part::VERSION,
        conversation: conversation(n),
        call: call(Some("HTML")),
        fallback: Some(call(None)),
        shown: text.clone(),
        repeatable: false,
        follows: false,
    };
    let outbound = Outbound::text(conversation(n), text).said(now()).numbered(0x1f_ffff_ffff_ffff);
    Draft { outbound, parts: vec![part], expires_at: None }
}
