//! Files that may leave this machine by a tool's call.

use std::path::Path;

use crate::ToolError;
use crate::paths::{Finder, Location, Roots, Zone};

/// Finds a file among those that may leave: this conversation's own, and the workspace's.
pub(crate) fn leaving(
    tool: &'static str,
    roots: &Roots,
    path: &str,
) -> Result<Location, ToolError> {
    // The state folder and the rest of the machine may be read by some, but are sent by nobody.
    let open = Roots { state: None, elsewhere: false, skills: Default::default(), ..roots.clone() };
    let finder = Finder { tool, roots: &open, deny: &[] };
    let of_state = path.starts_with("file_state_dir/");
    let outside = |file: Result<Location, ToolError>| match file {
        Ok(file) if matches!(file.zone, Zone::Own | Zone::Workspace) => Ok(file),
        Err(ToolError::Tell(why)) if !why.starts_with("refusing to read") && !of_state => {
            Err(ToolError::Tell(why))
        }
        _ => Err(ToolError::tell(format!(
            "refusing to send file outside file_cache_dir: {path} (write or copy it to \
             file_cache_dir/<path> first)"
        ))),
    };
    let found = outside(finder.existing(path));
    if found.is_ok() || Path::new(path).is_absolute() {
        return found;
    }
    // A relative path may also mean the conversation's own folder.
    let own = outside(finder.existing(&format!("file_cache_dir/{path}")));
    own.or(found)
}
