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
        let regions = Regions::find(&text);
        let front = front::find(&text, &regions).map_or(0, |front| front.end + 1);
        let mut items = Vec::new();
        let mut faults = Vec::new();
        for line in (front..text.len()).filter(|at| regions.is_plain(*at)) {
            match Entry::parse(text.line(line)) {
                None => {}
                Some(Ok(entry)) => items.push(Item { line, entry }),
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
        if self.entries().any(|other| other == entry) {
            return false;
        }
        let at = self.top();
        self.text.insert(at, entry.to_string());
        self.settle(now);
        true
    }

    /// Takes an entry away, the very same and once; says whether it was there.
    pub fn take(&mut self, entry: &Entry, now: DateTime<Utc>) -> bool {
        let Some(found) = self.items.iter().find(|item| item.entry == *entry) else { return false };
        self.text.remove(found.line);
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
        let regions = Regions::find(&self.text);
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

impl fmt::Display for Todos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}
