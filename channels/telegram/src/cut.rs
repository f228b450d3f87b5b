//! Cuts styled text into messages, at the best border within Telegram's limit.

use selkie_channel_core::has_no_width;
use selkie_channel_core::styled::StyledText;

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
pub fn pieces(styled: &StyledText, first: usize, limit: usize) -> Vec<Piece> {
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
    has_no_width(c) || c == '\u{2800}'
}

#[cfg(test)]
mod tests;
