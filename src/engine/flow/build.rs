//! What a start makes of the config and of what the process brings along.

use std::sync::Arc;

use selkie_channel_core::Channel;

use tokio_util::task::TaskTracker;

use crate::delivery::accounts::Accounts;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::post_files::PostFiles;
use crate::delivery::runtime::{Runtime, Stop};
use crate::delivery::storage::Storage;
use crate::intake::listen::Pauses;
use crate::terminal::channel::Terminal;
use crate::work::agent_book::AgentBook;
use crate::work::agents::Agents;
use crate::work::limits::Limits;
use crate::work::persona::Persona;
use crate::work::rights::Rights;
use crate::work::runner::{AgentRunner, Shapes};
use crate::work::running_tasks::RunningTasks;
use crate::work::scope::Scopes;
use crate::work::sessions::SessionBook;
use crate::work::studio::Studio;
use crate::work::timetable::BookTimetable;
use crate::work::workspace::Workspaces;
use selkie_agent::ContextSource;
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_schedule::book::{Book, BookParts};
use selkie_schedule::sleeper::Sleeper;
use selkie_schedule::zones::Zones;

use crate::flow::Flow;
use crate::flow::parts::{ByConfig, FlowParts, Standing};
use crate::flow::rooms::Rooms;

use crate::flow::state_files::StateFiles;

impl Flow {
    /// Puts the parts together; nothing runs yet.
    pub fn new(parts: FlowParts, standing: Standing, by_config: ByConfig) -> Arc<Self> {
        let terminal = Arc::new(Terminal::default());
        let context = context(&parts, &standing, terminal.channel(), &by_config);
        let rights = Arc::new(Rights::new(&context, by_config.settings.places.clone()));
        let timetable = Arc::new(timetable(&context, &parts, &by_config));
        let files = StateFiles::build(&context, &parts, &timetable, &by_config.skills);
        let post_files = post_files(&context, &parts);
        let delivery = by_config.settings.delivery();
        let opened = Outbox::open(&context, delivery, Arc::clone(&post_files), &parts.cache_dir);
        let sessions = sessions(&context, &opened.outbox, &rights);
        let workspaces = workspaces(&parts, &by_config);
        let studio = studio(&context, &opened.outbox, &rights, &by_config);
        let agents = agents(&context, &opened.outbox, &rights, &workspaces, &by_config);
        let scopes =
            scopes(&files, &sessions, &agents, &timetable, &post_files, &studio, &workspaces);
        let shapes: Shapes = Arc::new(move |facts| standing.shaper.now().shape(facts));
        let persona = Arc::new(Persona::of(&parts.state_dir));
        let runner = Live::of(AgentRunner {
            agent: by_config.agent,
            heartbeat: by_config.heartbeat,
            shapes: Arc::clone(&shapes),
            scopes,
            persona: Arc::clone(&persona),
            contexts: contexts(&files),
        });
        Arc::new(Self::assemble(Rooms {
            context,
            post_files,
            opened,
            sessions,
            agents,
            live: Some(runner.clone()),
            runner: Arc::new(runner),
            shapes,
            decision: by_config.decision,
            models: by_config.models,
            persona,
            outage: standing.outage,
            terminal,
            rights,
            timetable,
            people: files.people,
            memory: files.memory,
            skills: files.skills,
            summing: Some(by_config.summing),
            due_items: Some(files.due_items),
            moved_chats: Some(files.moved_chats),
            acquaintances: files.acquaintances,
            schedules: by_config.schedules,
            settings: by_config.settings,
            workspaces,
            processes: parts.processes,
            sees: by_config.sees,
            documents: parts.documents.clone(),
            voice: by_config.voice,
            studio,
            pauses: Pauses::default(),
            version: parts.version,
        }))
    }
}

/// What tasks read before their newest message, in this order.
fn contexts(files: &StateFiles) -> Vec<Arc<dyn ContextSource>> {
    let mut all: Vec<Arc<dyn ContextSource>> =
        vec![Arc::clone(&files.skills) as _, Arc::clone(&files.memory) as _];
    all.extend(files.people.contexts.iter().cloned());
    all
}

/// Where files are.
fn workspaces(parts: &FlowParts, by_config: &ByConfig) -> Workspaces {
    Workspaces {
        settings: by_config.settings.workspace.clone(),
        state_dir: parts.state_dir.clone(),
        cache_dir: parts.cache_dir.clone(),
        ours: by_config.ours.clone(),
        commands: Arc::clone(parts.processes.commands()),
    }
}

/// The conversations as tools see them.
fn sessions(context: &Context, outbox: &Arc<Outbox>, rights: &Arc<Rights>) -> Arc<SessionBook> {
    let context = context.clone();
    Arc::new(SessionBook { context, outbox: Arc::clone(outbox), rights: Arc::clone(rights) })
}

/// Copies of the files of posts.
fn post_files(context: &Context, parts: &FlowParts) -> Arc<PostFiles> {
    let redactor = context.runtime.redactor.clone();
    Arc::new(PostFiles::below(&parts.cache_dir, redactor))
}

/// Who works for conversations.
fn agents(
    context: &Context,
    outbox: &Arc<Outbox>,
    rights: &Arc<Rights>,
    workspaces: &Workspaces,
    by_config: &ByConfig,
) -> Arc<AgentBook> {
    Arc::new(AgentBook {
        context: context.clone(),
        outbox: Arc::clone(outbox),
        running: Arc::new(RunningTasks::new(context.runtime.stop.work.clone())),
        rights: Arc::clone(rights),
        own: Live::of(Agents::of(&by_config.settings.agents, &workspaces.state_dir)),
        keep: by_config.settings.keep_agents,
    })
}

/// What makes recordings and pictures, within what people may use.
fn studio(
    context: &Context,
    outbox: &Arc<Outbox>,
    rights: &Arc<Rights>,
    by_config: &ByConfig,
) -> Arc<Studio> {
    let settings = Live::of(by_config.settings.limits.clone());
    let limits = Limits::new(context.clone(), Arc::clone(outbox), Arc::clone(rights), settings);
    let redactor = context.runtime.redactor.clone();
    Arc::new(Studio::new(Arc::new(limits), redactor, by_config.studio.clone()))
}

/// What tools reach.
fn scopes(
    files: &StateFiles,
    sessions: &Arc<SessionBook>,
    agents: &Arc<AgentBook>,
    timetable: &Arc<BookTimetable>,
    post_files: &Arc<PostFiles>,
    studio: &Arc<Studio>,
    workspaces: &Workspaces,
) -> Scopes {
    Scopes {
        sessions: Arc::clone(sessions) as _,
        agents: Arc::clone(agents) as _,
        todos: Arc::clone(&files.records) as _,
        timetable: Arc::clone(timetable) as _,
        post_files: Arc::clone(post_files) as _,
        studio: Arc::clone(studio) as _,
        todo_file: Arc::clone(&files.people.todo_file),
        addressees: Arc::clone(&files.people.addressees),
        memory: Arc::clone(&files.memory) as _,
        skills: Arc::clone(&files.skills),
        conversations: Arc::clone(&files.records) as _,
        modes: Arc::clone(&files.records) as _,
        workspaces: workspaces.clone(),
        lists: files.acquaintances.lists(),
        clock: Arc::clone(&sessions.context.runtime.clock),
    }
}

/// What all of the engine shares.
fn context(
    parts: &FlowParts,
    standing: &Standing,
    terminal: Channel,
    by_config: &ByConfig,
) -> Context {
    let owners = Owners::of(by_config.owners.clone());
    let channels = parts.channels.iter().cloned().chain([terminal]);
    let accounts = Arc::new(Accounts::of_channels(channels));
    let tracker = TaskTracker::new();
    let stop = Stop::default();
    let alarm = Arc::clone(&parts.clocks.alarm);
    let sleeper = Sleeper::over(alarm, tracker.clone(), stop.work.clone());
    let standing = standing.clone();
    let runtime = Arc::new(Runtime {
        instance: standing.instance,
        clock: Arc::clone(&parts.clocks.clock),
        sleeper,
        chance: Arc::clone(&parts.chance),
        crash: standing.crash,
        events: standing.events,
        metrics: standing.metrics,
        traces: standing.traces,
        redactor: parts.redactor.clone(),
        tracker,
        stop,
    });
    let storage = Arc::new(Storage::new(standing.ledger, Arc::clone(&runtime)));
    Context { runtime, storage, accounts, owners }
}

/// The schedules, and which clocks people go by.
fn timetable(context: &Context, parts: &FlowParts, by_config: &ByConfig) -> BookTimetable {
    let Context { runtime, storage, accounts, owners } = context;
    let book = Book::new(BookParts {
        ledger: Arc::clone(&storage.ledger),
        clock: Arc::clone(&runtime.clock),
        zone: parts.zone,
        most: Live::of(by_config.settings.limits.schedules()),
        prices: Live::of(by_config.prices.clone()),
        redactor: runtime.redactor.clone(),
    });
    BookTimetable {
        book: Arc::new(book),
        zones: Arc::new(Zones::new(Arc::clone(&storage.ledger), parts.zone)),
        // A daemon serves all it knows, and what it serves may change.
        accounts: match parts.aside.is_empty() {
            true => Arc::clone(accounts),
            false => Arc::new(accounts.and(parts.aside.clone())),
        },
        owners: owners.clone(),
        ledger: Arc::clone(&storage.ledger),
    }
}
