//! What is noted beside `TODO.md` of both todo files: each line that a task wrote, by its own words, with the level it was
//! written with and the chat it belongs to. A line that is not noted was written by whoever keeps the files.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::todo::{List, TextLine, Todos, due, plain};
use selkie_domain::taint::Taint;

/// So many lines stay noted that stand there no more: they may be put back, by hand or from an earlier version.
const MAX_GONE: usize = 2_000;

pub(super) const LISTS: [List; 2] = [List::Open, List::Done];

/// Something that a list says.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// What it is known by: its words with one space between them, without a time and the ids of people.
    pub words: String,
    /// The chat that its entry names.
    pub chat: Option<String>,
    pub is_entry: bool,
    /// The words of an entry, or the whole line.
    pub text: String,
}

/// The same words of the same chat are the same line.
pub(super) type Key<'l> = (&'l str, Option<&'l str>);

/// Where a line comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Its words.
    pub words: String,
    /// The level it was written with.
    pub level: Taint,
    /// The chat whose item it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// No task is known to have written it: it stood there after a loss, or a command may have put it there.
    #[serde(default, rename = "found", skip_serializing_if = "is_not")]
    pub is_found: bool,
}

/// What is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origins {
    /// Those that went first stand first.
    pub lines: Vec<Origin>,
    /// What was noted before is lost, and nobody has said since whose the items are.
    #[serde(default, skip_serializing_if = "is_not")]
    pub is_lost: bool,
}

/// What is noted, ready to be looked up by words.
pub(super) struct OriginIndex<'o>(HashMap<&'o str, Vec<&'o Origin>>);

fn is_not(what: &bool) -> bool {
    !what
}

/// Everything that a text of a todo file says.
pub(super) fn lines_of(list: List, text: &str) -> Vec<Line> {
    let todos = Todos::read(list, text);
    let said = todos.said().filter(|said| said.entry.is_some() || !is_frame(list, said.line));
    said.map(Line::of).filter(|line| !line.words.is_empty()).collect()
}

/// Which of the lists a file of the state folder is, if it is one.
pub(super) fn list_of(file: &str) -> Option<List> {
    LISTS.into_iter().find(|list| list.file() == file)
}

/// Whether a line is what every list has around its items: it only counts what stands there, and says when.
fn is_frame(list: List, line: &str) -> bool {
    if ["---", list.header()].contains(&line.trim_end()) {
        return true;
    }
    let keys = ["created_at:", "updated_at:", "open_count:", "done_count:"];
    let rest = keys.into_iter().find_map(|key| line.strip_prefix(key));
    rest.is_some_and(|rest| rest.chars().all(|c| !c.is_alphabetic() || matches!(c, 'T' | 'Z')))
}

impl Line {
    fn of(said: TextLine<'_>) -> Self {
        match said.entry {
            Some(entry) => Self::of_entry(&entry.content, entry.chat.clone()),
            None => {
                let words = spaced(&plain(said.line));
                Self { words, chat: None, is_entry: false, text: said.line.to_owned() }
            }
        }
    }

    /// An item without its time and the ids of its people, which somebody may put in or change.
    pub fn of_entry(content: &str, chat: Option<String>) -> Self {
        let what = due(content).map(|due| due.what).filter(|what| !what.trim().is_empty());
        let words = spaced(&plain(what.as_deref().unwrap_or(content)));
        Self { words, chat, is_entry: true, text: content.to_owned() }
    }

    pub fn key(&self) -> Key<'_> {
        (&self.words, self.chat.as_deref())
    }

    pub fn origin(&self, level: Taint, is_found: bool) -> Origin {
        Origin { words: self.words.clone(), level, chat: self.chat.clone(), is_found }
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Origin {
    pub fn key(&self) -> Key<'_> {
        (&self.words, self.chat.as_deref())
    }
}

impl Origins {
    pub fn index(&self) -> OriginIndex<'_> {
        let mut index: HashMap<&str, Vec<&Origin>> = HashMap::new();
        for origin in &self.lines {
            index.entry(&origin.words).or_default().push(origin);
        }
        OriginIndex(index)
    }

    /// Notes more, each once: what is said again has the higher level.
    pub fn add(&mut self, more: impl IntoIterator<Item = Origin>) {
        let key = |origin: &Origin| (origin.words.clone(), origin.chat.clone());
        let known = self.lines.iter().enumerate().map(|(at, origin)| (key(origin), at));
        let mut known: HashMap<_, usize> = known.collect();
        for origin in more {
            match known.get(&key(&origin)) {
                Some(at) => {
                    let known = &mut self.lines[*at];
                    known.level = known.level.max(origin.level);
                    // Who writes it out of others' words has noted it from then on.
                    known.is_found &= origin.is_found || !origin.level.is_any();
                }
                None => {
                    known.insert(key(&origin), self.lines.len());
                    self.lines.push(origin);
                }
            }
        }
    }

    /// Takes those of these lines that are not noted for words of others, which nobody is known to have written; says
    /// whether there are any.
    pub fn add_unknown(&mut self, lines: &[Line]) -> bool {
        let known: HashSet<Key<'_>> = self.lines.iter().map(Origin::key).collect();
        let new = lines.iter().filter(|line| !known.contains(&line.key()));
        let new: Vec<Origin> = new.map(|line| line.origin(Taint::Raw, true)).collect();
        let is_any = !new.is_empty();
        self.add(new);
        is_any
    }

    /// Somebody says that these are words of their own, or of the chat that they name.
    pub fn trust(&mut self, own: &[Line]) {
        let keys: HashSet<Key<'_>> = own.iter().map(Line::key).collect();
        self.lines.retain(|origin| !keys.contains(&origin.key()));
        self.add(own.iter().map(|line| line.origin(Taint::Clean, false)));
        self.is_lost = false;
    }

    /// Forgets those that went first of what stands there no more.
    pub fn forget_oldest(&mut self, stands: &HashSet<&str>) {
        let all = std::mem::take(&mut self.lines).into_iter();
        let (stand, mut gone): (Vec<_>, Vec<_>) =
            all.partition(|origin| stands.contains(&*origin.words));
        gone.drain(..gone.len().saturating_sub(MAX_GONE));
        gone.extend(stand);
        self.lines = gone;
    }

    /// The items of a chat go on with it under another id.
    pub fn move_chat(&mut self, from: &str, to: &str) {
        for origin in self.lines.iter_mut().filter(|one| one.chat.as_deref() == Some(from)) {
            origin.chat = Some(to.to_owned());
        }
        let all = std::mem::take(&mut self.lines);
        self.add(all);
    }
}

impl OriginIndex<'_> {
    /// Finds what is noted of a line.
    pub fn of(&self, line: &Line) -> Option<&Origin> {
        let said = self.0.get(&*line.words).into_iter().flatten();
        said.copied().find(|origin| origin.chat == line.chat)
    }

    /// Returns the level of a line to those whose it is. One that is not noted, and says what a task wrote elsewhere, is a
    /// copy of that.
    pub fn level(&self, line: &Line) -> Taint {
        if let Some(origin) = self.of(line) {
            return origin.level;
        }
        let copied = self.0.get(&*line.words).into_iter().flatten();
        let level =
            |origin: &&Origin| if origin.chat.is_some() { Taint::Raw } else { origin.level };
        copied.map(level).max().unwrap_or_default()
    }
}
