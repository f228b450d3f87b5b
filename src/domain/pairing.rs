//! Pairing: a code that makes its sender an owner, and how it is read.

use chrono::TimeDelta;

use crate::domain::chance::Chance;

/// How long a code can be used.
pub const LASTS: TimeDelta = TimeDelta::hours(1);
/// So many wrong codes of strangers, of all of them together, close the owner's code. One person's are counted apart
/// (`intake/guesses`) and are few, so that closing it takes hundreds of accounts; and of so many guesses one is right
/// once in 22 million times.
pub const GUESSES: i64 = 10_000;
/// So many wrong codes of the owner close what strangers ask.
pub const TRIES: i64 = 3;

/// Letters and digits that nobody takes for one another.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz";
const DIGITS: &[u8] = b"23456789";
/// Characters of a code. The third is a digit, so that no plain word is one.
const LENGTH: usize = 8;
const DIGIT_AT: usize = 2;

/// Makes a code.
pub fn new_code(chance: &dyn Chance) -> String {
    let all = [LETTERS, DIGITS].concat();
    let one = |from: &[u8]| {
        // Below the length, which is small: nothing is lost.
        let at = (chance.unit() * from.len() as f64) as usize;
        char::from(from[at.min(from.len() - 1)])
    };
    (0..LENGTH).map(|at| if at == DIGIT_AT { one(DIGITS) } else { one(&all) }).collect()
}

/// Reads the code of `pair CODE` or `/pair CODE`, where all of a text is that.
pub fn in_words(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let verb = words.next()?.to_lowercase();
    let code = words.next().and_then(read)?;
    (matches!(verb.as_str(), "pair" | "/pair") && words.next().is_none()).then_some(code)
}

/// Reads a code as people type it; `None` for what cannot be one.
pub fn read(word: &str) -> Option<String> {
    let code = word.trim().to_lowercase();
    let is_known = |byte: u8| LETTERS.contains(&byte) || DIGITS.contains(&byte);
    let has_its_digit = code.as_bytes().get(DIGIT_AT).is_some_and(|byte| DIGITS.contains(byte));
    (code.len() == LENGTH && has_its_digit && code.bytes().all(is_known)).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chance::{Fixed, SystemChance};

    #[test]
    fn every_code_is_read_and_no_word_is_one() {
        for _ in 0..200 {
            let code = new_code(&SystemChance);
            assert_eq!(in_words(&format!("Pair {}", code.to_uppercase())), Some(code));
        }
        assert_eq!(new_code(&Fixed(0.999_999)), "99999999");
        assert_eq!(in_words("/pair ab3defgh"), Some("ab3defgh".to_owned()));
        for other in [
            "pair",
            "pair socks",
            "pair ab3def",
            "pair drawings",
            "pair ab3defgh now",
            "repair ab3defgh",
            "",
        ] {
            assert_eq!(in_words(other), None, "{other}");
        }
    }
}
