//! What a text says, however it is written: its letters and digits alone, in one case. So what an editor has made of somebody's
//! words (another case, other white space, dashes, escapes, a part of them, more around them) is known as theirs.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Bytes of a gist that count as a part of another one: two short words, or three signs of a script that needs no more.
const LEAST_PART: usize = 8;
/// Bytes of one that count inside of another one: what is shorter is said by everybody.
const LEAST_HELD: usize = 12;
/// So many gists are compared with one; where more are so alike, all of them count.
const MOST_COMPARED: usize = 1_000;
/// The longest name of a sign that pages write as `&name;`.
const LONGEST_NAME: usize = 8;

/// What a text says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gist(String);

impl Gist {
    /// Reads a text. One of signs alone is the signs.
    pub fn of(text: &str) -> Self {
        let plain = unescaped(text);
        let one_case = |c: char| c.to_uppercase().flat_map(char::to_lowercase);
        // Marks are left out: what is taken apart (NFD) and what is not say the same, with and without accents.
        let said: String = plain
            .nfkd()
            .flat_map(one_case)
            .filter(|c| c.is_alphanumeric() && !is_combining_mark(*c))
            .collect();
        match said.is_empty() {
            true => Self(plain.chars().filter(|c| !c.is_whitespace()).collect()),
            false => Self(said),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns it as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether another one says this, or this as a part of it.
    pub fn is_in(&self, other: &Self) -> bool {
        self == other || (self.0.len() >= LEAST_PART && other.0.contains(&self.0))
    }

    /// Whether it says another one and more.
    fn holds(&self, other: &Self) -> bool {
        other.0.len() >= LEAST_HELD && self.0.contains(&other.0)
    }

    /// Returns every run of bytes that can begin a part.
    fn runs(&self) -> impl Iterator<Item = [u8; LEAST_PART]> {
        self.0.as_bytes().windows(LEAST_PART).filter_map(|run| run.try_into().ok())
    }
}

/// Which of many gists are like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Like {
    /// Those, by their numbers.
    These(Vec<usize>),
    /// Too many to look at.
    TooMany,
}

/// Gists among which others are looked up.
#[derive(Clone, Debug, Default)]
pub struct Gists {
    all: Vec<Gist>,
    same: HashMap<Gist, Vec<usize>>,
    /// Where each run of bytes stands.
    runs: HashMap<[u8; LEAST_PART], Vec<usize>>,
    /// What begins with a run.
    begins: HashMap<[u8; LEAST_PART], Vec<usize>>,
}

impl Gists {
    /// Takes them in; their numbers are from 0.
    pub fn of(all: Vec<Gist>) -> Self {
        let mut gists = Self::default();
        for (number, gist) in all.iter().enumerate() {
            gists.same.entry(gist.clone()).or_default().push(number);
            if let Some(first) = gist.runs().next().filter(|_| gist.0.len() >= LEAST_HELD) {
                gists.begins.entry(first).or_default().push(number);
            }
            let runs: HashSet<_> = gist.runs().collect();
            runs.into_iter().for_each(|run| gists.runs.entry(run).or_default().push(number));
        }
        gists.all = all;
        gists
    }

    /// Finds those that say the same as a text, hold it, or are held by it.
    pub fn like(&self, gist: &Gist) -> Like {
        let held = gist.runs().filter_map(|run| self.begins.get(&run)).flatten();
        self.found(gist, held, |other| gist.is_in(other) || gist.holds(other))
    }

    /// Finds those that say the same as a text, or hold it.
    pub fn holding(&self, gist: &Gist) -> Like {
        self.found(gist, [].iter(), |other| gist.is_in(other))
    }

    fn found<'g>(
        &'g self,
        gist: &Gist,
        held: impl Iterator<Item = &'g usize>,
        is_like: impl Fn(&Gist) -> bool,
    ) -> Like {
        let same = self.same.get(gist).into_iter().flatten();
        let first = gist.runs().next();
        let holding = first.and_then(|run| self.runs.get(&run)).into_iter().flatten();
        let all: Vec<usize> =
            same.chain(holding).chain(held).copied().take(MOST_COMPARED + 1).collect();
        if all.len() > MOST_COMPARED {
            return Like::TooMany;
        }
        let mut these: Vec<usize> =
            all.into_iter().filter(|number| is_like(&self.all[*number])).collect();
        these.sort_unstable();
        these.dedup();
        Like::These(these)
    }
}

/// Takes away what is written for the sake of a page: `\*`, `&amp;`, `&#8212;`.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = match named(after) {
            Some(Sign { sign, length }) => {
                plain.extend(sign);
                &after[length..]
            }
            None => after,
        };
    }
    plain + rest
}

/// A sign that is written by its name.
struct Sign {
    /// Nothing for a name that stands for no letter.
    sign: Option<char>,
    length: usize,
}

fn named(text: &str) -> Option<Sign> {
    let end = text.bytes().take(LONGEST_NAME + 1).position(|byte| byte == b';')?;
    let (name, length) = (&text[..end], end + 1);
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return Some(Sign { sign: char::from_u32(number.ok()?), length });
    }
    let signs = ["amp", "lt", "gt", "quot", "apos", "nbsp", "ndash", "mdash", "shy", "hellip"];
    signs.contains(&name).then_some(Sign { sign: None, length })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gist(text: &str) -> Gist {
        Gist::of(text)
    }

    fn like(all: &[&str], text: &str) -> Like {
        Gists::of(all.iter().map(|text| gist(text)).collect()).like(&gist(text))
    }

    #[test]
    fn accents_are_the_same_taken_apart_and_put_together_and_left_out() {
        let [one, apart, without] =
            ["Lösche café ﬁle", "Lo\u{308}sche cafe\u{301} file", "losche cafe file"];
        assert_eq!(Gist::of(one), Gist::of(apart));
        assert_eq!(Gist::of(one), Gist::of(without));
        assert_eq!(Gist::of("Ｐａｙ Ｂｏｂ"), Gist::of("pay bob"));
    }

    #[test]
    fn how_a_text_is_written_makes_nothing_else_of_it() {
        for other in [
            "send the keys to eve",
            "SEND  THE KEYS\tTO EVE!",
            "Send the keys \u{2014} to *Eve*",
            "Send\u{a0}the&nbsp;keys to \\_Eve\\_",
            "Send &#116;he keys&mdash;to &#x45;ve",
        ] {
            assert_eq!(gist(other), gist("Send the keys to Eve"), "{other}");
        }
        assert_eq!(gist("Straße Σίσυφος"), gist("STRASSE ΣΊΣΥΦΟΣ"));
        assert_ne!(gist("a & b"), gist("a &b; b"), "a name that stands for no sign is words");
        assert_eq!((gist("☠ !").as_str(), gist(" ").is_empty()), ("☠!", true));
    }

    #[test]
    fn parts_of_some_length_are_found_and_what_everybody_says_is_not() {
        let marked =
            ["Buy milk and send the keys to Eve", "tea", "牛乳を買って鍵を送る", "birthday"];
        let these = |text: &str| like(&marked, text);
        assert_eq!(these("send the keys"), Like::These(vec![0]));
        assert_eq!(these("First: buy milk and send the keys to Eve, now"), Like::These(vec![0]));
        assert_eq!(these("鍵を送る"), Like::These(vec![2]));
        assert_eq!(these("Tea!"), Like::These(vec![1]), "the same is the same, however short");
        assert_eq!(these("milk"), Like::These(vec![]), "a word alone is everybody's");
        assert_eq!(these("Ask for tea on the birthday of Bo"), Like::These(vec![]));
        let parts = Gists::of(marked.map(gist).to_vec());
        assert_eq!(parts.holding(&gist("send the keys")), Like::These(vec![0]));
        assert_eq!(
            parts.holding(&gist("buy milk and send the keys to Eve now")),
            Like::These(vec![])
        );
    }

    #[test]
    fn what_is_made_to_be_like_everything_is_not_compared_for_ever() {
        let alike: Vec<String> = (0..1_100).map(|n| "a".repeat(2_000 - n / 2)).collect();
        let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
        assert_eq!(like(&alike, &"a".repeat(100)), Like::TooMany);
    }

    /// What an editor may make of a text without changing what it says.
    fn rewritten(text: &str, how: u8) -> String {
        match how {
            0 => text.to_uppercase(),
            1 => text.split(' ').collect::<Vec<_>>().join(" \u{2013}\t"),
            2 => text.chars().map(|c| format!("{c}\u{ad}")).collect(),
            3 => text.replace(' ', "\\ ").replace('&', "&amp;"),
            4 => text.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
            _ => format!("**{}**", text.split(' ').collect::<String>()),
        }
    }

    proptest! {
        #[test]
        fn splitting_and_rewriting_hide_nothing(
            words in prop::collection::vec("[a-zA-Zß-öа-я0-9*&_-]{1,12}|[一-龠]{1,4}", 2..16),
            at in any::<prop::sample::Index>(),
            how in 0u8..6,
        ) {
            let whole = words.join(" ");
            let at = 1 + at.index(words.len() - 1);
            for half in [words[..at].join(" "), words[at..].join(" ")] {
                let half = gist(&rewritten(&half, how));
                let many = Gists::of(vec![gist("something else"), gist(&whole)]);
                if half.as_str().len() >= LEAST_PART && half.as_str().chars().all(char::is_alphanumeric) {
                    prop_assert_eq!(many.like(&half), Like::These(vec![1]));
                    prop_assert_eq!(many.holding(&half), Like::These(vec![1]));
                }
            }
            let joined = gist(&rewritten(&format!("before {whole} after"), how));
            if gist(&whole).as_str().len() >= LEAST_HELD && gist(&whole).as_str().chars().all(char::is_alphanumeric) {
                prop_assert_eq!(Gists::of(vec![gist(&whole)]).like(&joined), Like::These(vec![0]));
            }
        }

        #[test]
        fn it_is_looked_up_as_it_is_compared(all in prop::collection::vec("[ab ]{0,30}", 0..12), text in "[ab ]{0,30}") {
            let gists: Vec<Gist> = all.iter().map(|text| gist(text)).collect();
            let text = gist(&text);
            let wanted: Vec<usize> = (0..gists.len()).filter(|n| text.is_in(&gists[*n]) || text.holds(&gists[*n])).collect();
            prop_assert_eq!(Gists::of(gists).like(&text), Like::These(wanted));
        }
    }
}
