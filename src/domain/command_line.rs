//! The command line as a place: one conversation for each folder, and who sits there.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, MessageRef, PersonId};

use crate::facts::{Facts, Trust, Where};

/// The name of the command line where channels are named.
pub const NAME: &str = "cli";
const ACCOUNT: &str = "cli:local";

/// Returns the account of the command line.
pub fn account() -> AccountId {
    AccountId::new(ACCOUNT)
}

/// Returns the conversation of a workspace.
pub fn conversation(workspace: &Path) -> ConversationId {
    ConversationId::new(account(), format!("{NAME}:{}", workspace.display()))
}

/// Whether a conversation is one of the command line.
pub fn is_at(conversation: &ConversationId) -> bool {
    conversation.account().as_str() == ACCOUNT
}

/// Returns the workspace of a conversation of the command line.
pub fn workspace(conversation: &ConversationId) -> Option<PathBuf> {
    let path = Path::new(conversation.key().strip_prefix("cli:")?);
    path.is_absolute().then(|| path.to_owned())
}

/// Returns the facts of what is typed at the command line now; `message` names who hears the answer.
pub fn facts(terminal: bool, message: MessageRef, now: DateTime<Utc>) -> Facts {
    let place = Where::CommandLine { terminal };
    Facts { message: Some(message), ..Facts::of(place, Some(person()), Trust::Owner, now) }
}

/// Returns who sits at the command line.
pub fn person() -> PersonId {
    PersonId::new(ACCOUNT)
}
