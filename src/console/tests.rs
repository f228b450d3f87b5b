//! The read API over a real socket, asked as a browser asks. The ledger is a shelf of rows.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use selkie_channel_core::server::Wall;
use selkie_channel_core::{
    AccountId, Body, ConversationId, MessageRef, Outbound, Part, PersonId, PlaceId, Post, Receipt,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{ChannelView, Console, Health};
use selkie_domain::approval::{ApprovalState, Approvers, Request};
use selkie_domain::choice::Pick;
use selkie_domain::clock::ManualClock;
use selkie_domain::event::{Event, Events};
use selkie_domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie_domain::ids::{InboxId, Instance, OutboundId, TaskId};
use selkie_domain::live::Live;
use selkie_domain::question::Person;
use selkie_domain::schedule::{Action, Maker, Schedule, Terms};
use selkie_domain::taint::Taint;
use selkie_domain::task::TaskState;
use selkie_domain::usage::Usage;
use selkie_engine::flow::{ChatItem, Knowledge, KnowledgeResult, KnowledgeView, Unreadable};
use selkie_engine::work::todo_list::{ListedTodo, TodoList};
use selkie_memory::remembered::MemoryEntry;
use selkie_people::book::KnownList;
use selkie_people::update::NamedPerson;
use selkie_people::visibility::VisiblePerson;
use selkie_schedule::post_view::PostView;
use selkie_shape::{Explanation, HiddenLine, ToolLine};
use selkie_store::read::{
    Chain, ConversationRow, ConversationStatus, Counts, Reader, SaidTask, TaskDetail, TaskRow,
    TaskUsage, UnansweredMessage, UpcomingWork,
};
use selkie_store::{
    ApprovalRow, AskedPerson, Change, Draft, FiringRecord, FiringResult, Fuse, KeepResult,
    LastTime, Ledger, Location, NewSchedule, OccurrenceAction, Outcome, QuestionRow, Result,
    StoreError, Turn, Version,
};

/// Two conversations of one bot, a namesake of another bot, and one task.
#[derive(Default)]
struct Shelf {
    broken: bool,
    /// It never says whether it is well.
    silent: bool,
}

impl Shelf {
    fn check(&self) -> Result<()> {
        if self.broken { Err(StoreError::Broken("disk I/O error".to_owned())) } else { Ok(()) }
    }
}

fn id(account: &str, key: &str) -> ConversationId {
    ConversationId::new(AccountId::new(account), key)
}

fn row() -> TaskRow {
    TaskRow {
        id: TaskId(7),
        conversation: id("tg:8", "tg:-100:7"),
        state: TaskState::Done,
        why: None,
        attempts: 1,
        usage: Usage { calls: 2, input: 30, cached: 0, output: 5, ..Usage::default() },
        created_at: DateTime::UNIX_EPOCH,
        ended_at: None,
        asked: "tell me my list".to_owned(),
        who: None,
        title: String::new(),
        schedule: None,
    }
}

fn approval() -> ApprovalRow {
    let person = |id: &str| Person { id: PersonId::new(id), name: "Ada".to_owned() };
    ApprovalRow {
        key: "3fa9c10000".to_owned(),
        task: TaskId(7),
        conversation: id("tg:8", "tg:-100:7"),
        requester: Some(person("tg:2")),
        request: Request {
            v: Request::VERSION,
            call: "c1.0".to_owned(),
            tool: "write_file".to_owned(),
            words: "running a command".to_owned(),
            preview: "write a.txt".to_owned(),
            unseen: Vec::new(),
            place: String::new(),
            reasons: vec!["asks first".to_owned()],
            of: Approvers::Owners,
            hash: "0f".to_owned(),
        },
        state: ApprovalState::Open,
        why: None,
        by: String::new(),
        asked: vec![AskedPerson {
            whole: true,
            person: person("tg:1"),
            conversation: id("tg:8", "tg:1"),
            outbound: OutboundId(3),
            message: Some(MessageRef::new("41")),
        }],
        expires_at: DateTime::UNIX_EPOCH,
        mute: None,
    }
}

fn facts() -> Facts {
    Facts {
        v: Facts::VERSION,
        place: Where::CommandLine { terminal: true },
        speaker: None,
        trust: Trust::Owner,
        taint: Taint::Clean,
        trigger: Trigger::Asked,
        mode: Mode::Normal,
        message: None,
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        narrowed: Vec::new(),
        parent: None,
        reports: 0,
        pick: Pick::default(),
        at: DateTime::UNIX_EPOCH,
    }
}

#[async_trait]
impl Reader for Shelf {
    async fn conversations(&self, limit: usize) -> Result<Vec<ConversationRow>> {
        self.check()?;
        let ids = [id("tg:8", "tg:-100:7"), id("tg:8", "tg:4711"), id("tg:9", "tg:4711")];
        let row = |id| ConversationRow {
            id,
            title: "Harbour".to_owned(),
            epoch: 0,
            closed: None,
            tasks: 1,
            last_at: None,
        };
        Ok(ids.into_iter().map(row).take(limit).collect())
    }

    async fn tasks(&self, of: Option<&ConversationId>, limit: usize) -> Result<Vec<TaskRow>> {
        self.check()?;
        let wanted = |r: &TaskRow| of.is_none_or(|id| *id == r.conversation);
        Ok([row()].into_iter().filter(wanted).take(limit).collect())
    }

    async fn said(&self, _: &ConversationId, _: bool, _: usize) -> Result<Vec<SaidTask>> {
        Ok(Vec::new())
    }

    async fn unanswered(&self, _: &ConversationId, _: usize) -> Result<Vec<UnansweredMessage>> {
        Ok(Vec::new())
    }

    async fn spoken(
        &self,
        _: &ConversationId,
        _: usize,
    ) -> Result<Vec<selkie_store::spoken::Utterance>> {
        Ok(Vec::new())
    }

    async fn task(&self, id: TaskId) -> Result<Option<TaskDetail>> {
        self.check()?;
        let detail = TaskDetail {
            row: row(),
            facts: facts(),
            header: None,
            transcript: vec![],
            model_calls: vec![],
            own_forms: vec![],
        };
        Ok((id == TaskId(7)).then_some(detail))
    }

    async fn trace(&self, _message: &str) -> Result<Vec<Chain>> {
        Ok(Vec::new())
    }

    async fn counts(&self) -> Result<Counts> {
        self.check()?;
        Ok(Counts { inbox: 3, ..Counts::default() })
    }

    async fn upcoming(&self, _now: DateTime<chrono::Utc>) -> Result<UpcomingWork> {
        Ok(UpcomingWork::default())
    }

    async fn used_since(&self, _since: DateTime<chrono::Utc>) -> Result<TaskUsage> {
        Ok(TaskUsage::default())
    }

    async fn status(&self, _conversation: &ConversationId) -> Result<ConversationStatus> {
        Ok(ConversationStatus::default())
    }

    async fn open_questions(&self, _: Option<&ConversationId>) -> Result<Vec<QuestionRow>> {
        Ok(Vec::new())
    }

    async fn approvals(&self, of: Option<TaskId>) -> Result<Vec<ApprovalRow>> {
        self.check()?;
        Ok(of.is_none_or(|task| task == TaskId(7)).then(approval).into_iter().collect())
    }

    async fn quoted(
        &self,
        _: &ConversationId,
        _: &selkie_channel_core::MessageRef,
    ) -> Result<Option<selkie_channel_core::Quote>> {
        Ok(None)
    }

    async fn files_of(
        &self,
        _: &ConversationId,
        _: &selkie_channel_core::MessageRef,
    ) -> Result<Vec<selkie_store::read::StoredFiles>> {
        Ok(Vec::new())
    }

    async fn provenance_of(
        &self,
        _: &ConversationId,
        _: &selkie_channel_core::MessageRef,
    ) -> Result<Option<selkie_domain::provenance::Provenance>> {
        Ok(None)
    }

    async fn moved_places(&self) -> Result<Vec<(PlaceId, PlaceId)>> {
        Ok(Vec::new())
    }

    async fn healthy(&self) -> Result<()> {
        if self.silent {
            std::future::pending::<()>().await;
        }
        self.check()
    }
}

/// Knows the same everywhere; all of it in the conversation of `tg:9`, and what is read of `tg:8` in private is broken.
struct Notes;

impl Notes {
    fn sees<T>(of: &ConversationId, what: T) -> KnowledgeResult<T> {
        match of.full().as_str() {
            "tg:8|tg:4711" => Err(Unreadable("TODO.md cannot be read: disk I/O error".to_owned())),
            full => Ok(KnowledgeView { is_whole: full.starts_with("tg:9"), what }),
        }
    }
}

#[async_trait]
impl Knowledge for Notes {
    async fn contacts(&self, of: &ConversationId) -> KnowledgeResult<KnownList> {
        let one = |names: &[&str], id: &str| VisiblePerson {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            ids: vec![id.to_owned()],
            last: Some(DateTime::UNIX_EPOCH),
        };
        let known = vec![one(&["Gr\u{202e}ace", "<b>Hopper</b>"], "tg:4712"), one(&[], "tg:4713")];
        Self::sees(of, KnownList { known, faults: vec!["contacts/ACTIVE.md, line 3".to_owned()] })
    }

    async fn todos(&self, of: &ConversationId) -> KnowledgeResult<TodoList> {
        let item = |text: &str| ListedTodo {
            text: text.to_owned(),
            due: None,
            people: Vec::new(),
            chat: None,
            chat_name: None,
            created_at: None,
            done_at: None,
        };
        let due = "2026-12-24T18:00:00+01:00".parse().ok();
        let people = vec![NamedPerson { name: "Grace".to_owned(), id: "tg:4712".to_owned() }];
        let chat_name = Some("Tea\u{202e} room".to_owned());
        let chat = Some("tg:-100".to_owned());
        let call = ListedTodo { due, people, chat, chat_name, ..item("Call\nGrace") };
        let open = vec![call, item("buy milk"), item("sail")];
        let done = (0..7).map(|n| item(&format!("done {n}"))).collect();
        Self::sees(of, TodoList { open, done, faults: Vec::new() })
    }

    async fn list(&self, of: &ConversationId) -> KnowledgeResult<Vec<ChatItem>> {
        let item = |text: &str, is_done| ChatItem { text: text.to_owned(), is_done };
        Self::sees(of, vec![item("buy\nmilk", false), item("rope", true)])
    }

    async fn memory(&self, of: &ConversationId) -> KnowledgeResult<Vec<MemoryEntry>> {
        let line = |n: usize| MemoryEntry {
            path: "MEMORY.md".to_owned(),
            line: n,
            lines: 1,
            section: "Notes".to_owned(),
            text: format!("fact {n}\u{1b}[2J {}", "x".repeat(3_000)),
            author: Some("tg:4712".to_owned()),
            trust: Trust::Allowed,
            level: Taint::Raw,
            at: None,
            score: None,
        };
        Self::sees(of, (1..=60).map(line).collect())
    }
}

fn a_draft() -> PostView {
    PostView {
        id: "ab12".to_owned(),
        state: "draft".to_owned(),
        why: "it waits for approval".to_owned(),
        when: String::new(),
        next: Vec::new(),
        zone: String::new(),
        schedule: None,
        texts: vec!["Good morning!".to_owned()],
        pictures: Vec::new(),
        url: None,
        asked: None,
        at: None,
    }
}

/// A served console; stops when dropped.
struct Served {
    /// What the schedules stand in.
    schedules: Arc<dyn Ledger>,
    _folder: TempDir,
    port: u16,
    events: Events,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// It lives, and is not ready.
struct Poorly;

#[async_trait]
impl Health for Poorly {
    fn alive(&self) -> Vec<String> {
        Vec::new()
    }

    async fn ready(&self) -> Vec<String> {
        vec!["telegram is refused".to_owned(), "store: it is gone".to_owned()]
    }

    async fn metrics(&self) -> std::result::Result<String, std::fmt::Error> {
        Ok("# EOF\n".to_owned())
    }
}

impl Served {
    async fn new(ledger: Shelf) -> Self {
        let events = Events::default();
        let folder = tempfile::tempdir().unwrap();
        let schedules = selkie_store::open(folder.path()).unwrap();
        let console = Console {
            ledger: Arc::new(ledger),
            schedules: Arc::clone(&schedules) as _,
            post_url: Arc::new(|to, message| Some(format!("https://{}/{message}", to.key()))),
            posts: Arc::new(|| Box::pin(async { Ok(vec![a_draft()]) })),
            knowledge: Arc::new(Notes),
            clock: Arc::new(ManualClock::at(DateTime::UNIX_EPOCH)),
            syncs: Arc::new(|| 3),
            explain: Arc::new(|facts| Explanation {
                setting: format!("{} · {}", facts.place.name(), facts.trust.name()),
                there: vec![ToolLine {
                    asks: Vec::new(),
                    name: "think".to_owned(),
                    class: "note".to_owned(),
                    group: "planning".to_owned(),
                    runtime: false,
                    summary: "Thinks.".to_owned(),
                }],
                hidden: vec![HiddenLine {
                    name: "bash".to_owned(),
                    class: "exec".to_owned(),
                    reasons: vec!["exec is closed in groups".to_owned()],
                }],
            }),
            events: events.clone(),
            health: Arc::new(Poorly),
            channels: Arc::new(|| {
                vec![ChannelView {
                    name: "telegram".to_owned(),
                    account: "tg:8".to_owned(),
                    state: "listening".to_owned(),
                }]
            }),
            version: "0.1.0",
            model: Live::of("main (offline)"),
            wall: Wall::default().origin("http://127.0.0.1:1"),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(console.serve(listener, stop.clone()));
        tasks.close();
        Self { schedules, _folder: folder, port, events, stop, tasks }
    }

    async fn send(&self, line: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let request = format!("{line} HTTP/1.1\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Returns status, head and body.
    async fn ask(&self, line: &str, headers: &str) -> (u16, String, Value) {
        let mut stream = self.send(line, &format!("connection: close\r\n{headers}")).await;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), serde_json::from_str(body).unwrap_or(Value::Null))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.ask(&format!("GET {path}"), "host: localhost\r\n").await;
        (status, body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn served() -> Served {
    Served::new(Shelf::default()).await
}

#[tokio::test]
async fn status_tells_counts_channels_and_health() {
    let (status, body) = served().await.get("/v1/status").await;
    assert_eq!(status, 200);
    insta::assert_json_snapshot!(body, @r#"
    {
      "version": "0.1.0",
      "model": "main (offline)",
      "healthy": true,
      "problem": null,
      "counts": {
        "inbox": 3,
        "waiting": 0,
        "running": 0,
        "parked": 0,
        "queued": 0,
        "sending": 0,
        "unclear": 0
      },
      "store_syncs": 3,
      "channels": [
        {
          "name": "telegram",
          "account": "tg:8",
          "state": "listening"
        }
      ],
      "config": {
        "restart_due": [],
        "not_loaded": null
      }
    }
    "#);
}

#[tokio::test]
async fn the_address_alone_says_what_there_is() {
    let served = served().await;
    let mut stream = served.send("GET /", "host: localhost\r\nconnection: close\r\n").await;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    for path in ["/livez", "/readyz", "/metrics", "/v1/status", "/v1/events"] {
        assert!(text.contains(&format!("  {path}")), "{path}: {text}");
    }
    let paths = text.lines().map(str::trim).filter(|line| line.starts_with("/v1/"));
    for path in paths.filter(|path| *path != "/v1/events") {
        let path =
            path.replace("{key}", "tg:-100:7").replace("{id}", "7").replace("{message}", "7");
        let (_, body) = served.get(&path).await;
        let says = body["error"].as_str().unwrap_or_default();
        assert!(!says.starts_with("no such page"), "{path}: {body}");
    }
    // The wall is the same as everywhere.
    assert_eq!(served.ask("GET /", "host: example.org\r\n").await.0, 403);
    assert_eq!(served.ask("POST /", "host: localhost\r\n").await.0, 405);
}

#[tokio::test]
async fn a_broken_ledger_is_a_status_and_a_fault_elsewhere() {
    let served = Served::new(Shelf { broken: true, silent: false }).await;
    let (status, body) = served.get("/v1/status").await;
    assert_eq!((status, &body["healthy"]), (200, &Value::Bool(false)));
    assert!(body["problem"].as_str().unwrap().contains("disk I/O error"));
    let (status, body) = served.get("/v1/tasks").await;
    assert_eq!(status, 503);
    assert!(body["error"].as_str().unwrap().contains("ask again"));
}

#[tokio::test]
async fn a_ledger_that_says_nothing_is_a_status_too() {
    let served = Served::new(Shelf { broken: false, silent: true }).await;
    let (status, body) = served.get("/v1/status").await;
    assert_eq!((status, &body["healthy"]), (200, &Value::Bool(false)));
    assert_eq!(body["problem"], "the store has not answered for 3 s");
}

#[tokio::test]
async fn lists_carry_readable_keys_and_keep_to_the_limit() {
    let served = served().await;
    let (_, body) = served.get("/v1/conversations?limit=1").await;
    assert_eq!(body.as_array().unwrap().len(), 1);
    assert_eq!((&body[0]["key"], &body[0]["id"]), (&"tg:-100:7".into(), &"tg:8|tg:-100:7".into()));
    let (_, body) = served.get("/v1/tasks").await;
    assert_eq!(body[0]["key"], "tg:-100:7");
    let (status, body) = served.get("/v1/tasks?limit=many").await;
    assert_eq!((status, &body["error"]), (400, &"limit must be a number from 1 to 500".into()));
    let (_, body) = served.get("/v1/conversations?limit=0").await;
    assert_eq!(body.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_conversation_is_found_by_its_key() {
    let served = served().await;
    let (status, body) = served.get("/v1/conversations/tg%3A-100%3A7/tasks").await;
    assert_eq!((status, &body[0]["id"]), (200, &7.into()));
    let (status, body) = served.get("/v1/conversations/tg%3A8%7Ctg%3A4711/tasks").await;
    assert_eq!((status, body), (200, Value::Array(Vec::new())));
    let (status, body) = served.get("/v1/conversations/tg%3A4711/tasks").await;
    assert_eq!(status, 400);
    insta::assert_snapshot!(body["error"].as_str().unwrap(), @r#""tg:4711" names several conversations: write "tg:8|tg:4711" or "tg:9|tg:4711""#);
    let (status, body) = served.get("/v1/conversations/tg%3A1/tasks").await;
    assert_eq!(status, 404);
    insta::assert_snapshot!(body["error"].as_str().unwrap(), @r#"there is no conversation "tg:1": see /v1/conversations"#);
}

#[tokio::test]
async fn what_a_path_or_a_query_cannot_mean_is_a_fault_like_others() {
    let served = served().await;
    let of = ["tasks", "questions", "contacts", "todos", "memory"];
    let conversations = of.map(|what| format!("/v1/conversations/%ff/{what}"));
    let others = [
        "/v1/tasks/%ff",
        "/v1/tasks/%ff/shape",
        "/v1/tasks/%ff/approvals",
        "/v1/schedules/%ff/times",
        "/v1/trace/%ff",
        "/v1/tasks?limit=%ff",
    ];
    for path in conversations.into_iter().chain(others.map(str::to_owned)) {
        let (status, body) = served.get(&path).await;
        assert!(status == 400 && body["error"].is_string(), "{path}: {status} {body}");
    }
}

#[tokio::test]
async fn a_task_is_told_with_its_shape() {
    let served = served().await;
    let (_, body) = served.get("/v1/tasks/7").await;
    assert_eq!((&body["state"], &body["facts"]["trust"]), (&"done".into(), &"owner".into()));
    let (_, body) = served.get("/v1/tasks/7/shape").await;
    assert_eq!(body["setting"], "cli · owner");
    assert_eq!(body["hidden"][0]["reasons"][0], "exec is closed in groups");
    let (_, body) = served.get("/v1/tasks/7/approvals").await;
    assert_eq!((&body[0]["tool"], &body[0]["state"]), (&"write_file".into(), &"open".into()));
    assert_eq!(body[0]["asked"][0]["key"], "tg:1");
    assert_eq!(body[0]["hash"], Value::Null, "nothing to decide it by");
    assert_eq!(body, served.get("/v1/approvals").await.1);
    for (path, status) in
        [("/v1/tasks/8", 404), ("/v1/tasks/8/shape", 404), ("/v1/tasks/x", 400), ("/v1/no", 404)]
    {
        let (got, body) = served.get(path).await;
        assert_eq!(got, status, "{path}");
        assert!(body["error"].as_str().unwrap().contains("/v1/tasks"), "{path}");
    }
    assert_eq!(served.get("/v1/trace/4711").await.0, 404);
}

#[tokio::test]
async fn foreign_hosts_origins_and_methods_stay_outside() {
    let served = served().await;
    let (status, _, body) = served.ask("GET /v1/tasks", "host: evil.example\r\n").await;
    assert_eq!(status, 403);
    assert!(body["error"].as_str().unwrap().contains("loopback only"));
    let (status, _, _) = served.ask("POST /v1/tasks", "host: localhost\r\n").await;
    assert_eq!(status, 405);
    let cors = "access-control-allow-origin: http://127.0.0.1:1\r\n";
    let from = |origin| format!("host: localhost\r\norigin: {origin}\r\n");
    let (_, head, _) = served.ask("GET /v1/tasks", &from("http://127.0.0.1:1")).await;
    assert!(format!("{head}\r\n").contains(cors), "{head}");
    for origin in ["http://127.0.0.1:11", "http://evil.example", "null"] {
        let (status, head, _) = served.ask("GET /v1/tasks", &from(origin)).await;
        assert_eq!(status, 403, "{origin}");
        assert!(!head.contains("access-control-allow-origin"), "{origin}: {head}");
    }
}

/// Reads lines until one of data comes.
async fn data(lines: &mut tokio::io::Lines<BufReader<TcpStream>>) -> Option<Value> {
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(json) = line.strip_prefix("data: ") {
            return Some(serde_json::from_str(json).unwrap());
        }
    }
    None
}

/// The head has arrived: from now on the listener hears everything.
async fn listening(served: &Served) -> tokio::io::Lines<BufReader<TcpStream>> {
    let stream = served.send("GET /v1/events", "host: localhost\r\n").await;
    let mut lines = BufReader::new(stream).lines();
    while !lines.next_line().await.unwrap().unwrap().is_empty() {}
    lines
}

fn heard(inbox: i64) -> Event {
    Event::Received { conversation: id("tg:8", "tg:4711"), inbox: InboxId(inbox) }
}

#[tokio::test]
async fn happenings_arrive_and_the_stream_ends_when_the_daemon_stops() {
    let served = served().await;
    let mut lines = listening(&served).await;
    served.events.emit(|| heard(1));
    served.events.emit(|| Event::Wrote { task: TaskId(7), text: "a\nb".to_owned() });
    let first = data(&mut lines).await.unwrap();
    insta::assert_snapshot!(first, @r#"{"key":"tg:4711","happening":"heard","conversation":"tg:8|tg:4711","inbox":1}"#);
    let second = data(&mut lines).await.unwrap();
    insta::assert_snapshot!(second, @r#"{"happening":"wrote","task":7,"text":"a\nb"}"#);
    served.stop.cancel();
    assert_eq!(data(&mut lines).await, None);
    served.tasks.wait().await;
}

#[tokio::test]
async fn listeners_leave_room_for_questions() {
    let served = served().await;
    let mut listeners = Vec::new();
    for _ in 0..32 {
        listeners.push(listening(&served).await);
    }
    let mut one_more =
        BufReader::new(served.send("GET /v1/events", "host: localhost\r\n").await).lines();
    let status = one_more.next_line().await.unwrap().unwrap();
    assert!(status.contains("503"), "{status}");
    let (_, body) = served.get("/v1/events").await;
    assert!(body["error"].as_str().unwrap().contains("end one of them first"), "{body}");
    let mut asked =
        BufReader::new(served.send("GET /v1/status", "host: localhost\r\n").await).lines();
    assert!(asked.next_line().await.unwrap().unwrap().contains("200"));
}

#[tokio::test(flavor = "current_thread")]
async fn a_listener_that_lags_is_told_so() {
    let served = served().await;
    let mut lines = listening(&served).await;
    // One thread: the server cannot read while this loop tells more than the channel holds.
    for inbox in 0..5_000 {
        served.events.emit(|| heard(inbox));
    }
    let first = data(&mut lines).await.unwrap();
    assert_eq!(first["happening"], "missed");
    assert!(first["count"].as_u64().unwrap() > 0);
    assert_eq!(data(&mut lines).await.unwrap()["happening"], "heard");
}

/// Every day at eight, for somebody in that conversation.
fn daily() -> NewSchedule {
    let (account, key) = ("tg:8", "tg:4711");
    NewSchedule {
        key: "a".to_owned(),
        location: Location {
            conversation: id(account, key),
            place: PlaceId::new(AccountId::new(account), key),
            title: String::new(),
        },
        schedule: Schedule {
            v: Schedule::VERSION,
            title: "News".to_owned(),
            when: "0 8 * * *".to_owned(),
            zone: "Europe/Berlin".to_owned(),
            action: Action::Prompt { prompt: "what is new?".to_owned(), model: None, effort: None },
            maker: Maker {
                person: PersonId::new("tg:4711"),
                name: String::new(),
                trust: Trust::Owner,
                taint: Taint::Clean,
                is_cleared: true,
            },
            terms: Terms::default(),
        },
        next_at: Some(DateTime::UNIX_EPOCH + TimeDelta::hours(7)),
        most: 1,
        now: DateTime::UNIX_EPOCH,
    }
}

#[tokio::test]
async fn schedules_are_told_with_their_next_times_and_their_history() {
    let console = Served::new(Shelf::default()).await;
    assert_eq!(console.get("/v1/schedules").await, (200, serde_json::json!([])));
    let KeepResult::New(row) = console.schedules.schedule(daily()).await.unwrap() else { panic!() };
    let skips = FiringRecord {
        of: row.version,
        turn: Some(Turn {
            at: row.next_at.unwrap(),
            does: OccurrenceAction::Skip("nobody listens".to_owned()),
        }),
        missed: Vec::new(),
        last: None,
        next_at: Some(DateTime::UNIX_EPOCH + TimeDelta::hours(31)),
        wait: None,
        by_hand: false,
    };
    let instance = Instance("a".to_owned());
    let fuse = Fuse { permits: 0, instance, now: DateTime::UNIX_EPOCH };
    console.schedules.fire(skips, fuse).await.unwrap();
    let (status, told) = console.get("/v1/schedules").await;
    let told = &told[0];
    assert_eq!((status, &told["key"], &told["name"]), (200, &"tg:4711".into(), &"News".into()));
    assert_eq!(told["next"].as_array().unwrap().len(), 5);
    assert_eq!(told["next"][0], "1970-01-02T08:00:00+01:00");
    assert_eq!((&told["state"], &told["does"]), (&"active".into(), &"prompt".into()));
    assert_eq!((&told["to"], &told["lateness"]), (&"tg:4711".into(), &"2h".into()));
    let (status, times) = console.get(&format!("/v1/schedules/{}/times", row.id())).await;
    assert_eq!((status, &times[0]["state"]), (200, &"skipped".into()));
    assert_eq!(
        (&times[0]["at"], &times[0]["zone"], &times[0]["why"]),
        (&"1970-01-01T08:00:00+01:00".into(), &"Europe/Berlin".into(), &"nobody listens".into())
    );
    assert_eq!(console.get("/v1/schedules/9/times").await.0, 404);
    let (status, fault) = console.get("/v1/schedules/x/times").await;
    assert_eq!(status, 400);
    assert!(fault["error"].as_str().unwrap().contains("not a schedule's number"), "{fault}");
    let gone = console.schedules.reschedule(Version { number: 2, ..row.version }, Change::Remove);
    assert!(gone.await.unwrap().is_some());
    assert_eq!(console.get("/v1/schedules").await.1, serde_json::json!([]));
}

#[tokio::test]
async fn a_cut_list_of_schedules_says_how_many_there_are_and_counts_none_that_was_removed() {
    let console = Served::new(Shelf::default()).await;
    for n in 0..3 {
        let new = NewSchedule { key: format!("n{n}"), most: 9, ..daily() };
        let KeepResult::New(row) = console.schedules.schedule(new).await.unwrap() else { panic!() };
        if n == 0 {
            console.schedules.reschedule(row.version, Change::Remove).await.unwrap().unwrap();
        }
    }
    let (status, head, body) =
        console.ask("GET /v1/schedules?limit=1", "host: localhost\r\n").await;
    assert_eq!((status, body.as_array().unwrap().len()), (200, 1));
    assert!(head.contains("x-total-count: 2"), "{head}");
}

#[tokio::test]
async fn a_post_of_a_schedule_tells_how_it_stands_and_its_address() {
    let console = Served::new(Shelf::default()).await;
    let to = ConversationId::new(AccountId::new("x:1"), "x:ada");
    let post = Post { texts: vec!["Good morning!".to_owned()], ..Post::default() };
    let mut new = daily();
    new.schedule.action = Action::Post { to: to.clone(), post: post.clone() };
    let KeepResult::New(row) = console.schedules.schedule(new).await.unwrap() else { panic!() };
    let outbound = Outbound::new(to.clone(), Body::Post(post));
    let part = Part::new(to, &serde_json::json!({}), "Good morning!");
    let draft = Draft { outbound, parts: vec![part], expires_at: None, month: None };
    let says = FiringRecord {
        of: row.version,
        turn: Some(Turn { at: row.next_at.unwrap(), does: OccurrenceAction::Say(Box::new(draft)) }),
        missed: Vec::new(),
        last: Some(LastTime { at: row.next_at.unwrap(), local: "1970-01-01T08:00:00".to_owned() }),
        next_at: None,
        wait: None,
        by_hand: false,
    };
    let instance = Instance("a".to_owned());
    let fuse = Fuse { permits: 0, instance, now: DateTime::UNIX_EPOCH };
    let FiringResult::Said(queued) = console.schedules.fire(says, fuse).await.unwrap() else {
        panic!()
    };
    let shown = async || {
        let (status, times) = console.get(&format!("/v1/schedules/{}/times", row.id())).await;
        assert_eq!(status, 200);
        times[0]["post"].clone()
    };
    let posting = serde_json::json!({ "state": "posting", "why": "", "url": null });
    assert_eq!(shown().await, posting);
    let receipt = Receipt { message: Some(MessageRef::new("77")), ..Receipt::default() };
    console.schedules.settle(queued.parts[0].id, Outcome::Sent(receipt)).await.unwrap();
    let posted = serde_json::json!({ "state": "posted", "why": "", "url": "https://x:ada/77" });
    assert_eq!(shown().await, posted);
    let (status, posts) = console.get("/v1/posts").await;
    assert_eq!(
        (status, &posts[0]["state"], &posts[0]["id"]),
        (200, &"draft".into(), &"ab12".into())
    );
}

/// The conversation of the group, as a key in a path.
const GROUP: &str = "/v1/conversations/tg%3A-100%3A7";

#[tokio::test]
async fn what_a_conversation_knows_is_told_harmlessly() {
    let console = served().await;
    let (_, body) = console.get(&format!("{GROUP}/contacts")).await;
    insta::assert_json_snapshot!(body, @r#"
    {
      "sees_all": false,
      "contacts": [
        {
          "name": "Gr⟨U+202E⟩ace",
          "also": [
            "<b>Hopper</b>"
          ],
          "ids": [
            "tg:4712"
          ],
          "last_interaction_at": "1970-01-01T00:00:00Z"
        },
        {
          "name": "tg:4713",
          "also": [],
          "ids": [
            "tg:4713"
          ],
          "last_interaction_at": "1970-01-01T00:00:00Z"
        }
      ],
      "faults": [
        "contacts/ACTIVE.md, line 3"
      ]
    }
    "#);
    let (_, body) = console.get(&format!("{GROUP}/todos?limit=1")).await;
    insta::assert_json_snapshot!(body["open"], @r#"
    [
      {
        "text": "Call⟨U+000A⟩Grace",
        "due": "2026-12-24 18:00",
        "people": [
          {
            "name": "Grace",
            "id": "tg:4712"
          }
        ],
        "chat": "tg:-100",
        "chat_name": "Tea⟨U+202E⟩ room",
        "created_at": null,
        "done_at": null
      }
    ]
    "#);
    assert_eq!(body["list"], serde_json::json!([{ "text": "buy⟨U+000A⟩milk", "is_done": false }]));
    let (_, body) = console.get(&format!("{GROUP}/memory?limit=1")).await;
    let line = &body["lines"][0];
    assert_eq!((&line["number"], &line["line"]), (&60.into(), &60.into()), "the newest");
    assert_eq!((&line["trust"], &line["level"]), (&"allowed".into(), &"raw".into()));
    let text = line["text"].as_str().unwrap();
    assert!(text.starts_with("fact 60⟨U+001B⟩[2J xxx") && text.ends_with('…'), "{text}");
    assert!(text.chars().count() < 2_050, "a line that goes on and on is cut");
}

#[tokio::test]
async fn lists_of_what_is_known_are_cut_and_say_how_many_there_are() {
    let console = served().await;
    let ask = async |what: &str| {
        let (status, head, body) =
            console.ask(&format!("GET {GROUP}/{what}"), "host: localhost\r\n").await;
        assert_eq!(status, 200, "{what}");
        (head, body)
    };
    let (head, body) = ask("contacts?limit=1").await;
    assert!(head.contains("x-total-count: 2"), "{head}");
    assert_eq!(body["contacts"].as_array().unwrap().len(), 1);
    let (head, body) = ask("todos").await;
    assert!(head.contains("x-total-count: 3") && head.contains("x-done-count: 7"), "{head}");
    assert_eq!(body["open"].as_array().unwrap().len(), 3);
    assert_eq!(body["done"].as_array().unwrap().len(), 5, "the newest few");
    let (head, body) = ask("memory").await;
    assert!(head.contains("x-total-count: 60"), "{head}");
    assert_eq!(
        (body["lines"].as_array().unwrap().len(), &body["lines"][0]["number"]),
        (50, &11.into())
    );
    // A page of the allowed origin may read how many there are.
    let from = "host: localhost\r\norigin: http://127.0.0.1:1\r\n";
    let (_, head, _) = console.ask(&format!("GET {GROUP}/todos"), from).await;
    assert!(head.contains("access-control-expose-headers: x-total-count, x-done-count"), "{head}");
}

#[tokio::test]
async fn what_is_known_stands_behind_the_same_wall_and_says_what_is_wrong() {
    let console = served().await;
    for what in ["contacts", "todos", "memory"] {
        let path = format!("{GROUP}/{what}");
        assert_eq!(console.ask(&format!("GET {path}"), "host: evil.example\r\n").await.0, 403);
        assert_eq!(console.ask(&format!("POST {path}"), "host: localhost\r\n").await.0, 405);
        assert_eq!(console.get(&format!("{path}?limit=many")).await.0, 400);
        let path = |key: &str| format!("/v1/conversations/{key}/{what}");
        assert_eq!(console.get(&path("tg%3A1")).await.0, 404);
        let (status, body) = console.get(&path("tg%3A8%7Ctg%3A4711")).await;
        let why = "TODO.md cannot be read: disk I/O error";
        assert_eq!((status, &body["error"]), (503, &why.into()));
        let (_, body) = console.get(&path("tg%3A9%7Ctg%3A4711")).await;
        assert_eq!(body["sees_all"], true, "{what}");
    }
}

#[tokio::test]
async fn every_route_is_documented() {
    let (_, body) = served().await.get("/v1/nothing").await;
    let (_, routes) = body["error"].as_str().unwrap().split_once("there are ").unwrap();
    let page = include_str!("../docs/console.md");
    let routes: Vec<&str> = routes.split(", ").collect();
    assert!(routes.len() > 15, "{routes:?}");
    routes.iter().for_each(|route| assert!(page.contains(&format!("`{route}`")), "{route}"));
}
