//! Text as it is, for a person who is to judge it: what does not show, or shows something else, is named.

use selkie_domain::screen::{is_unseen, number, shown};

/// Writes control characters, characters of no width, and those that turn the direction of text by their
/// numbers: `⟨U+202E⟩`. A letter that stands among Latin ones and only looks like one of them keeps its place
/// and has its number behind it. Line ends and tabs stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut mixed = false;
    let mut word_ends = 0;
    for (at, c) in text.char_indices() {
        if at >= word_ends && c.is_alphabetic() {
            let rest = &text[at..];
            let word = &rest[..rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())];
            word_ends = at + word.len();
            mixed = word.chars().any(is_latin);
        }
        match c {
            '\n' | '\t' => shown.push(c),
            // The end of a line as other systems write it.
            '\r' if text[at + 1..].starts_with('\n') => {}
            _ if is_unseen(c) => shown.push_str(&number(c)),
            _ if (at < word_ends && mixed && looks_latin(c)) || poses(text, at, c) => {
                shown.push(c);
                shown.push_str(&number(c));
            }
            _ => shown.push(c),
        }
    }
    shown
}

/// The same for text that somebody else may have written and that nobody is to judge: spaces of other widths stay, too,
/// and what joins the parts of a picture or of a word.
pub fn harmless(text: &str) -> String {
    shown(text)
}

/// Puts on one line what is one thing: a path, a name, a value. What would begin another line is written by
/// its number.
pub fn one_line(text: &str) -> String {
    let ends = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if ends(c) { number(c) } else { c.to_string() }).collect()
}

/// Puts one line of text into a code span of CommonMark that nothing in it can end.
pub fn code(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

/// Puts text into a code block that nothing in it can end.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Letters of scripts that share shapes with Latin: Greek, Cyrillic, Armenian, Cherokee, Lisu, and Latin as it
/// is written for other purposes.
fn looks_latin(c: char) -> bool {
    matches!(c,
        '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}'
        | '\u{1d00}'..='\u{1dbf}' | '\u{1f00}'..='\u{1fff}' | '\u{2100}'..='\u{218f}'
        | '\u{2c80}'..='\u{2cff}' | '\u{2de0}'..='\u{2dff}' | '\u{a4d0}'..='\u{a4ff}'
        | '\u{a640}'..='\u{a69f}' | '\u{ab70}'..='\u{abbf}' | '\u{ff21}'..='\u{ff5a}'
        | '\u{1d400}'..='\u{1d7ff}')
}

/// Whether a sign begins a word as the hyphen of an option does, and is none: a minus, a dash.
fn poses(text: &str, at: usize, c: char) -> bool {
    let is_dash =
        matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}');
    let before = text[..at].chars().next_back();
    let after = text[at + c.len_utf8()..].chars().next();
    let begins = before.is_none_or(|c| c.is_whitespace() || "\"'=".contains(c));
    is_dash
        && begins
        && after.is_some_and(|c| c.is_ascii_alphabetic() || c == '-' || c == '\u{2212}')
        || c == '\u{2212}'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_show_is_named() {
        assert_eq!(visible("rm a\u{202e}txt\n\tb"), "rm a⟨U+202E⟩txt\n\tb");
        assert_eq!(
            visible("a\u{200b}b\u{a0}c\u{feff}\u{1b}[8m\rx"),
            "a⟨U+200B⟩b⟨U+00A0⟩c⟨U+FEFF⟩⟨U+001B⟩[8m⟨U+000D⟩x"
        );
        assert_eq!(visible("a\r\nb ö 日本"), "a\nb ö 日本");
    }

    #[test]
    fn what_steers_a_screen_or_hides_is_named_and_nothing_else() {
        let hostile = "\u{1b}]0;pwn\u{7}\u{1b}[2J\0\u{202e}txt\u{9b}31m a\u{200b}b";
        let shown = "⟨U+001B⟩]0;pwn⟨U+0007⟩⟨U+001B⟩[2J⟨U+0000⟩⟨U+202E⟩txt⟨U+009B⟩31m a⟨U+200B⟩b";
        assert_eq!(harmless(hostile), shown);
        let plain = "a\tb\nпривет 👩\u{200d}🔬 שלום";
        assert_eq!(harmless(plain), plain);
    }

    #[test]
    fn a_letter_that_poses_as_a_latin_one_has_its_number() {
        assert_eq!(visible("notes/pаss.txt"), "notes/pа⟨U+0430⟩ss.txt");
        assert_eq!(visible("cat ρaper Ａb"), "cat ρ⟨U+03C1⟩aper Ａ⟨U+FF21⟩b");
        assert_eq!(visible("Привет, файл.txt naïve Tシャツ"), "Привет, файл.txt naïve Tシャツ");
        let once = visible("bаtаb\u{200b}");
        assert_eq!(once, "bа⟨U+0430⟩tа⟨U+0430⟩b⟨U+200B⟩");
    }

    #[test]
    fn a_dash_that_poses_as_an_options_hyphen_has_its_number() {
        assert_eq!(visible("ls \u{2212}rf"), "ls \u{2212}⟨U+2212⟩rf");
        assert_eq!(visible("rm \u{2013}f"), "rm \u{2013}⟨U+2013⟩f");
        assert_eq!(visible("pages 3–5 – and more"), "pages 3–5 – and more");
    }

    #[test]
    fn one_thing_stays_on_one_line() {
        assert_eq!(
            one_line("todo.md:\n- buy\tmilk\r\u{2028}\u{85}ö"),
            "todo.md:⟨U+000A⟩- buy⟨U+0009⟩milk⟨U+000D⟩⟨U+2028⟩⟨U+0085⟩ö"
        );
    }

    #[test]
    fn nothing_ends_its_code_block() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("a\n```\nb\n"), "````\na\n```\nb\n````");
    }

    proptest! {
        #[test]
        fn it_is_shown_in_a_block_of_its_own(text in "[`a\n\u{202e}]{0,30}") {
            let shown = fenced(&visible(&text));
            let fence: String = shown.chars().take_while(|c| *c == '`').collect();
            let inner = shown.strip_prefix(&fence).unwrap().strip_suffix(&fence).unwrap();
            let turned = shown.contains('\u{202e}');
            prop_assert!(!inner.contains(&fence) && !turned);
        }
    }
}
