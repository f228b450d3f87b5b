//! Whose words the items of the todo files are: what a task wrote is noted when it writes it, what is not noted is the hand of
//! whoever keeps the files. Where a command that nothing kept off the files ran meanwhile, it is nobody's.

use std::collections::{HashMap, HashSet};
use std::fs;

use super::disk::gone;
use super::error::{FileError, written};
use super::kept_versions::Keep;
use super::loaded::PendingChange;
use super::origins::{Key, LISTS, Line, OriginIndex, Origins, lines_of, list_of};
use super::place::Place;
use super::{Edit, Files, Note};
use crate::text::decode;
use crate::todo::{List, Todos};
use selkie_channel_core::locked;
use selkie_domain::taint::Taint;
use serde::{Deserialize, Serialize};

/// Where it is noted.
pub const WHOSE: &str = "kept/TODO.md/said";

/// A todo file, and whose its items are.
#[derive(Clone, Debug)]
pub struct OwnedTodos {
    /// The file.
    pub todos: Todos,
    /// By what items say.
    levels: HashMap<String, Taint>,
}

/// Something that may be others' words than those of whoever it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubtful {
    /// What it says.
    pub text: String,
    /// The chat that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// A task is known to have written it; else nobody knows who did.
    pub is_noted: bool,
}

impl OwnedTodos {
    fn of(todos: Todos, known: &OriginIndex<'_>) -> Self {
        let mut levels: HashMap<String, Taint> = HashMap::new();
        for entry in todos.entries() {
            let level = known.level(&Line::of_entry(&entry.content, entry.chat.clone()));
            let all = levels.entry(entry.content.clone()).or_default();
            *all = level.max(*all);
        }
        Self { todos, levels }
    }

    /// Returns the level of what an item says, to those whose it is. What does not stand there is nobody's.
    pub fn level(&self, content: &str) -> Taint {
        self.levels.get(content).copied().unwrap_or(Taint::Raw)
    }

    /// One whose items are all of a level.
    #[cfg(test)]
    pub fn of_level(todos: Todos, level: Taint) -> Self {
        let origin = |entry: &crate::todo::Entry| {
            Line::of_entry(&entry.content, entry.chat.clone()).origin(level, false)
        };
        let origins = Origins { lines: todos.entries().map(origin).collect(), is_lost: false };
        Self::of(todos, &origins.index())
    }
}

impl Files {
    /// Reads a todo file, and whose its items are. Blocks.
    ///
    /// # Errors
    /// When one of the files is there and cannot be read.
    pub fn listed(&self, list: List) -> Result<OwnedTodos, FileError> {
        let text = self.read(list.file())?.text;
        let origins = self.origins_of(list, &text)?;
        Ok(OwnedTodos::of(Todos::read(list, &text), &origins.index()))
    }

    /// Returns the highest level of what a text of a todo file says; `own`: the chat whose items are no others'. Blocks.
    pub(super) fn level_of_list(&self, list: List, text: &[u8], own: Option<&str>) -> Taint {
        let Ok(text) = decode(text) else { return Taint::Raw };
        // What cannot be read is nobody's.
        let Ok(origins) = self.origins_of(list, text) else { return Taint::Raw };
        let known = origins.index();
        let level = |line: &Line| match line.chat.is_some() && line.chat.as_deref() != own {
            true => Taint::Raw,
            false => known.level(line),
        };
        lines_of(list, text).iter().map(level).max().unwrap_or_default()
    }

    /// Reads what is noted. After the text: what it says was noted before it stood there.
    fn origins_of(&self, list: List, text: &str) -> Result<Origins, FileError> {
        let _one = locked(&self.one);
        let is_commands = self.is_of_commands(list.file())?;
        if !is_commands && let Some(origins) = self.noted_origins()? {
            return Ok(origins);
        }
        let _lock = self.lock()?;
        let mut origins = self.origins()?;
        if is_commands
            && origins.add_unknown(&lines_of(list, text))
            && let Err(error) = self.write_origins(&origins)
        {
            // It holds for what is read now; the next time it is found anew.
            tracing::warn!(%error, "the note of who wrote which to-do item could not be saved");
        }
        Ok(origins)
    }

    /// Notes the lines that a change brings into the todo files, and gives each file its level.
    pub(super) fn note_whose(
        &self,
        begun: &mut [PendingChange<'_>],
        level: Taint,
    ) -> Result<(), FileError> {
        for one in begun.iter_mut() {
            one.loaded.content.level = one.loaded.content.level.max(level);
        }
        if begun.iter().all(|one| list_of(one.edit.file()).is_none()) {
            return Ok(());
        }
        let mut origins = self.origins()?;
        let before = origins.clone();
        let mut stood = self.lines()?;
        let mut stands = Vec::new();
        for one in begun.iter() {
            let Some(list) = list_of(one.edit.file()) else { continue };
            let lines = lines_of(list, &one.loaded.content.text);
            if self.is_of_commands(list.file())? {
                origins.add_unknown(&lines);
            }
            stood.extend(lines);
            stands.extend(lines_of(list, &one.text));
        }
        let known: HashSet<Key<'_>> = stood.iter().map(Line::key).collect();
        let new = stands.iter().filter(|line| !known.contains(&line.key()));
        origins.add(new.map(|line| line.origin(level, false)));
        for one in begun.iter() {
            if let Edit::Moved { from, to, .. } = one.edit {
                origins.move_chat(from, to);
            }
        }
        origins.forget_oldest(&stood.iter().chain(&stands).map(|line| &*line.words).collect());
        if origins != before {
            self.write_origins(&origins)?;
        }
        let known = origins.index();
        for one in begun.iter_mut() {
            let Some(list) = list_of(one.edit.file()) else { continue };
            let levels = lines_of(list, &one.text).into_iter().map(|line| known.level(&line));
            one.loaded.content.level = levels.max().unwrap_or_default();
        }
        Ok(())
    }

    /// Lists what does not count as the words of whoever keeps the files, or of the chat that it names. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn doubtful_todos(&self) -> Result<Vec<Doubtful>, FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        let origins = self.origins()?;
        let known = origins.index();
        let mut all = Vec::new();
        for line in self.lines()? {
            if known.level(&line).is_any() {
                let is_noted = known.of(&line).is_none_or(|origin| !origin.is_found);
                all.push(Doubtful { text: line.text, chat: line.chat, is_noted });
            }
        }
        all.dedup();
        Ok(all)
    }

    /// Takes these, as far as they stand there, for the words of whoever keeps the files, or of the chat that they name; says
    /// how many there are. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn trust_todos(&self, items: &[Doubtful]) -> Result<usize, FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.recover()?;
        let mut origins = self.origins()?;
        let named: HashSet<Key<'_>> =
            items.iter().map(|item| (&*item.text, item.chat.as_deref())).collect();
        let mut own = self.lines()?;
        own.retain(|line| named.contains(&(&*line.text, line.chat.as_deref())));
        origins.trust(&own);
        self.write_origins(&origins)?;
        Ok(own.len())
    }

    /// Whether what was noted of whose the items are is lost, and nobody has said since that they are theirs. Blocks.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn has_lost_whose(&self) -> Result<bool, FileError> {
        let _one = locked(&self.one);
        Ok(match self.noted_origins()? {
            Some(origins) => origins.is_lost,
            None => self.note_of_lists()? != Note::Nothing,
        })
    }

    fn noted_origins(&self) -> Result<Option<Origins>, FileError> {
        Ok(match self.note_of_lists()? {
            Note::These(bytes) => serde_json::from_slice(&bytes).ok(),
            Note::Nothing | Note::Lost => None,
        })
    }

    fn note_of_lists(&self) -> Result<Note, FileError> {
        let failed = |source| FileError::Io { file: WHOSE.to_owned(), done: "read", source };
        self.note_now(List::Open.file()).map_err(failed)
    }

    /// What the todo files say.
    fn lines(&self) -> Result<Vec<Line>, FileError> {
        let mut all = Vec::new();
        for list in LISTS {
            let bytes = Place::of(&self.state, list.file()).bytes()?.unwrap_or_default();
            // What is no text says nothing, and is told where it is read.
            all.extend(decode(&bytes).map(|text| lines_of(list, text)).unwrap_or_default());
        }
        Ok(all)
    }

    /// Reads what is noted, where nobody else writes it. From the first look on what somebody writes there by hand is their
    /// own; what stood there before, or stands there when the note is lost, is nobody's.
    fn origins(&self) -> Result<Origins, FileError> {
        if let Some(origins) = self.noted_origins()? {
            return Ok(origins);
        }
        let lines = self.lines()?;
        // A heading alone says nothing.
        let says = lines.iter().any(|line| line.is_entry || !line.text.starts_with('#'));
        let is_lost = says || self.note_of_lists()? != Note::Nothing;
        let mut origins = Origins { is_lost, ..Origins::default() };
        if origins.is_lost {
            tracing::error!(
                file = WHOSE,
                "nobody knows who wrote the to-do items: the list was there before selkie, or the note of it is gone or was changed. All items count as other people's words, and are not shown unasked. Look through TODO.md; if the items that name no chat are yours, say so with `selkie todos trust`"
            );
            origins.add_unknown(&lines);
        }
        // Once: what comes in from here on is told apart again.
        self.write_origins(&origins)?;
        // Earlier versions noted it there.
        gone(fs::remove_file(self.state.join("kept/whose.json")))
            .map_err(|source| written(WHOSE, source))?;
        Ok(origins)
    }

    /// Looks at the lists when a life begins, before anybody can have written there since. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn meet_lists(&self) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.origins().map(drop)
    }

    fn write_origins(&self, origins: &Origins) -> Result<(), FileError> {
        let noted = serde_json::to_vec(origins).map_err(std::io::Error::from);
        let keep = Keep::of(&self.state, List::Open.file());
        noted.and_then(|note| keep.set_note(&note)).map_err(|source| written(WHOSE, source))
    }
}
