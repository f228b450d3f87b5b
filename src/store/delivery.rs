//! Parts out, receipts in: what is said, from its draft to where it stands.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, MessageRef, Outbound, Part, PlaceId, Receipt};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use selkie_domain::ids::{Instance, OutboundId, PartId};

/// Parts out, receipts in.
#[async_trait]
pub trait Delivery: Send + Sync {
    /// Returns the unsent parts of an account in order of rows: at start. Marks of dead boots have
    /// become unclear.
    async fn due(&self, account: &AccountId, instance: &Instance) -> Result<Vec<DuePart>>;

    /// Marks a part as being sent. Durable. `false` when it is not to be sent any more.
    async fn sending(&self, part: PartId, instance: &Instance) -> Result<bool>;

    /// Stores what came of an attempt. Relaxed.
    async fn settle(&self, part: PartId, outcome: Outcome) -> Result<DeliveryState>;

    /// Returns where the part before this one of the same outbound stands; `None` for the first.
    async fn before(&self, part: PartId) -> Result<Option<DeliveryState>>;

    /// Whether a message of the platform may be the one in which something said ends, where its buttons are: its
    /// receipt names it, or nobody can tell.
    async fn ends_in(&self, outbound: OutboundId, message: &MessageRef) -> Result<bool>;

    /// Stores a penalty, so that a restart keeps it. Relaxed.
    async fn penalty(&self, account: &AccountId, scope: &str, until: DateTime<Utc>) -> Result<()>;

    /// Returns the penalties of an account that are not over.
    async fn penalties(
        &self,
        account: &AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, DateTime<Utc>)>>;
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It arrived.
    Sent(Receipt),
    /// Not sent: try again at this moment.
    Retry {
        /// When.
        at: DateTime<Utc>,
        /// Why.
        why: String,
    },
    /// Never will.
    Refused {
        /// In the platform's words.
        reason: String,
        /// Close the conversation, refuse all that is queued for it.
        close: bool,
    },
    /// No proof; decide at this moment.
    Unclear {
        /// When to look it up, repeat it or give up.
        decide_at: DateTime<Utc>,
        /// Why.
        why: String,
    },
    /// No proof, and it is left so.
    LeftUnclear,
    /// It went out a second time with a mark: queued again as this part.
    Repeat(Box<Part>),
    /// Nothing was sent, and this call takes the place of the stored one: queued as this part.
    Instead {
        /// The call.
        part: Box<Part>,
        /// Why.
        why: String,
    },
    /// Its place has moved: alias the place and send this part instead.
    Moved {
        /// The new place.
        to: PlaceId,
        /// The call, readdressed.
        part: Box<Part>,
    },
    /// Its time had passed.
    Expired,
}

impl Outcome {
    /// Its name, for whoever counts.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent(_) => "sent",
            Self::Retry { .. } => "retried",
            Self::Refused { .. } => "refused",
            Self::Unclear { .. } => "unclear",
            Self::LeftUnclear => "left_unclear",
            Self::Repeat(_) => "repeated",
            Self::Instead { .. } => "replaced",
            Self::Moved { .. } => "moved",
            Self::Expired => "expired",
        }
    }
}

/// Something to say, rendered.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What.
    pub outbound: Outbound,
    /// Its calls, from the channel's `render`.
    pub parts: Vec<Part>,
    /// Worthless after this moment: expires visibly.
    pub expires_at: Option<DateTime<Utc>>,
    /// It goes to a public conversation, within what a month lets be posted there.
    pub month: Option<Month>,
}

/// What a month lets be posted in a public conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    /// Its first moment.
    pub since: DateTime<Utc>,
    /// Posts at most.
    pub most: u32,
    /// Why what goes beyond is refused, and when that ends.
    pub over: String,
}

/// A stored outbound with its queued parts: hand them to the delivery worker.
#[derive(Clone, Debug)]
pub struct QueuedOutbound {
    /// The row.
    pub outbound: OutboundId,
    /// Its parts, in order.
    pub parts: Vec<DuePart>,
}

/// A part that waits to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct DuePart {
    /// The row.
    pub id: PartId,
    /// Its outbound.
    pub outbound: OutboundId,
    /// The platform call.
    pub part: Part,
    /// Attempts made so far.
    pub attempts: u32,
    /// Not before this moment.
    pub not_before: Option<DateTime<Utc>>,
    /// Not after this moment.
    pub expires_at: Option<DateTime<Utc>>,
    /// An attempt is unclear: at `not_before` look it up, repeat it or mark it, by its channel's rule.
    pub unclear: bool,
    /// It answers the conversation that asked (only such text may be repeated with a mark).
    pub answer: bool,
    /// It was marked as being sent in the write that stored it.
    pub departs: bool,
}

/// Where an outbound stands, from its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum DeliveryState {
    /// Parts are still to be sent.
    Open,
    /// All parts arrived.
    Delivered {
        /// The id of the first message.
        message: Option<MessageRef>,
    },
    /// Some arrived, and one was refused.
    Partly {
        /// In the platform's words.
        reason: String,
    },
    /// None arrived.
    Refused {
        /// In the platform's words.
        reason: String,
    },
    /// No answer proves what became of it.
    Unclear,
    /// Withdrawn before it was sent.
    Cancelled,
    /// Its time had passed.
    Expired,
}
