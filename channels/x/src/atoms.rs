//! Cuts text into what X counts as one: a link, an emoji, a character.

use std::ops::Range;

use crate::emoji;
use crate::links::Links;

/// What a link counts, however long it is.
const LINK: u32 = 23;
/// What an emoji counts, however many characters it is made of.
const EMOJI: u32 = 2;
/// Characters that count one; every other counts two. From the platform's document on counting, version 3.
const LIGHT: [(u32, u32); 4] = [(0, 4351), (8192, 8205), (8208, 8223), (8242, 8247)];

/// One thing that X counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Where it ends, in bytes.
    pub end: usize,
    /// What it counts.
    pub weight: u32,
    /// It is a link.
    pub is_link: bool,
}

/// Cuts text, which should be in normal form C.
pub fn atoms(text: &str) -> impl Iterator<Item = Atom> + '_ {
    let mut links = Links::of(text);
    let mut next: Option<Range<usize>> = None;
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        next = next.take().or_else(|| links.until(at));
        if let Some(link) = next.take_if(|link| link.start == at) {
            at = link.end;
            return Some(Atom { end: at, weight: LINK, is_link: true });
        }
        let (length, weight) = match emoji::length(rest) {
            Some(length) => (length, EMOJI),
            None => (first.len_utf8(), light(first)),
        };
        at += length;
        Some(Atom { end: at, weight, is_link: false })
    })
}

fn light(c: char) -> u32 {
    let c = u32::from(c);
    if LIGHT.iter().any(|(from, to)| (*from..=*to).contains(&c)) { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_one_atom_and_a_joiner_that_joins_nothing_is_its_own() {
        assert_eq!(atoms("😀😀").count(), 2);
        assert_eq!(atoms("😀\u{200D}x").count(), 3);
        assert_eq!(atoms("12#").map(|a| a.weight).collect::<Vec<_>>(), [1, 1, 1]);
        let family = "👨\u{200D}👩\u{200D}👧";
        let all: Vec<_> = atoms(family).collect();
        assert_eq!(all, [Atom { end: family.len(), weight: 2, is_link: false }]);
    }
}
