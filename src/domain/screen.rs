//! Characters that do not show, or steer what else is shown: which they are, and how a screen gets them.

/// Writes by its number what does not show, and what moves, colours, clears or turns what else is shown:
/// `⟨U+200B⟩`. Line ends, tabs and wide spaces stay, and so do joiners inside of what they join.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if is_unseen(c) && !is_space(c) && !joins(before, c) => shown.push_str(&number(c)),
            _ => shown.push(c),
        }
        before = Some(c);
    }
    shown
}

/// Writes a character by its number.
pub fn number(c: char) -> String {
    format!("⟨U+{:04X}⟩", c as u32)
}

/// Whether a character moves, colours, clears or turns what else is shown: control characters, and those that turn
/// the direction of text.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character does not show: one that steers a screen, one of no width, a space that is not the usual one.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{a0}' | '\u{1680}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Spaces: French and Japanese are written with them.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether a character only joins or forms what stands before it: a picture of several, a letter of a script that is
/// written joined.
fn joins(before: Option<char>, c: char) -> bool {
    let Some(before) = before else { return false };
    let is_picture = |c: char| c > '\u{2010}' && !c.is_alphanumeric();
    match c {
        '\u{fe0f}' => {
            "0123456789#*©®".contains(before) || (is_picture(before) && !is_unseen(before))
        }
        '\u{200d}' if before == '\u{fe0f}' || is_picture(before) => {
            before == '\u{fe0f}' || !is_unseen(before)
        }
        '\u{200c}' | '\u{200d}' => is_written_joined(before),
        _ => false,
    }
}

/// Letters and marks from Arabic to Khmer.
fn is_written_joined(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{10ff}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17dd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_is_named() {
        for c in "\u{ad}\u{34f}\u{115f}\u{17b5}\u{180e}\u{200b}\u{2060}\u{3164}\u{feff}\u{fff9}\u{fffb}\u{e0041}\u{202e}\u{9b}"
            .chars()
        {
            assert_eq!(shown(&format!("a{c}b")), format!("a{}b", number(c)));
        }
        assert_eq!(shown("a\u{200d}b\u{fe0f}\u{2028}"), "a⟨U+200D⟩b⟨U+FE0F⟩⟨U+2028⟩");
        assert_eq!(shown("\u{200b}\u{200d}"), "⟨U+200B⟩⟨U+200D⟩");
    }

    #[test]
    fn what_shows_stays() {
        for text in [
            "a\tb\nпривет 👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} שלום",
            "می\u{200c}خواهم क्\u{200d}ष",
            "10\u{202f}€, 東京\u{3000}駅, a\u{a0}b",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
