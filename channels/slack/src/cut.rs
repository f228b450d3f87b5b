//! Cuts styled text into messages, at the best border within the limit.

use selkie_channel_core::split;
use selkie_channel_core::styled::StyledText;

use crate::mrkdwn::{escape, mrkdwn};

/// One message's worth of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Slack's mrkdwn.
    pub mrkdwn: String,
    /// The visible text.
    pub shown: String,
    /// The visible text, escaped: the plain form.
    pub plain: String,
}

impl Piece {
    /// Text without any style.
    pub fn plain(text: &str) -> Self {
        let plain = escape(text);
        Self { mrkdwn: plain.clone(), shown: text.to_owned(), plain }
    }
}

/// Cuts into pieces of which neither form is longer than `limit` UTF-16 units. Empty for text that shows
/// nothing.
pub fn pieces(styled: &StyledText, limit: usize) -> Vec<Piece> {
    let text = styled.text();
    let mut pieces = Vec::new();
    let mut at = styled.skip_blank(0);
    while at < text.len() {
        let mut room = limit;
        loop {
            let end = styled.border(at, room);
            let shown = text[at..end].trim_end();
            let piece = Piece {
                mrkdwn: mrkdwn(styled, at..at + shown.len()),
                shown: shown.to_owned(),
                plain: escape(shown),
            };
            let longest = split::utf16_len(&piece.mrkdwn).max(split::utf16_len(&piece.plain));
            if longest > limit && room > 16 {
                // Markers and escapes make it longer than it looks.
                room = room * 3 / 4;
                continue;
            }
            if shown.chars().any(|c| !c.is_whitespace() && !c.is_control()) {
                pieces.push(piece);
            }
            at = styled.skip_blank(end);
            break;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::markdown;

    fn solid(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect()
    }

    #[test]
    fn code_is_fenced_again_in_every_piece() {
        let source = format!("```\n{}```", "let x = 1;\n".repeat(30));
        let pieces = pieces(&markdown::render(&source), 120);
        assert!(pieces.len() > 2);
        for piece in &pieces {
            assert!(piece.mrkdwn.starts_with("```\n") && piece.mrkdwn.ends_with("\n```"));
        }
    }

    #[test]
    fn a_cut_spares_emoji() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let pieces = pieces(&markdown::render(&format!("{}{family}", "a".repeat(16))), 20);
        let shown: Vec<&str> = pieces.iter().map(|piece| piece.shown.as_str()).collect();
        assert_eq!(shown, ["a".repeat(16).as_str(), family]);
    }

    #[test]
    fn what_shows_nothing_makes_no_message() {
        assert!(pieces(&markdown::render(" \n\n "), 100).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_visible_is_lost_and_nothing_is_over(
            text in "(\\PC|\n| |&|<|\\*|`|> |# |- ){0,200}", limit in 200usize..400,
        ) {
            let styled = markdown::render(&text);
            let pieces = pieces(&styled, limit);
            let all: String = pieces.iter().map(|piece| piece.shown.as_str()).collect();
            prop_assert_eq!(solid(&all), solid(styled.text()));
            for piece in &pieces {
                prop_assert!(split::utf16_len(&piece.mrkdwn) <= limit, "{:?}", piece);
                prop_assert!(split::utf16_len(&piece.plain) <= limit, "{:?}", piece);
            }
        }

        #[test]
        fn brackets_of_a_person_never_become_slacks(text in "(<!channel>|<@U1>|&|a| ){1,20}") {
            let styled = markdown::render(&text);
            for piece in pieces(&styled, 4000) {
                prop_assert!(!piece.mrkdwn.contains("<!") && !piece.mrkdwn.contains("<@"));
            }
        }
    }
}
