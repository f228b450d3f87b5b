//! How alike two texts are, by their words.

use std::collections::BTreeSet;

use crate::todo::{Reference, plain, references};

/// Marks that say nothing of what is meant.
const MARKS: [char; 18] = [
    '.', ',', ';', ':', '!', '?', '\'', '"', '(', ')', '[', ']', '、', '。', '，', '！', '？', '…',
];
/// Marks at the end that make no other item.
const ENDS: [char; 3] = ['.', '!', '?'];

/// The words of a content, folded; somebody who is named with an id counts by their name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// To the letter, but for case, white space and the marks at its end; people by their ids.
    said: String,
    /// The ids it names.
    ids: BTreeSet<String>,
    /// The signs that are neither words nor marks: `C` is not `C++`.
    signs: BTreeSet<char>,
    all: BTreeSet<String>,
    /// In their order, with one space between them.
    line: String,
}

impl Words {
    pub fn of(content: &str) -> Self {
        let folded = plain(content).to_lowercase();
        let words: Vec<&str> =
            folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_sign = |c: &char| !c.is_alphanumeric() && !c.is_whitespace() && !MARKS.contains(c);
        Self {
            said: said(content),
            ids: references(content).iter().map(|named| named.id.to_owned()).collect(),
            signs: folded.chars().filter(is_sign).collect(),
            all: words.iter().map(|word| (*word).to_owned()).collect(),
            line: words.join(" "),
        }
    }

    /// Whether they say the same, to the letter.
    pub fn is_same(&self, other: &Self) -> bool {
        self.said == other.said
    }

    /// Whether there are signs alone.
    pub fn are_signs(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether these name somebody by an id, and the others somebody else.
    pub fn name_another_than(&self, other: &Self) -> bool {
        !other.ids.is_empty() && !self.ids.is_subset(&other.ids)
    }

    /// Whether all of `few` stand here, and are enough to tell one thing from another.
    pub fn hold(&self, few: &Self) -> bool {
        let by_signs_alone = self.line == few.line && self.signs != few.signs;
        if by_signs_alone || !few.signs.is_subset(&self.signs) || few.name_another_than(self) {
            return false;
        }
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

/// Folds a content: case and white space do not count, nor do the marks at its end unless there is nothing else.
fn said(content: &str) -> String {
    let mut said = String::new();
    let mut rest = content;
    for Reference { name, id } in references(content) {
        if let Some((before, after)) = rest.split_once(&format!("[{name}]({id})")) {
            said.push_str(&before.to_lowercase());
            said.extend(["[](", id, ")"]);
            rest = after;
        }
    }
    said.push_str(&rest.to_lowercase());
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.trim_end_matches(ENDS).trim_end() {
        "" => line,
        bare => bare.to_owned(),
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
    fn what_is_the_same_but_for_signs_or_ids_is_not_the_same() {
        for (one, other) in [
            ("learn C", "learn C++"),
            ("set 5 degrees", "set -5 degrees"),
            ("🍎", "🍌"),
            ("!!!", "???"),
            ("pay $50", "pay €50"),
            ("call [Grace](tg:9)", "call [Grace](tg:99)"),
            ("call [Grace](tg:9)", "call [Grace](tg:G)"),
        ] {
            let (one, other) = (Words::of(one), Words::of(other));
            assert!(!one.is_same(&other) && one.is_same(&one), "{one:?}");
            assert!(!one.hold(&other) && !other.hold(&one), "{one:?}");
        }
        assert!(Words::of("Buy  MILK!").is_same(&Words::of("buy milk.")));
        assert!(Words::of("Ask [Mei](b:1)?").is_same(&Words::of("ask [Mei Lin](b:1)")));
        assert!(!Words::of("buy 🍌").hold(&Words::of("buy 🍎")));
    }

    #[test]
    fn words_are_compared_without_case_ids_and_marks() {
        let milk = Words::of("Ask [Mei Lin](bird:@mei) for the milk!");
        assert!(milk.hold(&Words::of("ask mei lin for the MILK")));
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
