//! Why a tool failed, and what happens next.

use crate::agents::ChildOrder;
use selkie_domain::question::Ask;
use selkie_domain::taint::Taint;
use serde_json::Value;

/// Why a tool failed. Each variant says what happens next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ToolError {
    /// Tell the model; it may do better.
    #[error("{0}")]
    Tell(String),
    /// The same in words of this level, which the task did not bring.
    #[error("{text}")]
    Quote {
        /// What the model reads.
        text: String,
        /// Whose words it holds.
        level: Taint,
    },
    /// End the task: the claim is lost, the store is broken, the task was stopped.
    #[error("{0}")]
    Abort(String),
    /// Ask a person first: the run waits for the answer, then the tool is called again with what was
    /// [given](super::scope::Scope::given) and [kept](super::scope::Scope::kept). For tools that stand alone.
    #[error("it asks a person and waits for the answer: nobody can be asked here")]
    Ask(Box<CallQuestion>),
    /// Let agents work: the run waits for those that are awaited, and answers the call by what they come to. For tools that
    /// [group](selkie_domain::tool::ToolSpec::groups).
    #[error("it lets agents work, and none can work here")]
    Spawn(Vec<ChildOrder>),
}

impl ToolError {
    /// Tells the model.
    pub fn tell(text: impl Into<String>) -> Self {
        Self::Tell(text.into())
    }

    /// Asks a person, and keeps nothing for the next call but what was answered.
    pub fn ask(ask: Ask) -> Self {
        Self::Ask(Box::new(CallQuestion { ask, kept: None }))
    }
}

/// What a call asks a person before it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallQuestion {
    /// The question.
    pub ask: Ask,
    /// What the tool gets back when it is called again with the answer.
    pub kept: Option<Value>,
}
