//! What putting an earlier version of a file back has changed, line by line.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use selkie_channel_core::shorten;

use super::files::Version;

/// So many lines are told.
const MAX: usize = 10;
/// Characters of a line that are told.
const MAX_LENGTH: usize = 200;

/// An earlier version that is back in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredVersion {
    /// The version.
    pub version: Version,
    /// Lines that are gone now, the first of them.
    pub gone: Vec<String>,
    /// Lines that are back, the first of them.
    pub back: Vec<String>,
    /// So many more lines are gone or back.
    pub more: usize,
}

/// A file before and after.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) stood: &'a str,
    pub(super) stands: &'a str,
}

impl RestoredVersion {
    pub(super) fn of(version: Version, texts: Texts<'_>) -> Self {
        let Texts { stood, stands } = texts;
        let gone = only_in(stood, stands);
        let back = only_in(stands, stood);
        let all = gone.len() + back.len();
        // Half for each, and what one leaves the other takes.
        let most_gone = (MAX - MAX / 2).max(MAX.saturating_sub(back.len()));
        let cut = |line| shorten(line, MAX_LENGTH);
        let gone: Vec<String> = gone.into_iter().take(most_gone).map(cut).collect();
        let back: Vec<String> = back.into_iter().take(MAX - gone.len()).map(cut).collect();
        let more = all - gone.len() - back.len();
        Self { version, gone, back, more }
    }
}

/// Lists the lines of one text that the other does not have, or not as often: a line that has only moved is none.
fn only_in<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    let mut there: HashMap<&str, usize> = HashMap::new();
    for line in lines(other) {
        *there.entry(line).or_default() += 1;
    }
    let is_missing = |line: &&str| match there.get_mut(*line) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    lines(text).filter(is_missing).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(stood: &str, stands: &str) -> RestoredVersion {
        let version = Version { name: "1".to_owned(), bytes: 1, at: None };
        RestoredVersion::of(version, Texts { stood, stands })
    }

    #[test]
    fn what_is_gone_and_what_is_back_is_told_and_not_what_has_moved() {
        let RestoredVersion { gone, back, more, .. } = undone("a\nb\n\nb\nc\r\n", "c\nb\na\nd\n");
        assert_eq!((gone, back, more), (vec!["b".to_owned()], vec!["d".to_owned()], 0));
        let RestoredVersion { gone, back, more, .. } = undone("same\n", "same\n");
        assert_eq!((gone.len(), back.len(), more), (0, 0, 0));
    }

    #[test]
    fn few_lines_are_told_and_none_is_long() {
        let many = |letter: &str| (0..30).map(|n| format!("{letter}{n}\n")).collect::<String>();
        let RestoredVersion { gone, back, more, .. } = undone(&many("a"), &many("b"));
        assert_eq!((gone.len(), back.len(), more), (5, 5, 50));
        let RestoredVersion { gone, back, more, .. } = undone(&many("a"), "b\n");
        assert_eq!((gone.len(), back.len(), more), (9, 1, 21));
        let RestoredVersion { back, .. } = undone("", &"é".repeat(500));
        assert_eq!(back[0].chars().count(), MAX_LENGTH + 1);
    }
}
