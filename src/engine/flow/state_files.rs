//! What is kept in files of the state folder: whom the bot knows, what is to be done, what is remembered.

use std::sync::Arc;

use crate::delivery::context::Context;
use crate::flow::people::People;
use crate::work::acquaintances::Acquaintances;
use crate::work::due::DueItems;
use crate::work::moved_chats::MovedChats;
use crate::work::records::Records;
use crate::work::timetable::BookTimetable;
use selkie_domain::clock::SystemClock;
use selkie_memory::{MemoryBook, MemoryParts};
use selkie_people::files::Files;
use selkie_skills::{Settings, SkillBook};

use crate::flow::parts::FlowParts;

/// What reads and writes these files.
pub(super) struct StateFiles {
    pub(super) acquaintances: Arc<Acquaintances>,
    pub(super) records: Arc<Records>,
    pub(super) people: People,
    pub(super) memory: Arc<MemoryBook>,
    pub(super) skills: Arc<SkillBook>,
    pub(super) due_items: Arc<DueItems>,
    pub(super) moved_chats: Arc<MovedChats>,
}

impl StateFiles {
    pub(super) fn build(
        context: &Context,
        parts: &FlowParts,
        timetable: &Arc<BookTimetable>,
        skills: &Settings,
    ) -> Self {
        let Context { runtime, storage, .. } = context;
        let FlowParts { state_dir, forms, .. } = parts;
        let clock = &runtime.clock;
        let files = Files::new(state_dir.clone(), Arc::new(SystemClock));
        let files = Arc::new(files.beside(parts.processes.commands()));
        let acquaintances = Arc::new(Acquaintances::new(
            Arc::clone(storage),
            Arc::clone(&files),
            forms.clone(),
            Arc::clone(clock),
        ));
        let records = Arc::new(Records {
            storage: Arc::clone(storage),
            accounts: Arc::clone(&context.accounts),
            acquaintances: Arc::clone(&acquaintances),
            owners: context.owners.clone(),
        });
        let memory = Arc::new(MemoryBook::new(MemoryParts {
            files: Arc::clone(&files),
            ledger: Arc::clone(&storage.ledger),
            places: Arc::clone(&records) as _,
            clock: Arc::clone(clock),
            embeddings: parts.embeddings.clone(),
        }));
        let ledger = Arc::clone(&storage.ledger);
        let skills = Arc::new(SkillBook::new(state_dir.clone(), skills, ledger));
        let due_items = Arc::new(DueItems {
            timetable: Arc::clone(timetable),
            files: Arc::clone(&files),
            state_dir: state_dir.clone(),
            one: Arc::default(),
        });
        let moved_chats = Arc::new(MovedChats {
            files,
            forms: forms.clone(),
            state_dir: state_dir.clone(),
            clock: Arc::clone(clock),
            reminders: Arc::clone(&due_items.one),
        });
        let people = People::of(
            acquaintances.directory(),
            forms.clone(),
            Arc::clone(&records),
            Arc::clone(&due_items) as _,
            Arc::clone(clock),
        );
        Self { acquaintances, records, people, memory, skills, due_items, moved_chats }
    }
}
