//! What a change makes of a todo file, and the marks that come of it.

use std::collections::HashSet;

use super::claims::{Claim, MarkIndex, Unit, list_of, units};
use super::edit::Edit;
use super::loaded::PendingChange;
use super::marks::Mark;
use crate::todo::List;
use selkie_domain::taint::Taint;

/// What a change makes of a list.
pub(super) struct Change {
    pub list: List,
    pub before: Vec<Unit>,
    pub after: Vec<Unit>,
    /// The level that stands on the file.
    pub level: Taint,
    /// A tool has written all of it.
    is_whole: bool,
    /// What somebody wants done now.
    asked: HashSet<Unit>,
}

impl Change {
    pub fn of(begun: &PendingChange<'_>) -> Option<Self> {
        let list = list_of(begun.edit.file())?;
        let put = match begun.edit {
            // What is done was asked for before, by whomever.
            Edit::Todos { list: List::Open, put, .. } => put.as_slice(),
            _ => &[],
        };
        Some(Self {
            list,
            before: units(list, &begun.loaded.content.text),
            after: units(list, &begun.text),
            level: begun.loaded.place.level(),
            is_whole: matches!(begun.edit, Edit::Whole { .. }),
            asked: put.iter().map(|new| Unit::of_entry(&new.content, new.chat.clone())).collect(),
        })
    }
}

/// The marks of what changes bring: of what nobody said before, and of every item that names its chat.
pub(super) fn new_marks(changes: &[Change], known: &MarkIndex, level: Taint) -> Vec<Mark> {
    let before: HashSet<&Unit> = changes.iter().flat_map(|change| &change.before).collect();
    let mut marks = Vec::new();
    for change in changes {
        let origin = if change.is_whole { taken_out(change, known) } else { Claim::default() };
        let level = level.max(origin.level);
        for unit in change.after.iter().filter(|unit| !before.contains(unit)) {
            let mark = |level, chat| Mark::of(unit.gist.clone(), level, chat);
            if level.is_any() && (unit.is_entry || change.is_whole) {
                marks.push(mark(level, None));
            }
            marks.extend(origin.chats.iter().cloned().map(|chat| mark(Taint::Clean, Some(chat))));
            let is_own = !level.is_any() && change.asked.contains(unit);
            if is_own || unit.chat.is_some() {
                marks.push(Mark { is_own, ..mark(Taint::Clean, unit.chat.clone()) });
            }
        }
    }
    marks
}

/// Whose the lines were that a tool has written over: what stands in their place may say the same in other words. Where they
/// were of several chats it is nobody's.
fn taken_out(change: &Change, known: &MarkIndex) -> Claim {
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
