//! Characters that nobody sees.

/// Whether a character takes no room on a screen and changes no other one's look so that it would be noticed.
pub fn has_no_width(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character shows nothing at all: it has no width, or only steers whatever shows the text.
pub(crate) fn shows_nothing(c: char) -> bool {
    has_no_width(c) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
