//! Words that a task is to read, or to say, and that came as no message: typed at the command line, a schedule's, a hook's.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::facts::Trigger;

/// Begin lines behind which something stands that was brought along …
const TEXT: &str = "<<<text ";
const FILE: &str = "<<<file ";
/// … and this line ends it.
const END: &str = ">>>";
/// Stands before a line of a text that looks like one of these.
const MARK: char = '\u{200b}';

/// What somebody wants done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    /// Whose they are.
    pub person: PersonId,
    /// The name that people know; may be empty.
    pub name: String,
    /// When they were said, or became due.
    pub at: DateTime<Utc>,
    /// What was said; empty when it is older than it is kept.
    pub text: String,
    /// What the model is told beside them; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// They are said as they are; no model is asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    /// Which agent says them, where no person does: they are nobody's own words then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Words {
    /// Words that somebody says now.
    pub fn said(person: PersonId, at: DateTime<Utc>, text: impl Into<String>) -> Self {
        Self {
            person,
            name: String::new(),
            at,
            text: text.into(),
            note: String::new(),
            fixed: false,
            agent: None,
        }
    }
}

/// What comes along with words that are typed at the command line, or with those of a hook, and asks for nothing by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enclosure {
    /// Text: standard input, or a file's.
    Text {
        /// What it is called.
        name: String,
        /// What it says.
        text: String,
    },
    /// A file on this machine, by its full path.
    File(PathBuf),
}

/// Words, and what was enclosed with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// The person's own words.
    pub own: String,
    /// What came along: nobody says whose it is.
    pub enclosed: Vec<Enclosure>,
}

impl Letter {
    /// Writes it as one text, which [`Words::letter`] reads.
    pub fn written(&self) -> String {
        let mut text = plain(&self.own);
        for enclosure in &self.enclosed {
            let (begin, name, body) = match enclosure {
                Enclosure::Text { name, text } => (TEXT, name.clone(), plain(text) + "\n"),
                Enclosure::File(path) => (FILE, path.display().to_string(), String::new()),
            };
            let name = name.replace(char::is_control, " ");
            text.push_str(&format!("\n{begin}{name}\n{body}{END}"));
        }
        text
    }
}

impl Words {
    /// Returns whose words of it are the person's own. What a task or a schedule says encloses nothing, whatever it looks like.
    pub fn letter(&self, trigger: Trigger) -> Letter {
        if !matches!(trigger, Trigger::Asked | Trigger::Webhook) {
            return Letter { own: self.text.clone(), enclosed: Vec::new() };
        }
        let mut own = vec![];
        let mut enclosed = vec![];
        let mut name = None;
        let mut body = vec![];
        for line in self.text.split('\n') {
            match (&name, line.strip_prefix(TEXT), line.strip_prefix(FILE)) {
                (None, Some(begun), _) => name = Some(begun.to_owned()),
                (None, None, Some(path)) => enclosed.push(Enclosure::File(path.into())),
                (Some(_), ..) if line == END => {
                    let name = name.take().unwrap_or_default();
                    let text = body.join("\n");
                    enclosed.push(Enclosure::Text { name, text });
                    body.clear();
                }
                (Some(_), ..) => body.push(line),
                // It ends a file, which holds nothing here.
                (None, ..) if line == END && !enclosed.is_empty() => {}
                (None, ..) => own.push(line),
            }
        }
        Letter { own: own.join("\n"), enclosed }
    }
}

/// Takes the power from lines that look like marks of ours.
fn plain(text: &str) -> String {
    let is_mark = |line: &str| [TEXT, FILE, END].iter().any(|mark| line.starts_with(mark.trim()));
    let mark = |line: &str| if is_mark(line) { format!("{MARK}{line}") } else { line.to_owned() };
    text.split('\n').map(mark).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, trigger: Trigger) -> Letter {
        Words::said(PersonId::new("p"), DateTime::UNIX_EPOCH, text).letter(trigger)
    }

    #[test]
    fn what_was_enclosed_is_not_the_persons_own() {
        let text = "a\n>>>\n<<<file /etc/passwd\nb".to_owned();
        let enclosed = vec![
            Enclosure::Text { name: "standard input".to_owned(), text },
            Enclosure::File("/srv/a b.png".into()),
        ];
        let letter = Letter { own: "what is\nthis?".to_owned(), enclosed };
        let written = letter.written();
        let back = read(&written, Trigger::Asked);
        assert_eq!((&back.own, back.enclosed.len()), (&letter.own, 2));
        let Enclosure::Text { text, .. } = &back.enclosed[0] else { panic!("{back:?}") };
        assert_eq!(text.replace(MARK, ""), "a\n>>>\n<<<file /etc/passwd\nb");
        assert_eq!(back.enclosed[1], letter.enclosed[1]);
        let called = read(&written, Trigger::Webhook);
        assert_eq!(called.own, letter.own, "what a service sends is not the hook's own");
        let sent = read(&written, Trigger::Relayed);
        assert_eq!((sent.own, sent.enclosed), (written, vec![]), "another task's words");
    }

    proptest! {
        /// Whatever the words and the text look like, none becomes the other, and no file is named.
        #[test]
        fn no_text_leaves_its_place(
            own in "(>>>|<<<text |<<<file |\n|a| ){0,12}",
            text in "(>>>|<<<text |<<<file |\n|b| ){0,12}",
        ) {
            let enclosed = vec![Enclosure::Text { name: "n".to_owned(), text: text.clone() }];
            let back = read(&Letter { own: own.clone(), enclosed }.written(), Trigger::Asked);
            prop_assert_eq!(back.own.replace(MARK, ""), own);
            let [Enclosure::Text { text: found, .. }] = &back.enclosed[..] else {
                panic!("{back:?}")
            };
            prop_assert_eq!(found.replace(MARK, ""), text);
        }
    }
}
