//! Whose words the items of the todo files are: noted for each item that a task writes out of others' words, and for the items
//! of chats, by what they say. What has no mark is the hand of whoever keeps the files.

use std::collections::{HashMap, HashSet};

use super::edit::Edit;
use super::error::{FileError, written};
use super::loaded::Begun;
use super::marks::{Mark, Marks};
use super::place::Place;
use super::{Files, keep};
use crate::domain::gist::{Gist, Gists, Like};
use crate::domain::taint::Taint;
use crate::people::text::decode;
use crate::people::todo::{List, Said, Todos, due, plain};
use selkie_channel_core::locked;

/// Where it is noted, for people.
const MARKS: &str = "kept/whose.json";

/// So many marks stay of what is gone.
const MOST_GONE: usize = 500;

/// A todo file, and whose its items are.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The file.
    pub todos: Todos,
    claims: HashMap<String, Claim>,
}

/// Whose something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Claim {
    /// The level it was written with.
    level: Taint,
    /// The other chats that said it.
    chats: HashSet<String>,
}

/// Something that a list says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Unit {
    gist: Gist,
    /// The chat that stands in its entry.
    chat: Option<String>,
    is_entry: bool,
}

/// The marks, ready to be looked up.
struct Known {
    gists: Gists,
    marks: Vec<Mark>,
    /// The items of chats that stand there as they were written: what somebody else says like them is their own word.
    whole: HashSet<Unit>,
}

impl Listed {
    /// Returns the level of what an item says, to a task of this chat. What does not stand there is nobody's.
    pub fn level(&self, content: &str, chat: &str) -> Taint {
        self.claims.get(content).map_or(Taint::Raw, |claim| claim.to(Some(chat)))
    }

    /// One whose items are all of a level.
    #[cfg(test)]
    pub fn of_level(todos: Todos, level: Taint) -> Self {
        let claim = Claim { level, ..Claim::default() };
        let claims = todos.entries().map(|entry| (entry.content.clone(), claim.clone())).collect();
        Self { todos, claims }
    }
}

impl Claim {
    fn to(&self, chat: Option<&str>) -> Taint {
        let is_own = self.chats.iter().all(|other| chat == Some(other));
        if is_own { self.level } else { Taint::Raw }
    }
}

impl Unit {
    fn of(said: Said<'_>) -> Self {
        match said.entry {
            Some(entry) => {
                Self { gist: of_content(&entry.content), chat: entry.chat.clone(), is_entry: true }
            }
            None => Self { gist: Gist::of(&plain(said.line)), chat: None, is_entry: false },
        }
    }
}

/// What an item says: neither its time nor the ids of its people, which somebody may put in or change.
fn of_content(content: &str) -> Gist {
    let words = due(content).map(|due| due.what).filter(|what| !what.trim().is_empty());
    Gist::of(&plain(words.as_deref().unwrap_or(content)))
}

fn units(list: List, text: &str) -> Vec<Unit> {
    Todos::read(list, text).said().map(Unit::of).filter(|unit| !unit.gist.is_empty()).collect()
}

pub(super) fn list_of(file: &str) -> Option<List> {
    [List::Open, List::Done].into_iter().find(|list| list.file() == file)
}

impl Known {
    fn new(marks: Marks, standing: &[Unit]) -> Self {
        let Marks { marks, .. } = marks;
        let gists = Gists::of(marks.iter().map(|mark| mark.gist.clone()).collect());
        let whole = standing.iter().filter(|unit| unit.chat.is_some()).cloned().collect();
        Self { gists, marks, whole }
    }

    fn claim(&self, unit: &Unit) -> Claim {
        let raw = || Claim { level: Taint::Raw, ..Claim::default() };
        let Like::These(numbers) = self.gists.like(&unit.gist) else { return raw() };
        let mut claim = Claim::default();
        for mark in numbers.into_iter().map(|number| &self.marks[number]) {
            claim.level = claim.level.max(mark.level);
            if let Some(chat) = self.chat_that_lost(mark).filter(|chat| unit.chat != **chat) {
                claim.chats.extend(chat.clone());
            }
        }
        claim
    }

    /// The chat whose item does not stand there any more as it was written: an editor has split, joined or moved it.
    fn chat_that_lost<'m>(&self, mark: &'m Mark) -> Option<&'m Option<String>> {
        let unit = Unit { gist: mark.gist.clone(), chat: mark.chat.clone(), is_entry: true };
        (mark.chat.is_some() && !self.whole.contains(&unit)).then_some(&mark.chat)
    }

    /// The marks of what was taken out of a chat's item: they hold also when that chat says the whole again.
    fn marks_of_part(&self, unit: &Unit) -> impl Iterator<Item = Mark> {
        let gist = unit.gist.clone();
        let mark = move |chat| Mark { gist: gist.clone(), level: Taint::Clean, chat: Some(chat) };
        self.claim(unit).chats.into_iter().map(mark)
    }

    /// Which marks something is said for.
    fn needed<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> HashSet<usize> {
        let mut needed = HashSet::new();
        for unit in units {
            match self.gists.like(&unit.gist) {
                Like::These(numbers) => needed.extend(numbers),
                Like::TooMany => return (0..self.marks.len()).collect(),
            }
        }
        needed
    }

    /// The highest level of a list's words; `own`: the chat whose items are no others'.
    fn highest(&self, units: &[Unit], own: Option<&str>) -> Taint {
        let is_other = |unit: &Unit| unit.chat.is_some() && unit.chat.as_deref() != own;
        let levels = units.iter().map(|unit| match is_other(unit) {
            true => Taint::Raw,
            false => self.claim(unit).to(own),
        });
        levels.max().unwrap_or_default()
    }

    /// The same without regard to chats: what was written out of others' words.
    fn written(&self, units: &[Unit]) -> Taint {
        units.iter().map(|unit| self.claim(unit).level).max().unwrap_or_default()
    }
}

impl Files {
    /// Reads a todo file, and whose its items are. Blocks.
    ///
    /// # Errors
    /// When one of the files is there and cannot be read.
    pub fn listed(&self, list: List) -> Result<Listed, FileError> {
        let text = self.read(list.file())?.text;
        let known = self.known(list, &text)?;
        let todos = Todos::read(list, &text);
        let entries = todos.said().filter_map(|said| Some((said.entry?, Unit::of(said))));
        let claims = entries.map(|(entry, unit)| (entry.content.clone(), known.claim(&unit)));
        Ok(Listed { claims: merged(claims), todos })
    }

    /// Returns the highest level of what a text of a todo file says; `own`: the chat whose items are no others'. Blocks.
    pub(super) fn level_of_list(&self, list: List, text: &[u8], own: Option<&str>) -> Taint {
        let Ok(text) = decode(text) else { return Taint::Raw };
        // What cannot be read is nobody's.
        let known = self.known(list, text);
        known.map_or(Taint::Raw, |known| known.highest(&units(list, text), own))
    }

    /// Reads what is noted. After the text: what it says was noted before it stood there.
    fn known(&self, list: List, text: &str) -> Result<Known, FileError> {
        let _one = locked(&self.one);
        let mut marks = self.marks()?;
        let place = Place::of(&self.state, list.file());
        if !marks.lists.contains(&list) && place.level().is_any() {
            let _lock = self.lock()?;
            marks = self.marks()?;
            adopt(&mut marks, list, &units(list, text), place.level());
            self.write_marks(&marks)?;
        }
        let mut standing = units(list, text);
        standing.extend(self.units_beside(&[list])?);
        Ok(Known::new(marks, &standing))
    }

    /// Notes whose the words are that a change brings into the todo files, and gives each file its level.
    pub(super) fn note_whose(
        &self,
        begun: &mut [Begun<'_>],
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
        let known = Known::new(marks.clone(), &standing);
        marks.add(new_marks(&changes, &known, level));
        marks.add(standing.iter().flat_map(|unit| known.marks_of_part(unit)));
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
        let known = Known::new(marks, &standing);
        let after = begun.iter_mut().filter(|one| list_of(one.edit.file()).is_some());
        for (one, change) in after.zip(&changes) {
            one.loaded.content.level = known.written(&change.after);
        }
        Ok(())
    }

    /// What the other todo files say.
    fn units_beside(&self, lists: &[List]) -> Result<Vec<Unit>, FileError> {
        let mut all = Vec::new();
        for list in [List::Open, List::Done].into_iter().filter(|list| !lists.contains(list)) {
            let bytes = Place::of(&self.state, list.file()).bytes()?.unwrap_or_default();
            // What is no text says nothing, and is told where it is read.
            all.extend(decode(&bytes).map(|text| units(list, text)).unwrap_or_default());
        }
        Ok(all)
    }

    /// Drops the oldest marks of what neither stands there nor in a version that can be brought back.
    fn drop_gone(&self, marks: &mut Marks, standing: &[Unit]) -> Result<(), FileError> {
        let known = Known::new(marks.clone(), &[]);
        let mut needed = known.needed(standing.iter());
        if needed.len() < marks.marks.len() {
            needed.extend(known.needed(self.kept_units()?.iter()));
        }
        // What is gone may be put back by whoever has cut it out: the last of it stays noted.
        let mut gone = marks.marks.len().saturating_sub(needed.len());
        let mut numbers = 0..;
        marks.marks.retain(|_| {
            let is_needed = numbers.next().is_some_and(|number| needed.contains(&number));
            let goes = !is_needed && gone > MOST_GONE;
            gone -= usize::from(!is_needed);
            !goes
        });
        Ok(())
    }

    fn kept_units(&self) -> Result<Vec<Unit>, FileError> {
        let mut all = Vec::new();
        for list in [List::Open, List::Done] {
            for version in self.versions(list.file())? {
                // One that is gone, or no text, is not brought back.
                let text = self.version(list.file(), &version.name).unwrap_or_default();
                all.extend(units(list, &text));
            }
        }
        Ok(all)
    }

    fn marks(&self) -> Result<Marks, FileError> {
        let read = Marks::read(&self.state);
        let failed = |source| FileError::Io { file: MARKS.to_owned(), done: "read", source };
        match read.map_err(failed)? {
            Some(marks) => Ok(marks),
            None => self.nobodys(),
        }
    }

    /// Where what was noted is lost, everything that stands there counts as others'.
    fn nobodys(&self) -> Result<Marks, FileError> {
        let mut marks = Marks::default();
        for list in [List::Open, List::Done] {
            let other = if list == List::Open { List::Done } else { List::Open };
            adopt(&mut marks, list, &self.units_beside(&[other])?, Taint::Raw);
        }
        // Once: what comes in from here on is told apart again.
        self.write_marks(&marks)?;
        Ok(marks)
    }

    fn write_marks(&self, marks: &Marks) -> Result<(), FileError> {
        let failed = |source| written(MARKS, source);
        keep::folder(&self.state).map_err(failed)?;
        marks.write(&self.state).map_err(failed)
    }
}

/// What several items of the same words claim together.
fn merged(claims: impl Iterator<Item = (String, Claim)>) -> HashMap<String, Claim> {
    let mut all: HashMap<String, Claim> = HashMap::new();
    for (content, claim) in claims {
        let one = all.entry(content).or_default();
        one.level = one.level.max(claim.level);
        one.chats.extend(claim.chats);
    }
    all
}

/// Takes the level of a whole file, as earlier versions noted it, for that of each of its lines: whoever writes a new one by
/// hand writes their own, and the level goes with the last line that has it.
fn adopt(marks: &mut Marks, list: List, units: &[Unit], level: Taint) {
    if marks.lists.contains(&list) {
        return;
    }
    marks.lists.push(list);
    if level.is_any() {
        let mark = |unit: &Unit| Mark { gist: unit.gist.clone(), level, chat: None };
        marks.add(units.iter().map(mark));
    }
}

/// What a change makes of a list.
struct Change {
    list: List,
    before: Vec<Unit>,
    after: Vec<Unit>,
    /// The level that stands on the file.
    level: Taint,
    /// A tool has written all of it.
    is_whole: bool,
}

impl Change {
    fn of(begun: &Begun<'_>) -> Option<Self> {
        let list = list_of(begun.edit.file())?;
        Some(Self {
            list,
            before: units(list, &begun.loaded.content.text),
            after: units(list, &begun.text),
            level: begun.loaded.place.level(),
            is_whole: matches!(begun.edit, Edit::Whole { .. }),
        })
    }
}

/// The marks of what changes bring: of what nobody said before, and of every item that names its chat.
fn new_marks(changes: &[Change], known: &Known, level: Taint) -> Vec<Mark> {
    let before: HashSet<&Unit> = changes.iter().flat_map(|change| &change.before).collect();
    let mut marks = Vec::new();
    for change in changes {
        let origin = if change.is_whole { taken_out(change, known) } else { Claim::default() };
        let level = level.max(origin.level);
        for unit in &change.after {
            let mark = |level, chat| Mark { gist: unit.gist.clone(), level, chat };
            let is_new = !before.contains(unit) && (unit.is_entry || change.is_whole);
            if is_new && level.is_any() {
                marks.push(mark(level, None));
            }
            let from = origin.chats.iter().filter(|_| is_new);
            let chats = from.chain(&unit.chat).cloned();
            marks.extend(chats.map(|chat| mark(Taint::Clean, Some(chat))));
        }
    }
    marks
}

/// Whose the lines were that a tool has written over: what stands in their place may say the same in other words. Where they
/// were of several chats it is nobody's.
fn taken_out(change: &Change, known: &Known) -> Claim {
    let after: HashSet<&Unit> = change.after.iter().collect();
    let mut all = Claim::default();
    for unit in change.before.iter().filter(|unit| !after.contains(unit)) {
        let claim = known.claim(unit);
        all.level = all.level.max(claim.level);
        all.chats.extend(claim.chats);
        all.chats.extend(unit.chat.clone());
    }
    if all.chats.len() > 1 { Claim { level: Taint::Raw, chats: HashSet::new() } } else { all }
}
