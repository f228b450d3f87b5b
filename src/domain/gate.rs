//! Why a task exists although nobody spoke to the bot: what the group gate decided, stored with it.

use serde::{Deserialize, Serialize};

/// A line that passed the gate of its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GatePass {
    /// The answer quotes the line: the wish to speak was strong enough.
    pub quotes: bool,
    /// A reaction or one short line is enough, by the model that decided.
    pub is_lightweight: bool,
    /// Why, in that model's words; at most 300 characters.
    pub reason: String,
}
