//! Measures the write plan of a plain message on this disk, over both engines: accept, finish, sending, settle.
//!
//! `cargo bench --bench ledger` prints messages a second with 64 tasks at a time, the latency of one
//! message alone, what a message takes in the file after a checkpoint, and the disk's own fdatasync beside
//! them. Over PostgreSQL (a server of its own, fsync on) it also counts statements and round trips, and puts pgbench
//! beside it: 16 clients with a transaction like the average one of ours, and one client that only commits.
//! `-- FOLDER` measures another disk. The rows are as long as those of a short talk on Telegram.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound as _, Utc};
use selkie::domain::cause::Cause;
use selkie::domain::choice::Pick;
use selkie::domain::clock::{Clock, SystemClock};
use selkie::domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie::domain::ids::Instance;
use selkie::domain::own_form::OwnForm;
use selkie::domain::taint::Taint;
use selkie::domain::transcript::{Item, UserMessage};
use selkie::domain::usage::Usage;
use selkie::store::database::Opener;
use selkie::store::engine::Engine;
use selkie::store::postgres::{Address, Postgres};
use selkie::store::sql::SqlLedger;
use selkie::store::{
    Advance, Arrival, CommitResult, Disposition, Draft, End, Fuse, Ledger, NewTask, Outcome,
    StepForm,
};
use selkie_channel_core::{
    AccountId, AddressReason, Audience, ConversationId, Cursor, Features, Inbound, MessageRef,
    Outbound, Part, PersonId, PlaceId, Receipt, Speaker, What,
};
use selkie_test_postgres::{Server, server};
use tokio_util::task::TaskTracker;

const TASKS: i64 = 64;
const EACH: i64 = 150;
const ALONE: i64 = 300;
/// Of so many messages the pages are counted: too few for a checkpoint.
const COUNTED: i64 = 20;
/// So many messages are kept to see what each takes.
const KEPT: i64 = 1_024;
/// Bytes of thoughts beside a call.
const THOUGHTS: usize = 2_048;
const WAITING: i64 = 10_000;
const LANES: i64 = 100;

const TEXT: &str = "note: buy milk, then tell me my list";
/// What it is answered.
const ANSWER: &str = "The milk is on the list, and so are the eggs. The milk is on the list, and so are the eggs. \
    The milk is on the list, and so are the eggs. The milk is on the list, and so are the eggs.";
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
    runtime.block_on(over_postgres());
}

/// The same over PostgreSQL, beside what the server itself can do in this run.
async fn over_postgres() {
    let server = server();
    println!("PostgreSQL, on the same cores and disk");
    let commit = commit_alone(server);
    println!("pgbench, one client       commit {commit:?}");
    let alone = Remote::open(&server.database());
    message(alone.ledger.as_ref(), 1, -1).await;
    let (before, mut times) = (alone.engine.traffic(), Vec::new());
    for order in 0..ALONE {
        let since = Instant::now();
        message(alone.ledger.as_ref(), 1, order).await;
        times.push(since.elapsed());
    }
    let after = alone.engine.traffic();
    let p50 = median(&mut times);
    let p99 = times[times.len() * 99 / 100];
    let each = |before: u64, after: u64| (after - before) as f64 / ALONE as f64;
    let (statements, trips) =
        (each(before.statements, after.statements), each(before.round_trips, after.round_trips));
    let most = commit * 3 + Duration::from_millis(4);
    println!(
        "one message at a time    p50 {p50:?}  p99 {p99:?}  (wanted: at most {most:?})  {statements:.1} statements, \
         {trips:.1} round trips a message"
    );
    alone.ledger.close().await;
    let tps = like_transactions(server);
    println!("pgbench, 16 clients       {tps:.0} like transactions/s");
    let together = Remote::open(&server.database());
    let rate = all_at_once(&together.ledger).await;
    let reruns = together.engine.traffic().reruns;
    let ratio = rate * 4.0 / tps;
    println!(
        "{TASKS} tasks at a time        {rate:.0} messages/s  {reruns} reruns  times 4: {ratio:.2} of pgbench (wanted: at least 0.8)"
    );
    together.ledger.close().await;
}

/// A ledger over PostgreSQL, with its engine's counters.
struct Remote {
    ledger: Arc<dyn Ledger>,
    engine: Arc<Postgres>,
}

impl Remote {
    fn open(url: &str) -> Self {
        let address = Address::read(url, None).expect("a URL");
        let opener = Opener { instance: instance().0, host: "bench".to_owned(), pid: 1 };
        let tls = selkie_channel_core::tls::client_config(rustls::RootCertStore::empty);
        let engine = Postgres::open(address, opener, &tls.expect("ring")).expect("a database");
        let engine = Arc::new(engine);
        let clock = Arc::new(SystemClock);
        let ledger = Arc::new(SqlLedger::over(Arc::clone(&engine) as Arc<dyn Engine>, clock));
        Self { ledger, engine }
    }
}

/// Rows like ours: a row of each connection's own, one that is read by its key, one that grows, one that changes.
const LIKE_TABLES: &str = "CREATE TABLE mine (id BIGINT PRIMARY KEY, turn BIGINT NOT NULL) WITH (fillfactor = 10);
    INSERT INTO mine SELECT n, 0 FROM generate_series(0, 99) AS n;
    CREATE TABLE known (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT, at BIGINT);
    INSERT INTO known SELECT n, 'name ' || n, 'open', 0 FROM generate_series(1, 10000) AS n;
    CREATE TABLE grown (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, of BIGINT NOT NULL, text TEXT NOT NULL);
    CREATE INDEX grown_of ON grown (of)";
/// Twelve statements: a quarter of what a plain message took when this was chosen. It stays as it was, so that runs
/// before and after a change of ours are measured by the same.
const LIKE: &str = "\\set n random(1, 10000)
    BEGIN;
    UPDATE mine SET turn = turn + 1 WHERE id = :client_id;
    SELECT id FROM known WHERE name = 'name ' || :n FOR NO KEY UPDATE;
    SELECT state, at FROM known WHERE id = :n;
    SELECT id, name FROM known WHERE name = 'name ' || :n;
    SELECT id, text FROM grown WHERE of = :n ORDER BY id LIMIT 5;
    SELECT COUNT(*) FROM grown WHERE of = :n;
    INSERT INTO grown (of, text) VALUES (:n, repeat('words of a message ', 20)) RETURNING id;
    INSERT INTO grown (of, text) VALUES (:n, repeat('words of an answer ', 20));
    UPDATE known SET state = 'begun', at = at + 1 WHERE id = :n;
    UPDATE known SET state = 'done', at = at + 1 WHERE id = :n;
    COMMIT;";

/// Returns how many like transactions a second the server does for 16 clients.
fn like_transactions(server: &Server) -> f64 {
    let database = server.database();
    let name = database.rsplit('/').next().expect("a name");
    server.psql(name, LIKE_TABLES);
    let said = pgbench(server, name, LIKE, &["-c", "16", "-j", "2", "-T", "6"]);
    number_behind(&said, "tps = ")
}

/// Returns what one small commit takes.
fn commit_alone(server: &Server) -> Duration {
    let database = server.database();
    let name = database.rsplit('/').next().expect("a name");
    server.psql(name, "CREATE TABLE t (n BIGINT)");
    let said = pgbench(server, name, "INSERT INTO t VALUES (1);", &["-c", "1", "-t", "300"]);
    Duration::from_secs_f64(number_behind(&said, "latency average = ") / 1000.0)
}

fn pgbench(server: &Server, database: &str, script: &str, how: &[&str]) -> String {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), script).expect("a script");
    let mut command = std::process::Command::new(server.programs().join("pgbench"));
    command.args(["-n", "-M", "prepared", "-U", "selkie", "-h"]).arg(server.socket_folder());
    command.args(how).arg("-f").arg(file.path()).arg(database);
    let out = command.output().expect("pgbench runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn number_behind(text: &str, word: &str) -> f64 {
    let rest = text.split(word).nth(1).expect("pgbench says it");
    rest.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
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
    let rate = all_at_once(&ledger).await;
    let syncs = ledger.syncs() as f64 / (TASKS * EACH) as f64;
    println!("{TASKS} tasks at a time        {rate:.0} messages/s  {syncs:.2} syncs a message");
}

/// Returns how many messages a second go through when many conversations talk at once.
async fn all_at_once(ledger: &Arc<dyn Ledger>) -> f64 {
    let tracker = TaskTracker::new();
    let since = Instant::now();
    for n in 0..TASKS {
        let ledger = Arc::clone(ledger);
        tracker.spawn(async move {
            for order in 0..EACH {
                message(ledger.as_ref(), n, order).await;
            }
        });
    }
    tracker.close();
    tracker.wait().await;
    (TASKS * EACH) as f64 / since.elapsed().as_secs_f64()
}

/// What a message takes in the file for good, one after the other and many at a time.
async fn bytes(dir: &Path) {
    let size = || dir.join("selkie.db").metadata().expect("a file").len();
    let run = async |at_a_time: i64, from: i64, thoughts: usize| {
        let ledger = selkie::store::open(dir).expect("a store");
        thought_message(ledger.as_ref(), 1, from, thoughts).await;
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
                    thought_message(ledger.as_ref(), n + 1, from + order, thoughts).await;
                }
            }
        });
        futures_util::future::join_all(talks).await;
        ledger.close().await;
        (size() - before) as f64 / (each * at_a_time) as f64
    };
    let alone = run(1, 1_000_000, 0).await;
    let together = run(TASKS, 2_000_000, 0).await;
    // What was written stands twice, as it came and in the transcript; what was answered once.
    let words = 2 * TEXT.len() + ANSWER.len();
    println!(
        "bytes a message          {alone:.0} one at a time  {together:.0} with {TASKS} at a time, {words} of them its words  \
         (wanted: at most 1400)"
    );
    let thinking = run(1, 3_000_000, THOUGHTS).await;
    println!(
        "— of a model that thinks  {thinking:.0} one at a time: of its {THOUGHTS} bytes in the provider's own form, which go \
         with the task, {:.0} stay",
        thinking - alone
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
        ledger.claim(lane, &instance(), now()).await.expect("a claim").expect("a task");
    }
    let claim = since.elapsed() / LANES as u32;
    println!(
        "{WAITING} waiting in {LANES} lanes  stored in {stored:?}  ready {ready:?}  claim {claim:?}"
    );
}

/// The write plan of one plain message.
async fn message(ledger: &dyn Ledger, n: i64, order: i64) {
    thought_message(ledger, n, order, 0).await;
}

/// The same where the model makes a call first, with so many bytes of thoughts beside it.
async fn thought_message(ledger: &dyn Ledger, n: i64, order: i64, thoughts: usize) {
    let cursor = Cursor { account: account(), value: order.to_string() };
    let accepted = ledger.accept(vec![arrival(n, order)], Some(cursor), fuse(1)).await;
    let claimed = accepted.expect("stored").claimed.remove(0);
    if thoughts > 0 {
        let json = format!("\"{}\"", "t".repeat(thoughts - 2)).into();
        let step = Advance::Step {
            append: Vec::new(),
            header: "{}".to_owned(),
            facts: None,
            usage: Usage::default(),
            durable: true,
        };
        let form = OwnForm { origin: "0123456789abcdef".into(), json };
        let kept = vec![StepForm { step: "c1".to_owned(), form }];
        let keep = Advance::Keep { kept, with: Box::new(step) };
        ledger.commit(&claimed.claim, keep).await.expect("committed");
    }
    let text = ANSWER.to_owned();
    let heard = Item::Received(UserMessage {
        inbox: Some(claimed.heard[0].0),
        local: String::new(),
        at: claimed.heard[0].1.at,
        speaker: "Ann Lee (tg:4711)".to_owned(),
        text: TEXT.to_owned(),
        quote: None,
        forwarded: false,
        origin: String::new(),
        talk: false,
        relayed: false,
        agent: None,
        spoken: Vec::new(),
        files: Vec::new(),
        pictures: Vec::new(),
    });
    let finish = Advance::Finish {
        append: vec![heard, Item::said(text.clone(), Taint::Clean)],
        // It goes with the end: nobody resumes what has ended.
        header: String::new(),
        facts: None,
        end: End::Done,
        say: vec![draft(n, text)],
        usage: Usage { calls: 1, input: 900, cached: 0, output: 40, ..Usage::default() },
        set_aside: false,
        unheard: false,
        cut: None,
        departs: true,
        hand_over: false,
        now: now(),
    };
    let committed = ledger.commit(&claimed.claim, finish).await.expect("committed");
    let CommitResult::Ended { queued, .. } = committed else { panic!("the claim was lost") };
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

/// As Telegram dates a message.
fn dated() -> DateTime<Utc> {
    now().trunc_subsecs(0)
}

fn instance() -> Instance {
    Instance("019aa6f2-7c5e-7b1a-9d7e-0a1b2c3d4e5f".to_owned())
}

fn account() -> AccountId {
    AccountId::new("tg:110201543")
}

fn conversation(n: i64) -> ConversationId {
    ConversationId::new(account(), format!("tg:{n}"))
}

fn fuse(permits: usize) -> Fuse {
    Fuse { permits, instance: instance(), now: now() }
}

fn arrival(n: i64, order: i64) -> Arrival {
    let key = format!("m:{n}:{order}");
    let inbound = Inbound {
        v: Inbound::VERSION,
        key: key.clone(),
        conversation: conversation(n),
        place: PlaceId::new(account(), format!("tg:{n}")),
        title: String::new(),
        order,
        at: dated(),
        speaker: Speaker {
            id: PersonId::new("tg:4711"),
            name: "Ann Lee".to_owned(),
            username: Some("ann".to_owned()),
            is_bot: false,
        },
        audience: Audience::Direct,
        what: What::Message,
        message: Some(MessageRef::new(order.to_string())),
        addressed: AddressReason::Direct,
        text: TEXT.to_owned(),
        command: None,
        quote: None,
        thread: None,
        forwarded: false,
        origin: None,
        aside: selkie_channel_core::Aside::Nothing,
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
        trigger: Trigger::Asked,
        mode: Mode::Normal,
        message: Some(MessageRef::new(order.to_string())),
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        narrowed: Vec::new(),
        parent: None,
        reports: 0,
        pick: Pick::default(),
        at: now(),
    };
    let task = NewTask::new(Cause::Message { account: account(), key }, facts);
    Arrival::new(inbound, Disposition::Task(task))
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
        asks: false,
        follows: false,
    };
    let outbound = Outbound::text(conversation(n), text).said(now()).numbered(0x1f_ffff_ffff_ffff);
    Draft { outbound, parts: vec![part], expires_at: None, month: None }
}
