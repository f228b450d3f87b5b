//! What is to be forgotten for good: a file, its earlier versions, and what a change has left of it.

use std::fs;
use std::io::{self, ErrorKind};

use super::disk::{gone, made};
use super::error::written;
use super::kept_versions::Keep;
use super::links::leads_elsewhere;
use super::save_in_progress::Look;
use super::{FileError, Files};
use selkie_channel_core::locked;

impl Files {
    /// Removes a file and every version of it that is kept; one in a folder that is a link is none of ours. Blocks.
    ///
    /// # Errors
    /// When it is there still.
    pub fn remove(&self, file: &str) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        // What a crash has left half done would bring it back.
        self.recover()?;
        let keep = Keep::of(&self.state, file);
        let removed = match leads_elsewhere(&self.state, file) {
            true => Ok(()),
            false => gone(fs::remove_file(self.state.join(file))),
        };
        let removed = removed.and_then(|()| keep.forget());
        removed.map_err(|source| written(file, source))
    }

    /// Throws away every earlier version of a file. Blocks.
    ///
    /// # Errors
    /// When one is there still.
    pub fn forget_versions(&self, file: &str) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.recover()?;
        Keep::of(&self.state, file).forget_versions().map_err(|source| written(file, source))
    }

    /// Moves a file to another name, with nothing at the new one. Blocks.
    ///
    /// # Errors
    /// When it cannot be moved, or something stands there.
    pub fn rename(&self, file: &str, to: &str) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.recover()?;
        let from = self.state.join(file);
        let path = self.state.join(to);
        let moved = || {
            if [file, to].iter().any(|file| leads_elsewhere(&self.state, file)) {
                return Err(io::Error::other("it lies in a folder that is a link"));
            }
            if let Some(folder) = path.parent() {
                made(folder)?;
            }
            let keep = Keep::of(&self.state, file);
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    keep.note_along(&Keep::of(&self.state, to))?;
                    fs::rename(&from, &path)?;
                }
                Err(error) => return Err(error),
                Ok(_) => return Err(io::Error::from(ErrorKind::AlreadyExists)),
            }
            keep.forget()
        };
        moved().map_err(|source| written(file, source))
    }

    /// Says what a file looks like from outside: whoever writes into it changes that. `None` where there is none. Blocks.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn look(&self, file: &str) -> Result<Option<String>, FileError> {
        if leads_elsewhere(&self.state, file) {
            return Ok(None);
        }
        let found = Look::at(&self.state.join(file));
        let failed = |source| FileError::Io { file: file.to_owned(), done: "read", source };
        Ok(found.map_err(failed)?.map(|look| look.line()))
    }

    /// Lists the names of what lies in a folder of the state folder, `most` at most; nothing where there is none, or a link
    /// to another. Blocks.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn names(&self, folder: &str, most: usize) -> Result<Vec<String>, FileError> {
        let failed = |source| FileError::Io { file: folder.to_owned(), done: "read", source };
        if leads_elsewhere(&self.state, &format!("{folder}/")) {
            return Ok(Vec::new());
        }
        let entries = match fs::read_dir(self.state.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in entries.take(most) {
            // What is no text names nothing of ours.
            names.extend(entry.map_err(failed)?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;

    use super::super::{Edit, NewLine};
    use super::*;
    use selkie_domain::clock::SystemClock;
    use selkie_domain::taint::Taint;

    fn add(files: &Files, file: &str, line: &str) {
        let put = vec![NewLine { heading: "## Notes".to_owned(), line: line.to_owned() }];
        let edit = Edit::Lines { file: file.to_owned(), take: Vec::new(), put };
        let done = files.edit(&[edit], Taint::Clean, DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(done.lines_put, 1);
    }

    #[test]
    fn nothing_of_a_removed_file_is_left() {
        let home = tempfile::tempdir().unwrap();
        let files = Files::new(home.path().to_owned(), Arc::new(SystemClock));
        add(&files, "memory/tg.1/MEMORY.md", "- a secret");
        add(&files, "memory/tg.1/MEMORY.md", "- another");
        add(&files, "memory/tg.2/MEMORY.md", "- tea");
        assert_eq!(files.names("memory", 9).unwrap(), ["tg.1", "tg.2"]);
        assert!(files.look("memory/tg.1/MEMORY.md").unwrap().is_some());
        files.remove("memory/tg.1/MEMORY.md").unwrap();
        files.remove("memory/tg.1/MEMORY.md").unwrap();
        assert_eq!(files.look("memory/tg.1/MEMORY.md").unwrap(), None);
        let kept: Vec<String> = files.names("kept", 99).unwrap();
        assert!(!kept.iter().any(|name| name.contains("tg.1")), "{kept:?}");
        assert!(kept.iter().any(|name| name.contains("tg.2")), "{kept:?}");
    }

    #[test]
    fn a_linked_folder_of_a_chat_is_nobodys() {
        let home = tempfile::tempdir().unwrap();
        let (state, other) = (home.path().join("state"), home.path().join("other"));
        fs::create_dir_all(state.join("memory")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("MEMORY.md"), "- a plan\n").unwrap();
        std::os::unix::fs::symlink(&other, state.join("memory/tg.2")).unwrap();
        let files = Files::new(state.clone(), Arc::new(SystemClock));
        let (file, free) = ("memory/tg.2/MEMORY.md", "memory/tg.3/MEMORY.md");
        assert_eq!(files.names("memory/tg.2", 9).unwrap(), [""; 0]);
        assert_eq!(files.look(file).unwrap(), None);
        let why = files.read(file).unwrap_err().to_string();
        assert_eq!(why, format!("{file} lies in a folder that is a link: it is left alone"));
        let put = vec![NewLine { heading: "## Notes".to_owned(), line: "- tea".to_owned() }];
        let edit = Edit::Lines { file: file.to_owned(), take: Vec::new(), put };
        files.edit(&[edit], Taint::Clean, DateTime::UNIX_EPOCH).unwrap_err();
        files.rename(file, free).unwrap_err();
        files.remove(file).unwrap();
        assert_eq!(fs::read_to_string(other.join("MEMORY.md")).unwrap(), "- a plan\n");
        // All of memory may lie where somebody likes.
        fs::remove_file(state.join("memory/tg.2")).unwrap();
        fs::remove_dir(state.join("memory")).unwrap();
        std::os::unix::fs::symlink(&other, state.join("memory")).unwrap();
        add(&files, free, "- cake");
        assert!(other.join("tg.3/MEMORY.md").is_file());
    }

    #[test]
    fn a_file_moves_where_nothing_stands() {
        let home = tempfile::tempdir().unwrap();
        let files = Files::new(home.path().to_owned(), Arc::new(SystemClock));
        add(&files, "memory/old/MEMORY.md", "- tea");
        files.rename("memory/old/MEMORY.md", "memory/new/MEMORY.md").unwrap();
        assert!(files.read("memory/new/MEMORY.md").unwrap().text.contains("- tea"));
        add(&files, "memory/old/MEMORY.md", "- cake");
        files.rename("memory/old/MEMORY.md", "memory/new/MEMORY.md").unwrap_err();
        assert!(files.read("memory/old/MEMORY.md").unwrap().text.contains("- cake"));
    }
}
