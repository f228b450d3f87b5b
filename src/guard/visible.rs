//! Text as it is, for a person who is to judge it: what does not show, or shows something else, is named.

/// Writes control characters, characters of no width, and those that turn the direction of text by their
/// numbers: `⟨U+202E⟩`. Line ends stay; a tab becomes `⟨TAB⟩` only where it could hide something.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\t' => shown.push(c),
            // The end of a line as other systems write it.
            '\r' if text[at + 1..].starts_with('\n') => {}
            _ if is_unseen(c) => shown.push_str(&format!("⟨U+{:04X}⟩", c as u32)),
            _ => shown.push(c),
        }
    }
    shown
}

/// Puts text into a code block that nothing in it can end.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{a0}' | '\u{1680}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
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
