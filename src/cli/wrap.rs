//! Lines that fit a terminal, measured in its cells: broken at blanks where there are any, and never within what people
//! see as one character.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The widest character takes so many cells.
const WIDEST: usize = 2;

/// How many cells a text takes. It is counted as it is broken, one visible character after the other.
pub(super) fn cells(text: &str) -> usize {
    text.graphemes(true).map(|one| one.width()).sum()
}

/// Breaks a text into lines of at most so many cells; an empty text is one empty line.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = end_of(rest, width) {
        let (line, left) = broken(rest, end);
        lines.push(line);
        rest = left;
    }
    lines.push(rest);
    lines
}

/// Breaks each line of a text that is too long, and indents what it goes on with. Tabs become blanks.
pub(super) fn hanging(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        out.push_str(&hung(&bare.replace('\t', "    "), indent, width));
        out.push_str(&line[bare.len()..]);
    }
    out
}

/// Cuts a text that is too long, which its last character then says.
pub(super) fn cut(text: &str, width: usize) -> String {
    match (end_of(text, width), end_of(text, width.saturating_sub(1))) {
        (Some(_), Some(end)) => format!("{}…", text[..end].trim_end()),
        _ => text.to_owned(),
    }
}

/// One line. What it begins with stays: it may be an indent.
fn hung(line: &str, indent: usize, width: usize) -> String {
    let begins = line.len() - line.trim_start().len();
    let Some(end) = end_of(line, width).filter(|end| *end > begins) else {
        return line.to_owned();
    };
    let (first, rest) = broken(line, end);
    let more = begins + indent;
    let gap = format!("\n{}", " ".repeat(more));
    let rest = wrapped(rest, width.saturating_sub(more));
    [first].into_iter().chain(rest).collect::<Vec<_>>().join(&gap)
}

/// Where the first character begins that has no room any more; nothing if all fits. One character always fits.
fn end_of(text: &str, width: usize) -> Option<usize> {
    let mut taken = 0;
    for (at, one) in text.grapheme_indices(true) {
        taken += one.width();
        if taken > width.max(WIDEST) && at > 0 {
            return Some(at);
        }
    }
    None
}

/// Breaks at the last blank before an end, which goes; else at the end.
fn broken(text: &str, end: usize) -> (&str, &str) {
    // A blank may be the very character that has no room.
    let reach = if text[end..].starts_with(' ') { end + 1 } else { end };
    let blank = text[..reach].rfind(' ').filter(|at| !text[..*at].trim().is_empty());
    match blank {
        Some(at) => (text[..at].trim_end(), text[at..].trim_start_matches(' ')),
        None => (&text[..end], &text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrapped("to be or not to be", 9), ["to be or", "not to be"]);
        assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("four five", 4), ["four", "five"]);
    }

    #[test]
    fn cells_are_counted_and_no_character_is_torn() {
        assert_eq!((cells("日本語"), cells("é"), cells("e\u{301}")), (6, 1, 1));
        assert_eq!(wrapped("日本語の表", 5), ["日本", "語の", "表"]);
        let family = "👩\u{200d}👩\u{200d}👧";
        let (two, three) = (family.repeat(2), family.repeat(3));
        assert_eq!(wrapped(&three, 4), [two.as_str(), family]);
        assert_eq!(wrapped("日本", 1), ["日", "本"], "one always fits");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("all of it", 9), "all of it");
        assert_eq!(cut("all of it", 8), "all of…");
        assert_eq!(cut("日本語", 5), "日本…");
    }

    #[test]
    fn what_goes_on_is_indented_below_its_beginning() {
        assert_eq!(hanging("one two three\nx\n", 2, 8), "one two\n  three\nx\n");
        assert_eq!(hanging("  - one two three", 2, 10), "  - one\n    two\n    three");
        assert_eq!(hanging("    aaaaaaaaaa", 2, 10), "    aaaaaa\n      aaaa");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_runs_over(text in "[a-c 日é👩\u{200d}]{0,60}", width in 2_usize..30) {
            let lines = wrapped(&text, width);
            prop_assert!(lines.iter().all(|line| cells(line) <= width), "{lines:?}");
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
        }
    }
}
