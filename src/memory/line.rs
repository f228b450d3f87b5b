//! A line that is to be remembered: what of a text is kept, when it is one too many, and whether it stands there already.

use chrono::{DateTime, TimeDelta, Utc};

use super::mark::{Mark, without_marks};
use super::page::{Entry, Page};
use selkie_domain::screen::is_unseen;

/// The most characters of one line.
pub const MAX_LINE: usize = 500;
/// The most bytes of a file that the bot writes into.
pub const MAX_BYTES: usize = 256 * 1024;
/// The most lines that one conversation's memory takes in an hour.
pub const MAX_AN_HOUR: usize = 30;
/// The heading of what names none.
const USUAL: &str = "Notes";
/// The most characters of a heading.
const MAX_HEADING: usize = 60;

/// A line, ready to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is remembered.
    pub text: String,
    /// The heading, with its signs.
    pub heading: String,
}

impl Line {
    /// Makes a line of what somebody wrote.
    ///
    /// # Errors
    /// In words: it is empty or too long.
    pub fn of(text: &str, section: Option<&str>) -> Result<Self, String> {
        let text = plain(text);
        let text = text.trim_start_matches(['-', '*', '+', '#', ' ']);
        let long = text.chars().count();
        if text.is_empty() {
            return Err("text is required".to_owned());
        }
        let most = MAX_LINE;
        if long > most {
            return Err(format!(
                "text has {long} characters and takes {most}: say it in fewer words, or in several lines"
            ));
        }
        let section = plain(section.unwrap_or_default());
        let section = section.trim_start_matches(['#', ' ']);
        let section = if section.is_empty() { USUAL } else { section };
        let long = section.chars().count();
        if long > MAX_HEADING {
            return Err(format!("section has {long} characters and takes {MAX_HEADING}"));
        }
        Ok(Self { text: text.to_owned(), heading: format!("## {section}") })
    }

    /// Writes it with its mark.
    pub fn written(&self, mark: &Mark) -> String {
        format!("- {} {mark}", self.text)
    }

    /// Finds the entry that says the same.
    pub fn same<'p>(&self, page: &'p Page) -> Option<&'p Entry> {
        let said = folded(&self.text);
        page.entries().iter().find(|entry| folded(&entry.text) == said)
    }
}

/// How many lines a page has taken in the last hour.
pub fn lately(page: &Page, now: DateTime<Utc>) -> usize {
    let since = now - TimeDelta::hours(1);
    let marks = page.entries().iter().filter_map(|entry| entry.whose.mark.as_ref());
    marks.filter(|mark| mark.at > since && mark.at <= now).count()
}

/// In one line, without what does not show and without what could be taken for a mark.
fn plain(text: &str) -> String {
    let seen = |c: &char| !is_unseen(*c) || matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}');
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let line: String = spaced.chars().filter(seen).collect();
    without_marks(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Case, white space and the marks at its end make nothing else of it.
fn folded(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', '?']).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_channel_core::PersonId;

    use super::*;
    use selkie_domain::facts::Trust;
    use selkie_domain::taint::Taint;

    fn mark(at: i64) -> Mark {
        Mark {
            author: PersonId::new("tg:1"),
            trust: Trust::Owner,
            level: Taint::Clean,
            at: DateTime::from_timestamp(at, 0).unwrap(),
        }
    }

    #[test]
    fn a_text_becomes_one_plain_line() {
        let line = Line::of("- I like\n\u{202e}tea <!-- x --> ", Some("# Food \u{200b}")).unwrap();
        assert_eq!(
            (line.text.as_str(), line.heading.as_str()),
            ("I like tea <! -- x -- >", "## Food")
        );
        assert_eq!(Line::of("tea", Some(" ")).unwrap().heading, "## Notes");
        for (text, section, why) in [
            (" \n-", None, "text is required"),
            (&*"é".repeat(501), None, "text has 501 characters and takes 500"),
            ("a", Some("x".repeat(61)), "section has 61 characters and takes 60"),
        ] {
            assert!(Line::of(text, section.as_deref()).unwrap_err().contains(why), "{why}");
        }
    }

    #[test]
    fn what_says_the_same_is_found_and_lately_counts_an_hour() {
        let source = format!("- I like  TEA. {}\n- by hand\n- x {}", mark(10_000), mark(6_000));
        let page = Page::read(&source, Taint::Clean);
        let same = |text: &str| Line::of(text, None).unwrap().same(&page).is_some();
        assert!(same("i like tea!") && same("by hand") && !same("I like teas"));
        let at = |seconds| lately(&page, DateTime::from_timestamp(seconds, 0).unwrap());
        assert_eq!([at(10_001), at(9_599), at(9_600), at(13_600), at(5_000)], [1, 1, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn a_written_line_is_one_entry_of_its_author(text in "\\PC{0,80}", section in "\\PC{0,20}") {
            let Ok(line) = Line::of(&text, Some(&section)) else { return Ok(()) };
            let source = format!("{}\n\n{}\n", line.heading, line.written(&mark(1)));
            let page = Page::read(&source, Taint::Clean);
            prop_assert_eq!(page.entries().len(), 1, "{}", source);
            let entry = &page.entries()[0];
            prop_assert_eq!(&entry.text, &line.text);
            prop_assert_eq!(entry.whose.mark.clone(), Some(mark(1)));
            prop_assert_eq!(format!("## {}", entry.section), line.heading.clone());
            prop_assert!(line.same(&page).is_some());
        }
    }
}
