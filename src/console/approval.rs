//! Approval to make a call, as whoever watches reads it.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, MessageRef};
use serde::Serialize;

use selkie_domain::approval::ApprovalState;
use selkie_domain::ids::TaskId;
use selkie_domain::question::Person;
use selkie_store::ApprovalRow;

/// An approval that was asked for, as far as one who watches may know it: not what it would be given by.
#[derive(Serialize)]
pub(super) struct Approval {
    task: TaskId,
    conversation: ConversationId,
    /// The call it is for.
    call: String,
    tool: String,
    /// What the call would do, as it is shown to those who are asked.
    preview: String,
    reasons: Vec<String>,
    requester: Option<Person>,
    state: ApprovalState,
    why: Option<String>,
    /// Who decided.
    by: String,
    /// Where it was asked.
    asked: Vec<AskedAt>,
    expires_at: DateTime<Utc>,
}

#[derive(Serialize)]
struct AskedAt {
    person: Person,
    key: String,
    message: Option<MessageRef>,
}

impl Approval {
    /// Takes what may be shown.
    pub(super) fn of(row: ApprovalRow) -> Self {
        let ApprovalRow { task, conversation, requester, request, state, why, by, .. } = row;
        let asked = row.asked.into_iter().map(|asked| AskedAt {
            key: asked.conversation.key().to_owned(),
            person: asked.person,
            message: asked.message,
        });
        Self {
            task,
            conversation,
            call: request.call,
            tool: request.tool,
            preview: request.preview,
            reasons: request.reasons,
            requester,
            state,
            why,
            by,
            asked: asked.collect(),
            expires_at: row.expires_at,
        }
    }

    /// Returns where the task speaks that waits for it.
    pub(super) fn conversation(&self) -> &ConversationId {
        &self.conversation
    }
}
