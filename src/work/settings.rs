//! What work is told by config: its workers, what a message does to a task that runs, what single places may do.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerSettings {
    /// How many tasks run at once, in all conversations together. Where there are owners, one of them is
    /// always an owner's, when it is not 1.
    pub max_concurrency: NonZeroUsize,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { max_concurrency: const { NonZeroUsize::new(16).unwrap() } }
    }
}

/// What workers keep to with every task.
#[derive(Clone, Debug)]
pub struct AnswerSettings {
    /// What becomes of a message that arrives while its conversation's task runs.
    pub while_busy: WhileBusy,
    /// How long requests to allow a call stay open.
    pub approvals: crate::guard::policy::Settings,
    /// Answers to other bots in a row, without a person's line between them.
    pub bot_answers: u32,
}

/// What one place may do beyond its setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupSettings {
    /// Tools and classes of tools that are open here although it is a group.
    pub allow: Vec<String>,
    /// When the bot speaks here although nobody spoke to it. Default: the key of the same name at the
    /// top.
    pub group_trigger_mode: Option<TriggerMode>,
    /// Other bots are answered when they speak to this one; `gate.bot_answers` ends it.
    pub bots: bool,
}

/// What becomes of a message that arrives while its conversation's task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum WhileBusy {
    /// It waits in its lane.
    #[default]
    Queue,
    /// The running task sees it before its next model call, when it says no more than that task may.
    Steer,
    /// It stops the running task, when that is the speaker's own, and is the next.
    Interrupt,
}

/// When the bot speaks in a group although nobody spoke to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TriggerMode {
    /// Never.
    #[default]
    Strict,
    /// When it is meant all the same.
    Smart,
    /// When it has something to say.
    Talkative,
}
