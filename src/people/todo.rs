//! A todo file: front matter, a header, one entry a line, the newest first. What is no entry stays where it is.

mod entry;
mod reference;
#[cfg(test)]
mod tests;
mod time;

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::front::{self, Value};
use super::regions::Regions;
use super::text::Text;
pub use entry::{Entry, MAX_LENGTH, Meta, Unwritable};
pub use reference::{Reference, plain, references};
pub use time::{Due, due, in_words, no_time};

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// `TODO.md`: what is to be done.
    Open,
    /// `TODO.DONE.md`: what was done.
    Done,
}

impl List {
    /// Returns the file's name.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Open => "TODO.md",
            Self::Done => "TODO.DONE.md",
        }
    }

    /// Returns the heading that selkie gives it.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Open => "# TODO Work In Progress (WIP)",
            Self::Done => "# TODO Done",
        }
    }

    const fn count(self) -> &'static str {
        match self {
            Self::Open => "open_count",
            Self::Done => "done_count",
        }
    }
}

/// A todo file, read.
#[derive(Clone, Debug)]
pub struct Todos {
    list: List,
    text: Text,
    items: Vec<Item>,
    faults: Vec<Fault>,
}

/// A line with something in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLine<'t> {
    /// The line.
    pub line: &'t str,
    /// The entry that it is, if it is one.
    pub entry: Option<&'t Entry>,
}

/// An entry and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The index of its line.
    line: usize,
    /// What it says.
    pub entry: Entry,
}

impl Todos {
    /// Reads a file.
    pub fn read(list: List, source: &str) -> Self {
        Self::of(list, Text::read(source))
    }

    fn of(list: List, text: Text) -> Self {
        let regions = Regions::with_fences(&text);
        let front = front::find(&text, &regions).map_or(0, |front| front.end + 1);
        let mut items = Vec::new();
        let mut faults = Vec::new();
        for line in (front..text.len()).filter(|at| regions.is_plain(*at)) {
            match Entry::parse(text.line(line)) {
                None => {}
                Some(Ok(entry)) => {
                    let below = below(&text, &regions, line);
                    items.push(Item { line, entry: Entry { below, ..entry } });
                }
                Some(Err(why)) => faults.push(Fault::of(line..line + 1, why)),
            }
        }
        faults.extend(regions.faults);
        faults.sort_by_key(|fault| fault.line);
        Self { list, text, items, faults }
    }

    /// Lists the entries as they stand, the newest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.items.iter().map(|item| &item.entry)
    }

    /// Lists the entries that this file is for: of `TODO.md` those that nobody has ticked.
    pub fn counted(&self) -> impl Iterator<Item = &Entry> {
        let ticked = self.list == List::Done;
        self.entries().filter(move |entry| entry.is_done == ticked)
    }

    /// Lists everything that is said there, line by line, entries or not.
    pub fn said(&self) -> impl Iterator<Item = TextLine<'_>> {
        let mut items = self.items.iter().peekable();
        let said = (0..self.text.len()).map(move |at| {
            let entry = items.next_if(|item| item.line == at).map(|item| &item.entry);
            TextLine { line: self.text.line(at), entry }
        });
        said.filter(|said| !said.line.trim().is_empty())
    }

    /// Lists what could not be read.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Puts an entry on top, if the very same is not there yet; says whether it was put.
    pub fn put(&mut self, entry: &Entry, now: DateTime<Utc>) -> bool {
        let line = entry.to_string();
        let below = &entry.below;
        let same = |other: &Entry| {
            other.to_string() == line && (below.is_empty() || other.below == *below)
        };
        if self.entries().any(same) {
            return false;
        }
        let top = self.top();
        let at = self.free_from(top);
        let lines = std::iter::once(line).chain(below.iter().cloned());
        lines.enumerate().for_each(|(n, line)| self.text.insert(at + n, line));
        self.settle(now);
        true
    }

    /// Takes an entry away with the lines below it, the very same and once; says whether it was there.
    pub fn take(&mut self, entry: &Entry, now: DateTime<Utc>) -> bool {
        // What stands below it may have been changed by hand meanwhile.
        let line = entry.to_string();
        let same = |item: &&Item| item.entry.to_string() == line;
        let Some(found) = self.items.iter().find(same) else { return false };
        let whole = found.line..found.line + 1 + found.entry.below.len();
        self.text.remove_all(&[whole]);
        self.settle(now);
        true
    }

    /// Gives the entries of a chat its new id, each in its place; says how many.
    pub fn move_chat(&mut self, from: &str, to: &str, now: DateTime<Utc>) -> usize {
        let is_its = |item: &&Item| item.entry.chat.as_deref() == Some(from);
        let lines: Vec<usize> = self.items.iter().filter(is_its).map(|item| item.line).collect();
        for line in &lines {
            let moved = entry::with_chat(self.text.line(*line), from, to);
            self.text.replace(*line, moved);
        }
        if !lines.is_empty() {
            self.settle(now);
        }
        lines.len()
    }

    /// Where a new entry is put: below the header.
    fn top(&mut self) -> usize {
        let regions = Regions::with_fences(&self.text);
        let front = front::find(&self.text, &regions).map_or(0, |front| front.end + 1);
        let first = self.items.first().map(|item| item.line);
        let plain = (front..first.unwrap_or(self.text.len())).filter(|at| regions.is_plain(*at));
        let header = plain.into_iter().find(|at| self.text.line(*at).starts_with("# "));
        let Some(header) = header else {
            let at = first.unwrap_or(front);
            self.text.insert(at, self.list.header());
            return at + 1;
        };
        let below = header + 1;
        let is_blank = |at: &usize| self.text.line(*at).trim().is_empty();
        let next = (below..self.text.len()).find(|at| !is_blank(at));
        if first.is_some() && next == first { next.unwrap_or(below) } else { below }
    }

    /// The next line from `at` on behind which nothing is set in: it would belong to what is put there.
    fn free_from(&self, at: usize) -> usize {
        let regions = Regions::with_fences(&self.text);
        let is_taken = |at: &usize| {
            regions.is_code(*at) || (regions.is_plain(*at) && is_set_in(self.text.line(*at)))
        };
        (at..self.text.len()).find(|at| !is_taken(at)).unwrap_or(self.text.len())
    }

    /// Reads what the text has become, and counts it in the front matter.
    fn settle(&mut self, now: DateTime<Utc>) {
        let read = Self::of(self.list, self.text.clone());
        let stamp = format!("{:?}", now.to_rfc3339_opts(SecondsFormat::Secs, true));
        let count = read.counted().count().to_string();
        let front = front::find(&self.text, &Regions::find(&self.text));
        front::set(
            &mut self.text,
            front,
            &[
                Value { key: "created_at", value: &stamp, is_first: true },
                Value { key: "updated_at", value: &stamp, is_first: false },
                Value { key: self.list.count(), value: &count, is_first: false },
            ],
        );
        *self = Self::of(self.list, self.text.clone());
    }
}

/// The lines below an entry that are set in, up to a blank one; a block of code whole or not at all.
fn below(text: &Text, regions: &Regions, line: usize) -> Vec<String> {
    let is_read = |at: &usize| regions.is_plain(*at) || regions.is_code(*at);
    let is_below = |at: &usize| is_read(at) && is_set_in(text.line(*at));
    let mut end = (line + 1..text.len()).find(|at| !is_below(at)).unwrap_or(text.len());
    if regions.is_code(end) {
        end = (line + 1..end).rev().find(|at| !regions.is_code(*at)).unwrap_or(line) + 1;
    }
    (line + 1..end).map(|at| text.line(at).to_owned()).collect()
}

fn is_set_in(line: &str) -> bool {
    (line.starts_with("  ") || line.starts_with('\t')) && !line.trim().is_empty()
}

impl fmt::Display for Todos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}
