//! What is done later, or again: whose it is, by which rights, when, and what.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId, Post, shorten_line};
use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::effort::Effort;
use crate::facts::Trust;
use crate::named::named;
use crate::screen::shown;
use crate::span::Span;
use crate::taint::Taint;

/// A schedule, as whoever made it wants it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Version of this layout; see [`Schedule::VERSION`].
    pub v: u16,
    /// What people call it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// When it comes due, in the text that `schedule::expression` writes.
    pub when: String,
    /// The IANA zone in which `when` is read.
    pub zone: String,
    /// What is done then.
    pub action: Action,
    /// Whose it is.
    pub maker: Maker,
    /// Within which bounds.
    #[serde(default)]
    pub terms: Terms,
}

impl Schedule {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Returns its title, or the beginning of what it does, as a screen may get it: both may be a stranger's.
    pub fn name(&self) -> String {
        const MAX_LENGTH: usize = 60;
        let named = if self.title.is_empty() { self.action.text() } else { &self.title };
        shorten_line(&shown(named), MAX_LENGTH)
    }
}

/// What a schedule does each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum Action {
    /// Says fixed words; no model is asked.
    Say {
        /// The words.
        markdown: String,
    },
    /// Says fixed words that somebody wants to be reminded of: never too late to be said.
    Remind {
        /// The words.
        markdown: String,
    },
    /// Has the model do something, with tools.
    Prompt {
        /// What.
        prompt: String,
        /// The profile of the model; the conversation's where it is not named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How hard it thinks; as in the conversation where it is not named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    /// Has the model look at what the owner's file names, which is read each time.
    Heartbeat,
    /// Puts a post of fixed words on a public account.
    Post {
        /// Where it is posted; the schedule's own conversation is the one that asked for it.
        to: ConversationId,
        /// The posts.
        #[serde(flatten)]
        post: Post,
    },
}

impl Action {
    /// Returns its name on pages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Say { .. } => "message",
            Self::Remind { .. } => "reminder",
            Self::Prompt { .. } => "prompt",
            Self::Heartbeat => "heartbeat",
            Self::Post { .. } => "post",
        }
    }

    /// Returns the words that it says or asks first.
    pub fn text(&self) -> &str {
        match self {
            Self::Say { markdown } | Self::Remind { markdown } => markdown,
            Self::Prompt { prompt, .. } => prompt,
            Self::Heartbeat => "Heartbeat: what HEARTBEAT.md names",
            Self::Post { post, .. } => post.texts.first().map_or("", String::as_str),
        }
    }

    /// Returns the profile of the model that it names.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Prompt { model, .. } => model.as_deref(),
            _ => None,
        }
    }

    /// Returns which model it names, and how hard that thinks.
    pub fn choice(&self) -> Choice {
        match self {
            Self::Prompt { model, effort, .. } => {
                Choice { model: model.clone(), effort: *effort, ..Choice::default() }
            }
            _ => Choice::default(),
        }
    }

    /// Returns the same with its words changed.
    #[must_use]
    pub fn with(self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Say { markdown } => Self::Say { markdown: change(&markdown) },
            Self::Remind { markdown } => Self::Remind { markdown: change(&markdown) },
            Self::Prompt { prompt, model, effort } => {
                Self::Prompt { prompt: change(&prompt), model, effort }
            }
            Self::Heartbeat => Self::Heartbeat,
            Self::Post { to, post } => {
                let texts = post.texts.iter().map(|text| change(text)).collect();
                Self::Post { to, post: Post { texts, ..post } }
            }
        }
    }

    /// Says why its words cannot be kept: they have to be there, and not too long.
    pub fn objection(&self) -> Option<String> {
        const MAX_LENGTH: usize = 16_000;
        let name = self.name();
        let text = self.text();
        if text.trim().is_empty() {
            return Some(format!("a {name} needs words: they are empty"));
        }
        let too_long = text.len() > MAX_LENGTH;
        too_long.then(|| format!("a {name} takes up to {MAX_LENGTH} bytes, not {}", text.len()))
    }

    /// Whether a model is asked: what that costs counts against its day's budget.
    pub const fn asks_a_model(&self) -> bool {
        matches!(self, Self::Prompt { .. } | Self::Heartbeat)
    }

    /// Whether it is done however late it is.
    pub const fn is_never_too_late(&self) -> bool {
        matches!(self, Self::Remind { .. })
    }
}

/// Who made a schedule, and what stood behind their words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Who.
    pub person: PersonId,
    /// The name that people know; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How far they were trusted then: what it does is never trusted more.
    pub trust: Trust,
    /// The level of what the words came out of that made it.
    #[serde(default)]
    pub taint: Taint,
    /// Its words may be said where it speaks, whatever they came out of: they were written there, or an owner approved it.
    #[serde(default)]
    pub is_cleared: bool,
}

impl Maker {
    /// An owner, in their own words.
    pub fn owner(person: PersonId) -> Self {
        Self {
            person,
            name: String::new(),
            trust: Trust::Owner,
            taint: Taint::Clean,
            is_cleared: true,
        }
    }

    /// Whether fixed words wait for an owner's yes: they came out of others' words, and would be said where nobody
    /// asked for them. People who are no owners have nothing said elsewhere.
    pub fn needs_consent(&self) -> bool {
        self.taint.is_any() && self.trust == Trust::Owner && !self.is_cleared
    }
}

/// Within which bounds a schedule is carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// Not before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<DateTime<Utc>>,
    /// Not after this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// At most so often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Only between these times of day, such as `08:00-22:00`, in its zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<String>,
    /// Each time later by up to this, so that not all come at once.
    pub jitter: Span,
    /// What becomes of those that were missed.
    pub misfire: Misfire,
    /// How late it may be at the most.
    pub lateness: Span,
    /// How many earlier tasks of its conversation the model reads.
    pub history: u32,
    /// What it may cost a day.
    pub budget: Budget,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            starts: None,
            until: None,
            times: None,
            active: None,
            jitter: Span::seconds(0),
            misfire: Misfire::Once,
            lateness: Span::seconds(2 * 60 * 60),
            history: 4,
            budget: Budget::default(),
        }
    }
}

named! {
    /// What becomes of the times at which nobody could act.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Misfire {
        /// None is made up for.
        Skip = "skip",
        /// The latest is, when it is not too late for it.
        #[default]
        Once = "once",
        /// Each is that is not too late.
        All = "all",
    }
}

impl FromStr for Misfire {
    type Err = UnknownMisfire;

    fn from_str(text: &str) -> Result<Self, UnknownMisfire> {
        let known = Self::parse(&text.trim().to_ascii_lowercase());
        known.ok_or_else(|| UnknownMisfire(text.chars().take(60).collect()))
    }
}

/// No such way to go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a policy for missed times (takes skip, once, all)")]
pub struct UnknownMisfire(String);

/// What a schedule may use in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Model calls; 0: no limit.
    pub calls: u32,
    /// Millionths of a US dollar; 0: no limit.
    pub micro_usd: u64,
}

/// Reads an amount of US dollars; `None` for one that is none, or more than anybody means.
pub fn micro_usd(usd: f64) -> Option<u64> {
    let amount = (0.0..=1e6).contains(&usd).then_some((usd * 1e6).round())?;
    // Less than a millionth of a dollar is the least there is, for 0 is no limit.
    let least = if usd > 0.0 { 1.0 } else { 0.0 };
    Some(amount.max(least) as u64)
}

impl Default for Budget {
    fn default() -> Self {
        Self { calls: 500, micro_usd: 5_000_000 }
    }
}

named! {
    /// Where a schedule stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ScheduleState {
        /// It comes due.
        Active = "active",
        /// It waits until somebody lets it go on.
        Paused = "paused",
        /// It has come due for the last time.
        Ended = "ended",
        /// Somebody has taken it away.
        Removed = "removed",
    }
}

/// What becomes of a schedule by somebody's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// It is taken away.
    Remove,
    /// It waits.
    Pause,
    /// It goes on.
    Resume,
}

/// Why a heartbeat waits that the config wants no more, or not there.
pub const HEARTBEAT_OFF: &str = "`heartbeat` in the config wants none here";

/// Begins why a task ended that a time had made and that was not begun.
pub const PASSED_OVER: &str = "passed over: ";

/// Where one time of a schedule stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum OccurrenceState {
    /// Its task waits.
    Due,
    /// Its task is worked on.
    Running,
    /// It was carried out.
    Ran,
    /// It was not carried out.
    Skipped {
        /// Why.
        why: String,
    },
    /// Its task ended without what it was for.
    Failed {
        /// Why.
        why: String,
    },
}

impl OccurrenceState {
    /// Returns its name on pages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Running => "running",
            Self::Ran => "ran",
            Self::Skipped { .. } => "skipped",
            Self::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_called_by_its_title_or_its_first_words() {
        let schedule = |title: &str, prompt: &str| Schedule {
            v: Schedule::VERSION,
            title: title.to_owned(),
            when: "every 1h".to_owned(),
            zone: "UTC".to_owned(),
            action: Action::Prompt { prompt: prompt.to_owned(), model: None, effort: None },
            maker: Maker {
                person: PersonId::new("tg:1"),
                name: String::new(),
                trust: Trust::Owner,
                taint: Taint::Clean,
                is_cleared: true,
            },
            terms: Terms::default(),
        };
        assert_eq!(schedule("News", "tell me").name(), "News");
        assert_eq!(schedule("", "tell\n me  more").name(), "tell me more");
        let hidden = schedule("Ne\u{200b}ws\u{feff} \u{1b}[2J", "").name();
        assert_eq!(hidden, "Ne⟨U+200B⟩ws⟨U+FEFF⟩ ⟨U+001B⟩[2J");
        assert_eq!(schedule("", &"ä".repeat(61)).name(), format!("{}…", "ä".repeat(60)));
    }

    #[test]
    fn a_row_of_few_fields_is_read_with_the_usual_terms() {
        let text = r#"{"v":1,"when":"every 1h","zone":"UTC","action":{"does":"say","markdown":"hi"},
            "maker":{"person":"tg:1","trust":"owner","generation":0}}"#;
        let read: Schedule = serde_json::from_str(text).unwrap();
        assert_eq!(read.terms, Terms::default());
        assert_eq!(
            read.maker.taint,
            Taint::Clean,
            "what an older selkie wrote besides is passed over"
        );
    }
}
