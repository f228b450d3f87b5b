//! A contact file: a heading for each contact, a block of YAML below it. What is not changed stays as it was written.

mod field;
mod schema;
mod section;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::section::Section;
use super::fault::Fault;
use super::front;
use super::regions::Regions;
use super::text::Text;
pub use field::{Fields, Kind, keys};
pub use schema::schema;

/// So many contacts stand in the file of the active ones.
pub const MAX_ACTIVE: usize = 150;

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shelf {
    /// `contacts/ACTIVE.md`.
    Active,
    /// `contacts/INACTIVE.md`.
    Inactive,
}

impl Shelf {
    /// Returns the file's name below the state folder.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Active => "contacts/ACTIVE.md",
            Self::Inactive => "contacts/INACTIVE.md",
        }
    }

    const fn header(self) -> &'static str {
        match self {
            Self::Active => "# Active Contacts",
            Self::Inactive => "# Inactive Contacts",
        }
    }
}

/// A contact file, read.
#[derive(Clone, Debug)]
pub struct Contacts {
    shelf: Shelf,
    text: Text,
    sections: Vec<Section>,
    /// Which section is whose.
    places: HashMap<String, usize>,
    faults: Vec<Fault>,
}

/// The lines of one contact as they stand in a file, to be put into the other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MovedLines(Vec<String>);

impl Contacts {
    /// Reads a file.
    pub fn read(shelf: Shelf, source: &str) -> Self {
        Self::of(shelf, Text::read(source))
    }

    fn of(shelf: Shelf, text: Text) -> Self {
        let regions = Regions::find(&text);
        let front = front::find(&text, &regions).map_or(0, |front| front.end + 1);
        let mut sections = Vec::<Section>::new();
        let mut faults = Vec::new();
        let mut places = HashMap::new();
        for found in section::find(&text, &regions, front) {
            match found {
                Ok(section) => match places.entry(section.fields.id().to_owned()) {
                    Entry::Occupied(known) => {
                        let what = format!("the contact_id {:?} is there twice", known.key());
                        faults.push(Fault::of(section.lines, what));
                    }
                    Entry::Vacant(new) => {
                        new.insert(sections.len());
                        sections.push(section);
                    }
                },
                Err(fault) => faults.push(fault),
            }
        }
        faults.extend(regions.faults);
        faults.sort_by_key(|fault| fault.line);
        Self { shelf, text, sections, places, faults }
    }

    fn section(&self, id: &str) -> Option<&Section> {
        self.places.get(id).and_then(|at| self.sections.get(*at))
    }

    /// Lists the contacts as they stand.
    pub fn all(&self) -> impl Iterator<Item = &Fields> {
        self.sections.iter().map(|section| &section.fields)
    }

    /// Returns a contact by its id.
    pub fn get(&self, id: &str) -> Option<&Fields> {
        self.section(id).map(|section| &section.fields)
    }

    /// Lists what could not be read.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Adds a contact, if there is none of its id; says whether it was added. Of its fields those with an empty value are
    /// left out.
    pub fn add(&mut self, fields: &Fields, now: DateTime<Utc>) -> bool {
        if fields.id().is_empty() || self.get(fields.id()).is_some() {
            return false;
        }
        self.put(&[&MovedLines(section::written(fields))], now);
        true
    }

    /// Gives a field of a contact another value; says whether that changed anything.
    pub fn set(&mut self, id: &str, key: &str, value: &Value, now: DateTime<Utc>) -> bool {
        let Some(section) = self.section(id) else {
            return false;
        };
        if section.fields.get(key) == Some(value) || !field::is_key(key) {
            return false;
        }
        let section = section.clone();
        let before = self.clone();
        section::set(&mut self.text, section.block.clone(), key, value);
        // A heading repeats the name until somebody writes another one there.
        let at = section.lines.start;
        let heading = section::heading(&section.fields);
        if key == keys::NICKNAME && self.text.line(at) == heading {
            let mut fields = section.fields;
            fields.set(key, value.clone());
            self.text.replace(at, section::heading(&fields));
        }
        self.settle(now);
        let is_set = self.get(id).and_then(|fields| fields.get(key)) == Some(value);
        if !is_set {
            // A block that is written in a way of its own is left as it was.
            *self = before;
        }
        is_set
    }

    /// Returns the lines of a contact.
    pub fn lines(&self, id: &str) -> Option<MovedLines> {
        let lines = self.section(id)?.lines.clone();
        Some(MovedLines(lines.map(|at| self.text.line(at).to_owned()).collect()))
    }

    /// Returns what stands in a contact's lines beside its heading and its fields.
    pub fn remarks(&self, id: &str) -> Vec<String> {
        let Some(section) = self.section(id) else {
            return Vec::new();
        };
        let lines = section.lines.clone();
        let block = section.block.clone();
        let outside = |at: &usize| *at + 1 < block.start || *at > block.end;
        let beside = lines.skip(1).filter(outside).map(|at| self.text.line(at).to_owned());
        beside.filter(|line| !line.trim().is_empty()).collect()
    }

    /// Puts remarks behind a contact's fields, where they do not stand in its lines; says whether any were put.
    pub fn remark(&mut self, id: &str, remarks: &[String], now: DateTime<Utc>) -> bool {
        let known = self.remarks(id);
        let Some(section) = self.section(id) else {
            return false;
        };
        let behind = section.block.end + 1;
        let before = self.clone();
        let new: Vec<&String> = remarks.iter().filter(|line| !known.contains(line)).collect();
        for line in new.iter().rev() {
            self.text.insert(behind, line.as_str());
        }
        self.settle(now);
        // A remark that reads as something else would break the file.
        if self.all().count() != before.all().count() || self.faults.len() != before.faults.len() {
            *self = before;
            return false;
        }
        !new.is_empty()
    }

    /// Takes contacts out, each with everything below its heading; returns how many there were.
    pub fn take(&mut self, ids: &HashSet<&str>, now: DateTime<Utc>) -> usize {
        let found = ids.iter().filter_map(|id| self.section(id));
        let lines: Vec<_> = found.map(|section| section.lines.clone()).collect();
        if !lines.is_empty() {
            self.text.remove_all(&lines);
            self.settle(now);
        }
        lines.len()
    }

    /// Puts contacts behind the others.
    pub fn put(&mut self, moved: &[&MovedLines], now: DateTime<Utc>) {
        if self.text.is_blank() {
            self.text.insert(self.text.len(), self.shelf.header());
        }
        // Behind a comment that does not end they would be part of that.
        let mut end = Regions::find(&self.text).open.unwrap_or(self.text.len());
        for one in moved {
            let before = end.checked_sub(1).map_or("", |before| self.text.line(before));
            let gap = (!before.trim().is_empty()).then_some("");
            for line in gap.into_iter().chain(one.0.iter().map(String::as_str)) {
                self.text.insert(end, line);
                end += 1;
            }
        }
        self.settle(now);
    }

    /// Lists whom there is no room for among `most`: those who were met longest ago.
    pub fn overflow(&self, most: usize) -> Vec<String> {
        let mut all: Vec<_> = self.all().map(|c| (c.last_interaction(), c.id())).collect();
        all.sort();
        let over = all.len().saturating_sub(most);
        all.into_iter().take(over).map(|(_, id)| id.to_owned()).collect()
    }

    fn settle(&mut self, now: DateTime<Utc>) {
        let stamp = format!("{:?}", now.to_rfc3339_opts(SecondsFormat::Secs, true));
        let front = front::find(&self.text, &Regions::find(&self.text));
        let value = |key, is_first| front::Value { key, value: &stamp, is_first };
        let values = [value("created_at", true), value("updated_at", false)];
        front::set(&mut self.text, front, &values);
        *self = Self::of(self.shelf, self.text.clone());
    }
}

impl fmt::Display for Contacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}
