//! The look at the memory: whether each chat's folder is its own.

use std::fs;
use std::path::Path;

use super::finding::Finding;
use super::look::Look;
use selkie_memory::FOLDER;

const WHAT: &str = "memory";
/// So many folders are looked at, and named.
const MAX: usize = 20_000;
const MAX_NAMED: usize = 5;

/// Looks for folders that are links.
pub fn look(state: &Path) -> Look {
    let folder = state.join(FOLDER);
    Look::here(WHAT, move || {
        let all = fs::read_dir(folder).into_iter().flatten().take(MAX).flatten();
        let links = all.filter(|entry| entry.file_type().is_ok_and(|found| found.is_symlink()));
        let told = |entry: fs::DirEntry| {
            let name = entry.file_name();
            Finding::warning(
                WHAT,
                format!(
                    "{FOLDER}/{} is a link: selkie neither reads nor writes there",
                    name.display()
                ),
                "put the folder itself in its place",
            )
        };
        links.take(MAX_NAMED).map(told).collect()
    })
}
