//! Cuts text at a platform's limit, which is counted in UTF-16 units.

/// Returns how many UTF-16 units `text` takes.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns a text as it is; of one that takes more UTF-16 units (at least one) the beginning, with `…` behind it.
pub fn shorten(text: &str, units: usize) -> String {
    match utf16_len(text) <= units {
        true => text.to_owned(),
        false => format!("{}…", text[..fitting(text, units.saturating_sub(1))].trim_end()),
    }
}

/// Cuts plain text into pieces of at most `limit` UTF-16 units, at a paragraph, a line or a blank where
/// one stands in the second half of the piece. No character is lost but the white space at a cut.
/// Empty for text that shows nothing.
pub fn plain(text: &str, limit: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = fitting(rest, limit.max(2));
        let cut = if end == rest.len() { end } else { good_cut(&rest[..end]) };
        let (piece, tail) = rest.split_at(cut);
        let piece = piece.trim_end();
        if !piece.is_empty() {
            pieces.push(piece.to_owned());
        }
        rest = tail.trim_start();
    }
    pieces
}

/// Returns the byte length of the longest prefix within `limit` UTF-16 units.
pub fn fitting(text: &str, limit: usize) -> usize {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > limit {
            return at;
        }
    }
    text.len()
}

fn good_cut(window: &str) -> usize {
    let half = window.len() / 2;
    let after =
        |pattern: &str| window.rfind(pattern).map(|i| i + pattern.len()).filter(|i| *i > half);
    after("\n\n").or_else(|| after("\n")).or_else(|| after(" ")).unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_surrogate_pair_is_never_cut() {
        let pieces = plain(&"😀".repeat(5), 4);
        assert_eq!(pieces, ["😀😀", "😀😀", "😀"]);
    }

    proptest! {
        #[test]
        fn nothing_visible_is_lost_and_nothing_is_over(text in "(\\PC|\n| ){0,300}", limit in 2usize..60) {
            let pieces = plain(&text, limit);
            let solid = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(solid(&pieces.concat()), solid(&text));
            for piece in &pieces {
                prop_assert!(utf16_len(piece) <= limit, "{} > {limit}", utf16_len(piece));
                prop_assert!(!piece.trim().is_empty());
            }
        }
    }
}
