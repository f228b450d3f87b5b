//! What the marks of the todo files come to: whose something is that a list says. A mark holds for everything that is like it,
//! however often it stands there.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use super::marks::{Mark, Marks};
use crate::todo::{List, TextLine, Todos, due, plain};
use selkie_domain::fingerprint::{Gist, Gists, Like};
use selkie_domain::taint::Taint;

/// Whose something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Claim {
    /// The level it was written with.
    pub level: Taint,
    /// The other chats that said it.
    pub chats: HashSet<String>,
}

/// Something that a list says. It is the same one as long as its gist and its chat are.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub gist: Gist,
    /// The chat that stands in its entry.
    pub chat: Option<String>,
    pub is_entry: bool,
    /// The words of an entry, or the whole line.
    pub text: String,
}

/// The marks, ready to be looked up.
#[derive(Debug)]
pub(super) struct MarkIndex {
    marks: Vec<Mark>,
    exact: HashMap<Gist, Vec<usize>>,
    /// Those of others' words: made when the first is asked for that nobody is known to have written so.
    others: OnceLock<Others>,
}

#[derive(Debug)]
struct Others {
    gists: Gists,
    numbers: Vec<usize>,
}

impl Claim {
    pub fn to(&self, chat: Option<&str>) -> Taint {
        let is_own = self.chats.iter().all(|other| chat == Some(other));
        if is_own { self.level } else { Taint::Raw }
    }
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        (&self.gist, &self.chat, self.is_entry) == (&other.gist, &other.chat, other.is_entry)
    }
}

impl Eq for Unit {}

impl Hash for Unit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.gist, &self.chat, self.is_entry).hash(state);
    }
}

impl Unit {
    fn of(said: TextLine<'_>) -> Self {
        match said.entry {
            Some(entry) => Self::of_entry(&entry.content, entry.chat.clone()),
            None => {
                let gist = Gist::of(&plain(said.line));
                Self { gist, chat: None, is_entry: false, text: said.line.to_owned() }
            }
        }
    }

    /// What an item says: neither its time nor the ids of its people, which somebody may put in or change.
    pub fn of_entry(content: &str, chat: Option<String>) -> Self {
        let words = due(content).map(|due| due.what).filter(|what| !what.trim().is_empty());
        let gist = Gist::of(&plain(words.as_deref().unwrap_or(content)));
        Self { gist, chat, is_entry: true, text: content.to_owned() }
    }
}

/// Everything that a text of a todo file says.
pub(super) fn units(list: List, text: &str) -> Vec<Unit> {
    let todos = Todos::read(list, text);
    let said = todos.said().filter(|said| said.entry.is_some() || !is_frame(list, said.line));
    said.map(Unit::of).filter(|unit| !unit.gist.is_empty()).collect()
}

/// The items of chats alone.
pub(super) fn units_of_chats(list: List, text: &str) -> Vec<Unit> {
    let todos = Todos::read(list, text);
    let those = todos.entries().filter(|entry| entry.chat.is_some());
    those.map(|entry| Unit::of_entry(&entry.content, entry.chat.clone())).collect()
}

/// Whether each item of a chat that stands there is noted.
pub(super) fn lacks_none(marks: &Marks, units: &[Unit]) -> bool {
    let noted = marks.marks.iter().filter_map(|mark| Some((&mark.gist, mark.chat.as_deref()?)));
    let noted: HashSet<(&Gist, &str)> = noted.collect();
    units.iter().all(|unit| {
        let chat = unit.chat.as_deref();
        chat.is_none_or(|chat| noted.contains(&(&unit.gist, chat)))
    })
}

/// Which of the lists a file of the state folder is, if it is one.
pub(super) fn list_of(file: &str) -> Option<List> {
    LISTS.into_iter().find(|list| list.file() == file)
}

pub(super) const LISTS: [List; 2] = [List::Open, List::Done];

/// Whether a line is what every list has around its items: it only counts what stands there, and says when.
fn is_frame(list: List, line: &str) -> bool {
    if ["---", list.header()].contains(&line.trim_end()) {
        return true;
    }
    let keys = ["created_at:", "updated_at:", "open_count:", "done_count:"];
    let rest = keys.into_iter().find_map(|key| line.strip_prefix(key));
    rest.is_some_and(|rest| rest.chars().all(|c| !c.is_alphabetic() || matches!(c, 'T' | 'Z')))
}

impl MarkIndex {
    pub fn new(marks: Vec<Mark>) -> Self {
        let mut exact: HashMap<Gist, Vec<usize>> = HashMap::new();
        for (number, mark) in marks.iter().enumerate() {
            exact.entry(mark.gist.clone()).or_default().push(number);
        }
        Self { marks, exact, others: OnceLock::new() }
    }

    /// Those alone that say that something was written out of others' words.
    pub fn tainted(marks: &Marks) -> Self {
        Self::new(marks.marks.iter().filter(|mark| mark.level.is_any()).cloned().collect())
    }

    pub fn claim(&self, unit: &Unit) -> Claim {
        let said = self.exact.get(&unit.gist).into_iter().flatten().map(|at| &self.marks[*at]);
        if said.clone().any(|mark| mark.is_own && mark.chat == unit.chat) {
            // They are known to have written these very words: who else said them, or more, makes them nobody else's.
            let levels = said.filter(|mark| mark.chat.is_none()).map(|mark| mark.level);
            return Claim { level: levels.max().unwrap_or_default(), chats: HashSet::new() };
        }
        let others = self.others();
        let Like::These(numbers) = others.gists.like(&unit.gist) else {
            return Claim { level: Taint::Raw, chats: HashSet::new() };
        };
        let mut claim = Claim::default();
        for mark in numbers.into_iter().map(|number| &self.marks[others.numbers[number]]) {
            claim.level = claim.level.max(mark.level);
            claim.chats.extend(mark.chat.iter().filter(|_| mark.chat != unit.chat).cloned());
        }
        claim
    }

    /// Whether these very words are known as those of another chat, or of a task that made them out of others'.
    pub fn is_noted(&self, unit: &Unit) -> bool {
        let mut said = self.exact.get(&unit.gist).into_iter().flatten().map(|at| &self.marks[*at]);
        if unit.chat.is_some() {
            // What nobody knows of is told apart from what is like something else.
            return !said.clone().any(|mark| mark.chat == unit.chat && mark.is_found)
                || said.any(|mark| mark.chat != unit.chat && mark.level.is_any());
        }
        said.any(|mark| !mark.is_own && (mark.chat.is_some() || mark.level.is_any()))
    }

    /// Whether an item of a chat is one that we have noted, or what an editor has made of one: where it is not, nobody knows
    /// out of whose words it was written.
    pub fn has_seen(&self, unit: &Unit) -> bool {
        let said = self.exact.get(&unit.gist).into_iter().flatten().map(|at| &self.marks[*at]);
        if said.into_iter().any(|mark| mark.chat == unit.chat) {
            return true;
        }
        let others = self.others();
        let Like::These(numbers) = others.gists.like(&unit.gist) else { return false };
        let mut like =
            numbers.into_iter().map(|number| &self.marks[others.numbers[number]]).peekable();
        like.peek().is_some() && like.all(|mark| mark.chat == unit.chat && !mark.level.is_any())
    }

    fn others(&self) -> &Others {
        self.others.get_or_init(|| {
            let is_others = |mark: &Mark| mark.level.is_any() || mark.chat.is_some();
            let marks = self.marks.iter().enumerate().filter(|(_, mark)| is_others(mark));
            let (numbers, gists) = marks.map(|(at, mark)| (at, mark.gist.clone())).unzip();
            Others { gists: Gists::of(gists), numbers }
        })
    }

    /// The highest level of a list's words; `own`: the chat whose items are no others'.
    pub fn highest(&self, units: &[Unit], own: Option<&str>) -> Taint {
        let is_other = |unit: &Unit| unit.chat.is_some() && unit.chat.as_deref() != own;
        Self::worst(units.iter().map(|unit| match is_other(unit) {
            true => Taint::Raw,
            false => self.claim(unit).to(own),
        }))
    }

    /// The same without regard to chats: what was written out of others' words.
    pub fn written(&self, units: &[Unit]) -> Taint {
        Self::worst(units.iter().map(|unit| self.claim(unit).level))
    }

    /// Nothing is looked at behind the first that nothing is worse than.
    fn worst(levels: impl Iterator<Item = Taint>) -> Taint {
        let mut worst = Taint::Clean;
        for level in levels {
            worst = worst.max(level);
            if worst == Taint::Raw {
                break;
            }
        }
        worst
    }

    /// The numbers of the marks that something is said for, to the letter.
    pub fn said(&self, units: &[Unit]) -> HashSet<usize> {
        units.iter().filter_map(|unit| self.exact.get(&unit.gist)).flatten().copied().collect()
    }

    /// The numbers of those that something is like, of all but these.
    pub fn like(&self, units: &[Unit], but: &HashSet<usize>) -> HashSet<usize> {
        let numbers: Vec<usize> = (0..self.marks.len()).filter(|at| !but.contains(at)).collect();
        let gists = Gists::of(numbers.iter().map(|at| self.marks[*at].gist.clone()).collect());
        let mut like = HashSet::new();
        for unit in units {
            match gists.like(&unit.gist) {
                Like::These(these) => like.extend(these.into_iter().map(|at| numbers[at])),
                Like::TooMany => return numbers.into_iter().collect(),
            }
        }
        like
    }
}
