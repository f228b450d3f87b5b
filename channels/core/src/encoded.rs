//! Known secrets as they are, and as one usual command turns them back: reversed, in hex, in base64 and base32 wherever they begin in it,
//! and over the lines that such commands break. One pass finds all of them.

use std::ops::Range;

use crate::visible_text::Through;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const OF_ADDRESSES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const OF_32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// So wide is a line at least that a command has broken.
const WIDE: usize = 60;

/// What is looked for.
pub(crate) struct EncodedSecrets {
    /// In one piece, without a blank.
    words: Vec<String>,
    /// With blanks in them.
    phrases: Vec<String>,
    /// The length of the shortest word.
    shortest: usize,
    /// Which two bytes a word begins with, a bit for each pair.
    begins: Box<[u64; 1024]>,
}

impl Default for EncodedSecrets {
    fn default() -> Self {
        let begins = Box::new([0; 1024]);
        Self { words: Vec::new(), phrases: Vec::new(), shortest: usize::MAX, begins }
    }
}

impl EncodedSecrets {
    /// Learns a secret of some length.
    pub(crate) fn learn(&mut self, secret: &str) {
        self.take(secret.to_owned());
        self.take(secret.chars().rev().collect());
        let hex = |byte: &u8| format!("{byte:02x}");
        let hex: String = secret.as_bytes().iter().map(hex).collect();
        self.take(hex.to_uppercase());
        self.take(hex);
        for before in 0..3 {
            for alphabet in [STANDARD, OF_ADDRESSES] {
                self.take(in_letters(secret.as_bytes(), before, alphabet));
            }
        }
        for before in 0..5 {
            let written = in_letters(secret.as_bytes(), before, OF_32);
            self.take(written.to_lowercase());
            self.take(written);
        }
    }

    fn take(&mut self, written: String) {
        let known = if written.contains(is_blank) { &mut self.phrases } else { &mut self.words };
        if written.len() < 2 || known.contains(&written) {
            return;
        }
        if !written.contains(is_blank) {
            self.shortest = self.shortest.min(written.len());
            let pair = pair(written.as_bytes());
            self.begins[pair >> 6] |= 1 << (pair & 63);
        }
        known.push(written);
    }

    /// Returns where secrets stand, in no order.
    pub(crate) fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = self.found_in_words(text);
        for phrase in &self.phrases {
            spans.extend(text.match_indices(phrase.as_str()).map(|(at, _)| at..at + phrase.len()));
        }
        if !self.words.is_empty() {
            for whole in wrapped(text) {
                let found = self.found_in_words(whole.text());
                spans.extend(found.into_iter().map(|span| whole.source(span)));
            }
        }
        spans
    }

    fn found_in_words(&self, text: &str) -> Vec<Range<usize>> {
        let (bytes, mut spans, mut from) = (text.as_bytes(), Vec::new(), 0);
        for word in bytes.split(u8::is_ascii_whitespace) {
            if word.len() >= self.shortest {
                self.found_in(word, from, &mut spans);
            }
            from += word.len() + 1;
        }
        spans
    }

    fn found_in(&self, word: &[u8], from: usize, spans: &mut Vec<Range<usize>>) {
        for at in 0..=word.len() - self.shortest {
            let rest = &word[at..];
            let pair = pair(rest);
            if self.begins[pair >> 6] & (1 << (pair & 63)) == 0 {
                continue;
            }
            let begun = self.words.iter().filter(|known| rest.starts_with(known.as_bytes()));
            spans.extend(begun.map(|known| from + at..from + at + known.len()));
        }
    }

    /// Where something may have begun that is not whole yet; the text's length when nothing can have.
    pub(crate) fn open_at(&self, text: &str) -> usize {
        let phrases = self.phrases.iter().map(|phrase| begun(text, phrase, phrase.len() - 1));
        let mut open = phrases.min().unwrap_or(text.len()).min(self.open_word(text));
        for whole in wrapped(text) {
            if whole.source(0..whole.text().len()).end >= text.trim_end_matches(['\n', '\r']).len()
            {
                open = open.min(whole.settled(self.open_word(whole.text())));
            }
        }
        open
    }

    fn open_word(&self, text: &str) -> usize {
        let word = text.rfind(is_blank).map_or(text, |at| &text[at + 1..]);
        let begun = self.words.iter().map(|known| begun(word, known, known.len() - 1));
        text.len() - word.len() + begun.min().unwrap_or(word.len())
    }
}

/// Where the longest end of `text` begins that is a beginning of `secret`, of at most `most` bytes.
pub(crate) fn begun(text: &str, secret: &str, most: usize) -> usize {
    let (text, secret) = (text.as_bytes(), secret.as_bytes());
    let mut lengths = (1..=most.min(text.len())).rev();
    let length = lengths.find(|length| text.ends_with(&secret[..*length])).unwrap_or(0);
    text.len() - length
}

fn pair(bytes: &[u8]) -> usize {
    match bytes {
        [first, second, ..] => (usize::from(*first) << 8) | usize::from(*second),
        _ => 0,
    }
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace()
}

/// The letters of base64, or of base32, that a secret decides alone, `before` bytes behind the beginning of a group.
fn in_letters(secret: &[u8], before: usize, alphabet: &[u8]) -> String {
    let bits = if alphabet.len() == OF_32.len() { 5 } else { 6 };
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let letter = |at: usize| {
        let (byte, shift) = (at * bits / 8, 16 - bits - (at * bits) % 8);
        let next = bytes.get(byte + 1).copied().unwrap_or_default();
        let two = (u16::from(bytes[byte]) << 8) | u16::from(next);
        char::from(alphabet[usize::from(two >> shift) & (alphabet.len() - 1)])
    };
    ((before * 8).div_ceil(bits)..bytes.len() * 8 / bits).map(letter).collect()
}

/// What commands have broken into lines of one width, put together again.
fn wrapped(text: &str) -> Vec<Through> {
    let (mut all, mut open, mut at) = (Vec::new(), None::<Through>, 0);
    for line in text.split_inclusive('\n') {
        let words = line.trim_end_matches(['\n', '\r']);
        let goes_on = line.ends_with('\n') && is_wide(words);
        if let Some(mut whole) = open.take() {
            let first = words.find(is_blank).unwrap_or(words.len());
            whole.push_all(&words[..first], at);
            if goes_on && first == words.len() {
                open = Some(whole);
            } else {
                all.push(whole);
            }
        }
        if goes_on && open.is_none() {
            let last = words.rfind(is_blank).map_or(0, |blank| blank + 1);
            let mut whole = Through::default();
            whole.push_all(&words[last..], at + last);
            open = Some(whole);
        }
        at += line.len();
    }
    all.extend(open);
    all
}

/// Whether a line ends in what fills its width.
fn is_wide(line: &str) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphanumeric() || b"+/-_=".contains(b);
    let tail = line.len().checked_sub(WIDE).map(|from| &line.as_bytes()[from..]);
    tail.is_some_and(|tail| tail.iter().all(is_letter))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "Sw0rdf1sh-Pass:7/ü";

    fn known() -> EncodedSecrets {
        let mut known = EncodedSecrets::default();
        known.learn(SECRET);
        known
    }

    fn whole(bytes: &[u8], alphabet: &[u8]) -> String {
        let (group, letters) = if alphabet.len() == 32 { (5, 8) } else { (3, 4) };
        let mut text = in_letters(bytes, 0, alphabet);
        if !bytes.len().is_multiple_of(group) {
            let rest = in_letters(&[bytes, &[0, 0]].concat(), 0, alphabet);
            text.push_str(&rest[text.len()..=text.len()]);
        }
        while !text.len().is_multiple_of(letters) {
            text.push('=');
        }
        text
    }

    #[test]
    fn base64_and_base32_are_the_usual_ones() {
        for (bytes, wanted) in
            [("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar?>", "Zm9vYmFyPz4=")]
        {
            assert_eq!(whole(bytes.as_bytes(), STANDARD), wanted);
        }
        for (bytes, wanted) in [
            ("f", "MY======"),
            ("fo", "MZXQ===="),
            ("foo", "MZXW6==="),
            ("foobar", "MZXW6YTBOI======"),
        ] {
            assert_eq!(whole(bytes.as_bytes(), OF_32), wanted);
        }
    }

    #[test]
    fn what_one_command_turns_back_is_found() {
        let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        let reversed: String = SECRET.chars().rev().collect();
        for text in [SECRET.to_owned(), hex.to_uppercase(), hex, reversed] {
            let said = format!("it is {text}.");
            let found = known().found(&said);
            assert!(found.len() == 1 && found[0] == (6..6 + text.len()), "{said}: {found:?}");
        }
        for around in ["", "a", "ab", "abc", "abcd", "user:", "a longer text before it, "] {
            let text = whole(format!("{around}{SECRET}\n").as_bytes(), OF_32);
            for text in [text.to_lowercase(), text] {
                let found = known().found(&text);
                assert!(found.iter().any(|span| span.len() >= SECRET.len() * 8 / 5 - 1), "{text}");
            }
            for alphabet in [STANDARD, OF_ADDRESSES] {
                let text = whole(format!("{around}{SECRET}\n").as_bytes(), alphabet);
                let found = known().found(&text);
                // What is left tells less than one character on each side.
                assert!(found.iter().any(|span| span.len() >= SECRET.len() * 8 / 6 - 1), "{text}");
            }
        }
    }

    #[test]
    fn lines_that_a_command_has_broken_are_put_together() {
        let text =
            whole(format!("{}{SECRET}{}", "x".repeat(50), "y".repeat(90)).as_bytes(), STANDARD);
        let lines: Vec<&str> = [&text[..76], &text[76..152], &text[152..]].to_vec();
        for end in ["\n", "\r\n"] {
            let said = format!("see: {end}{}{end}", lines.join(end));
            assert_eq!(known().found(&said).len(), 1, "{said}");
        }
        assert!(known().found(&lines.join(" ")).is_empty());
        let first = format!("see:\n{}\n", lines[0]);
        assert!(known().open_at(&first) < first.len() - 8, "the rest may come");
    }

    #[test]
    fn the_beginning_of_one_is_open() {
        let known = known();
        for (text, open) in [("it is Sw0r", 6), ("so: U3cw", 4), ("so: 537730", 4), ("a word", 6)] {
            assert_eq!(known.open_at(text), open, "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_is_found_wherever_it_stands_among_other_bytes(
            before in prop::collection::vec(any::<u8>(), 0..40),
            after in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            for alphabet in [&STANDARD[..], OF_32] {
                let text = whole(&[&before, SECRET.as_bytes(), &after].concat(), alphabet);
                prop_assert!(!known().found(&text).is_empty(), "{}", text);
            }
        }

        #[test]
        fn other_text_is_let_be(text in "(\\PC|\n|[a-zA-Z0-9+/=]{60,80}\n){0,40}") {
            prop_assert!(known().found(&text).is_empty());
            prop_assert!(known().open_at(&text) <= text.len());
        }
    }
}
