//! What is remembered, entry by entry: for people who look at it, take a line out, or take it with them.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::marked_lines::{self, page};
use super::page::Entry;
use super::reading::files_of;
use super::score::score;
use super::subject::{FOLDER, Subject};
use super::{pieces, words};
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_people::files::{Content, FileError, Files};

/// The most subjects that are listed.
const MAX_SUBJECTS: usize = 20_000;

/// Something that is remembered, as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryEntry {
    /// The file, in the state folder.
    pub path: String,
    /// Its first line there, from 1.
    pub line: usize,
    /// How many lines it has.
    pub lines: usize,
    /// The heading that it stands under; empty without one.
    pub section: String,
    /// What it says.
    pub text: String,
    /// Who asked for it to be remembered; nobody for what was written by hand.
    pub author: Option<String>,
    /// How far they were trusted.
    pub trust: Trust,
    /// The level of what it came out of.
    pub level: Taint,
    /// When, as RFC 3339; nothing for what was written by hand.
    pub at: Option<String>,
    /// How well it fits what was looked for, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One memory, from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryView {
    /// Its name.
    pub name: String,
    /// Its files, in the state folder.
    pub files: Vec<String>,
    /// How many entries stand there.
    pub entries: usize,
    /// About how many bytes they have.
    pub bytes: usize,
    /// Files that cannot be read, and why.
    pub faults: Vec<String>,
}

impl MemoryEntry {
    pub(super) fn of(path: &str, entry: &Entry) -> Self {
        let Entry { lines, section, text, whose } = entry;
        let mark = whose.mark.as_ref();
        Self {
            path: path.to_owned(),
            line: *lines.start(),
            lines: RangeInclusive::clone(lines).count(),
            section: section.clone(),
            text: text.clone(),
            author: mark.map(|mark| mark.author.to_string()),
            trust: whose.trust,
            level: whose.level,
            at: mark.map(|mark| mark.at.to_rfc3339()),
            score: None,
        }
    }
}

/// Lists every memory there is. Blocks.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(files: &Files) -> Result<Vec<EntryView>, FileError> {
    let mut all = Vec::new();
    for subject in subjects(files)? {
        let mut one = EntryView {
            name: subject.name().to_owned(),
            files: Vec::new(),
            entries: 0,
            bytes: 0,
            faults: Vec::new(),
        };
        for path in files_of(files, &subject)? {
            match page(files, &path) {
                Ok(page) => {
                    one.entries += page.entries().len();
                    one.bytes += page.bytes();
                }
                Err(why) => one.faults.push(why.to_string()),
            }
            one.files.push(path);
        }
        if !one.files.is_empty() {
            all.push(one);
        }
    }
    Ok(all)
}

/// Lists whose memories there are, the general one first. Blocks.
pub(super) fn subjects(files: &Files) -> Result<Vec<Subject>, FileError> {
    let names = files.names(FOLDER, MAX_SUBJECTS)?;
    let others = names.iter().map(|name| Subject::named(name)).filter(|other| !other.is_general());
    Ok(std::iter::once(Subject::general()).chain(others).collect())
}

/// Lists the lines of one memory that [`trust`] would take; `None` where nothing was lost. Blocks.
///
/// # Errors
/// As [`entries`].
pub fn doubtful(files: &Files, subject: &Subject) -> Result<Option<Vec<MemoryEntry>>, FileError> {
    let mut all = None;
    for path in files_of(files, subject)? {
        if marked_lines::is_lost(files, &path)? {
            let lines = marked_lines::by_hand(files, &path)?;
            let lines = lines.iter().map(|entry| MemoryEntry::of(&path, entry));
            all.get_or_insert_with(Vec::new).extend(lines);
        }
    }
    Ok(all)
}

/// Takes the lines of one memory that have no mark for the words of whoever keeps the files, where whose they are is not known
/// any more; says how many there are. `None` where nothing was lost. Blocks.
///
/// # Errors
/// As [`entries`], or when it cannot be noted.
pub fn trust(files: &Files, subject: &Subject) -> Result<Option<usize>, FileError> {
    let mut all = None;
    for path in files_of(files, subject)? {
        if marked_lines::is_lost(files, &path)? {
            *all.get_or_insert(0) += marked_lines::trust(files, &path)?;
        }
    }
    Ok(all)
}

/// Returns what one memory holds, in the order of its files. Blocks.
///
/// # Errors
/// When a file of it cannot be read.
pub fn entries(files: &Files, subject: &Subject) -> Result<Vec<MemoryEntry>, FileError> {
    let mut all = Vec::new();
    for path in files_of(files, subject)? {
        let page = page(files, &path)?;
        all.extend(page.entries().iter().map(|entry| MemoryEntry::of(&path, entry)));
    }
    Ok(all)
}

/// Finds what fits a question, the best first. Blocks.
///
/// # Errors
/// As [`entries`].
pub fn search(
    files: &Files,
    subject: &Subject,
    query: &str,
    least: f64,
) -> Result<Vec<MemoryEntry>, FileError> {
    let question = words::of_question(query);
    let mut all = Vec::new();
    for path in files_of(files, subject)? {
        for entry in page(files, &path)?.entries() {
            let scores = pieces::of_entry(&path, entry);
            let scores = scores.iter().map(|piece| score(&piece.words, &question));
            let best = scores.fold(0.0, f64::max);
            if best > 0.0 && best >= least {
                let found = MemoryEntry::of(&path, entry);
                all.push(MemoryEntry { score: Some(best), ..found });
            }
        }
    }
    all.sort_by(|a, b| b.score.unwrap_or_default().total_cmp(&a.score.unwrap_or_default()));
    Ok(all)
}

/// Returns the files of one memory as they stand there, one after another: each under its path. Blocks.
///
/// # Errors
/// As [`entries`].
pub fn export(files: &Files, subject: &Subject) -> Result<String, FileError> {
    let mut text = String::new();
    for path in files_of(files, subject)? {
        let Content { text: content, .. } = files.read(&path)?;
        text.push_str(&format!("<!-- {path} -->\n"));
        text.push_str(&content);
        if !content.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}
