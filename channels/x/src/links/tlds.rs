//! The endings of hosts that X knows.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Countries' and others', in Latin letters and in all others.
const NAMES: &str = include_str!("tlds.txt");
/// The longest one, in bytes.
const MAX_LENGTH: usize = 64;

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());

/// Returns the length of the ending at the beginning of a text, behind which no word goes on.
pub fn ending(text: &str) -> Option<usize> {
    let known = |length: &usize| {
        let name = &text[..*length];
        KNOWN.contains(name) || KNOWN.contains(&*name.to_lowercase())
    };
    let near = text.char_indices().map_while(|(at, c)| {
        let inside = at < MAX_LENGTH && !c.is_whitespace() && !c.is_ascii_punctuation();
        inside.then_some(at + c.len_utf8())
    });
    // Some scripts write no blanks: the longest one that stands there.
    near.filter(|end| ends(&text[*end..]) && known(end)).last().or_else(|| coded(text))
}

/// No word, mail address or name goes on here.
fn ends(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "@+-".contains(c))
}

/// One that is written in DNS's letters.
fn coded(text: &str) -> Option<usize> {
    let begins = text.get(..4).is_some_and(|x| x.eq_ignore_ascii_case("xn--"));
    let rest = text.get(4..).filter(|_| begins)?;
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    (length > 0).then_some(4 + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;

    #[test]
    fn every_ending_makes_a_link() {
        assert_eq!(KNOWN.len(), 1574, "endings that X's public tables name");
        for name in KNOWN.iter() {
            assert!(name.len() <= MAX_LENGTH, "{name}");
            let text = format!("https://twitter.{name}");
            assert_eq!(Links::of(&text).next(), Some(0..text.len()), "{name}");
        }
    }

    #[test]
    fn an_ending_is_a_whole_word() {
        for none in ["comm", "com-x", "com@x", "co9", "xn--", "no-such"] {
            assert_eq!(ending(none), None, "{none}");
        }
        assert_eq!(ending("COM,"), Some(3));
        assert_eq!(ending("comだよね"), Some(3));
        assert_eq!(ending("中国語"), Some("中国".len()));
        assert_eq!(ending("xn--ls8h"), Some(8));
    }
}
