//! Walks the files below a folder as ripgrep does: in parallel, hidden ones and what `.gitignore` names
//! left out, no link followed, nothing that the scope closes.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, WalkBuilder, WalkState};
use selkie_channel_core::locked;

use super::DenyList;
use super::tame::is_tame_file;
use crate::paths::{Location, Roots, Stop};

/// Threads at most; more do not help a disk.
const MAX_THREADS: usize = 8;
/// Files that the walker reads on its way.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// What one walk may see.
#[derive(Clone)]
pub(super) struct Sight {
    /// The tool, for refusals.
    pub(super) tool: &'static str,
    /// The scope's roots.
    pub(super) roots: Roots,
    /// What the tool never touches.
    pub(super) denied: DenyList,
}

/// Calls `each` for every regular file below a folder, on several threads, in no order. Returns how many
/// entries are closed to the tool.
///
/// # Errors
/// When it is time to end.
pub(super) fn files(
    folder: &Location,
    sight: Sight,
    stop: &Stop,
    each: impl Fn(Location, &DirEntry) + Sync,
) -> io::Result<usize> {
    let base = folder.real();
    let failed = Mutex::new(Ok(()));
    let closed = Arc::new(AtomicUsize::new(0));
    builder(folder, sight, Arc::clone(&closed)).build_parallel().run(|| {
        Box::new(|entry| {
            if let Err(over) = stop.check() {
                *locked(&failed) = Err(over);
                return WalkState::Quit;
            }
            // A folder that cannot be read does not spoil the rest; it is counted as closed.
            let Ok(entry) = entry else {
                closed.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            };
            let relative = entry.path().strip_prefix(&base).ok();
            if let Some(relative) =
                relative.filter(|_| entry.file_type().is_some_and(|t| t.is_file()))
            {
                each(folder.child(relative.as_os_str()), &entry);
            }
            WalkState::Continue
        })
    });
    failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
    Ok(closed.load(Ordering::Relaxed))
}

/// Says how many entries a list leaves out because they are closed; nothing for none.
pub(super) fn with_closed(list: String, closed: usize) -> String {
    match closed {
        0 => list,
        1 => format!("{list}\n[1 entry is closed to tools.]"),
        many => format!("{list}\n[{many} entries are closed to tools.]"),
    }
}

fn builder(folder: &Location, sight: Sight, closed: Arc<AtomicUsize>) -> WalkBuilder {
    let base = folder.real();
    let real_roots = sight.denied.finder(sight.tool, &sight.roots).real_roots();
    let start = folder.clone();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let mut builder = WalkBuilder::new(&base);
    // The machine's own git settings are nobody's business here, and a folder need be no repository.
    // What a repository keeps for itself may be anything, a pipe too.
    builder
        .git_exclude(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .threads(threads);
    builder.parents(base.ancestors().all(can_be_read));
    builder.filter_entry(move |entry| {
        let Ok(relative) = entry.path().strip_prefix(&base) else { return false };
        let finder = sight.denied.finder(sight.tool, &sight.roots);
        let here = start.child(relative.as_os_str());
        let folder = entry.file_type().is_some_and(|t| t.is_dir());
        let seen = finder.may_see(&real_roots, &here);
        if !seen {
            closed.fetch_add(1, Ordering::Relaxed);
        }
        seen && (!folder || can_be_read(entry.path()))
    });
    builder
}

/// Whether the walker may read a folder's ignore files; a folder with others is not entered.
fn can_be_read(folder: &Path) -> bool {
    let tame = IGNORE_FILES.iter().all(|name| is_tame_file(&folder.join(name)));
    if !tame {
        tracing::info!(folder = %folder.display(), "left out: its ignore file is not a file of usual size and globs");
    }
    tame
}
