//! Cuts styled text into messages, at the best border within Telegram's limit.

use selkie_channel_core::styled::Styled;

use crate::html::html;

/// One message's worth of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Telegram's HTML.
    pub html: String,
    /// The same as plain text; never longer than the limit either.
    pub plain: String,
}

/// Cuts into pieces of at most `limit` UTF-16 units of visible text; the first of at most `first`.
/// Empty for text that shows nothing.
pub fn pieces(styled: &Styled, first: usize, limit: usize) -> Vec<Piece> {
    let text = styled.text();
    let mut pieces = Vec::new();
    let mut at = styled.skip_blank(0);
    while at < text.len() {
        let most = if pieces.is_empty() { first } else { limit };
        let end = styled.border(at, most);
        let plain = text[at..end].trim_end();
        if shows(plain) {
            pieces
                .push(Piece { html: html(styled, at..at + plain.len()), plain: plain.to_owned() });
        }
        at = styled.skip_blank(end);
    }
    pieces
}

/// Whether a person would see anything: Telegram refuses messages of blanks and invisible characters.
pub fn shows(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !c.is_control() && !invisible(c))
}

fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
