//! Folders that are links to other ones: what lies there is not ours to read, to write or to remove.

use std::fs;
use std::path::Path;

/// Whether a folder on the way to a file of the state folder is a link. The first one may be: people keep all memory, or all
/// contacts, where they like; a chat's own folder in another place would be two chats' or somebody else's.
pub(super) fn leads_elsewhere(state: &Path, file: &str) -> bool {
    let mut folders = file.match_indices('/').skip(1).map(|(at, _)| &file[..at]);
    let is_link = |found: fs::Metadata| found.is_symlink();
    folders.any(|folder| fs::symlink_metadata(state.join(folder)).is_ok_and(is_link))
}
