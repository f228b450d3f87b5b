//! What was understood of the voice of messages: it stands with the message and goes with it.

use async_trait::async_trait;

use crate::error::Result;
use selkie_domain::ids::InboxId;
use selkie_domain::spoken::SpokenWords;

/// What was understood of one file of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardVoice {
    /// Which of the message's files it is, from 0.
    pub file: u32,
    /// What was said.
    pub spoken: SpokenWords,
}

/// What is kept of voice.
#[async_trait]
pub trait VoiceNotes: Send + Sync {
    /// Keeps what was understood of a file, unless something is kept of it already. `false` when the message has no such file
    /// any more: it was taken back or forgotten, and its words go with it. Relaxed: with the power a server is asked again.
    async fn keep_spoken(&self, message: InboxId, heard: HeardVoice) -> Result<bool>;

    /// Returns what is kept of a message's files.
    async fn spoken_words(&self, message: InboxId) -> Result<Vec<HeardVoice>>;
}
