//! What tools need of the house and may not import: each port is one noun, implemented above.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{Body, ConversationId, MessageRef};

use crate::domain::facts::Mode;
use crate::domain::plan::Plan;
use crate::domain::transcript::Picture;
use crate::domain::usage::Meter;
use crate::tools::ToolError;

/// Speaks into the conversation of the task, and into no other.
#[async_trait]
pub trait Reply: Send + Sync {
    /// Stores what is said under the call's id, waits for the platform's receipt up to 20 s.
    async fn say(&self, call: &str, body: Body) -> Result<Spoken, ToolError>;

    /// The same for a body with a file: `file` is what was judged, and its bytes of now are what is sent,
    /// whatever is put in its place before the platform takes it.
    async fn send(&self, call: &str, body: Body, file: File) -> Result<Spoken, ToolError>;

    /// Whether what a person or model wrote (`-100123`, `tg:-100123`) names this conversation or its
    /// place. `None` when it names no conversation at all.
    fn is_here(&self, written: &str) -> Option<bool>;
}

/// What became of something said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// It arrived.
    Sent(Option<MessageRef>),
    /// The platform will not take it, in its words.
    Refused(String),
    /// It is stored and will be sent; no receipt yet.
    Queued,
    /// No answer proves what became of it; it is not repeated by calling again.
    Unclear,
}

/// Tells the people of the conversation how far the task is, in one message that is edited in place.
/// Droppable: nothing depends on it, nothing waits for it.
pub trait Progress: Send + Sync {
    /// Shows the task's plan as it stands.
    fn plan(&self, plan: &Plan);

    /// Shows what is being done just now, in one line (a command's newest output).
    fn doing(&self, line: &str);

    /// Shows what the tool at work does, in its spec's words alone; `None` when it has answered. The
    /// dispatcher's caller tells it, no tool does.
    fn tool(&self, _words: Option<&str>) {}

    /// Shows that the model's answer takes long, or that it is there. The caller of the model tells it.
    fn waiting(&self, _waits: bool) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn plan(&self, _plan: &Plan) {}

    fn doing(&self, _line: &str) {}
}

/// Makes pictures ready for models that see.
#[async_trait]
pub trait Pictures: Send + Sync {
    /// Keeps a picture in the conversation's own folder `own`, made anew where models do not take it as it
    /// is.
    ///
    /// # Errors
    /// In words: the bytes are no picture that can be read, or the folder takes no file.
    async fn keep(&self, bytes: Vec<u8>, own: &Path) -> Result<Picture, ToolError>;
}

/// A model for small work: one question, one answer, no tools.
#[async_trait]
pub trait Small: Send + Sync {
    /// Answers `text` as `instruction` says, within `limit`. What it takes is counted in `spent`, whatever comes
    /// of it.
    async fn ask(
        &self,
        instruction: &str,
        text: &str,
        limit: Duration,
        spent: &Meter,
    ) -> Result<String, ToolError>;

    /// Returns another model by its profile's name.
    ///
    /// # Errors
    /// The names there are.
    fn named(&self, _profile: &str) -> Result<Arc<dyn Small>, Vec<String>> {
        Err(Vec::new())
    }
}

/// What a conversation is in.
#[async_trait]
pub trait Modes: Send + Sync {
    /// Changes it; the task's next step has the new shape.
    async fn change(&self, conversation: &ConversationId, mode: Mode) -> Result<(), ToolError>;
}

/// The conversation's todo list.
#[async_trait]
pub trait Todos: Send + Sync {
    /// Returns the list as JSON; `None` when there is none.
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError>;

    /// Replaces the list.
    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError>;
}
