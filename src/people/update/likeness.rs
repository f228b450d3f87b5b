//! How alike two texts are, by their words.

use std::collections::BTreeSet;

use crate::people::todo::plain;

/// The words of a content, folded; somebody who is named with an id counts by their name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    all: BTreeSet<String>,
    /// In their order, with one space between them.
    line: String,
}

impl Words {
    pub fn of(content: &str) -> Self {
        let folded = plain(content).to_lowercase();
        let words: Vec<&str> =
            folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        Self { all: words.iter().map(|word| (*word).to_owned()).collect(), line: words.join(" ") }
    }

    /// Whether they say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.line == other.line
    }

    /// Whether all of `few` stand here, and are enough to tell one thing from another.
    pub fn hold(&self, few: &Self) -> bool {
        // Writing without spaces is one long word.
        let inside = || !few.line.is_ascii() && self.line.contains(&few.line);
        few.tells() && (few.all.is_subset(&self.all) || inside())
    }

    /// Whether they may say the same in other words: most of the fewer words are common.
    pub fn is_near(&self, other: &Self) -> bool {
        let common = self.all.intersection(&other.all).filter(|word| is_telling(word)).count();
        let fewer =
            [self, other].map(|words| words.all.iter().filter(|word| is_telling(word)).count());
        let fewer = fewer.into_iter().min().unwrap_or_default();
        common > 0 && common * 5 >= fewer * 3
    }

    fn tells(&self) -> bool {
        self.all.iter().any(|word| is_telling(word))
    }
}

/// Short words stand everywhere; a sign of Japanese or Chinese is a word.
fn is_telling(word: &str) -> bool {
    word.chars().count() > 2 || !word.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_ids_and_marks() {
        let milk = Words::of("Ask [Mei Lin](bird:@mei) for the milk!");
        assert!(milk.is_same(&Words::of("ask mei lin for the MILK")));
        assert!(milk.hold(&Words::of("milk, Mei")) && !milk.hold(&Words::of("milk Bo")));
        assert!(
            milk.hold(&Words::of("for"))
                && !milk.hold(&Words::of("a"))
                && !milk.hold(&Words::of(""))
        );
        assert!(Words::of("牛乳を買う").hold(&Words::of("牛乳")));
        assert!(Words::of("Buy milk").is_near(&Words::of("buy some milk")));
        assert!(!Words::of("Buy milk").is_near(&Words::of("Buy bread for Mei")));
    }
}
