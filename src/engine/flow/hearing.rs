//! What hears and carries out commands, put together.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::intake::buttons::ButtonPresses;
use crate::intake::commands::Commands;
use crate::intake::contacts::ContactCommands;
use crate::intake::gate::{Gate, GateParts};
use crate::intake::later::Later;
use crate::intake::listen::Receivers;
use crate::intake::policy::Rules;
use crate::intake::receive::Intake;
use crate::intake::remembered::MemoryCommands;
use crate::intake::reminders::Reminders;
use crate::intake::unlisted::UnlistedSenders;
use crate::terminal::ask::Counter;
use crate::work::todo_list::TodoLists;

use crate::flow::lives::Lives;
use crate::flow::rooms::Rooms;

use crate::flow::tasks::Tasks;

/// What is heard, and what that begins.
pub(super) struct Hearing {
    pub(super) intake: Arc<Intake>,
    pub(super) gate: Arc<Gate>,
    pub(super) receivers: Arc<Receivers>,
    pub(super) counter: Arc<Counter>,
}

impl Hearing {
    /// `forgetting` is rung when something is to be forgotten.
    pub(super) fn build(
        rooms: &Rooms,
        live: &Lives,
        tasks: &Tasks,
        forgetting: &Arc<Notify>,
    ) -> Self {
        let context = &rooms.context;
        let outbox = &rooms.opened.outbox;
        let rules = Arc::new(Rules {
            rights: Arc::clone(&rooms.rights),
            clock: Arc::clone(&context.runtime.clock),
            settings: live.rules.clone(),
        });
        let gate = Arc::new(Gate::new(GateParts {
            context: context.clone(),
            workers: Arc::clone(&tasks.workers),
            limits: Arc::clone(&tasks.limits),
            rules: Arc::clone(&rules),
            settings: live.gate.clone(),
            model: Arc::new(live.decision.clone()),
            persona: Arc::clone(&rooms.persona),
        }));
        let intake = Arc::new(Intake {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            workers: Arc::clone(&tasks.workers),
            commands: Arc::new(commands(rooms, live, tasks, &rules, forgetting)),
            gate: Arc::clone(&gate),
            unlisted: UnlistedSenders::of(live.pairing.clone()),
            rules,
        });
        let receivers = Arc::new(Receivers {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            intake: Arc::clone(&intake),
            owners: rooms.rights.owners.clone(),
            pauses: rooms.pauses,
            hopeless: watch::Sender::new(None),
        });
        let counter = Arc::new(Counter {
            context: context.clone(),
            intake: Arc::clone(&intake),
            task_waiters: Arc::clone(&tasks.task_waiters),
            terminal: Arc::clone(&rooms.terminal),
        });
        Self { intake, gate, receivers, counter }
    }
}

fn commands(
    rooms: &Rooms,
    live: &Lives,
    tasks: &Tasks,
    rules: &Arc<Rules>,
    forgetting: &Arc<Notify>,
) -> Commands {
    let context = &rooms.context;
    let outbox = &rooms.opened.outbox;
    let timetable = &rooms.timetable;
    let Tasks { workers, limits, .. } = tasks;
    let reminders = Arc::new(Reminders {
        context: context.clone(),
        outbox: Arc::clone(outbox),
        book: Arc::clone(&timetable.book),
    });
    Commands {
        context: context.clone(),
        outbox: Arc::clone(outbox),
        running: Arc::clone(&tasks.running),
        kept: Arc::clone(&tasks.kept),
        shapes: Arc::clone(&rooms.shapes),
        buttons: ButtonPresses::new(context, outbox, workers, limits, rules, &reminders),
        limits: Arc::clone(limits),
        rules: Arc::clone(rules),
        workspaces: live.workspaces.clone(),
        processes: Arc::clone(&rooms.processes),
        sessions: Arc::clone(&rooms.sessions),
        agents: Arc::clone(&rooms.agents),
        later: Later {
            timetable: Arc::clone(timetable),
            zones: Arc::clone(&timetable.zones),
            reminders,
        },
        contacts: ContactCommands {
            acquaintances: Arc::clone(&rooms.acquaintances),
            book: rooms.acquaintances.book(),
            todos: TodoLists {
                acquaintances: Arc::clone(&rooms.acquaintances),
                timetable: Arc::clone(timetable),
                state_dir: rooms.workspaces.state_dir.clone(),
            },
            zones: Arc::clone(&timetable.zones),
        },
        chooser: tasks.chooser.clone(),
        runner: live.runner.clone(),
        memory: MemoryCommands {
            book: Arc::clone(&rooms.memory),
            forgetting: Arc::clone(forgetting),
        },
        skills: Arc::clone(&rooms.skills),
        version: rooms.version,
    }
}
