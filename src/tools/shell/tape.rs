//! What a process prints, in bounded memory: its first and its last characters, counted from the start.

/// The most that one call answers, in characters.
pub const SHOWN: usize = 100_000;
/// What is kept of a background process, in characters.
pub const RING: usize = 10_000;

/// A recording of output.
#[derive(Debug)]
pub struct Tape {
    head: String,
    /// Characters that still fit the head.
    head_room: usize,
    tail: String,
    tail_limit: usize,
    /// Characters so far.
    end: u64,
    /// Bytes of a character that has not come whole yet.
    pending: Vec<u8>,
}

/// What is new since a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The characters.
    pub text: String,
    /// Where to go on.
    pub next: u64,
    /// Characters that are gone.
    pub lost: u64,
}

impl Tape {
    /// Keeps the first half and the last half of [`SHOWN`].
    pub fn head_and_tail() -> Self {
        Self::new(SHOWN / 2, SHOWN / 2)
    }

    /// Keeps the last [`RING`] characters.
    pub fn ring() -> Self {
        Self::new(0, RING)
    }

    fn new(head: usize, tail: usize) -> Self {
        Self {
            head: String::new(),
            head_room: head,
            tail: String::new(),
            tail_limit: tail,
            end: 0,
            pending: Vec::new(),
        }
    }

    /// Records bytes; what is no UTF-8 becomes `�`.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let mut bytes = if self.pending.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.pending).as_slice(), bytes].concat();
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(bytes) {
                Ok(text) => return self.text(text),
                Err(error) => {
                    let (good, rest) = bytes.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(good).unwrap_or_default());
                    let Some(bad) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return;
                    };
                    self.text("\u{fffd}");
                    bytes = &rest[bad..];
                }
            }
        }
    }

    /// Records that nothing more comes: half a character becomes `�`.
    pub fn close(&mut self) {
        if !std::mem::take(&mut self.pending).is_empty() {
            self.text("\u{fffd}");
        }
    }

    /// Returns all that is kept, with how much is missing in the middle.
    pub fn shown(&self) -> String {
        let tail = self.kept();
        let missing = self.end - chars(&self.head) - chars(tail);
        if missing == 0 {
            return format!("{}{tail}", self.head);
        }
        format!(
            "{}\n[… {missing} characters left out here: write to a file and read it for all …]\n{tail}",
            self.head
        )
    }

    /// Returns what came after a cursor.
    pub fn since(&self, cursor: u64) -> Since {
        let tail = self.kept();
        let from = self.end - chars(tail);
        let cursor = cursor.min(self.end);
        let skip = cursor.saturating_sub(from);
        let at = tail.char_indices().nth(usize::try_from(skip).unwrap_or(usize::MAX));
        let text = at.map_or("", |(at, _)| &tail[at..]).to_owned();
        Since { text, next: self.end, lost: from.saturating_sub(cursor) }
    }

    /// Returns the newest part of what is kept, as it is: it may begin within a line.
    pub fn tail(&self) -> &str {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }

    /// Characters so far.
    pub fn end(&self) -> u64 {
        self.end
    }

    fn text(&mut self, text: &str) {
        self.end += chars(text);
        let cut = text.char_indices().nth(self.head_room).map_or(text.len(), |(at, _)| at);
        let (head, tail) = text.split_at(cut);
        self.head_room -= usize::try_from(chars(head)).unwrap_or(self.head_room);
        self.head.push_str(head);
        self.tail.push_str(tail);
        // Trimmed now and then, not at every push: each character is moved once or twice at most.
        if self.tail.len() > self.tail_limit * 8 {
            let kept = self.kept().to_owned();
            self.tail = kept;
        }
    }

    /// The last characters, no more than the limit.
    fn kept(&self) -> &str {
        let backwards = self.tail.char_indices().rev();
        match backwards.take(self.tail_limit).last() {
            Some((at, _)) => &self.tail[at..],
            None => "",
        }
    }
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_output_keeps_head_and_tail() {
        let mut tape = Tape::new(3, 4);
        tape.push("äöü123456789".as_bytes());
        assert_eq!(
            tape.shown(),
            "äöü\n[… 5 characters left out here: write to a file and read it for all …]\n6789"
        );
        let mut short = Tape::new(3, 4);
        short.push(b"abcdefg");
        assert_eq!(short.shown(), "abcdefg");
    }

    #[test]
    fn a_ring_tells_what_is_lost() {
        let mut tape = Tape::new(0, 4);
        tape.push(b"abcdef");
        assert_eq!(tape.since(0), Since { text: "cdef".into(), next: 6, lost: 2 });
        assert_eq!(tape.since(5), Since { text: "f".into(), next: 6, lost: 0 });
        assert_eq!(tape.since(99), Since { text: String::new(), next: 6, lost: 0 });
    }

    proptest! {
        /// However bytes are cut into pieces, the tape reads them the same, and keeps no more than asked.
        #[test]
        fn pieces_do_not_matter(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            piece in 1_usize..9, head in 0_usize..20, tail in 1_usize..20,
        ) {
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            let mut tape = Tape::new(head, tail);
            bytes.chunks(piece).for_each(|c| tape.push(c));
            tape.close();
            let all: Vec<char> = whole.chars().collect();
            prop_assert_eq!(tape.end(), all.len() as u64);
            prop_assert!(tape.tail.len() <= tail * 8 + piece * 3 + 12);
            if all.len() <= head + tail {
                prop_assert_eq!(tape.shown(), whole);
            } else {
                let first: String = all[..head].iter().collect();
                let last: String = all[all.len() - tail..].iter().collect();
                prop_assert!(tape.shown().starts_with(&first) && tape.shown().ends_with(&last));
            }
            let since = Tape::since(&tape, 0);
            prop_assert_eq!(since.lost + since.text.chars().count() as u64, since.next);
        }
    }
}
