//! A small channel and runner in memory over the real store, for the tests of flow alone.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use selkie_channel_core::{
    AccountId, Address, AddressReason, AllowKeys, AllowList, Audience, Body, Channel,
    ConversationId, Features, Inbound, Inbox, MessageRef, Outbound, Pace, PersonId, PlaceId,
    Redactor, Sender, Speaker,
};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::clocks::Clocks;
use crate::delivery::account::Account;
use crate::delivery::accounts::Accounts;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::post_files::PostFiles;
use crate::delivery::runtime::{Runtime, Stop};
use crate::delivery::storage::Storage;
use crate::flow::Flow;
use crate::flow::rooms::Rooms;
use crate::intake::policy::Rules;
use crate::work::acquaintances::Acquaintances;
use crate::work::agent_book::AgentBook;
use crate::work::agents::Agents;
use crate::work::limits::Limits;
use crate::work::persona::Persona;
use crate::work::rights::Rights;
use crate::work::running_tasks::RunningTasks;
use crate::work::sessions::SessionBook;
use crate::work::studio::{Studio, StudioConfig};
use crate::work::timetable::BookTimetable;
use crate::work::workspace::Workspaces;
use selkie_agent::{DriveEnd, DriveOutcome, DropReason};

use crate::intake::listen::Pauses;
use crate::intake::receive::AccountInbox;
use crate::intake::settings::Settings;
use crate::terminal::channel::Terminal;
use crate::work::runner::{Job, TaskRunner};
use selkie_domain::chance::FixedChance;
use selkie_domain::choice::Choice;
use selkie_domain::clock::SystemClock;
use selkie_domain::facts::{Facts, Trust, Where};
use selkie_domain::ids::{InboxId, Instance, OutboundId, PartId, TaskId};
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::task::{Claim, Lane, TaskState};
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;
use selkie_memory::{MemoryBook, MemoryParts};
use selkie_people::files::Files;
use selkie_people::forms::Forms;
use selkie_schedule::book::{Book, BookParts};
use selkie_schedule::sleeper::Sleeper;
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::Zones;
use selkie_skills::SkillBook;
use selkie_store::conformance;
pub(crate) use selkie_store::conformance::account;
use selkie_store::read::Reader;
use selkie_store::sql::SqlLedger;
use selkie_store::sqlite::Sqlite;
use selkie_store::{DuePart, End, TaskClaim};

mod asking;
mod deciding;
mod platform;
mod swapping;

use asking::asked;
pub(crate) use deciding::TestDecider;
pub(crate) use platform::TestPlatform;
use swapping::swapped;

/// Whom nobody has met yet.
pub(crate) fn acquaintances(context: &Context) -> Arc<Acquaintances> {
    let clock = Arc::clone(&context.runtime.clock);
    let files = Files::new("/nowhere".into(), Arc::clone(&clock));
    let storage = Arc::clone(&context.storage);
    Arc::new(Acquaintances::new(storage, Arc::new(files), Forms::default(), clock))
}

/// A private message; every one has its own key.
pub(crate) fn message(speaker: &str, text: &str) -> Inbound {
    let said = conformance::message(1, 0);
    Inbound {
        key: uuid::Uuid::now_v7().to_string(),
        conversation: ConversationId::new(account(), speaker),
        place: PlaceId::new(account(), speaker),
        title: String::new(),
        at: DateTime::UNIX_EPOCH,
        speaker: Speaker { id: PersonId::new(speaker), name: String::new(), ..said.speaker },
        audience: Audience::Direct,
        message: Some(MessageRef::new("1")),
        addressed: AddressReason::Direct,
        text: text.to_owned(),
        ..said
    }
}

fn facts() -> Facts {
    Facts {
        place: Where::Channel(TestAddress.features(&ConversationId::new(account(), "tg:1"))),
        trust: Trust::Owner,
        ..conformance::facts()
    }
}

pub(crate) fn claimed(task: i64, inbound: &Inbound) -> TaskClaim {
    let instance = Instance("b".to_owned());
    TaskClaim {
        claim: Claim { task: TaskId(task), number: 1, instance },
        conversation: inbound.conversation.clone(),
        place: inbound.place.clone(),
        lane: Lane::of(&inbound.conversation),
        conversation_row: 1,
        workspace: None,
        place_row: 1,
        attempts: 1,
        facts: facts(),
        chosen: Choice::default(),
        agent: None,
        reshaped: false,
        heard: vec![(InboxId(task), inbound.clone())],
        words: None,
        context: Vec::new(),
        header: None,
        transcript: Vec::new(),
        history: Vec::new(),
        asked_by: None,
        undelivered: Vec::new(),
        settled: None,
        approval: None,
        decided_by: None,
        own_forms: std::collections::BTreeMap::new(),
        open: Vec::new(),
        has_joined: false,
        is_awaited: false,
        children: Vec::new(),
        family: Usage::default(),
    }
}

pub(crate) fn due(id: i64) -> DuePart {
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
        departs: false,
    }
}

/// Ids are `tg:<number>`; negative ones are groups, `:<topic>` may follow.
pub(crate) struct TestAddress;

impl Address for TestAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        text.starts_with("tg:").then(|| ConversationId::new(account(), text))
    }

    fn longest_text(&self) -> Option<usize> {
        Some(4_096)
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

/// Ends the task by what was heard.
#[derive(Default)]
pub(crate) struct TestMind {
    broke: AtomicBool,
}

#[async_trait]
impl TaskRunner for TestMind {
    async fn answer(&self, job: Job<'_>) -> Result<DriveEnd, DropReason> {
        if let Some(asked) = asked(&job) {
            return Ok(asked);
        }
        let text = job.heard.iter().map(|h| h.text.clone()).collect::<Vec<_>>().join("+");
        let files: Vec<String> = job.heard.iter().flat_map(|h| h.files.clone()).collect();
        if text == "hang" {
            job.ports.cancel.cancelled().await;
            return Err(DropReason::Stopping);
        }
        if text == "break" && !self.broke.swap(true, Ordering::SeqCst) {
            return Err(DropReason::Broken("disk full".to_owned()));
        }
        assert_ne!(text, "panic", "asked for");
        let answer = match &*text {
            "silence" => String::new(),
            "speak" => {
                let body = Body::Text { markdown: "by a tool".to_owned() };
                let spoken = job.ports.reply.say("c1.0", body).await;
                format!("{:?}", spoken.unwrap())
            }
            "swap" => format!("{:?}", swapped(&job).await),
            _ => format!("re {text}{}", files.join(" ")),
        };
        let append = vec![Item::said(answer.clone(), Taint::Clean)];
        let header = "{}".to_owned();
        Ok(DriveEnd::Ended(Box::new(DriveOutcome {
            append,
            header,
            end: End::Done,
            text: answer,
            ..DriveOutcome::default()
        })))
    }
}

/// A running flow over a store of its own.
pub(crate) struct Fixture {
    pub(crate) flow: Arc<Flow>,
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) ledger: Arc<SqlLedger>,
    pub(crate) platform: Arc<TestPlatform>,
    pub(crate) inbox: AccountInbox,
    pub(crate) decider: Arc<TestDecider>,
    tracker: TaskTracker,
    stop: Stop,
    pub(crate) cache: tempfile::TempDir,
}

impl Fixture {
    pub(crate) async fn open(settings: Settings, pace: Pace) -> Self {
        let house = desk_with(settings, pace);
        house.begin().await;
        house
    }

    /// The account of the usual platform.
    pub(crate) fn account(&self) -> Arc<Account> {
        self.context.accounts.get(&account()).unwrap()
    }

    /// What becomes of messages.
    pub(crate) fn rules(&self) -> &Rules {
        &self.flow.intake.rules
    }

    /// Why the daemon gives up, if it does.
    pub(crate) fn hopeless(&self) -> Option<String> {
        self.flow.listening.hopeless.borrow().clone()
    }

    /// Starts a flow that is not started.
    pub(crate) async fn begin(&self) {
        self.flow.start(&self.tracker, self.stop.clone()).await.unwrap();
    }

    pub(crate) async fn hear(&self, batch: Vec<Inbound>) {
        self.inbox.accept(batch, None).await.unwrap();
    }

    /// Stops flow and waits until nothing of it runs; what it left can be read.
    pub(crate) async fn close(self) -> Left {
        self.stop.receivers.cancel();
        self.stop.work.cancel();
        self.tracker.close();
        self.tracker.wait().await;
        Left { ledger: self.ledger, _cache: self.cache }
    }
}

/// What a closed house left in its store.
pub(crate) struct Left {
    pub(crate) ledger: Arc<SqlLedger>,
    _cache: tempfile::TempDir,
}

impl Left {
    /// The states of all tasks, oldest first, with how often each was claimed.
    pub(crate) async fn tasks(&self) -> Vec<(TaskState, u32)> {
        let mut tasks = self.ledger.tasks(None, 99).await.unwrap();
        tasks.reverse();
        tasks.into_iter().map(|t| (t.state, t.attempts)).collect()
    }

    /// The states of all parts that answer a message, oldest first.
    pub(crate) async fn parts(&self) -> Vec<String> {
        // Every message here has the same id.
        let mut chains = self.ledger.trace("1").await.unwrap();
        chains.reverse();
        let parts = chains.into_iter().flat_map(|c| c.outbounds).flat_map(|o| o.parts);
        parts.map(|p| p.state).collect()
    }
}

/// A platform that nothing has arrived at.
pub(crate) fn platform() -> TestPlatform {
    TestPlatform {
        trouble: Mutex::default(),
        arrived: watch::Sender::new(Vec::new()),
        ends: Mutex::default(),
        silent: watch::Sender::new(false),
    }
}

/// A flow that is not started; owner `tg:1`, allowed `tg:2` and the group `tg:-100`.
pub(crate) fn desk() -> Fixture {
    desk_with(Settings::default(), Pace::LIFTED)
}

/// A channel of that platform.
fn channel(platform: &Arc<TestPlatform>, pace: Pace) -> Channel {
    Channel {
        name: "test",
        account: account(),
        receiver: Some(Arc::clone(platform) as _),
        sender: Arc::clone(platform) as _,
        address: Arc::new(TestAddress),
        allow: AllowList::of(["tg:2".to_owned(), "tg:-100".to_owned()]),
        allow_keys: AllowKeys::one("allowed_chat_ids"),
        carrier: None,
        posting: None,
        pace,
        max_fetch_bytes: 1000,
    }
}

/// A second account, whose private chat with the owner is `ot:1`, and its platform.
pub(crate) fn other() -> (Channel, Arc<TestPlatform>) {
    let platform = Arc::new(platform());
    let address = Arc::new(OtherAddress);
    let of_first = channel(&platform, Pace::LIFTED);
    (Channel { name: "other", account: other_account(), address, ..of_first }, platform)
}

fn other_account() -> AccountId {
    AccountId::new("ot:bot")
}

/// Ids are `ot:<number>`.
struct OtherAddress;

impl Address for OtherAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        text.starts_with("ot:").then(|| ConversationId::new(other_account(), text))
    }

    fn features(&self, conversation: &ConversationId) -> Features {
        TestAddress.features(conversation)
    }
}

pub(crate) fn desk_with(settings: Settings, pace: Pace) -> Fixture {
    desk_beside(settings, pace, None)
}

/// A flow that is not started, with another channel beside the usual one.
pub(crate) fn desk_beside(settings: Settings, pace: Pace, beside: Option<Channel>) -> Fixture {
    desk_by(Clocks::machine(), settings, pace, beside)
}

/// The same by other clocks.
pub(crate) fn desk_by(
    clocks: Clocks,
    settings: Settings,
    pace: Pace,
    beside: Option<Channel>,
) -> Fixture {
    // Stories write faster than people.
    let settings = Settings { join_within: Span::seconds(0), ..settings };
    let platform = Arc::new(platform());
    let channel = channel(&platform, pace);
    let terminal = Arc::new(Terminal::default());
    let channels = [channel, terminal.channel()].into_iter().chain(beside);
    let accounts = Arc::new(Accounts::of_channels(channels));
    let cache = tempfile::tempdir().unwrap();
    let file = cache.path().join("state/selkie.db");
    let engine = Arc::new(Sqlite::open(&file, clocks.clock.now()).unwrap());
    let ledger = Arc::new(SqlLedger::over(engine, Arc::clone(&clocks.clock)));
    let clock = Arc::clone(&clocks.clock);
    let (tracker, stop) = (TaskTracker::new(), Stop::default());
    let sleeper = Sleeper::over(clocks.alarm, tracker.clone(), stop.work.clone());
    let runtime = Arc::new(Runtime {
        instance: Instance("b".to_owned()),
        clock: Arc::clone(&clocks.clock),
        sleeper,
        chance: Arc::new(FixedChance(0.0)),
        crash: Arc::default(),
        events: Default::default(),
        metrics: Arc::default(),
        traces: Default::default(),
        redactor: Redactor::default(),
        tracker,
        stop,
    });
    let owners = Owners::of(vec![PersonId::new("tg:1"), PersonId::new("ot:1")]);
    let post_files = Arc::new(PostFiles::below(cache.path(), runtime.redactor.clone()));
    let context = Context {
        storage: Arc::new(Storage::new(Arc::clone(&ledger) as _, Arc::clone(&runtime))),
        runtime,
        accounts,
        owners,
    };
    let opened = Outbox::open(&context, settings.delivery(), Arc::clone(&post_files), cache.path());
    let outbox = Arc::clone(&opened.outbox);
    let rights = Arc::new(Rights::new(&context, settings.places.clone()));
    let book = Book::new(BookParts {
        ledger: Arc::clone(&ledger) as _,
        clock,
        zone: Zone::UTC,
        most: Live::of(9),
        prices: Live::default(),
        redactor: Redactor::default(),
    });
    let records = crate::work::records::Records {
        storage: Arc::clone(&context.storage),
        accounts: Arc::clone(&context.accounts),
        acquaintances: acquaintances(&context),
        owners: rights.owners.clone(),
    };
    let state_dir = cache.path().join("state");
    let memory = MemoryBook::new(MemoryParts {
        files: Arc::new(Files::new(state_dir.clone(), Arc::new(SystemClock))),
        ledger: Arc::clone(&ledger) as _,
        places: Arc::new(records),
        clock: Arc::new(SystemClock),
        embeddings: None,
    });
    let timetable = BookTimetable {
        book: Arc::new(book),
        zones: Arc::new(Zones::new(Arc::clone(&ledger) as _, Zone::UTC)),
        accounts: Arc::clone(&rights.accounts),
        owners: rights.owners.clone(),
        ledger: Arc::clone(&ledger) as _,
    };
    let decider = Arc::new(TestDecider::default());
    let limits = Arc::new(Limits::new(
        context.clone(),
        Arc::clone(&outbox),
        Arc::clone(&rights),
        Live::of(settings.limits.clone()),
    ));
    let rooms = Rooms {
        runner: Arc::new(TestMind::default()),
        live: None,
        shapes: Arc::new(|_: &Facts| unreachable!("no test of flow alone asks for a shape")),
        decision: Arc::clone(&decider) as _,
        models: Default::default(),
        persona: Arc::new(Persona::of(Path::new("/nowhere"))),
        outage: Default::default(),
        context: context.clone(),
        post_files,
        agents: Arc::new(AgentBook {
            context: context.clone(),
            outbox: Arc::clone(&outbox),
            running: Arc::new(RunningTasks::new(context.runtime.stop.work.clone())),
            rights: Arc::clone(&rights),
            own: Live::of(Agents::default()),
            keep: settings.keep_agents,
        }),
        sessions: Arc::new(SessionBook {
            context: context.clone(),
            outbox: Arc::clone(&outbox),
            rights: Arc::clone(&rights),
        }),
        opened,
        terminal,
        timetable: Arc::new(timetable),
        memory: Arc::new(memory),
        skills: Arc::new(SkillBook::new(
            state_dir.clone(),
            &selkie_skills::Settings::default(),
            Arc::clone(&ledger) as _,
        )),
        people: crate::flow::people::People {
            todo_file: Arc::new(selkie_tools::absent::NoTodoFile),
            addressees: Arc::new(selkie_tools::absent::NoAddressees),
            contexts: Vec::new(),
        },
        summing: None,
        due_items: None,
        moved_chats: None,
        acquaintances: acquaintances(&context),
        schedules: Vec::new(),
        rights: Arc::clone(&rights),
        workspaces: Workspaces {
            settings: settings.workspace.clone(),
            state_dir,
            cache_dir: cache.path().into(),
            ours: Default::default(),
            commands: Default::default(),
        },
        settings,
        processes: Arc::default(),
        sees: None,
        documents: selkie_tools::DocumentReader {
            isolate: Arc::new(selkie_tools::isolate::InProcess),
        },
        voice: None,
        studio: Arc::new(Studio::new(limits, Redactor::default(), StudioConfig::default())),
        pauses: Pauses {
            at_start: Duration::from_millis(1),
            first: Duration::from_millis(1),
            longest: Duration::from_millis(1),
        },
        version: "test",
    };
    let flow = Arc::new(Flow::assemble(rooms));
    let inbox = AccountInbox {
        intake: Arc::clone(&flow.intake),
        account: context.accounts.get(&account()).unwrap(),
    };
    let (tracker, stop) = (TaskTracker::new(), Stop::default());
    Fixture {
        flow,
        rights,
        context,
        outbox,
        ledger,
        platform,
        inbox,
        decider,
        tracker,
        stop,
        cache,
    }
}
