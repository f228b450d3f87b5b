//! What was said lately, by message id: LINE's quotes bring an id and nothing else.

use std::sync::{Mutex, MutexGuard};

use selkie_channel_core::locked;
use selkie_channel_core::{Attachment, MessageRef, Quote};

use crate::bounded::BoundedMap;

const MESSAGES: usize = 4000;
/// Characters of a message that are remembered.
const TEXT: usize = 500;

/// The messages of late, ours and others'. A restart forgets them: the store tells of those that are quoted.
pub struct RecentMessages(Mutex<BoundedMap<RecentMessage>>);

/// One message.
#[derive(Clone, Debug, Default)]
pub struct RecentMessage {
    /// The name the platform shows.
    pub speaker: String,
    /// Its text.
    pub text: String,
    /// The bot said it.
    pub ours: bool,
    /// What LINE wants to see for a quote of it.
    pub quote_token: Option<String>,
    /// What came with it: LINE hands it out by the message's id.
    pub attachments: Vec<Attachment>,
}

impl Default for RecentMessages {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(MESSAGES)))
    }
}

impl RecentMessages {
    /// Remembers a message.
    pub fn put(&self, id: &str, mut said: RecentMessage) {
        said.text = said.text.chars().take(TEXT).collect();
        self.lock().put(id, said);
    }

    /// Forgets a message that was taken back.
    pub fn forget(&self, id: &str) {
        self.lock().forget(id);
    }

    /// Whether anything is known of a message.
    pub fn knows(&self, id: &str) -> bool {
        self.lock().get(id).is_some()
    }

    /// Tells what is known of a quoted message.
    pub fn quote(&self, id: &str) -> Quote {
        let said = self.lock().get(id).cloned().unwrap_or_default();
        let RecentMessage { speaker, text, ours, attachments, .. } = said;
        Quote { message: MessageRef::new(id), speaker, text, ours, attachments }
    }

    /// Returns what LINE wants to see for a quote of a message.
    pub fn quote_token(&self, id: &str) -> Option<String> {
        self.lock().get(id)?.quote_token.clone()
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<RecentMessage>> {
        locked(&self.0)
    }
}
