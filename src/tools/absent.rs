//! Ports of what is not there, for tests and benches of other things. A bench has this file as a module of its own, and
//! names from this crate at its root.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::ToolError;
use crate::memory::port::{Memory, MemoryQuery, NewMemory, Rememberer, WantedLines};
use crate::ports::{
    Addressee, AddresseeQuery, Addressees, Agents, Entry, History, KnownAgent, PostFiles,
    ScheduleList, Sender, Sessions, Small, Studio, Timetable, TodoAsker, TodoFile, TodoReport,
    TodoWanted, Visitor, Wisher,
};
use crate::skills::{LoadedSkill, SkillReader, Skills};
use selkie_domain::answer_picture::{AnswerPicture, PictureWish};
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::Wish;
use selkie_domain::sound::Sound;
use selkie_domain::usage::Meter;

/// Stands where nothing comes due.
#[derive(Clone, Copy, Debug)]
pub struct NoTimetable;

#[async_trait]
impl Timetable for NoTimetable {
    async fn add(&self, _: Entry) -> Result<String, ToolError> {
        Err(ToolError::tell("schedules are not kept here"))
    }

    async fn list(&self, _: &ConversationId) -> Result<ScheduleList, ToolError> {
        Ok(ScheduleList::default())
    }

    async fn wish(
        &self,
        _: &ConversationId,
        _: &Wisher,
        _: ScheduleId,
        _: Wish,
    ) -> Result<String, ToolError> {
        Err(ToolError::tell("schedules are not kept here"))
    }
}

/// Stands where there is no skill.
#[derive(Clone, Copy, Debug)]
pub struct NoSkills;

#[async_trait]
impl Skills for NoSkills {
    async fn load(&self, _: &SkillReader, name: &str) -> Result<LoadedSkill, ToolError> {
        Err(ToolError::tell(format!("there is no skill {name:?}")))
    }
}

/// Stands where no such list is kept.
#[derive(Clone, Copy, Debug)]
pub struct NoTodoFile;

#[async_trait]
impl TodoFile for NoTodoFile {
    async fn update(
        &self,
        _: &TodoAsker,
        _: &Arc<dyn Small>,
        _: TodoWanted,
    ) -> Result<TodoReport, ToolError> {
        Err(ToolError::tell("todo paths are not configured"))
    }

    fn is_elsewhere(&self, _: &TodoAsker, _: &str) -> Result<bool, ToolError> {
        Ok(true)
    }
}

/// Stands where nothing is made of words.
#[derive(Clone, Copy, Debug)]
pub struct NoStudio;

#[async_trait]
impl Studio for NoStudio {
    async fn speak(&self, _: &Visitor, _: &str, _: Option<&str>) -> Result<Sound, ToolError> {
        Err(ToolError::tell("nothing is said aloud here"))
    }

    async fn draw(
        &self,
        _: &Visitor,
        _: PictureWish,
        _: &Meter,
    ) -> Result<AnswerPicture, ToolError> {
        Err(ToolError::tell("no pictures are made here"))
    }
}

/// Stands where nothing is posted.
#[derive(Clone, Copy, Debug)]
pub struct NoPostFiles;

impl PostFiles for NoPostFiles {}

/// Stands where no conversation but the own one is known.
#[derive(Clone, Copy, Debug)]
pub struct NoSessions;

#[async_trait]
impl Sessions for NoSessions {
    async fn list(&self, _: &Visitor, _: usize) -> Result<TodoReport, ToolError> {
        Ok(TodoReport::default())
    }

    async fn history(&self, _: &Visitor, session: &str, _: usize) -> Result<History, ToolError> {
        Err(ToolError::tell(format!("session not found: {session}")))
    }

    async fn send(&self, _: &Visitor, session: &str, _: &str) -> Result<String, ToolError> {
        Err(ToolError::tell(format!("session not found: {session}")))
    }

    async fn status(&self, by: &Visitor) -> Result<String, ToolError> {
        Ok(by.conversation.key().to_owned())
    }
}

/// Stands where no agent works.
#[derive(Clone, Copy, Debug)]
pub struct NoAgents;

#[async_trait]
impl Agents for NoAgents {
    async fn list(&self, _: &Visitor) -> Result<Vec<KnownAgent>, ToolError> {
        Ok(Vec::new())
    }

    fn own(&self, _: &Visitor, name: &str) -> Result<(), ToolError> {
        Err(ToolError::tell(format!("invalid agent: {name}")))
    }

    async fn peek(&self, _: &Visitor, name: &str) -> Result<TodoReport, ToolError> {
        Err(ToolError::tell(format!("there is no agent {name}")))
    }

    async fn stop(&self, _: &Visitor, name: &str) -> Result<String, ToolError> {
        Err(ToolError::tell(format!("there is no agent {name}")))
    }
}

/// Stands where nobody is known.
#[derive(Clone, Copy, Debug)]
pub struct NoAddressees;

#[async_trait]
impl Addressees for NoAddressees {
    async fn find(&self, _: &Sender, _: &AddresseeQuery) -> Result<Addressee, ToolError> {
        Err(ToolError::tell("contacts dir is not configured"))
    }
}

/// Stands where nothing is remembered.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

#[async_trait]
impl Memory for NoMemory {
    async fn write(&self, _: &Rememberer, _: NewMemory) -> Result<TodoReport, ToolError> {
        Err(none())
    }

    async fn search(&self, _: &Rememberer, _: MemoryQuery) -> Result<TodoReport, ToolError> {
        Err(none())
    }

    async fn get(&self, _: &Rememberer, _: WantedLines) -> Result<TodoReport, ToolError> {
        Err(none())
    }
}

fn none() -> ToolError {
    ToolError::tell("nothing is remembered here")
}
