//! What an agent says, in bounded memory: its beginning and its end.

/// Bytes that are kept of what an agent says.
pub const MAX_TEXT: usize = 48 * 1024;
/// Half of it is kept from the beginning, half from the end.
const HALF: usize = MAX_TEXT / 2;
/// Characters of a title, a path or an error of others.
const SHORT: usize = 300;

/// Text that grows.
#[derive(Debug, Default)]
pub(crate) struct Text {
    head: String,
    tail: String,
    /// Bytes so far.
    length: usize,
}

impl Text {
    /// Adds a piece.
    pub(crate) fn push(&mut self, piece: &str) {
        self.length += piece.len();
        let room = if self.tail.is_empty() { HALF.saturating_sub(self.head.len()) } else { 0 };
        let parts = piece.split_at(piece.floor_char_boundary(room));
        self.head.push_str(parts.0);
        self.tail.push_str(parts.1);
        // Trimmed now and then, not at every piece.
        if self.tail.len() > HALF * 4 {
            self.tail = self.kept().to_owned();
        }
    }

    /// Returns what is kept of it, with how much is missing in the middle.
    pub(crate) fn shown(&self) -> String {
        let kept = self.kept();
        match self.length - self.head.len() - kept.len() {
            0 => format!("{}{kept}", self.head),
            missing => {
                let head = &self.head;
                format!("{head}\n[… {missing} bytes are left out here …]\n{kept}")
            }
        }
    }

    /// Returns its newest line that says something.
    pub(crate) fn newest(&self) -> Option<String> {
        let text = if self.tail.is_empty() { &self.head } else { &self.tail };
        let line = text.rsplit('\n').map(str::trim).find(|line| !line.is_empty())?;
        Some(short(line))
    }

    fn kept(&self) -> &str {
        &self.tail[self.tail.ceil_char_boundary(self.tail.len().saturating_sub(HALF))..]
    }
}

/// Words of others on one line, cut.
pub(crate) fn short(text: &str) -> String {
    let mut words = text.split_whitespace().fold(String::new(), |line, word| {
        let gap = if line.is_empty() { "" } else { " " };
        if line.len() > SHORT * 4 { line } else { line + gap + word }
    });
    if let Some(cut) = words.char_indices().nth(SHORT).map(|(at, _)| at) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_much_the_beginning_and_the_end_stay() {
        let mut text = Text::default();
        text.push("begin ");
        for _ in 0..1_000 {
            text.push(&"ö".repeat(5_000));
        }
        text.push(" end");
        let shown = text.shown();
        assert!(shown.starts_with("begin ö") && shown.ends_with("ö end"));
        assert!(shown.contains("bytes are left out here") && shown.len() < MAX_TEXT + 100);
        assert!(text.tail.len() <= HALF * 4 + 10_000, "nor is more of it held");
    }

    proptest! {
        #[test]
        fn what_fits_stays_as_it_is(pieces in prop::collection::vec(".{0,40}", 0..20)) {
            let mut text = Text::default();
            pieces.iter().for_each(|piece| text.push(piece));
            prop_assert_eq!(text.shown(), pieces.concat());
        }

        #[test]
        fn words_of_others_are_one_short_line(text in any::<String>()) {
            let line = short(&text);
            prop_assert!(!line.contains('\n') && line.chars().count() <= SHORT + 1);
        }
    }
}
