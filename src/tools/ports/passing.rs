//! What becomes of something said, here or in another conversation.

use selkie_channel_core::{ConversationId, MessageRef, PersonId};

use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

/// What is said in another conversation.
#[derive(Clone, Debug)]
pub struct RelayRequest {
    /// Names it within the task.
    pub key: String,
    /// Where.
    pub to: ConversationId,
    /// In markdown.
    pub text: String,
    /// On whose behalf, for whoever reads the history there.
    pub by: String,
    /// The person who asked; nobody where nobody has.
    pub person: Option<PersonId>,
    /// The least trust in play.
    pub trust: Trust,
    /// The level of what the words came out of.
    pub taint: Taint,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayOutcome {
    /// Its delivery.
    pub spoken: SayOutcome,
    /// It was said before under this key: nothing was sent now.
    pub is_known: bool,
}

/// What became of something said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SayOutcome {
    /// It arrived.
    Sent(Option<MessageRef>),
    /// The platform will not take it, in its words.
    Refused(String),
    /// It is stored and will be sent; no receipt yet.
    Queued,
    /// No answer proves what became of it; it is not repeated by calling again.
    Unclear,
}
