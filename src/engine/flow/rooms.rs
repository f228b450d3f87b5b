//! What the rooms between channels and agent are put together from.

use std::sync::Arc;

use crate::delivery::context::Context;
use crate::delivery::outbox::OpenOutbox;
use crate::delivery::post_files::PostFiles;
use crate::flow::parts::SummaryConfig;
use crate::flow::people::People;
use crate::intake::listen::Pauses;
use crate::intake::settings::Settings;
use crate::terminal::channel::Terminal;
use crate::work::acquaintances::Acquaintances;
use crate::work::agent_book::AgentBook;
use crate::work::due::DueItems;
use crate::work::moved_chats::MovedChats;
use crate::work::persona::Persona;
use crate::work::rights::Rights;
use crate::work::runner::{AgentRunner, Shapes, TaskRunner};
use crate::work::sessions::SessionBook;
use crate::work::studio::Studio;
use crate::work::timetable::BookTimetable;
use crate::work::voice_settings::VoiceConfig;
use crate::work::workspace::Workspaces;
use selkie_domain::live::Live;
use selkie_llm::{Model, ModelList, Outage};
use selkie_memory::MemoryBook;
use selkie_schedule::fixed::FixedSchedule;
use selkie_skills::SkillBook;
use selkie_tools::shell::Processes;
use selkie_tools::{DocumentReader, PictureKeeper};

/// What the rooms are put together from.
pub(super) struct Rooms {
    pub(super) context: Context,
    pub(super) post_files: Arc<PostFiles>,
    pub(super) opened: OpenOutbox,
    pub(super) sessions: Arc<SessionBook>,
    pub(super) agents: Arc<AgentBook>,
    pub(super) terminal: Arc<Terminal>,
    pub(super) rights: Arc<Rights>,
    pub(super) timetable: Arc<BookTimetable>,
    pub(super) people: People,
    pub(super) memory: Arc<MemoryBook>,
    pub(super) skills: Arc<SkillBook>,
    /// None in tests of other things.
    pub(super) summing: Option<SummaryConfig>,
    /// Until they are followed; none in tests of other things.
    pub(super) due_items: Option<Arc<DueItems>>,
    pub(super) moved_chats: Option<Arc<MovedChats>>,
    pub(super) acquaintances: Arc<Acquaintances>,
    pub(super) schedules: Vec<FixedSchedule>,
    pub(super) settings: Settings,
    pub(super) workspaces: Workspaces,
    pub(super) processes: Arc<Processes>,
    pub(super) sees: Option<PictureKeeper>,
    pub(super) documents: DocumentReader,
    pub(super) voice: Option<VoiceConfig>,
    pub(super) studio: Arc<Studio>,
    pub(super) pauses: Pauses,
    pub(super) runner: Arc<dyn TaskRunner>,
    /// The runner, where another can be put in its place; none in tests of other things.
    pub(super) live: Option<Live<AgentRunner>>,
    pub(super) shapes: Shapes,
    pub(super) decision: Arc<dyn Model>,
    pub(super) models: ModelList,
    pub(super) persona: Arc<Persona>,
    pub(super) outage: Outage,
    pub(super) version: &'static str,
}
