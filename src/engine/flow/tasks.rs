//! The workers and what they work with, put together.

use std::sync::Arc;

use crate::delivery::progress::KeptProgress;
use crate::work::attachments::Attachments;
use crate::work::choosing::ModelChooser;
use crate::work::document_notes::DocumentNotes;
use crate::work::executor::TaskExecutor;
use crate::work::limits::Limits;
use crate::work::outages::Outages;
use crate::work::running_tasks::RunningTasks;
use crate::work::task_waiters::TaskWaiters;
use crate::work::worker::Workers;

use crate::flow::lives::Lives;
use crate::flow::rooms::Rooms;

/// What works on tasks.
pub(super) struct Tasks {
    pub(super) workers: Arc<Workers>,
    pub(super) limits: Arc<Limits>,
    pub(super) chooser: ModelChooser,
    pub(super) running: Arc<RunningTasks>,
    pub(super) kept: Arc<KeptProgress>,
    pub(super) task_waiters: Arc<TaskWaiters>,
}

impl Tasks {
    pub(super) fn build(rooms: &Rooms, live: &Lives) -> Self {
        let context = &rooms.context;
        let outbox = &rooms.opened.outbox;
        let rights = &rooms.rights;
        let chooser = ModelChooser {
            rights: Arc::clone(rights),
            models: live.models.clone(),
            agents: live.agents.clone(),
        };
        let limits = Arc::clone(rooms.studio.limits());
        let running = Arc::clone(&rooms.agents.running);
        let kept = Arc::new(KeptProgress::default());
        let task_waiters = Arc::new(TaskWaiters::default());
        let executor = TaskExecutor {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            runner: Arc::clone(&rooms.runner),
            running: Arc::clone(&running),
            kept: Arc::clone(&kept),
            task_waiters: Arc::clone(&task_waiters),
            limits: Arc::clone(&limits),
            rights: Arc::clone(rights),
            attachments: Attachments {
                context: context.clone(),
                limits: Arc::clone(&limits),
                cache_dir: rooms.workspaces.cache_dir.clone(),
                sees: live.sees.clone(),
                documents: DocumentNotes {
                    reader: rooms.documents.clone(),
                    redactor: context.runtime.redactor.clone(),
                },
                outbox: Arc::clone(outbox),
                voice: live.voice.clone(),
            },
            chooser: chooser.clone(),
            acquaintances: Arc::clone(&rooms.acquaintances),
            studio: Arc::clone(&rooms.studio),
            zones: Arc::clone(&rooms.timetable.zones),
            settings: live.answers.clone(),
            outages: Outages::of(rooms.outage.clone()),
        };
        let settings = &rooms.settings.worker;
        let workers = Workers::new(context.clone(), Arc::clone(outbox), executor, settings);
        Self { workers: Arc::new(workers), limits, chooser, running, kept, task_waiters }
    }
}
