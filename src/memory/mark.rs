//! Whose a remembered line is: noted at its end in a comment, which a page does not show and an editor keeps.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use selkie_channel_core::PersonId;

use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

pub(super) const OPENS: &str = "<!--";
pub(super) const CLOSES: &str = "-->";

/// Whose words a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Who asked for it to be remembered.
    pub author: PersonId,
    /// How far they were trusted.
    pub trust: Trust,
    /// The level of the task that wrote it.
    pub level: Taint,
    /// When, to the second.
    pub at: DateTime<Utc>,
}

/// A line, and what stands at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLine<'l> {
    /// The line without the comment.
    pub text: &'l str,
    /// What the comment says; nothing where there is none of ours: somebody wrote the line by hand.
    pub mark: Option<Mark>,
}

impl MarkedLine<'_> {
    /// Reads a line.
    pub fn read(line: &str) -> MarkedLine<'_> {
        let line = line.trim_end();
        let comment = line.strip_suffix(CLOSES).and_then(|body| body.rsplit_once(OPENS));
        match comment {
            Some((text, comment)) => {
                MarkedLine { text: text.trim_end(), mark: Mark::parse(comment) }
            }
            None => MarkedLine { text: line, mark: None },
        }
    }
}

/// Whether a text holds a mark, or what is left of one: a trust right before a level, whatever an editor has made of the
/// signs around them.
pub(super) fn holds_one(text: &str) -> bool {
    let words: Vec<String> = words(text).collect();
    let is_one =
        |pair: &[String]| Trust::parse(&pair[0]).is_some() && Taint::parse(&pair[1]).is_some();
    words.windows(2).any(is_one)
}

/// Words in small letters, whatever stands between them.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase)
}

impl Mark {
    fn parse(comment: &str) -> Option<Self> {
        let mut words = comment.split_whitespace();
        let author = PersonId::new(decoded(words.next()?)?);
        let trust = Trust::parse(words.next()?)?;
        let level = Taint::parse(words.next()?)?;
        let at = DateTime::parse_from_rfc3339(words.next()?).ok()?.to_utc();
        words.next().is_none().then_some(Self { author, trust, level, at })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let author = encoded(self.author.as_str());
        let at = self.at;
        let at = at.to_rfc3339_opts(SecondsFormat::Secs, true);
        write!(f, "{OPENS} {author} {} {} {at} {CLOSES}", self.trust.name(), self.level.name())
    }
}

/// Takes from what is to be remembered whatever could be taken for a mark.
pub fn without_marks(text: &str) -> String {
    text.replace(OPENS, "<! --").replace(CLOSES, "-- >")
}

fn encoded(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._@+-".contains(&byte);
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        match plain(byte) {
            true => text.push(byte.into()),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    if text.is_empty() { "%".to_owned() } else { text }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = if text == "%" { &b""[..] } else { text.as_bytes() };
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'%' => {
                let hex = std::str::from_utf8(after.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(hex, 16).ok()?);
                &after[2..]
            }
            byte => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark() -> Mark {
        Mark {
            author: PersonId::new("tg:1"),
            trust: Trust::Allowed,
            level: Taint::Derived,
            at: DateTime::from_timestamp(1_800_000_000, 0).unwrap(),
        }
    }

    #[test]
    fn a_mark_reads_as_it_is_written() {
        let line = format!("- I like tea {}", mark());
        assert_eq!(line, "- I like tea <!-- tg:1 allowed derived 2027-01-15T08:00:00Z -->");
        let read = MarkedLine::read(&line);
        assert_eq!((read.text, read.mark), ("- I like tea", Some(mark())));
    }

    #[test]
    fn what_a_person_writes_has_no_mark_and_what_is_left_of_one_is_seen() {
        for line in ["- tea", "- tea <!-- my note -->", "- tea -->", "<!-- a", "- <!-- --> x"] {
            assert_eq!(MarkedLine::read(line).mark, None, "{line}");
            assert!(!holds_one(line), "{line}");
        }
        assert_eq!(MarkedLine::read("- tea <!-- my note -->").text, "- tea");
        for line in [
            "- tea <!-- tg:1 allowed derived -->",
            "- tea <!-- tg:1 owner clean yesterday -->",
            "- tea <!-- tg:1 owner clean 2027-01-15T08:00:00Z and more -->",
        ] {
            assert_eq!(MarkedLine::read(line).mark, None, "{line}");
            assert!(holds_one(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_text_forges_a_mark(text in "(<!--|-->|--|<|>|!|tg:1 owner clean 2027-01-15T08:00:00Z|a| ){0,12}") {
            let written = format!("- {} {}", without_marks(&text), mark());
            prop_assert_eq!(MarkedLine::read(&written).mark, Some(mark()));
            let plain = without_marks(&text);
            prop_assert!(!plain.contains(OPENS) && !plain.contains(CLOSES), "{}", plain);
        }

        #[test]
        fn any_author_comes_back(author in ".{0,20}", seconds in 0i64..4_000_000_000) {
            let at = DateTime::from_timestamp(seconds, 0).unwrap();
            let mark = Mark { author: PersonId::new(author), at, ..mark() };
            prop_assert_eq!(MarkedLine::read(&format!("x {mark}")).mark, Some(mark));
        }
    }
}
