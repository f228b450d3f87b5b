//! Cuts a long text into the posts of a thread: at a paragraph, a sentence, a line or a word.

use unicode_segmentation::GraphemeCursor;

use crate::atoms::atoms;
use crate::weigh::{LIMIT, composed, weight};

/// Whether the posts of a thread tell their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadNumbering {
    /// They do not.
    Off,
    /// Each ends with ` 2/5`.
    On,
}

/// Cuts plain text into posts that X takes. Nothing is lost but white space at a cut and characters that X
/// refuses; empty for text that shows nothing. No link, name or visible character is cut.
pub fn posts(text: &str, numbering: ThreadNumbering) -> Vec<String> {
    let text = composed(text).replace(['\u{FFFE}', '\u{FEFF}', '\u{FFFF}'], "");
    let whole = text.trim();
    if weight(whole) <= LIMIT {
        return if whole.is_empty() { Vec::new() } else { vec![whole.to_owned()] };
    }
    match numbering {
        ThreadNumbering::Off => pieces(whole, LIMIT),
        ThreadNumbering::On => numbered(whole),
    }
}

/// Posts that end with ` 2/5`, with the room that their count's digits need.
fn numbered(text: &str) -> Vec<String> {
    let mut digits = 2;
    loop {
        let posts = pieces(text, LIMIT - 2 - 2 * digits);
        let all = posts.len();
        let taken = all.to_string().len() as u32;
        if taken <= digits {
            return posts
                .iter()
                .enumerate()
                .map(|(n, post)| format!("{post} {}/{all}", n + 1))
                .collect();
        }
        digits = taken;
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
    let most = ends.last().copied().unwrap_or(text.len());
    if most == text.len() {
        return most;
    }
    // Where nothing that belongs together ends, it has to be cut all the same.
    let whole: Vec<usize> = ends.iter().copied().filter(|end| is_free(text, *end)).collect();
    let ends = if whole.is_empty() { ends } else { whole };
    let most = ends.last().copied().unwrap_or(most);
    let good = good_cut(text, most);
    // Cut off from what came behind it, something may count as more: step back until it does not.
    let fits = |end: &&usize| **end <= good && weight(text[..**end].trim_end()) <= limit;
    ends.iter().rev().find(fits).copied().unwrap_or(most)
}

/// Whether a text may be cut here: not inside a visible character, a name or a tag.
fn is_free(text: &str, at: usize) -> bool {
    let whole = GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true);
    whole && !in_name(text, at)
}

/// Whether `@name`, `#tag` or `$tag` goes on here. What is longer than any of them is none.
fn in_name(text: &str, at: usize) -> bool {
    const MAX_LENGTH: usize = 200;
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let sign = |c: char| "@＠#＃$".contains(c);
    if !text[at..].starts_with(word) {
        return false;
    }
    let before = &text[..at];
    let stem = before.trim_end_matches(word);
    stem.ends_with(sign) && before.len() - stem.len() <= MAX_LENGTH
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
        assert_eq!(posts(" tea at five ", ThreadNumbering::On), ["tea at five"]);
        assert!(posts(" \n ", ThreadNumbering::Off).is_empty());
        assert_eq!(posts(&"a".repeat(280), ThreadNumbering::Off).len(), 1);
    }

    #[test]
    fn a_paragraph_is_a_better_cut_than_a_sentence_and_that_than_a_word() {
        let (a, b) = ("word ".repeat(40), "more ".repeat(40));
        let paragraphs = format!("{}. Yes.\n\n{b}", a.trim());
        assert_eq!(posts(&paragraphs, ThreadNumbering::Off)[0], format!("{}. Yes.", a.trim()));
        let sentences = format!("{}. {b}", a.trim());
        assert_eq!(posts(&sentences, ThreadNumbering::Off)[0], format!("{}.", a.trim()));
        let words = posts(&"word ".repeat(100), ThreadNumbering::Off);
        assert_eq!(words.iter().map(|p| p.len()).collect::<Vec<_>>(), [279, 219]);
    }

    #[test]
    fn a_link_is_never_cut_and_counts_as_one() {
        let link = format!("https://example.com/{}", "x".repeat(400));
        let text = format!("{} {link} {}", "word ".repeat(50).trim(), "word ".repeat(20).trim());
        let posts = posts(&text, ThreadNumbering::Off);
        assert_eq!(posts.len(), 2);
        assert!(posts.iter().any(|post| post.contains(&link)), "{posts:?}");
    }

    #[test]
    fn numbers_stand_at_the_end_and_fit() {
        let posts = posts(&"word ".repeat(120), ThreadNumbering::On);
        assert!(posts[0].ends_with(" 1/3") && posts[2].ends_with(" 3/3"), "{posts:?}");
    }

    #[test]
    fn what_belongs_together_is_never_cut() {
        let filler = |weighs: usize| "x".repeat(weighs);
        let flag = "🇩🇪🇫🇷";
        for (text, whole) in [
            (format!("{}@selkie_the_bot and more", filler(272)), "@selkie_the_bot"),
            (format!("{}#selkie_the_tag and more", filler(272)), "#selkie_the_tag"),
            (format!("{}e\u{301}\u{302}\u{303} and more", filler(278)), "\u{e9}\u{302}\u{303}"),
            (format!("{}{flag} and more", filler(277)), "🇩🇪"),
            (
                format!("{} and more", "あ".repeat(139) + "https://example.com/a_(b)?c=d#e"),
                "https://example.com/a_(b)?c=d#e",
            ),
            (format!("{}https://example.com/x", "あ".repeat(115 + 40)), "https://example.com/x"),
        ] {
            let posts = posts(&text, ThreadNumbering::Off);
            assert_eq!(posts.len(), 2, "{posts:?}");
            assert!(posts.iter().any(|post| post.contains(whole)), "{whole}: {posts:?}");
        }
        assert_eq!(
            posts(&format!("{}https://example.com/x", "あ".repeat(115)), ThreadNumbering::Off)
                .len(),
            1
        );
    }

    #[test]
    fn a_thread_of_many_posts_has_room_for_its_numbers() {
        let posts = posts(&"x".repeat(280 * 120), ThreadNumbering::On);
        assert!(posts.len() > 99 && posts.iter().all(|post| weight(post) <= LIMIT));
    }

    #[test]
    fn a_post_that_x_takes_is_one_post() {
        // Three names that X takes for links weigh 69, however they look.
        let text = format!("selkie.rs README.md crates.io {}", "x".repeat(274 - 30));
        assert_eq!(weight(&text), 69 + 3 + 244);
        assert!(posts(&text, ThreadNumbering::Off).iter().all(|post| weight(post) <= LIMIT));
        assert_eq!(posts("a\u{FEFF}b", ThreadNumbering::Off), ["ab"]);
    }

    proptest! {
        #[test]
        fn every_post_fits_and_nothing_visible_is_lost(
            text in "(\\PC|\n|[a-z]{1,9} |あ|😀|https://example.com/[a-z]{0,40} |a\\.example |[a-z]\\.[a-z]{2,9}|👨\u{200D}👩){0,120}",
            on in any::<bool>(),
        ) {
            let numbering = if on { ThreadNumbering::On } else { ThreadNumbering::Off };
            let all = posts(&text, numbering);
            for post in &all {
                prop_assert!(weight(post) <= LIMIT, "{} {post}", weight(post));
                prop_assert!(!post.trim().is_empty());
            }
            if numbering == ThreadNumbering::Off {
                let solid = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
                prop_assert_eq!(solid(&all.concat()), solid(&composed(&text).replace('\u{FEFF}', "")));
            }
        }
    }
}
