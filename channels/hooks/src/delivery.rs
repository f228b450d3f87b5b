//! A call that is signed and wanted, and whoever stores it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::settings::Endpoint;

/// A call that is signed and wanted.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The hook that was called.
    pub hook: Arc<Endpoint>,
    /// Tells it from all others of its hook.
    pub id: String,
    /// The id that the same body had on the day before, where only its words tell it from others.
    pub day_before: Option<String>,
    /// What the service calls it; empty where it says nothing.
    pub event: String,
    /// What is made of it.
    pub content: Content,
}

/// What is made of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A model reads what the service has sent, and does what the hook says.
    Prompt {
        /// What it is to do.
        prompt: String,
        /// What was sent: others' words.
        payload: String,
    },
    /// Plain text, to be said as it is.
    Words(String),
}

/// What a delivery came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The number of its task.
    pub task: i64,
    /// It was not there before.
    pub is_new: bool,
}

/// Why a delivery is not taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many of its hook wait.
    Full,
    /// It cannot be stored, or its conversation cannot be spoken in. That is logged.
    Unavailable,
}

/// Whoever stores deliveries.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// Stores a delivery, once. What it asks for goes on whether or not the caller waits for the end.
    ///
    /// # Errors
    /// Why it is not taken now.
    async fn deliver(&self, delivery: Delivery) -> Result<Receipt, Refusal>;

    /// Counts a call of a hook: accepted, duplicate, ignored, unsigned, too_many, unreadable or unavailable.
    fn count(&self, hook: &str, outcome: &str);
}
