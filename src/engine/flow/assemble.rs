//! Puts the rooms between channels and agent together; nothing runs yet.

use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use crate::delivery::accounts::Accounts;
use crate::delivery::outbox::{OpenOutbox, Outbox, OutboxParts};
use crate::delivery::outgoing::OutgoingFiles;
use crate::delivery::post_files::PostFiles;
use crate::delivery::progress::KeptProgress;
use crate::delivery::runtime::{Runtime, Stop};
use crate::delivery::storage::Storage;
use crate::flow::people::People;
use crate::intake::buttons::ButtonPresses;
use crate::intake::commands::Commands;
use crate::intake::contacts::ContactCommands;
use crate::intake::firing::Firings;
use crate::intake::firing::notices::FiringNotices;
use crate::intake::gate::{Gate, GateParts};
use crate::intake::heartbeat::Heartbeat;
use crate::intake::later::Later;
use crate::intake::listen::{Pauses, Receivers};
use crate::intake::policy::Rules;
use crate::intake::receive::Intake;
use crate::intake::remembered::MemoryCommands;
use crate::intake::reminders::Reminders;
use crate::intake::ticker::Ticker;
use crate::intake::unlisted::UnlistedSenders;
use crate::terminal::ask::Counter;
use crate::terminal::channel::Terminal;
use crate::work::acquaintances::Acquaintances;
use crate::work::attachments::Attachments;
use crate::work::choosing::ModelChooser;
use crate::work::due::DueItems;
use crate::work::executor::TaskExecutor;
use crate::work::janitor::Janitor;
use crate::work::limits::Limits;
use crate::work::moved_chats::MovedChats;
use crate::work::outages::Outages;
use crate::work::persona::Persona;
use crate::work::records::Records;
use crate::work::rights::Rights;
use crate::work::runner::{AgentRunner, Shapes};
use crate::work::scope::Scopes;
use crate::work::sessions::SessionBook;
use crate::work::stop_tokens::StopTokens;
use crate::work::summaries::Summaries;
use crate::work::task_waiters::TaskWaiters;
use crate::work::timetable::BookTimetable;
use crate::work::todo_list::TodoLists;
use crate::work::worker::Workers;
use crate::work::workspace::Workspaces;
use selkie_domain::clock::SystemClock;
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_memory::{MemoryBook, MemoryParts};
use selkie_people::files::Files;
use selkie_schedule::book::{Book, BookParts};
use selkie_schedule::sleeper::Sleeper;
use selkie_schedule::zones::Zones;

use crate::flow::Flow;
use crate::flow::lives::{LiveSumming, Lives};
use crate::flow::parts::{ByConfig, FlowParts, Standing};
use crate::flow::rooms::Rooms;

impl Flow {
    /// Puts the parts together; nothing runs yet.
    pub fn new(parts: FlowParts, standing: Standing, by_config: ByConfig) -> Arc<Self> {
        let FlowParts { state_dir, cache_dir, .. } = &parts;
        let terminal = Arc::new(Terminal::default());
        let channels = parts.channels.iter().cloned().chain([terminal.channel()]);
        let accounts = Arc::new(Accounts::of_channels(channels));
        // A daemon serves all it knows, and what it serves may change.
        let known = match parts.aside.is_empty() {
            true => Arc::clone(&accounts),
            false => Arc::new(accounts.and(parts.aside.clone())),
        };
        let (tracker, stop) = (TaskTracker::new(), Stop::default());
        let sleeper =
            Sleeper::over(Arc::clone(&parts.clocks.alarm), tracker.clone(), stop.work.clone());
        let runtime = Arc::new(Runtime {
            instance: standing.instance,
            clock: Arc::clone(&parts.clocks.clock),
            sleeper,
            chance: Arc::clone(&parts.chance),
            crash: standing.crash,
            happenings: standing.happenings,
            metrics: standing.metrics,
            traces: standing.traces,
            redactor: parts.redactor.clone(),
            tracker,
            stop,
        });
        let storage = Arc::new(Storage::new(standing.ledger, Arc::clone(&runtime)));
        let workspaces = Workspaces {
            settings: by_config.settings.workspace.clone(),
            state_dir: state_dir.clone(),
            cache_dir: cache_dir.clone(),
            ours: by_config.ours,
            commands: Arc::clone(parts.processes.commands()),
        };
        let files = Arc::new(Files::new(state_dir.clone(), Arc::new(SystemClock)));
        let acquaintances = Arc::new(Acquaintances::new(
            Arc::clone(&storage),
            Arc::clone(&files),
            parts.forms.clone(),
            Arc::clone(&runtime.clock),
        ));
        let owners = Owners::of(by_config.owners);
        let records = Arc::new(Records {
            storage: Arc::clone(&storage),
            accounts: Arc::clone(&accounts),
            acquaintances: Arc::clone(&acquaintances),
            owners: owners.clone(),
        });
        let rights = Arc::new(Rights {
            owners,
            places: Live::of(by_config.settings.places.clone()),
            accounts: Arc::clone(&accounts),
        });
        let book = Book::new(BookParts {
            ledger: Arc::clone(&storage.ledger),
            clock: Arc::clone(&runtime.clock),
            zone: parts.zone,
            most: Live::of(by_config.settings.limits.schedules()),
            prices: Live::of(by_config.prices),
            redactor: runtime.redactor.clone(),
        });
        let zones = Arc::new(Zones::new(Arc::clone(&storage.ledger), parts.zone));
        let timetable = Arc::new(BookTimetable {
            book: Arc::new(book),
            zones,
            accounts: known,
            owners: rights.owners.clone(),
            ledger: Arc::clone(&storage.ledger),
        });
        let post_files = PostFiles::below(cache_dir, runtime.redactor.clone());
        let post_files = Arc::new(post_files);
        let memory = Arc::new(MemoryBook::new(MemoryParts {
            files: Arc::clone(&files),
            ledger: Arc::clone(&storage.ledger),
            places: Arc::clone(&records) as _,
            clock: Arc::clone(&runtime.clock),
            embeddings: parts.embeddings.clone(),
        }));
        let due_items = Arc::new(DueItems {
            timetable: Arc::clone(&timetable),
            files: Arc::clone(&files),
            state_dir: state_dir.clone(),
            one: Arc::default(),
        });
        let moved_chats = Arc::new(MovedChats {
            files: Arc::clone(&files),
            forms: parts.forms.clone(),
            state_dir: state_dir.clone(),
            clock: Arc::clone(&runtime.clock),
            reminders: Arc::clone(&due_items.one),
        });
        let clock = Arc::clone(&runtime.clock);
        let people = People::of(
            acquaintances.directory(),
            parts.forms.clone(),
            Arc::clone(&records),
            Arc::clone(&due_items) as _,
            Arc::clone(&clock),
        );
        let opened = Outbox::open(OutboxParts {
            runtime,
            storage,
            accounts: Arc::clone(&accounts),
            settings: by_config.settings.delivery(),
            files: OutgoingFiles::below(cache_dir),
            post_files: Arc::clone(&post_files),
            owners: rights.owners.clone(),
        });
        let sessions =
            SessionBook { outbox: Arc::clone(&opened.outbox), rights: Arc::clone(&rights) };
        let scopes = Scopes {
            sessions: Arc::new(sessions),
            todos: Arc::clone(&records) as _,
            timetable: Arc::clone(&timetable) as _,
            post_files: post_files as _,
            todo_file: Arc::clone(&people.todo_file),
            addressees: Arc::clone(&people.addressees),
            memory: Arc::clone(&memory) as _,
            conversations: Arc::clone(&records) as _,
            modes: records,
            workspaces: workspaces.clone(),
            lists: acquaintances.lists(),
            clock,
        };
        let shaper = standing.shaper;
        let shapes: Shapes = Arc::new(move |facts| shaper.now().shape(facts));
        let persona = Arc::new(Persona::of(state_dir));
        let runner = Live::of(AgentRunner {
            agent: by_config.agent,
            heartbeat: by_config.heartbeat,
            shapes: Arc::clone(&shapes),
            scopes,
            persona: Arc::clone(&persona),
            contexts: std::iter::once(Arc::clone(&memory) as _)
                .chain(people.contexts.iter().cloned())
                .collect(),
        });
        Arc::new(Self::assemble(Rooms {
            live: Some(runner.clone()),
            runner: Arc::new(runner),
            shapes,
            decision: by_config.decision,
            models: by_config.models,
            persona,
            outage: standing.outage,
            opened,
            terminal,
            rights,
            timetable,
            people,
            memory,
            summing: Some(by_config.summing),
            due_items: Some(due_items),
            moved_chats: Some(moved_chats),
            acquaintances,
            schedules: by_config.schedules,
            settings: by_config.settings,
            workspaces,
            processes: Arc::clone(&parts.processes),
            sees: by_config.sees,
            pauses: Pauses::default(),
            version: parts.version,
        }))
    }

    pub(super) fn assemble(rooms: Rooms) -> Self {
        let live = Lives::of(&rooms);
        let Rooms { opened, terminal, rights, timetable, settings, workspaces, .. } = rooms;
        let OpenOutbox { outbox, queues } = opened;
        let Workspaces { state_dir, cache_dir, .. } = workspaces;
        let chooser = ModelChooser { rights: Arc::clone(&rights), models: live.models.clone() };
        let limits = Limits::new(Arc::clone(&outbox), Arc::clone(&rights), live.limits.clone());
        let limits = Arc::new(limits);
        let stops = Arc::new(StopTokens::new(outbox.runtime.stop.work.clone()));
        let kept = Arc::new(KeptProgress::default());
        let task_waiters = Arc::new(TaskWaiters::default());
        let executor = TaskExecutor {
            outbox: Arc::clone(&outbox),
            runner: rooms.runner,
            stops: Arc::clone(&stops),
            kept: Arc::clone(&kept),
            task_waiters: Arc::clone(&task_waiters),
            limits: Arc::clone(&limits),
            rights: Arc::clone(&rights),
            attachments: Attachments {
                outbox: Arc::clone(&outbox),
                limits: Arc::clone(&limits),
                cache_dir: cache_dir.clone(),
                sees: live.sees.clone(),
            },
            chooser: chooser.clone(),
            acquaintances: Arc::clone(&rooms.acquaintances),
            zones: Arc::clone(&timetable.zones),
            settings: live.answers.clone(),
            outages: Outages::of(rooms.outage),
        };
        let forgetting = Arc::new(Notify::new());
        let janitor = Janitor {
            runtime: Arc::clone(&outbox.runtime),
            storage: Arc::clone(&outbox.storage),
            retention: live.retention.clone(),
            cache_dir: cache_dir.clone(),
            bell: Arc::clone(&forgetting),
        };
        let (next, rests) = watch::channel(None);
        let summaries = live.summing.clone().map(|LiveSumming { model, settings }| Summaries {
            outbox: Arc::clone(&outbox),
            limits: Arc::clone(&limits),
            memory: Arc::clone(&rooms.memory),
            model: Arc::new(model),
            settings,
            next,
        });
        let workers = Arc::new(Workers::new(Arc::clone(&outbox), executor, &settings.worker));
        let rules = Arc::new(Rules {
            rights: Arc::clone(&rights),
            clock: Arc::clone(&outbox.runtime.clock),
            settings: live.rules.clone(),
        });
        let gate = Arc::new(Gate::new(GateParts {
            outbox: Arc::clone(&outbox),
            workers: Arc::clone(&workers),
            limits: Arc::clone(&limits),
            rules: Arc::clone(&rules),
            settings: live.gate.clone(),
            model: Arc::new(live.decision.clone()),
            persona: rooms.persona,
        }));
        let reminders =
            Arc::new(Reminders { outbox: Arc::clone(&outbox), book: Arc::clone(&timetable.book) });
        let commands = Arc::new(Commands {
            outbox: Arc::clone(&outbox),
            stops,
            kept,
            shapes: rooms.shapes,
            buttons: ButtonPresses::new(&outbox, &workers, &limits, &rules, &reminders),
            limits: Arc::clone(&limits),
            rules: Arc::clone(&rules),
            workspaces: live.workspaces.clone(),
            processes: rooms.processes,
            sessions: Arc::new(SessionBook {
                outbox: Arc::clone(&outbox),
                rights: Arc::clone(&rights),
            }),
            later: Later {
                timetable: Arc::clone(&timetable),
                zones: Arc::clone(&timetable.zones),
                reminders,
            },
            contacts: ContactCommands {
                acquaintances: Arc::clone(&rooms.acquaintances),
                book: rooms.acquaintances.book(),
                todos: TodoLists {
                    acquaintances: Arc::clone(&rooms.acquaintances),
                    timetable: Arc::clone(&timetable),
                    state_dir: state_dir.clone(),
                },
                zones: Arc::clone(&timetable.zones),
            },
            chooser,
            runner: live.runner.clone(),
            memory: MemoryCommands { book: Arc::clone(&rooms.memory), forgetting },
            version: rooms.version,
        });
        let intake = Arc::new(Intake {
            outbox: Arc::clone(&outbox),
            workers: Arc::clone(&workers),
            commands,
            gate: Arc::clone(&gate),
            unlisted: UnlistedSenders::of(live.pairing.clone()),
            rules,
        });
        let listening = Arc::new(Receivers {
            outbox: Arc::clone(&outbox),
            intake: Arc::clone(&intake),
            owners: rights.owners.clone(),
            pauses: rooms.pauses,
            hopeless: watch::Sender::new(None),
        });
        let counter = Arc::new(Counter {
            outbox: Arc::clone(&outbox),
            intake: Arc::clone(&intake),
            task_waiters,
            terminal,
        });
        let heartbeat = Arc::new(Heartbeat {
            outbox: Arc::clone(&outbox),
            zone: timetable.book.zone(),
            timetable: Arc::clone(&timetable),
            settings: live.heartbeat.clone(),
            state_dir,
        });
        let firings = Arc::new(Firings {
            outbox: Arc::clone(&outbox),
            intake: Arc::clone(&intake),
            rights: Arc::clone(&rights),
            book: Arc::clone(&timetable.book),
            heartbeat: Arc::clone(&heartbeat),
            notices: FiringNotices { outbox: Arc::clone(&outbox), owners: rights.owners.clone() },
        });
        let ticker = Ticker {
            outbox: Arc::clone(&outbox),
            firings: Arc::clone(&firings),
            bell: timetable.book.bell(),
        };
        let ticker = Mutex::new(Some(ticker));
        let (queues, janitor) = (Mutex::new(queues), Mutex::new(Some(janitor)));
        Self {
            outbox,
            intake,
            workers,
            limits,
            gate,
            listening,
            counter,
            named_owners: Live::of(timetable.owners.to_vec()),
            changing: tokio::sync::Mutex::default(),
            timetable,
            people: rooms.people,
            memory: rooms.memory,
            due_items: rooms.due_items,
            moved_chats: rooms.moved_chats,
            acquaintances: rooms.acquaintances,
            queues,
            janitor,
            cache_dir,
            summaries: Mutex::new(summaries),
            rests,
            firings,
            fixed: Live::of(rooms.schedules),
            live,
            heartbeat,
            ticker,
        }
    }
}
