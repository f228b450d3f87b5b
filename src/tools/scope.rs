//! What one tool call may touch. Made for each call; tools get this and nothing else.

use std::sync::Arc;

use selkie_channel_core::{ConversationId, MessageRef, PersonId};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ToolError;
use crate::asked::UserText;
use crate::identity::Identity;
use crate::memory::port::Memory;
use crate::ports::{
    Addressees, Agents, Modes, Permissions, PostFiles, Progress, Reply, Sessions, Studio,
    Timetable, TodoFile, Todos, Visitor, Wisher,
};
use selkie_domain::approval::Approvers;
use selkie_domain::clock::SharedClock;
use selkie_domain::command_line;
use selkie_domain::facts::{Mode, Trigger, Trust};
use selkie_domain::ids::TaskId;
use selkie_domain::plan::Plan;
use selkie_domain::question::QuestionResult;
use selkie_domain::taint::Taint;
use selkie_domain::tool::ToolBlock;
use selkie_domain::transcript::Picture;
use selkie_domain::usage::Meter;

use crate::paths::Roots;
use crate::skills::Skills;

/// The scope of one call.
#[derive(Clone)]
pub struct Scope {
    /// The task.
    pub task: TaskId,
    /// The call's id, unique within the task.
    pub call: String,
    /// The conversation the task speaks in.
    pub conversation: ConversationId,
    /// The agent's name, where the task is an agent's: it works for the conversation.
    pub agent: Option<String>,
    /// The message the task answers.
    pub message: Option<MessageRef>,
    /// Who asked.
    pub speaker: Option<PersonId>,
    /// Whether nobody but who asks reads what is said, and writes there.
    pub is_private: bool,
    /// The least trust in play.
    pub trust: Trust,
    /// What the conversation is in.
    pub mode: Mode,
    /// Why the task exists.
    pub trigger: Trigger,
    /// The level of what the task reads.
    pub taint: Taint,
    /// What the network gets of this task.
    pub outward: Outward,
    /// Somebody who can has allowed this very call.
    pub approved: Option<ApprovedBasis>,
    /// What earlier tasks of the conversation read and the history does not show whole.
    pub earlier: Arc<[Earlier]>,
    /// The plan the task follows: its own newest, else the conversation's.
    pub plan: Option<Plan>,
    /// What people answered to this call's questions, when it is called again after them.
    pub given: Vec<QuestionResult>,
    /// What the call kept for itself when it asked the last of them.
    pub kept: Option<Value>,
    /// Where files may be read and written.
    pub roots: Roots,
    /// Speaks into this conversation.
    pub reply: Arc<dyn Reply>,
    /// What the task may use at this moment, as its model sees it.
    pub tools: Arc<ToolBlock>,
    /// Tells how far the task is.
    pub progress: Arc<dyn Progress>,
    /// The conversation's todos.
    pub todos: Arc<dyn Todos>,
    /// The list of what people want done, in files.
    pub todo_file: Arc<dyn TodoFile>,
    /// What is remembered.
    pub memory: Arc<dyn Memory>,
    /// How kinds of work are done.
    pub skills: Arc<dyn Skills>,
    /// The memory that its agent has for itself in this place, by its name.
    pub own_memory: Option<String>,
    /// What was asked, and by whom.
    pub asked: Arc<UserText>,
    /// The conversation's schedules.
    pub timetable: Arc<dyn Timetable>,
    /// People elsewhere.
    pub addressees: Arc<dyn Addressees>,
    /// The conversations that there are.
    pub sessions: Arc<dyn Sessions>,
    /// Those who work for the task, and beside it.
    pub agents: Arc<dyn Agents>,
    /// The names of agents that other calls of the same answer begin.
    pub begun: Vec<String>,
    /// Makes recordings and pictures.
    pub studio: Arc<dyn Studio>,
    /// Keeps the files of posts.
    pub post_files: Arc<dyn PostFiles>,
    /// Changes what the conversation is in.
    pub modes: Arc<dyn Modes>,
    /// Asks people in the middle of the call.
    pub permissions: Permissions,
    /// Counts what models take that the call asks.
    pub spent: Arc<Meter>,
    /// Not after this moment.
    pub deadline: Instant,
    /// When the task's own time is over: no call goes on beyond it.
    pub task_deadline: Instant,
    /// Cancelled when the task is stopped.
    pub cancel: CancellationToken,
    /// The time.
    pub clock: SharedClock,
}

impl Scope {
    /// Whether somebody is there who can answer a question of the call: who asked for the task, just now and in person.
    pub fn is_attended(&self) -> bool {
        let is_asked = self.trigger == Trigger::Asked && self.speaker.is_some();
        is_asked && self.agent.is_none() && self.permissions.of != Approvers::Nobody
    }

    /// Returns who asks for a schedule: whoever asked for the task, by hand whoever works at this machine.
    ///
    /// # Errors
    /// Nobody has asked.
    pub fn wisher(&self) -> Result<Wisher, ToolError> {
        let at_machine = || command_line::is_at(&self.conversation).then(command_line::person);
        let person = self.speaker.clone().or_else(at_machine);
        let nobody =
            || ToolError::tell("nobody asked for it, and a schedule needs somebody who did");
        let task = Some(self.task);
        Ok(Wisher { task, person: person.ok_or_else(nobody)?, trust: self.trust })
    }
}

impl Scope {
    /// Returns whose task looks at conversations, and from where.
    pub fn visitor(&self) -> Visitor {
        let by_hand = command_line::is_at(&self.conversation);
        let name =
            self.asked.people.iter().find(|person| Some(&person.id) == self.speaker.as_ref());
        Visitor {
            task: self.task,
            call: self.call.clone(),
            conversation: self.conversation.clone(),
            person: self.speaker.clone().or_else(|| by_hand.then(command_line::person)),
            name: name.map(|person| person.name.clone()).unwrap_or_default(),
            trust: self.trust,
            // The state folder is open to an owner alone, too.
            sees_all: self.roots.state.is_some(),
        }
    }
}

/// What was looked at when an approval was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovedBasis {
    /// The folder that a command starts in, and in no other.
    pub folder: Option<Identity>,
}

/// What a task may send over the network by its tools.
#[derive(Clone, Debug, Default)]
pub enum Outward {
    /// Whatever the tools allow.
    #[default]
    Free,
    /// Words of others are in play, and they may have chosen where to: only addresses and search words
    /// that stand verbatim in what people typed here, which is this.
    Only(Arc<[String]>),
}

/// What a tool answered in an earlier task and the history shows as a stub, or cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// Names it.
    pub id: String,
    /// The tool and what it was called with, in short.
    pub of: String,
    /// What it answered.
    pub text: String,
    /// Pictures that belong to it.
    pub pictures: Vec<Picture>,
    /// Whose words it holds.
    pub level: Taint,
}
