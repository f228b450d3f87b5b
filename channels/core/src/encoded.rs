//! Known secrets as they are written, and in the encodings that programs use: hex and base64. One pass finds all.

use std::ops::Range;

use aho_corasick::AhoCorasick;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const OF_ADDRESSES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is looked for.
#[derive(Default)]
pub(crate) struct EncodedSecrets {
    forms: Vec<String>,
    automaton: Option<AhoCorasick>,
}

impl EncodedSecrets {
    /// Learns a secret of some length.
    pub(crate) fn learn(&mut self, secret: &str) {
        for form in forms(secret) {
            if !self.forms.contains(&form) {
                self.forms.push(form);
            }
        }
        self.automaton = AhoCorasick::new(&self.forms).ok();
    }

    /// Forgets a secret.
    pub(crate) fn forget(&mut self, secret: &str) {
        let gone = forms(secret);
        self.forms.retain(|form| !gone.contains(form));
        self.automaton = AhoCorasick::new(&self.forms).ok();
    }

    /// Returns where secrets stand, in no order; they may overlap.
    pub(crate) fn found(&self, text: &str) -> Vec<Range<usize>> {
        match &self.automaton {
            Some(automaton) => automaton.find_overlapping_iter(text).map(|m| m.range()).collect(),
            // None is known, or more than an automaton takes.
            None => self.forms.iter().flat_map(|form| found(text, form)).collect(),
        }
    }

    /// Where something may have begun that is not whole yet; the text's length when nothing can have.
    pub(crate) fn open_at(&self, text: &str) -> usize {
        let begun = self.forms.iter().map(|form| begun(text, form, form.len() - 1));
        begun.min().unwrap_or(text.len())
    }
}

/// Returns a secret as it may be written.
fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let base64 = [STANDARD, OF_ADDRESSES]
        .into_iter()
        .flat_map(|alphabet| (0..3).map(|before| base64(bytes, before, alphabet)));
    [secret.to_owned(), hex.to_uppercase(), hex].into_iter().chain(base64).collect()
}

fn found<'t>(text: &'t str, form: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    text.match_indices(form).map(|(at, _)| at..at + form.len())
}

/// Where the longest end of `text` begins that is a beginning of `secret`, of at most `most` bytes.
pub(crate) fn begun(text: &str, secret: &str, most: usize) -> usize {
    let mut lengths = (1..=most.min(text.len())).rev();
    let ends = |length: &usize| text.as_bytes().ends_with(&secret.as_bytes()[..*length]);
    let length = lengths.find(ends).unwrap_or(0);
    text.len() - length
}

/// The letters of base64 that a secret decides alone, `before` bytes behind the beginning of a group.
fn base64(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let letter = |at: usize| {
        let byte = at * 6 / 8;
        let shift = 10 - (at * 6) % 8;
        let next = bytes.get(byte + 1).copied().unwrap_or_default();
        let two = (u16::from(bytes[byte]) << 8) | u16::from(next);
        char::from(alphabet[usize::from(two >> shift) & 63])
    };
    ((before * 8).div_ceil(6)..bytes.len() * 8 / 6).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_is_found_wherever_it_begins() {
        let mut known = EncodedSecrets::default();
        known.learn("Sw0rdf1sh-Pass/7");
        for text in [
            "is Sw0rdf1sh-Pass/7 ok",
            "5377307264663173682d506173732f37",
            "5377307264663173682D506173732F37",
            "U3cwcmRmMXNoLVBhc3MvNw==",
            "eDpTdzByZGYxc2gtUGFzcy83Og==",
            "dXNlcjpTdzByZGYxc2gtUGFzcy83",
        ] {
            assert!(!known.found(text).is_empty(), "{text}");
        }
        assert!(known.found("Sw0rdf1sh Pass").is_empty());
        assert_eq!(known.open_at("it is Sw0rdf1sh-"), 6);
        assert_eq!(known.open_at("it is all"), 9);
    }
}
