//! What stands between channels and agent, put together.

use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};

use crate::delivery::outbox::OpenOutbox;
use crate::work::janitor::Janitor;
use crate::work::summaries::Summaries;
use crate::work::workspace::Workspaces;
use selkie_domain::live::Live;

use crate::flow::Flow;
use crate::flow::lives::{LiveSumming, Lives};
use crate::flow::rooms::Rooms;

use crate::flow::calendar::Calendar;
use crate::flow::hearing::Hearing;
use crate::flow::tasks::Tasks;

impl Flow {
    pub(super) fn assemble(rooms: Rooms) -> Self {
        let live = Lives::of(&rooms);
        let tasks = Tasks::build(&rooms, &live);
        let forgetting = Arc::new(Notify::new());
        let hearing = Hearing::build(&rooms, &live, &tasks, &forgetting);
        let calendar = Calendar::build(&rooms, &live, &hearing.intake);
        let Rooms { context, opened, timetable, workspaces, .. } = rooms;
        let OpenOutbox { outbox, queues } = opened;
        let Workspaces { cache_dir, .. } = workspaces;
        let janitor = Janitor {
            runtime: Arc::clone(&context.runtime),
            storage: Arc::clone(&context.storage),
            retention: live.retention.clone(),
            cache_dir: cache_dir.clone(),
            bell: forgetting,
        };
        let (next, rests) = watch::channel(None);
        let summaries = live.summing.clone().map(|LiveSumming { model, settings }| Summaries {
            context: context.clone(),
            limits: Arc::clone(&tasks.limits),
            memory: Arc::clone(&rooms.memory),
            model: Arc::new(model),
            settings,
            next,
        });
        Self {
            context,
            outbox,
            post_files: rooms.post_files,
            intake: hearing.intake,
            workers: tasks.workers,
            limits: tasks.limits,
            gate: hearing.gate,
            listening: hearing.receivers,
            counter: hearing.counter,
            named_owners: Live::of(timetable.owners.to_vec()),
            changing: tokio::sync::Mutex::default(),
            timetable,
            people: rooms.people,
            memory: rooms.memory,
            skills: rooms.skills,
            due_items: rooms.due_items,
            moved_chats: rooms.moved_chats,
            acquaintances: rooms.acquaintances,
            queues: Mutex::new(queues),
            janitor: Mutex::new(Some(janitor)),
            cache_dir,
            summaries: Mutex::new(summaries),
            rests,
            firings: calendar.firings,
            fixed: Live::of(rooms.schedules),
            live,
            heartbeat: calendar.heartbeat,
            ticker: Mutex::new(Some(calendar.ticker)),
        }
    }
}
