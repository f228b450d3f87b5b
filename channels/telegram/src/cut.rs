//! Cuts styled text into messages, at the best border within Telegram's limit.

use selkie_channel_core::split;

use crate::styled::Styled;

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
    let mut at = skip_blank(styled, 0);
    while at < text.len() {
        let most = if pieces.is_empty() { first } else { limit };
        let rest = &text[at..];
        let window = split::fitting(rest, most.max(2));
        let end = at + if window == rest.len() { window } else { good_cut(styled, at, window) };
        let plain = text[at..end].trim_end();
        if shows(plain) {
            pieces.push(Piece {
                html: styled.html(at..at + plain.len()),
                plain: plain.to_owned(),
            });
        }
        at = skip_blank(styled, end);
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

/// Passes white space, but keeps the indentation of a line of code.
fn skip_blank(styled: &Styled, mut at: usize) -> usize {
    let text = styled.text();
    while let Some(c) = text[at..].chars().next() {
        if !c.is_whitespace() || (c != '\n' && styled.in_pre(at)) {
            break;
        }
        at += c.len_utf8();
    }
    at
}

/// Returns where to cut within the window: behind a paragraph, a line or a blank in its second half.
fn good_cut(styled: &Styled, at: usize, window: usize) -> usize {
    let text = &styled.text()[at..at + window];
    let half = window / 2;
    let behind = |found: Option<usize>, len: usize| found.map(|i| i + len).filter(|i| *i > half);
    let paragraph = text.rmatch_indices("\n\n").find(|(i, _)| !styled.in_pre(at + i));
    behind(paragraph.map(|(i, _)| i), 2)
        .or_else(|| behind(text.rfind('\n'), 1))
        .or_else(|| behind(text.rfind(' '), 1))
        .unwrap_or_else(|| hard_cut(&styled.text()[at..], window))
}

/// Steps back from the middle of an emoji or a letter with accents, when that is near.
fn hard_cut(rest: &str, window: usize) -> usize {
    let mut cut = window;
    for (i, c) in rest[..window].char_indices().rev().take(16) {
        let next = rest[cut..].chars().next();
        if !next.is_some_and(joins) && c != '\u{200d}' {
            return cut;
        }
        cut = i;
    }
    window
}

fn joins(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
