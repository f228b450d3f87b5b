//! What was said lately, by message id: LINE's quotes bring an id and nothing else.

use std::sync::{Mutex, MutexGuard};

use selkie_channel_core::locked;
use selkie_channel_core::{MessageRef, Quote};

use crate::bounded::Bounded;

const MESSAGES: usize = 4000;
/// Characters of a message that are remembered.
const TEXT: usize = 500;

/// The messages of late, ours and others'. A restart forgets them: the store tells of those that are quoted.
pub struct Known(Mutex<Bounded<Said>>);

/// One message.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The name the platform shows.
    pub speaker: String,
    /// Its text.
    pub text: String,
    /// The bot said it.
    pub ours: bool,
    /// What LINE wants to see for a quote of it.
    pub quote_token: Option<String>,
}

impl Default for Known {
    fn default() -> Self {
        Self(Mutex::new(Bounded::new(MESSAGES)))
    }
}

impl Known {
    /// Remembers a message.
    pub fn put(&self, id: &str, mut said: Said) {
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
        let Said { speaker, text, ours, .. } = said;
        Quote { message: MessageRef::new(id), speaker, text, ours }
    }

    /// Returns what LINE wants to see for a quote of a message.
    pub fn quote_token(&self, id: &str) -> Option<String> {
        self.lock().get(id)?.quote_token.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Bounded<Said>> {
        locked(&self.0)
    }
}
