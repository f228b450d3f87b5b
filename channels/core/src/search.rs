//! A search for secrets in a file that comes piece by piece, as in what is said: in windows that overlap, so that it takes a
//! bounded room and each byte a bounded time. Nothing is unpacked.

use crate::redact::Redactor;

/// So much of a window stands in the next one, too, bytes: what takes more may be missed.
const OVERLAP: usize = 32 * 1024;
/// A known secret has room for so many bytes for each of its own.
const STRETCH: usize = 4;
/// A window is so many overlaps long.
const WIDE: usize = 8;
/// What begins so near to the beginning of a window, bytes, was seen in the one before, with what stands in front of it.
const NEAR: usize = 64;
/// A window cuts one character at each end: no more than so many stretches of its bytes are none.
const CUT: usize = 4;
/// One of so many bytes at most is a control character in a text whose letters we do not know.
const SELDOM: usize = 32;

impl Redactor {
    /// Starts a search for secrets in bytes that come piece by piece.
    pub fn search(&self) -> Search {
        let overlap = OVERLAP.max(self.longest().next_multiple_of(2) * STRETCH);
        Search { redactor: self.clone(), overlap, window: Vec::new(), seen: 0, order: None }
    }
}

/// A search for secrets. It keeps one window.
pub struct Search {
    redactor: Redactor,
    /// An even number: letters of two bytes stay whole.
    overlap: usize,
    window: Vec<u8>,
    /// So much of the window was in the one before, too.
    seen: usize,
    /// What the file's first bytes say of its letters.
    order: Option<Order>,
}

impl Search {
    /// Takes the next piece. Returns whether a secret stands in a window that it fills.
    pub fn finds(&mut self, mut piece: &[u8]) -> bool {
        let full = self.overlap * WIDE;
        loop {
            let (now, later) = piece.split_at(piece.len().min(full - self.window.len()));
            self.window.extend_from_slice(now);
            if self.window.len() < full {
                return false;
            }
            if self.is_in_window() {
                return true;
            }
            self.window.drain(..full - self.overlap);
            self.seen = self.overlap;
            piece = later;
        }
    }

    /// Returns whether a secret stands in what has filled no window: nothing follows.
    pub fn finds_in_rest(mut self) -> bool {
        self.window.len() > self.seen && self.is_in_window()
    }

    fn is_in_window(&mut self) -> bool {
        if self.seen == 0 {
            self.order = Order::told(&self.window);
        }
        let bytes = &*self.window;
        // What begins like letters of two bytes may be none: it is read as it is, too.
        let wide = self.order.or_else(|| Order::seen(bytes)).map(|order| order.read(bytes));
        let as_it_is = String::from_utf8_lossy(bytes);
        let is_found = match is_text(bytes) {
            true => self.is_in_text(&as_it_is),
            // By its look nothing is looked for there: strings of a program only seem to be one text.
            false => {
                self.redactor.knows_any_in(&as_it_is)
                    || self.redactor.knows_any_in(&without_zeros(bytes))
            }
        };
        is_found || wide.is_some_and(|text| self.is_in_text(&text))
    }

    fn is_in_text(&self, text: &str) -> bool {
        let was_seen = if self.seen == 0 { 0 } else { NEAR };
        self.redactor.found(text).iter().any(|span| span.start >= was_seen)
    }
}

/// Which of the two bytes of a letter of UTF-16 comes first.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// What a file says of itself.
    fn told(file: &[u8]) -> Option<Self> {
        match file {
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }

    /// What bytes look like: of ASCII's letters every other byte is zero.
    fn seen(bytes: &[u8]) -> Option<Self> {
        let zeros = |from| bytes.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
        let first = zeros(0);
        let second = zeros(1);
        let letters = bytes.len() / 2;
        let is_wide = |zeros: usize, others: usize| zeros > letters / 2 && others < letters / 8;
        if is_wide(second, first) {
            return Some(Self::Little);
        }
        is_wide(first, second).then_some(Self::Big)
    }

    fn read(self, bytes: &[u8]) -> String {
        let units = bytes.chunks_exact(2).map(|two| match self {
            Self::Little => u16::from_le_bytes([two[0], two[1]]),
            Self::Big => u16::from_be_bytes([two[0], two[1]]),
        });
        let letter = |read: Result<char, _>| read.unwrap_or(char::REPLACEMENT_CHARACTER);
        char::decode_utf16(units).map(letter).collect()
    }
}

/// Whether bytes are UTF-8, or letters of an older kind: what is packed holds many control characters.
fn is_text(bytes: &[u8]) -> bool {
    let mut strange = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
    let is_control = |b: &&u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    strange.nth(CUT).is_none() || bytes.iter().filter(is_control).count() <= bytes.len() / SELDOM
}

/// Letters of ASCII in two bytes or four are themselves without zeros, wherever they begin.
fn without_zeros(bytes: &[u8]) -> String {
    let others: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
    String::from_utf8_lossy(&others).into_owned()
}

#[cfg(test)]
mod tests;
