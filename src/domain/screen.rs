//! Characters that steer a screen instead of showing.

/// Whether a character moves, colours, clears or turns what else is shown: control characters, and those that turn
/// the direction of text.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
