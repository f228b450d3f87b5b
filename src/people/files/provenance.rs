//! Whose words the items of the todo files are: noted for each item that a task writes out of others' words, and for the items
//! of chats, by what they say. What has no mark is the hand of whoever keeps the files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::changes::{Change, new_marks};
use super::claims::{Claim, LISTS, MarkIndex, Unit, lacks_none, list_of, units, units_of_chats};
use super::error::{FileError, written};
use super::kept_versions::Keep;
use super::loaded::PendingChange;
use super::marks::{Mark, MarkLookup, Marks};
use super::place::Place;
use super::{Edit, Files, kept_versions};
use crate::text::decode;
use crate::todo::{List, Todos};
use selkie_channel_core::locked;
use selkie_domain::taint::Taint;
use serde::{Deserialize, Serialize};

/// Where it is noted.
pub const WHOSE: &str = "kept/whose.json";

/// So many marks stay of what is gone.
const MAX_GONE: usize = 500;
/// So many more may stay until they are looked through.
const LOOKED_THROUGH: usize = 100;

/// A todo file, and whose its items are.
#[derive(Clone, Debug)]
pub struct OwnedTodos {
    /// The file.
    pub todos: Todos,
    items: HashMap<String, Item>,
    known: Arc<MarkIndex>,
}

/// What one or several entries say.
#[derive(Clone, Debug, Default)]
struct Item {
    chats: HashSet<Option<String>>,
    /// Made when it is asked for: most are of chats that nobody asks for.
    claim: OnceLock<Claim>,
}

/// Something that may be others' words than those of whoever it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubtful {
    /// What it says.
    pub text: String,
    /// The chat that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// Others are known to have said it, or a task to have written it out of their words; else it is only like that.
    pub is_noted: bool,
}

impl OwnedTodos {
    fn of(todos: Todos, known: MarkIndex) -> Self {
        let mut items: HashMap<String, Item> = HashMap::new();
        for entry in todos.entries() {
            let item = items.entry(entry.content.clone()).or_default();
            item.chats.insert(entry.chat.clone());
        }
        Self { todos, items, known: Arc::new(known) }
    }

    /// Returns the level of what an item says, to a task of this chat. What does not stand there is nobody's.
    pub fn level(&self, content: &str, chat: &str) -> Taint {
        let Some(item) = self.items.get(content) else { return Taint::Raw };
        item.claim.get_or_init(|| self.claim(content, &item.chats)).to(Some(chat))
    }

    /// What several items of the same words claim together.
    fn claim(&self, content: &str, chats: &HashSet<Option<String>>) -> Claim {
        let mut all = Claim::default();
        for chat in chats {
            let claim = self.known.claim(&Unit::of_entry(content, chat.clone()));
            all.level = all.level.max(claim.level);
            all.chats.extend(claim.chats);
        }
        all
    }

    /// One whose items are all of a level.
    #[cfg(test)]
    pub fn of_level(todos: Todos, level: Taint) -> Self {
        let mark = |entry: &crate::todo::Entry| {
            Mark::of(Unit::of_entry(&entry.content, None).gist, level, None)
        };
        let known = MarkIndex::new(todos.entries().map(mark).collect());
        Self::of(todos, known)
    }
}

impl Files {
    /// Reads a todo file, and whose its items are. Blocks.
    ///
    /// # Errors
    /// When one of the files is there and cannot be read.
    pub fn listed(&self, list: List) -> Result<OwnedTodos, FileError> {
        let text = self.read(list.file())?.text;
        let known = self.known(list, &text)?;
        Ok(OwnedTodos::of(Todos::read(list, &text), known))
    }

    /// Returns the highest level of what a text of a todo file says; `own`: the chat whose items are no others'. Blocks.
    pub(super) fn level_of_list(&self, list: List, text: &[u8], own: Option<&str>) -> Taint {
        let Ok(text) = decode(text) else { return Taint::Raw };
        // What cannot be read is nobody's.
        let known = self.known(list, text);
        known.map_or(Taint::Raw, |known| known.highest(&units(list, text), own))
    }

    /// Reads what is noted. After the text: what it says was noted before it stood there.
    fn known(&self, list: List, text: &str) -> Result<MarkIndex, FileError> {
        let _one = locked(&self.one);
        let level = Place::of(&self.state, list.file()).level();
        let read = Marks::read(&self.state).map_err(unread)?;
        let mut of_chats = units_of_chats(list, text);
        of_chats.extend(self.beside(&[list], units_of_chats)?);
        of_chats.retain(|unit| !unit.gist.is_empty());
        if let MarkLookup::These(marks) = read
            && self.is_whole(&marks)
            && !lacks(&marks, list, level)
            && lacks_none(&marks, &of_chats)
        {
            return Ok(MarkIndex::new(marks.marks));
        }
        let _lock = self.lock()?;
        let mut marks = self.marks()?;
        let before = marks.clone();
        if lacks(&marks, list, level) {
            adopt(&mut marks, list, &units(list, text), level);
        }
        // What names a chat is that chat's, whoever wrote it there.
        let known = MarkIndex::new(marks.marks.clone());
        marks.add(marks_of_chats(&of_chats, &known));
        if marks != before
            && let Err(error) = self.write_marks(&marks)
        {
            // It holds for what is read now; the next time it is found anew.
            tracing::warn!(%error, "the note of who wrote which to-do item could not be saved");
        }
        Ok(MarkIndex::new(marks.marks))
    }

    /// Notes whose the words are that a change brings into the todo files, and gives each file its level.
    pub(super) fn note_whose(
        &self,
        begun: &mut [PendingChange<'_>],
        level: Taint,
    ) -> Result<(), FileError> {
        for one in begun.iter_mut() {
            one.loaded.content.level = one.loaded.content.level.max(level);
        }
        let lists: Vec<List> = begun.iter().filter_map(|one| list_of(one.edit.file())).collect();
        if lists.is_empty() {
            return Ok(());
        }
        let before = self.marks()?;
        let mut marks = before.clone();
        let mut standing = self.units_beside(&lists)?;
        let changes: Vec<Change> = begun.iter().filter_map(Change::of).collect();
        for change in &changes {
            adopt(&mut marks, change.list, &change.before, change.level);
            standing.extend(change.before.iter().cloned());
        }
        let known = MarkIndex::new(marks.marks.clone());
        marks.add(marks_of_chats(&standing, &known));
        let known = MarkIndex::new(marks.marks.clone());
        marks.add(new_marks(&changes, &known, level));
        for one in begun.iter() {
            if let Edit::Moved { from, to, .. } = one.edit {
                marks.move_chat(from, to);
            }
        }
        standing.extend(changes.iter().flat_map(|change| change.after.iter().cloned()));
        self.drop_gone(&mut marks, &standing)?;
        if marks != before {
            self.write_marks(&marks)?;
        }
        let known = MarkIndex::tainted(&marks);
        let after = begun.iter_mut().filter(|one| list_of(one.edit.file()).is_some());
        for (one, change) in after.zip(&changes) {
            one.loaded.content.level = known.written(&change.after);
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
        let mut marks = self.marks()?;
        let is_lost = marks.is_lost;
        let units = self.units_beside(&[])?;
        let known = MarkIndex::new(marks.marks.clone());
        marks.add(marks_of_chats(&units, &known));
        let known = MarkIndex::new(marks.marks);
        let mut all = Vec::new();
        for unit in units {
            if known.claim(&unit).to(unit.chat.as_deref()).is_any() {
                let is_noted = !is_lost && known.is_noted(&unit);
                all.push(Doubtful { text: unit.text, chat: unit.chat, is_noted });
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
        let mut marks = self.marks()?;
        let mut own = self.units_beside(&[])?;
        let named: HashSet<(&str, Option<&str>)> =
            items.iter().map(|item| (&*item.text, item.chat.as_deref())).collect();
        own.retain(|unit| named.contains(&(&*unit.text, unit.chat.as_deref())));
        marks.lists = LISTS.to_vec();
        let trusted = own.len();
        marks.trust(own.into_iter().map(|unit| Mark::of(unit.gist, Taint::Clean, unit.chat)));
        self.write_marks(&marks)?;
        Ok(trusted)
    }

    /// Whether what was noted of whose the items are is lost, and nobody has said since that they are theirs. Blocks.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn has_lost_whose(&self) -> Result<bool, FileError> {
        let _one = locked(&self.one);
        Ok(match Marks::read(&self.state).map_err(unread)? {
            MarkLookup::These(marks) => marks.is_lost || !self.is_whole(&marks),
            MarkLookup::Nothing => !self.is_whole(&Marks::default()),
            MarkLookup::Lost => true,
        })
    }

    /// What the other todo files say.
    fn units_beside(&self, lists: &[List]) -> Result<Vec<Unit>, FileError> {
        self.beside(lists, units)
    }

    fn beside(
        &self,
        lists: &[List],
        read: fn(List, &str) -> Vec<Unit>,
    ) -> Result<Vec<Unit>, FileError> {
        let mut all = Vec::new();
        for list in LISTS.into_iter().filter(|list| !lists.contains(list)) {
            let bytes = Place::of(&self.state, list.file()).bytes()?.unwrap_or_default();
            // What is no text says nothing, and is told where it is read.
            all.extend(decode(&bytes).map(|text| read(list, text)).unwrap_or_default());
        }
        Ok(all)
    }

    /// Drops the oldest marks of what neither stands there nor in a version that can be brought back.
    fn drop_gone(&self, marks: &mut Marks, standing: &[Unit]) -> Result<(), FileError> {
        let known = MarkIndex::new(marks.marks.clone());
        let mut needed = known.said(standing);
        if marks.marks.len() - needed.len() <= MAX_GONE + LOOKED_THROUGH {
            return Ok(());
        }
        for units in [standing, self.kept_units()?.as_slice()] {
            needed.extend(known.like(units, &needed));
        }
        // What is gone may be put back by whoever has cut it out: the last of it stays noted.
        let mut gone = marks.marks.len() - needed.len();
        let mut numbers = 0..;
        marks.marks.retain(|_| {
            let is_needed = numbers.next().is_some_and(|number| needed.contains(&number));
            let goes = !is_needed && gone > MAX_GONE;
            gone -= usize::from(!is_needed);
            !goes
        });
        Ok(())
    }

    fn kept_units(&self) -> Result<Vec<Unit>, FileError> {
        let mut all = Vec::new();
        for list in LISTS {
            for version in self.versions(list.file())? {
                // One that is gone, or no text, is not brought back.
                let text = self.version(list.file(), &version.name).unwrap_or_default();
                all.extend(units(list, &text));
            }
        }
        Ok(all)
    }

    /// Reads what is noted, where nobody else writes it.
    fn marks(&self) -> Result<Marks, FileError> {
        match Marks::read(&self.state).map_err(unread)? {
            MarkLookup::These(marks) if self.is_whole(&marks) => Ok(marks),
            MarkLookup::Nothing if self.is_whole(&Marks::default()) => self.first_seen(),
            _ => {
                tracing::error!(
                    file = WHOSE,
                    "nobody knows any more who wrote the to-do items: the file is gone, or somebody has changed it. All items count as other people's words, and are not shown unasked. Look through TODO.md; if the items that name no chat are yours, say so with `selkie todos trust`"
                );
                self.nobodys()
            }
        }
    }

    /// Notes that these lists were seen. From here on what somebody writes there by hand is their own; what stood there before
    /// came from another life, or from nobody knows where.
    fn first_seen(&self) -> Result<Marks, FileError> {
        // A heading alone says nothing.
        let says = |unit: &Unit| unit.is_entry || !unit.text.starts_with('#');
        if self.units_beside(&[])?.iter().any(says) {
            tracing::warn!(
                "TODO.md was there before selkie: nobody knows who wrote its items, so they count as other people's words and are not shown unasked. Look through it; if the items that name no chat are yours, say so with `selkie todos trust`"
            );
            return self.nobodys();
        }
        let marks = Marks { lists: LISTS.to_vec(), ..Marks::default() };
        self.write_marks(&marks)?;
        Ok(marks)
    }

    /// Looks at the lists when a life begins, before anybody can have written there since. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn meet_lists(&self) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.marks().map(drop)
    }

    /// Whether something is noted of each list that we have written.
    fn is_whole(&self, marks: &Marks) -> bool {
        let is_ours = |list: &List| Keep::of(&self.state, list.file()).had_words();
        LISTS.iter().all(|list| marks.lists.contains(list) || !is_ours(list))
    }

    /// Where nothing is noted, or not any more, everything that stands there counts as others'.
    fn nobodys(&self) -> Result<Marks, FileError> {
        let mut marks = Marks { is_lost: true, ..Marks::default() };
        for list in LISTS {
            let other = if list == List::Open { List::Done } else { List::Open };
            adopt(&mut marks, list, &self.units_beside(&[other])?, Taint::Raw);
        }
        marks.marks.iter_mut().for_each(|mark| mark.is_found = mark.chat.is_some());
        // Once: what comes in from here on is told apart again.
        self.write_marks(&marks)?;
        Ok(marks)
    }

    fn write_marks(&self, marks: &Marks) -> Result<(), FileError> {
        let failed = |source| written(WHOSE, source);
        kept_versions::folder(&self.state).map_err(failed)?;
        marks.write(&self.state).map_err(failed)
    }
}

fn unread(source: std::io::Error) -> FileError {
    FileError::Io { file: WHOSE.to_owned(), done: "read", source }
}

/// Whether a list has a level that its marks do not have yet.
fn lacks(marks: &Marks, list: List, level: Taint) -> bool {
    !marks.lists.contains(&list) && level.is_any()
}

/// The marks of the items of chats. A task has written each of them, and noted out of whose words, before it stood there: one
/// that we have never noted came from elsewhere, such as a list that was put back beside older notes.
fn marks_of_chats(units: &[Unit], known: &MarkIndex) -> Vec<Mark> {
    let those = units.iter().filter(|unit| unit.chat.is_some());
    let mark = |unit: &Unit| {
        let is_found = !known.has_seen(unit);
        let level = if is_found { Taint::Raw } else { Taint::Clean };
        Mark { is_found, ..Mark::of(unit.gist.clone(), level, unit.chat.clone()) }
    };
    those.map(mark).collect()
}

/// Takes the level of a whole file, as earlier versions noted it, for that of each of its lines: whoever writes a new one by
/// hand writes their own, and the level goes with the last line that has it.
fn adopt(marks: &mut Marks, list: List, units: &[Unit], level: Taint) {
    if marks.lists.contains(&list) {
        return;
    }
    marks.lists.push(list);
    if level.is_any() {
        marks.add(units.iter().map(|unit| Mark::of(unit.gist.clone(), level, unit.chat.clone())));
    }
}
