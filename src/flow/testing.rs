//! A small ledger, channel and mind in memory, for the tests of flow alone.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{
    AccountId, Address, Addressed, AllowList, Attachment, Audience, Body, Channel, ConversationId,
    Cursor, Delivery, Ears, Features, Inbound, Inbox, ListenEnd, Lookup, MessageRef, Mouth,
    Outbound, Pace, Part, PersonId, PlaceId, Receipt, Redactor, Sink, Speaker, What,
};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::{Dropped, Ending};
use crate::domain::chance::Fixed;
use crate::domain::clock::SystemClock;
use crate::domain::facts::{Facts, Mode, Occasion, Trust, Where};
use crate::domain::ids::{Boot, InboxId, OutboundId, PartId, TaskId};
use crate::domain::task::{Claim, Lane, TaskState};
use crate::domain::transcript::Item;
use crate::domain::usage::Usage;
use crate::flow::account::Account;
use crate::flow::desk::Desk;
use crate::flow::intake::AccountInbox;
use crate::flow::mind::{Job, Mind};
use crate::flow::post::Post;
use crate::flow::terminal::Terminal;
use crate::flow::{Flow, Settings, Stop};
use crate::store::read::{
    Chain, ConversationRow, ConversationStatus, Counts, Read, TaskDetail, TaskRow,
};
use crate::store::{
    Accepted, Advance, Arrival, Claimed, CommandDone, CommandEffect, Committed, Disposition, Draft,
    DuePart, End, Fuse, Intake, Ledger, Notes, Outcome, Queued, Result, Said, Standing, StoreError,
    Work,
};

pub(super) fn account() -> AccountId {
    AccountId::new("tg:8")
}

/// A private message; every one has its own key.
pub(super) fn message(speaker: &str, text: &str) -> Inbound {
    Inbound {
        v: Inbound::VERSION,
        key: uuid::Uuid::now_v7().to_string(),
        conversation: ConversationId::new(account(), speaker),
        place: PlaceId::new(account(), speaker),
        title: String::new(),
        order: 0,
        at: DateTime::UNIX_EPOCH,
        speaker: Speaker {
            id: PersonId::new(speaker),
            name: String::new(),
            username: None,
            is_bot: false,
        },
        audience: Audience::Direct,
        what: What::Message,
        message: Some(MessageRef::new("1")),
        addressed: Addressed::Direct,
        text: text.to_owned(),
        command: None,
        quote: None,
        forwarded: false,
        attachments: Vec::new(),
        album: None,
        reply_window: None,
    }
}

fn facts() -> Facts {
    Facts {
        v: Facts::VERSION,
        place: Where::Channel(TestAddress.features(&ConversationId::new(account(), "tg:1"))),
        speaker: Some(PersonId::new("tg:1")),
        trust: Trust::Owner,
        untrusted_text: false,
        occasion: Occasion::Asked,
        mode: Mode::Normal,
        message: None,
        opened: Vec::new(),
        at: DateTime::UNIX_EPOCH,
    }
}

pub(super) fn claimed(task: i64, inbound: &Inbound) -> Claimed {
    let boot = Boot("b".to_owned());
    Claimed {
        claim: Claim { task: TaskId(task), number: 1, boot },
        conversation: inbound.conversation.clone(),
        place: inbound.place.clone(),
        conversation_row: 1,
        attempts: 1,
        facts: facts(),
        heard: vec![(InboxId(task), inbound.clone())],
        context: Vec::new(),
        header: None,
        transcript: Vec::new(),
        history: Vec::new(),
        undelivered: Vec::new(),
    }
}

pub(super) fn due(id: i64) -> DuePart {
    let outbound = Outbound::text(ConversationId::new(account(), "tg:1"), "hello");
    DuePart {
        id: PartId(id),
        outbound: OutboundId(id),
        part: Terminal::default().render(&outbound).remove(0),
        attempts: 0,
        not_before: None,
        expires_at: None,
        unclear: false,
        answer: true,
    }
}

/// Ids are `tg:<number>`; negative ones are groups, `:<topic>` may follow.
pub(super) struct TestAddress;

impl Address for TestAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        text.starts_with("tg:").then(|| ConversationId::new(account(), text))
    }

    fn features(&self, conversation: &ConversationId) -> Features {
        let grouped = conversation.key().starts_with("tg:-");
        Features {
            channel: "test".to_owned(),
            kind: if grouped { "group" } else { "private" }.to_owned(),
            audience: if grouped { Audience::Group } else { Audience::Direct },
            speaking: vec!["test_send_file".to_owned()],
            style: String::new(),
        }
    }
}

/// A platform that takes what it is told, but for scripted trouble.
pub(super) struct TestPlatform {
    /// Answers to the next calls; then everything is sent.
    pub(super) trouble: Mutex<VecDeque<Delivery>>,
    /// What arrived: conversation and text.
    pub(super) arrived: watch::Sender<Vec<(String, String)>>,
}

impl TestPlatform {
    pub(super) async fn wait_for(&self, count: usize) -> Vec<(String, String)> {
        let mut arrived = self.arrived.subscribe();
        let wait = arrived.wait_for(|all| all.len() >= count);
        let all = tokio::time::timeout(Duration::from_secs(20), wait).await;
        all.unwrap_or_else(|_| panic!("only {:?} arrived", self.arrived.borrow())).unwrap().clone()
    }
}

#[async_trait]
impl Mouth for TestPlatform {
    /// `a|b` is two parts.
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        let Body::Text { markdown } = &outbound.body else { return Vec::new() };
        let texts = markdown.split('|').filter(|t| !t.trim().is_empty());
        let part = |text: &str| Part {
            v: Part::VERSION,
            conversation: outbound.conversation.clone(),
            call: json!(text),
            fallback: None,
            shown: text.to_owned(),
            repeatable: false,
        };
        texts.map(part).collect()
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        if let Some(trouble) = self.trouble.lock().unwrap().pop_front() {
            return trouble;
        }
        let text = part.call.as_str().unwrap().to_owned();
        self.arrived.send_modify(|all| all.push((part.conversation.key().to_owned(), text)));
        Delivery::Sent(Receipt { message: Some(MessageRef::new("9")), note: None })
    }

    async fn lookup(&self, _part: &Part) -> Lookup {
        Lookup::Unknown
    }

    fn marked(&self, part: &Part) -> Part {
        let text = format!("{} (possibly repeated)", part.call.as_str().unwrap());
        Part { call: json!(text), ..part.clone() }
    }
}

#[async_trait]
impl Ears for TestPlatform {
    async fn listen(&self, _inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        stop.cancelled().await;
        ListenEnd::Stopped
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        _most: u64,
        sink: Sink<'_>,
    ) -> std::result::Result<u64, String> {
        if attachment.handle == "gone" {
            return Err("the platform has lost it".to_owned());
        }
        sink.write_all(attachment.handle.as_bytes()).await.map_err(|e| e.to_string())?;
        Ok(attachment.handle.len() as u64)
    }
}

/// Ends the task by what was heard.
#[derive(Default)]
pub(super) struct TestMind {
    broke: AtomicBool,
}

#[async_trait]
impl Mind for TestMind {
    async fn answer(&self, job: Job<'_>) -> std::result::Result<Ending, Dropped> {
        let text = job.heard.iter().map(|h| h.text.clone()).collect::<Vec<_>>().join("+");
        let files: Vec<String> = job.heard.iter().flat_map(|h| h.files.clone()).collect();
        if text == "hang" {
            job.cancel.cancelled().await;
            return Err(Dropped::Stopping);
        }
        if text == "break" && !self.broke.swap(true, Ordering::SeqCst) {
            return Err(Dropped::Broken("disk full".to_owned()));
        }
        assert_ne!(text, "panic", "asked for");
        let answer = match &*text {
            "silence" => String::new(),
            "speak" => {
                let body = Body::Text { markdown: "by a tool".to_owned() };
                let spoken = job.reply.say("c1.0", body).await;
                format!("{:?}", spoken.unwrap())
            }
            _ => format!("re {text}{}", files.join(" ")),
        };
        let append = vec![Item::Said { text: answer.clone() }];
        let header = "{}".to_owned();
        Ok(Ending {
            append,
            header,
            end: End::Done,
            text: answer,
            usage: Usage::default(),
            set_aside: false,
        })
    }
}

/// A running flow over the ledger in memory.
pub(super) struct House {
    pub(super) flow: Arc<Flow>,
    pub(super) desk: Arc<Desk>,
    pub(super) ledger: Arc<TestLedger>,
    pub(super) platform: Arc<TestPlatform>,
    pub(super) inbox: AccountInbox,
    tracker: TaskTracker,
    stop: Stop,
    pub(super) cache: tempfile::TempDir,
}

impl House {
    pub(super) async fn open(settings: Settings, pace: Pace) -> Self {
        let mut house = desk_with(settings, pace);
        let (tracker, stop) = (TaskTracker::new(), Stop::default());
        house.flow.start(&tracker, stop.clone()).await.unwrap();
        (house.tracker, house.stop) = (tracker, stop);
        house
    }

    pub(super) async fn hear(&self, batch: Vec<Inbound>) {
        self.inbox.accept(batch, None).await.unwrap();
    }

    /// Stops flow and waits until nothing of it runs.
    pub(super) async fn close(self) {
        self.stop.receivers.cancel();
        self.stop.work.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// A flow that is not started; owner `tg:1`, allowed `tg:2` and the group `tg:-100`.
pub(super) fn desk() -> House {
    desk_with(Settings::default(), Pace::LIFTED)
}

fn desk_with(settings: Settings, pace: Pace) -> House {
    let platform = Arc::new(TestPlatform {
        trouble: Mutex::default(),
        arrived: watch::Sender::new(Vec::new()),
    });
    let channel = Channel {
        name: "test",
        account: account(),
        ears: Some(Arc::clone(&platform) as _),
        mouth: Arc::clone(&platform) as _,
        address: Arc::new(TestAddress),
        allow: AllowList::of(["tg:2".to_owned(), "tg:-100".to_owned()]),
        pace,
        max_fetch_bytes: 1000,
    };
    let terminal = Arc::new(Terminal::default());
    let accounts: HashMap<_, _> = [channel, terminal.channel()]
        .into_iter()
        .map(|c| (c.account.clone(), Arc::new(Account::new(c))))
        .collect();
    let (post, letterboxes) = Post::for_accounts(accounts.keys().cloned());
    let cache = tempfile::tempdir().unwrap();
    let ledger = Arc::new(TestLedger::default());
    let desk = Arc::new(Desk {
        ledger: Arc::clone(&ledger) as _,
        settings,
        clock: Arc::new(SystemClock),
        chance: Arc::new(Fixed(0.0)),
        crash: Arc::default(),
        happenings: Default::default(),
        boot: Boot("b".to_owned()),
        owners: vec![PersonId::new("tg:1")],
        accounts,
        post,
        standings: Default::default(),
        health: Default::default(),
        tracker: TaskTracker::new(),
        stop: Stop::default(),
        state_dir: cache.path().into(),
        cache_dir: cache.path().into(),
        redactor: Redactor::default(),
        processes: Arc::default(),
        version: "test",
    });
    let shapes = Arc::new(|_: &Facts| unreachable!("no test of flow alone asks for a shape"));
    let flow = Arc::new(Flow::assemble(
        Arc::clone(&desk),
        letterboxes,
        terminal,
        Arc::new(TestMind::default()),
        shapes,
    ));
    let inbox = AccountInbox {
        intake: Arc::clone(&flow.intake),
        account: Arc::clone(&desk.accounts[&account()]),
    };
    let (tracker, stop) = (TaskTracker::new(), Stop::default());
    House { flow, desk, ledger, platform, inbox, tracker, stop, cache }
}

/// The ledger's verbs over plain maps.
#[derive(Default)]
pub(super) struct TestLedger {
    pub(super) broken: AtomicBool,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    keys: HashSet<String>,
    rows: i64,
    pub(super) dispositions: Vec<String>,
    pub(super) tasks: BTreeMap<i64, (Claimed, TaskState)>,
    done_commands: HashSet<i64>,
    pub(super) parts: BTreeMap<i64, (DuePart, &'static str)>,
    once: HashSet<String>,
    pub(super) penalties: Vec<String>,
}

impl State {
    fn queue(&mut self, draft: Draft, answer: bool) -> Queued {
        let outbound = OutboundId(self.parts.len() as i64 + 1);
        let parts: Vec<DuePart> = draft
            .parts
            .into_iter()
            .enumerate()
            .map(|(i, part)| DuePart {
                id: PartId(outbound.0 + i as i64),
                outbound,
                part,
                attempts: 0,
                not_before: None,
                expires_at: draft.expires_at,
                unclear: false,
                answer,
            })
            .collect();
        self.parts.extend(parts.iter().map(|p| (p.id.0, (p.clone(), "queued"))));
        Queued { outbound, parts }
    }

    fn claim(&mut self, conversation: &ConversationId) -> Option<Claimed> {
        let here = |c: &Claimed| c.conversation == *conversation;
        if self.tasks.values().any(|(c, s)| here(c) && *s == TaskState::Running) {
            return None;
        }
        let (claimed, state) =
            self.tasks.values_mut().find(|(c, s)| here(c) && *s == TaskState::Waiting)?;
        *state = TaskState::Running;
        Some(claimed.clone())
    }

    fn running(&self, conversation: &ConversationId) -> Option<TaskId> {
        let mut all = self.tasks.values();
        let found = all.find(|(c, s)| c.conversation == *conversation && *s == TaskState::Running);
        found.map(|(c, _)| c.claim.task)
    }
}

impl TestLedger {
    fn state(&self) -> Result<std::sync::MutexGuard<'_, State>> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Broken("disk full".to_owned()));
        }
        Ok(self.state.lock().unwrap())
    }

    pub(super) fn part_states(&self) -> Vec<&'static str> {
        self.state.lock().unwrap().parts.values().map(|(_, s)| *s).collect()
    }
}

#[async_trait]
impl Intake for TestLedger {
    async fn accept(&self, batch: Vec<Arrival>, _: Option<Cursor>, fuse: Fuse) -> Result<Accepted> {
        let mut s = self.state()?;
        let mut out = Accepted::default();
        let mut lanes = Vec::new();
        for Arrival { inbound, disposition } in batch {
            if !s.keys.insert(inbound.key.clone()) {
                out.known += 1;
                continue;
            }
            s.rows += 1;
            let row = InboxId(s.rows);
            out.fresh.push(row);
            s.dispositions.push(format!("{disposition:?}"));
            match disposition {
                Disposition::Task(new) => {
                    let mut task = claimed(row.0, &inbound);
                    task.facts = new.facts;
                    task.attempts = if inbound.text == "poison" { 4 } else { 1 };
                    lanes.push(inbound.conversation.clone());
                    s.tasks.insert(row.0, (task, TaskState::Waiting));
                }
                Disposition::Command => out.commands.push((row, inbound)),
                _ => {}
            }
        }
        for lane in lanes {
            if out.claimed.len() < fuse.permits {
                out.claimed.extend(s.claim(&lane));
            } else if s.running(&lane).is_none() {
                out.ready.push(Lane::of(&lane));
            }
        }
        Ok(out)
    }

    async fn cursor(&self, _: &AccountId) -> Result<Option<(Cursor, DateTime<Utc>)>> {
        Ok(None)
    }

    async fn command(&self, row: InboxId, effect: CommandEffect) -> Result<Option<CommandDone>> {
        let mut s = self.state()?;
        if !s.done_commands.insert(row.0) {
            return Ok(None);
        }
        let (draft, stopping) = match effect {
            CommandEffect::Say(draft) => (draft, None),
            CommandEffect::Reset(draft) => {
                let running = s.running(&draft.outbound.conversation);
                (Some(draft), running)
            }
            CommandEffect::Stop { stopped, idle } => {
                match s.running(&stopped.outbound.conversation) {
                    Some(task) => (Some(stopped), Some(task)),
                    None => (Some(idle), None),
                }
            }
        };
        let queued = draft.map(|d| s.queue(d, true));
        Ok(Some(CommandDone { stopping: stopping.into_iter().collect(), queued }))
    }

    async fn open_commands(&self) -> Result<Vec<(InboxId, Inbound)>> {
        Ok(Vec::new())
    }

    async fn say_once(&self, key: &str, draft: Draft) -> Result<Option<Queued>> {
        let mut s = self.state()?;
        Ok(s.once.insert(key.to_owned()).then(|| s.queue(draft, false)))
    }
}

#[async_trait]
impl Work for TestLedger {
    async fn ready(&self, _: DateTime<Utc>, _: usize) -> Result<Vec<Lane>> {
        let s = self.state()?;
        let waiting = s.tasks.values().filter(|(_, state)| *state == TaskState::Waiting);
        let idle = waiting.filter(|(c, _)| s.running(&c.conversation).is_none());
        Ok(idle.map(|(c, _)| Lane::of(&c.conversation)).collect())
    }

    async fn next_wake(&self, _: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        Ok(None)
    }

    async fn claim(&self, lane: &Lane, _: &Boot, _: DateTime<Utc>) -> Result<Option<Claimed>> {
        Ok(self.state()?.claim(&ConversationId::from_full(&lane.0).unwrap()))
    }

    async fn commit(&self, claim: &Claim, advance: Advance) -> Result<Committed> {
        let mut s = self.state()?;
        let Advance::Finish { append, end, say, hand_over, .. } = advance else {
            return Ok(Committed::Continue { stop: false });
        };
        let (task, state) = s.tasks.get_mut(&claim.task.0).unwrap();
        if *state != TaskState::Running {
            return Ok(Committed::Lost);
        }
        task.transcript.extend(append);
        *state = end.state();
        let conversation = task.conversation.clone();
        let queued = say.into_iter().map(|d| s.queue(d, true)).collect();
        let next = if hand_over { s.claim(&conversation).map(Box::new) } else { None };
        Ok(Committed::Ended { queued, next })
    }

    async fn say(&self, _: &Claim, _: &str, draft: Draft) -> Result<Said> {
        Ok(Said::New(self.state()?.queue(draft, false)))
    }

    async fn reclaim(&self, _: &Boot, _: DateTime<Utc>) -> Result<u64> {
        self.state().map(|_| 0)
    }
}

#[async_trait]
impl crate::store::Delivery for TestLedger {
    async fn due(&self, account: &AccountId, _: &Boot) -> Result<Vec<DuePart>> {
        let s = self.state()?;
        let queued = s.parts.values().filter(|(p, state)| {
            matches!(*state, "queued" | "unclear") && p.part.conversation.account() == account
        });
        Ok(queued.map(|(p, _)| p.clone()).collect())
    }

    async fn sending(&self, part: PartId, _: &Boot) -> Result<bool> {
        let mut s = self.state()?;
        let (_, state) = s.parts.get_mut(&part.0).unwrap();
        let may = *state == "queued";
        if may {
            *state = "sending";
        }
        Ok(may)
    }

    async fn settle(&self, part: PartId, outcome: Outcome) -> Result<Standing> {
        let mut s = self.state()?;
        let (state, standing) = match outcome {
            Outcome::Sent(r) => ("sent", Standing::Delivered { message: r.message }),
            Outcome::Refused { reason, close } => {
                if close {
                    let lane = s.parts[&part.0].0.part.conversation.clone();
                    for (p, state) in s.parts.values_mut() {
                        if *state == "queued" && p.part.conversation == lane {
                            *state = "refused";
                        }
                    }
                }
                ("refused", Standing::Refused { reason })
            }
            Outcome::Unclear { .. } | Outcome::LeftUnclear => ("unclear", Standing::Unclear),
            Outcome::Expired => ("expired", Standing::Expired),
            Outcome::Retry { .. } | Outcome::Repeat(_) | Outcome::Moved { .. } => {
                ("queued", Standing::Open)
            }
        };
        s.parts.get_mut(&part.0).unwrap().1 = state;
        Ok(standing)
    }

    async fn penalty(&self, _: &AccountId, scope: &str, _: DateTime<Utc>) -> Result<()> {
        self.state()?.penalties.push(scope.to_owned());
        Ok(())
    }

    async fn penalties(
        &self,
        _: &AccountId,
        _: DateTime<Utc>,
    ) -> Result<Vec<(String, DateTime<Utc>)>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Notes for TestLedger {
    async fn todos(&self, _: &ConversationId) -> Result<Option<String>> {
        Ok(None)
    }

    async fn set_todos(&self, _: &ConversationId, _: String) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Read for TestLedger {
    async fn conversations(&self, _: usize) -> Result<Vec<ConversationRow>> {
        Ok(Vec::new())
    }

    async fn tasks(&self, _: Option<&ConversationId>, _: usize) -> Result<Vec<TaskRow>> {
        Ok(Vec::new())
    }

    async fn task(&self, id: TaskId) -> Result<Option<TaskDetail>> {
        let s = self.state()?;
        Ok(s.tasks.get(&id.0).map(|(c, state)| TaskDetail {
            row: TaskRow {
                id,
                conversation: c.conversation.clone(),
                state: *state,
                why: None,
                attempts: c.attempts,
                usage: Usage::default(),
                created_at: DateTime::UNIX_EPOCH,
                ended_at: None,
                asked: String::new(),
            },
            facts: c.facts.clone(),
            header: None,
            transcript: c.transcript.clone(),
        }))
    }

    async fn trace(&self, _: &str) -> Result<Vec<Chain>> {
        Ok(Vec::new())
    }

    async fn counts(&self) -> Result<Counts> {
        Ok(Counts::default())
    }

    async fn status(&self, conversation: &ConversationId) -> Result<ConversationStatus> {
        let running = self.state()?.running(conversation).map(|t| (t, DateTime::UNIX_EPOCH));
        Ok(ConversationStatus { running, ..ConversationStatus::default() })
    }

    async fn healthy(&self) -> Result<()> {
        self.state().map(|_| ())
    }
}

impl Ledger for TestLedger {
    fn syncs(&self) -> u64 {
        0
    }

    fn lag(&self) -> Duration {
        Duration::ZERO
    }
}
