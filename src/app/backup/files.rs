//! Which files belong to a life besides its rows: what people and selkie keep in the state folder, and pictures of posts
//! that are still to come.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::contents::{CACHE, CONFIG, STATE};
use super::names::Names;
use selkie_config::paths::Folders;
use selkie_domain::screen::{is_unseen, steers};
use selkie_engine::delivery::outgoing::POST_FILES;

/// Folders lie in each other no deeper.
const DEEPEST: usize = 24;
/// There are no more files.
const MAX: usize = 200_000;

/// A file that goes into a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name in the archive.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// How large it was when it was found.
    pub bytes: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupFiles {
    /// Files, in the order of their names.
    pub items: Vec<Item>,
    /// What cannot be in a backup, with why.
    pub left_out: Vec<String>,
}

/// Whether something at the top of a state folder belongs to a process, to the database, or to a restore: a backup brings
/// its own, or needs none.
pub fn is_not_kept(name: &str) -> bool {
    const NAMES: [&str; 5] = [CONFIG, "selkie.lock", "selkie.sock", "run", super::place::STAGE];
    NAMES.contains(&name)
        || name.starts_with("selkie.db")
        || name.starts_with(super::place::ASIDE)
        || name == super::place::NEW_MARK
        || super::place::MARKS.contains(&name)
}

/// Whether a part of a name is one that a backup may hold: nothing in it steers a terminal or leads elsewhere, and no dot or
/// what nobody sees stands at its end, which other file systems leave away.
pub fn is_plain(part: &str) -> bool {
    let is_left_away = |c: char| c == '.' || c.is_whitespace() || is_unseen(c);
    // Emoji end in a mark of their style.
    let last = part.trim_end_matches('\u{fe0f}').chars().next_back();
    last.is_some_and(|last| !is_left_away(last)) && !part.chars().any(|c| steers(c) || c == '\\')
}

/// Looks for them. What lies in the folders `apart`, which hold backups, stays out.
///
/// # Errors
/// When a folder cannot be read, or there is more than a backup can hold.
pub fn look(folders: &Folders, apart: &[&Path]) -> anyhow::Result<BackupFiles> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let state = real(&folders.state);
    let mut closed = vec![real(&folders.cache)];
    closed.extend(apart.iter().map(|folder| real(folder)));
    let mut walk = Walk { found: BackupFiles::default(), closed, names: Names::default() };
    for entry in entries(&state)? {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !is_not_kept(name) {
            walk.take(&entry, STATE.trim_end_matches('/'), DEEPEST)?;
        }
    }
    walk.closed.remove(0);
    let posts = folders.cache.join(POST_FILES);
    if posts.is_dir() {
        let above = Path::new(CACHE).join(POST_FILES);
        let above = above.parent().and_then(Path::to_str).unwrap_or_default().to_owned();
        walk.take(&posts, &above, DEEPEST)?;
    }
    Ok(walk.found)
}

struct Walk {
    found: BackupFiles,
    /// Folders that are not gone into.
    closed: Vec<PathBuf>,
    names: Names,
}

impl Walk {
    fn take(&mut self, path: &Path, above: &str, deep: usize) -> anyhow::Result<()> {
        let shown = || path.display().to_string();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            self.found.left_out.push(format!("{}: its name is not text", shown()));
            return Ok(());
        };
        if !is_plain(name) {
            let why = "its name holds a backslash, or a character that steers a screen, or ends in a dot or a blank: rename it";
            self.found.left_out.push(format!("{path:?}: {why}"));
            return Ok(());
        }
        let kind = match fs::symlink_metadata(path) {
            // It went meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            kind => kind.map_err(|e| unread(path, &e))?,
        };
        let name = format!("{above}/{name}");
        if kind.is_file() {
            if let Err(other) = self.names.take(&name) {
                let why = "by case, or by how a letter is written: rename one";
                self.found
                    .left_out
                    .push(format!("{}: elsewhere it may be one file with {other}, {why}", shown()));
                return Ok(());
            }
            anyhow::ensure!(self.found.items.len() < MAX, "there are more than {MAX} files");
            let path = path.to_owned();
            self.found.items.push(Item { name, path, bytes: kind.len() });
        } else if kind.is_dir() && !self.closed.iter().any(|closed| closed == path) {
            anyhow::ensure!(deep > 0, "{} lies too deep: more than {DEEPEST} folders", shown());
            for entry in entries(path)? {
                self.take(&entry, &name, deep - 1)?;
            }
        } else if kind.is_symlink() {
            self.found.left_out.push(format!("{}: it is a symbolic link", shown()));
        }
        Ok(())
    }
}

/// Lists a folder by names.
fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            all.push(entry?.path());
        }
        all.sort();
        Ok(all)
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|error| unread(folder, &error)),
    }
}

fn unread(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("{} cannot be read: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_and_what_is_not_stays_out() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { state: home.path().into(), cache: home.path().join("cache") };
        for name in [
            "TODO.md",
            "kept/a/1",
            "selkie.db",
            "selkie.db-wal",
            "selkie.lock",
            "run/processes.json",
            "before-restore-1/TODO.md",
            "cache/chat/a.txt",
            "cache/outbox/posts/abc",
            "backups/old.tar.gz",
            "config.yaml",
            "kept/\u{1b}[2J",
            "kept/..\\x",
            "kept/\u{202e}dm.x",
            "notes.md",
            "Notes.md",
        ] {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/hostname", home.path().join("link")).unwrap();
        let found = look(&folders, &[&home.path().join("backups")]).unwrap();
        let names: Vec<&str> = found.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(
            names,
            ["state/Notes.md", "state/TODO.md", "state/kept/a/1", "cache/outbox/posts/abc"]
        );
        let why = found.left_out.join("\n");
        assert!(why.contains("symbolic link") && why.contains(r"\u{1b}[2J"), "{why}");
        assert!(why.contains("one file with state/Notes.md") && why.contains(r"\u{202e}"), "{why}");
        assert_eq!(found.left_out.len(), 5, "{why}");
    }
}
