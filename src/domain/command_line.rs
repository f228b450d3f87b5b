//! The command line as a place: one conversation for each folder, and who sits there.

use std::path::{Path, PathBuf};

use selkie_channel_core::{AccountId, ConversationId, PersonId};

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

/// Returns the workspace of a conversation of the command line.
pub fn workspace(conversation: &ConversationId) -> Option<PathBuf> {
    let path = Path::new(conversation.key().strip_prefix("cli:")?);
    path.is_absolute().then(|| path.to_owned())
}

/// Whether a conversation is one of the command line's: whoever has a shell here is its owner.
pub fn is_here(conversation: &ConversationId) -> bool {
    conversation.account().as_str() == ACCOUNT
}

/// Returns who sits at the command line.
pub fn person() -> PersonId {
    PersonId::new(ACCOUNT)
}
