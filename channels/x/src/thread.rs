//! Cuts a long text into the posts of a thread: at a paragraph, a sentence, a line or a word.

use crate::atoms::atoms;
use crate::weigh::{LIMIT, composed, weight};

/// Room for ` 12/34` behind a post.
const NUMBER_ROOM: u32 = 6;

/// Whether the posts of a thread tell their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// They do not.
    Off,
    /// Each ends with ` 2/5`.
    On,
}

/// Cuts plain text into posts that X takes. Nothing is lost but white space at a cut; empty for text that
/// shows nothing.
pub fn posts(text: &str, numbering: Numbering) -> Vec<String> {
    let text = composed(text);
    let whole = text.trim();
    if weight(whole) <= LIMIT {
        return if whole.is_empty() { Vec::new() } else { vec![whole.to_owned()] };
    }
    match numbering {
        Numbering::Off => pieces(whole, LIMIT),
        Numbering::On => {
            let posts = pieces(whole, LIMIT - NUMBER_ROOM);
            let all = posts.len();
            posts.iter().enumerate().map(|(n, post)| format!("{post} {}/{all}", n + 1)).collect()
        }
    }
}

fn pieces(text: &str, limit: u32) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(cut(rest, limit));
        let piece = piece.trim_end();
        if !piece.is_empty() {
            pieces.push(piece.to_owned());
        }
        rest = tail.trim_start();
    }
    pieces
}

/// Returns where the first post ends, in bytes.
fn cut(text: &str, limit: u32) -> usize {
    // Ends of what is counted as one, as far as they fit.
    let mut ends = Vec::new();
    let mut sum = 0;
    for atom in atoms(text) {
        sum += atom.weight;
        if sum > limit {
            break;
        }
        ends.push(atom.end);
    }
    let Some(most) = ends.last().copied() else {
        // Only a link of an unknown ending can be longer than a post: it is cut like a word.
        return text.char_indices().map(|(at, _)| at).nth(limit as usize / 2).unwrap_or(text.len());
    };
    if most == text.len() {
        return most;
    }
    let good = good_cut(text, most);
    if weight(text[..good].trim_end()) <= limit {
        return good;
    }
    // Cut off from what came behind it, something counts as more: step back until it does not.
    let fits = |end: &&usize| **end <= good && weight(&text[..**end]) <= limit;
    ends.iter().rev().find(fits).copied().unwrap_or(most)
}

/// Returns the best place for a cut at or before `most`: in the second half a paragraph, a sentence or a
/// line, else the last word that fits.
fn good_cut(text: &str, most: usize) -> usize {
    let window = &text[..most];
    let late = |at: &usize| *at > most / 2;
    let paragraph = window.rfind("\n\n").filter(late);
    let spaced = |at: usize| text[at..].chars().next().is_none_or(char::is_whitespace);
    let sentence = || {
        let ends = window.char_indices().filter(|(_, c)| ".!?…。！？".contains(*c));
        let ends = ends.map(|(at, c)| (at + c.len_utf8(), "。！？".contains(c)));
        ends.filter(|(at, wide)| *wide || spaced(*at)).map(|(at, _)| at).rfind(late)
    };
    let line = || window.rfind('\n').filter(late);
    let word = || {
        if spaced(most) {
            return Some(most);
        }
        window.rfind(char::is_whitespace).filter(|at| *at > 0)
    };
    paragraph.or_else(sentence).or_else(line).or_else(word).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_post() {
        assert_eq!(posts(" tea at five ", Numbering::On), ["tea at five"]);
        assert!(posts(" \n ", Numbering::Off).is_empty());
        assert_eq!(posts(&"a".repeat(280), Numbering::Off).len(), 1);
    }

    #[test]
    fn a_paragraph_is_a_better_cut_than_a_sentence_and_that_than_a_word() {
        let (a, b) = ("word ".repeat(40), "more ".repeat(40));
        let paragraphs = format!("{}. Yes.\n\n{b}", a.trim());
        assert_eq!(posts(&paragraphs, Numbering::Off)[0], format!("{}. Yes.", a.trim()));
        let sentences = format!("{}. {b}", a.trim());
        assert_eq!(posts(&sentences, Numbering::Off)[0], format!("{}.", a.trim()));
        let words = posts(&"word ".repeat(100), Numbering::Off);
        assert_eq!(words.iter().map(|p| p.len()).collect::<Vec<_>>(), [279, 219]);
    }

    #[test]
    fn a_link_is_never_cut_and_counts_as_one() {
        let link = format!("https://example.com/{}", "x".repeat(400));
        let text = format!("{} {link} {}", "word ".repeat(50).trim(), "word ".repeat(20).trim());
        let posts = posts(&text, Numbering::Off);
        assert_eq!(posts.len(), 2);
        assert!(posts.iter().any(|post| post.contains(&link)), "{posts:?}");
    }

    #[test]
    fn numbers_stand_at_the_end_and_fit() {
        let posts = posts(&"word ".repeat(120), Numbering::On);
        assert!(posts[0].ends_with(" 1/3") && posts[2].ends_with(" 3/3"), "{posts:?}");
    }

    proptest! {
        #[test]
        fn every_post_fits_and_nothing_visible_is_lost(
            text in "(\\PC|\n|[a-z]{1,9} |あ|😀|https://example.com/[a-z]{0,40} |a\\.example |[a-z]\\.[a-z]{2,9}|👨\u{200D}👩){0,120}",
            on in any::<bool>(),
        ) {
            let numbering = if on { Numbering::On } else { Numbering::Off };
            let all = posts(&text, numbering);
            for post in &all {
                prop_assert!(weight(post) <= LIMIT, "{} {post}", weight(post));
                prop_assert!(!post.trim().is_empty());
            }
            if numbering == Numbering::Off {
                let solid = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
                prop_assert_eq!(solid(&all.concat()), solid(&composed(&text)));
            }
        }
    }
}
