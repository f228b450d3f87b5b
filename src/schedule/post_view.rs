//! Posts as people see them, on the command line and on pages.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use selkie_channel_core::{ConversationId, MessageRef};
use serde::{Deserialize, Serialize};

use selkie_domain::ids::ScheduleId;
use selkie_store::DeliveryState;

/// Finds the address of a message that was posted to a public conversation.
pub type PostUrl = Arc<dyn Fn(&ConversationId, &MessageRef) -> Option<String> + Send + Sync>;

/// A post as people see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PostView {
    /// Names it: a schedule's number, `p` with a post's, or a draft's code.
    pub id: String,
    /// `draft`, `scheduled`, `paused`, `ended`, `posting`, `posted`, `refused`, `unclear`, `withdrawn` or `expired`.
    pub state: String,
    /// Why; may be empty.
    pub why: String,
    /// When it comes due, in words; empty for one that went out at once.
    pub when: String,
    /// Its next times, in its zone.
    pub next: Vec<DateTime<FixedOffset>>,
    /// That zone; empty where it has no next times.
    pub zone: String,
    /// The schedule that it is a time of.
    pub schedule: Option<ScheduleId>,
    /// Its texts; for a draft the whole call as its approver sees it.
    pub texts: Vec<String>,
    /// The names of its pictures.
    #[serde(default)]
    pub pictures: Vec<String>,
    /// Its address, where it is known.
    pub url: Option<String>,
    /// The conversation that asked for it, as commands take it.
    pub asked: Option<String>,
    /// When it was stored.
    pub at: Option<DateTime<Utc>>,
}

/// What became of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostStands {
    /// `posting`, `posted`, `refused`, `unclear`, `withdrawn` or `expired`.
    pub state: String,
    /// Why; may be empty.
    pub why: String,
    /// Its address, where it is known.
    pub url: Option<String>,
}

impl PostStands {
    /// Says how a post to a public conversation stands.
    pub fn of(standing: &DeliveryState, to: &ConversationId, url: &PostUrl) -> Self {
        let (state, why) = words(standing);
        let url = match standing {
            DeliveryState::Delivered { message: Some(message) } => url(to, message),
            _ => None,
        };
        Self { state: state.to_owned(), why, url }
    }
}

fn words(standing: &DeliveryState) -> (&'static str, String) {
    match standing {
        DeliveryState::Open => ("posting", String::new()),
        DeliveryState::Delivered { .. } => ("posted", String::new()),
        DeliveryState::Partly { reason } => {
            ("refused", format!("only its beginning was posted: {reason}"))
        }
        DeliveryState::Refused { reason } => ("refused", reason.clone()),
        DeliveryState::Unclear => ("unclear", "nobody knows whether it was posted".to_owned()),
        DeliveryState::Cancelled => ("withdrawn", String::new()),
        DeliveryState::Expired => ("expired", "it could not be posted in time".to_owned()),
    }
}
