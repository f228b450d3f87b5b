//! One entry of a todo file: `- [ ] [Created](2026-03-04 08:15), [ChatID](…) | content`.

use std::fmt;

use chrono::NaiveDateTime;
use serde::{Deserialize, Serialize};

use super::time::{read_minute, write_minute};
use crate::fault::shown;

/// Characters of one entry's content.
pub const MAX_LENGTH: usize = 2_000;

const OPEN: &str = "- [ ]";
const TICKED: [&str; 2] = ["- [x]", "- [X]"];
const CREATED: &str = "Created";
const DONE: &str = "Done";
const CHAT: &str = "ChatID";
const BAR: &str = " | ";

/// An entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// Whether its box is ticked.
    pub is_done: bool,
    /// When it was written, in UTC, to the minute. People who write by hand leave it out.
    pub created: Option<NaiveDateTime>,
    /// When it was done, in UTC.
    pub done: Option<NaiveDateTime>,
    /// The conversation it belongs to; the owner's where there is none.
    pub chat: Option<String>,
    /// What else stands in front of the bar.
    pub others: Vec<Meta>,
    /// What is to be done, in one line.
    pub content: String,
    /// The lines that stand below it, set in: they go where it goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
}

/// A key and its value in front of the bar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Meta {
    /// Its name.
    pub key: String,
    /// What it says.
    pub value: String,
}

/// Why words cannot be an entry's content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// There are none.
    #[error("content is required")]
    Empty,
    /// There are too many.
    #[error("content has {0} characters and {MAX_LENGTH} are the most")]
    TooLong(usize),
}

impl Entry {
    /// Reads a line; `None` for one that does not look like an entry.
    pub(super) fn parse(line: &str) -> Option<Result<Self, String>> {
        let opened = line.strip_prefix(OPEN).map(|rest| (false, rest));
        let ticked = TICKED.iter().find_map(|mark| line.strip_prefix(mark));
        let Some((is_done, rest)) = opened.or(ticked.map(|rest| (true, rest))) else {
            return looks_like_one(line).then(|| Err(odd(line)));
        };
        let Some(rest) = rest.strip_prefix(' ') else { return Some(Err(odd(line))) };
        Some(Self { is_done, ..Self::default() }.with(rest.trim()))
    }

    fn with(mut self, rest: &str) -> Result<Self, String> {
        let (metas, content) = match metas(rest) {
            Some(Metas { metas, content }) => (metas, content),
            None if begins_with_meta(rest) => {
                return Err(format!(
                    "{:?} has no \"{BAR}\" between its dates and its words",
                    shown(rest)
                ));
            }
            None => (Vec::new(), rest),
        };
        if content.is_empty() {
            return Err("an entry without words".to_owned());
        }
        for Meta { key, value } in metas {
            let taken = match key.as_str() {
                CREATED => self.created.replace(minute(&key, &value)?).is_some(),
                DONE => self.done.replace(minute(&key, &value)?).is_some(),
                CHAT => self.chat.replace(chat(value)?).is_some(),
                _ => {
                    self.others.push(Meta { key, value });
                    continue;
                }
            };
            if taken {
                return Err(format!("{key} is there twice"));
            }
        }
        content.clone_into(&mut self.content);
        Ok(self)
    }

    /// Brings words into the form of a content: one line, nothing that steers a screen.
    ///
    /// # Errors
    /// No words, or too many.
    pub fn content(words: &str) -> Result<String, Unwritable> {
        let plain = words.replace(selkie_domain::screen::steers, " ");
        let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.chars().count() {
            0 => Err(Unwritable::Empty),
            many if many > MAX_LENGTH => Err(Unwritable::TooLong(many)),
            _ => Ok(line),
        }
    }

    /// The same, done at that time.
    #[must_use]
    pub fn ticked(&self, at: NaiveDateTime) -> Self {
        let at = read_minute(&write_minute(at)).unwrap_or(at);
        let created = self.created.or(Some(at));
        Self { is_done: true, created, done: Some(at), ..self.clone() }
    }
}

/// Its own line, without those below it.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_done, created, done, chat, others, content, below: _ } = self;
        write!(f, "{}", if *is_done { TICKED[0] } else { OPEN })?;
        let minute = |key: &str, at: NaiveDateTime| format!("[{key}]({})", write_minute(at));
        let metas: Vec<String> = created
            .map(|at| minute(CREATED, at))
            .into_iter()
            .chain(done.map(|at| minute(DONE, at)))
            .chain(chat.iter().map(|chat| format!("[{CHAT}]({chat})")))
            .chain(others.iter().map(|Meta { key, value }| format!("[{key}]({value})")))
            .collect();
        match metas.is_empty() {
            true => write!(f, " {content}"),
            false => write!(f, " {}{BAR}{content}", metas.join(", ")),
        }
    }
}

/// A line with another chat in front of its bar.
pub(super) fn with_chat(line: &str, from: &str, to: &str) -> String {
    line.replacen(&format!("[{CHAT}]({from})"), &format!("[{CHAT}]({to})"), 1)
}

/// What stands in front of the bar, and what behind it.
struct Metas<'a> {
    metas: Vec<Meta>,
    content: &'a str,
}

/// Reads `[Key](value), [Key](value) | content`; `None` for a line that a person wrote without them.
fn metas(line: &str) -> Option<Metas<'_>> {
    let mut metas = Vec::new();
    let mut rest = line;
    loop {
        let (key, after) = rest.strip_prefix('[')?.split_once("](")?;
        let (value, after) = after.split_once(')')?;
        let is_key = !key.is_empty() && key.chars().all(char::is_alphanumeric);
        if !is_key || value.contains(BAR) {
            return None;
        }
        metas.push(Meta { key: key.to_owned(), value: value.to_owned() });
        if let Some(content) = after.strip_prefix(BAR.trim_end()) {
            return Some(Metas { metas, content: content.trim() });
        }
        rest = after.strip_prefix(", ")?;
    }
}

fn begins_with_meta(line: &str) -> bool {
    [CREATED, DONE, CHAT].iter().any(|key| line.starts_with(&format!("[{key}](")))
}

fn minute(key: &str, value: &str) -> Result<NaiveDateTime, String> {
    read_minute(value)
        .ok_or_else(|| format!("invalid {key}: {:?} (takes YYYY-MM-DD hh:mm)", shown(value)))
}

fn chat(value: String) -> Result<String, String> {
    let is_id =
        value.split_once(':').is_some_and(|(channel, id)| !channel.is_empty() && !id.is_empty())
            && !value.contains(char::is_whitespace);
    match is_id {
        true => Ok(value),
        false => Err(format!("invalid {CHAT}: {:?} (takes a conversation's id)", shown(&value))),
    }
}

/// Whether somebody may have meant an entry.
fn looks_like_one(line: &str) -> bool {
    let line = line.trim_start();
    ["- [", "* [", "+ ["].iter().any(|mark| {
        let inside = line.strip_prefix(mark).and_then(|rest| rest.split_once(']'));
        inside.is_some_and(|(inside, _)| inside.trim().chars().count() <= 1)
    })
}

fn odd(line: &str) -> String {
    format!(
        "{:?} is read as no entry: one begins with \"{OPEN} \", and nothing in front",
        shown(line)
    )
}
