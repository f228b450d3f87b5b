//! Lines of groups that wait for the gate: read together, judged in one write.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, Inbound, PlaceId};

use crate::arrival::NewTask;
use crate::error::Result;
use selkie_domain::ids::InboxId;
use selkie_domain::task::Lane;
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;

/// What the group gate asks of the ledger.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Lists the conversations where lines wait for the gate. At start.
    async fn knocking(&self) -> Result<Vec<ConversationId>>;

    /// Returns what waits in a conversation; `None` when nothing does.
    async fn at_gate(&self, conversation: &ConversationId) -> Result<Option<AtGate>>;

    /// Judges every line up to one: makes the task of the line that passed and leaves the others as
    /// context. Returns the lane when it has work now. Relaxed: what is lost with the power is asked again.
    async fn judge(&self, judged: GateVerdict) -> Result<Option<Lane>>;

    /// Counts the newest answers of a conversation in a row that no person had a part in; at most `most`.
    async fn bots_in_a_row(&self, conversation: &ConversationId, most: u32) -> Result<u32>;
}

/// The lines of a conversation that wait for the gate, and what was said there before.
#[derive(Clone, Debug)]
pub struct AtGate {
    /// The place as it is called now.
    pub place: PlaceId,
    /// The conversation's row number.
    pub conversation_row: i64,
    /// All lines that wait, by their rows: they are judged together.
    pub rows: Vec<InboxId>,
    /// The newest of them, oldest first.
    pub lines: Vec<(InboxId, Inbound)>,
    /// The newest finished tasks, oldest first.
    pub history: Vec<Vec<Item>>,
    /// Untriggered lines since the last task, oldest first.
    pub context: Vec<Inbound>,
}

/// What the gate decided.
#[derive(Clone, Debug)]
pub struct GateVerdict {
    /// Where.
    pub conversation: ConversationId,
    /// The lines that it is about, by their rows: what came meanwhile waits for the next time.
    pub rows: Vec<InboxId>,
    /// The line that starts a task, and the task.
    pub passed: Option<(InboxId, NewTask)>,
    /// The other lines become context; else they are only kept.
    pub keep: bool,
    /// What the decision cost: part of the task's cost. Silence belongs to no task; the log tells it.
    pub usage: Usage,
}
