//! Pairing: a code that makes its sender an owner, and how it is read.

use chrono::TimeDelta;

use crate::chance::Chance;

/// How long a code can be used.
pub const LASTS: TimeDelta = TimeDelta::hours(1);
/// How long an owner can answer who is asked about a stranger.
pub const WAITS: TimeDelta = TimeDelta::days(7);
/// How long nobody is asked about a stranger whom an owner ignores.
pub const IGNORED: TimeDelta = TimeDelta::days(365);
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

/// Stands for a code where words are told again.
const HIDDEN: &str = "(pairing code)";

/// Takes codes out of words that are told again: those behind `pair`, wherever else they stand.
pub fn hidden(text: &str) -> String {
    let is_of_a_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '@' | '_');
    let words: Vec<&str> =
        text.split(|c| !is_of_a_word(c)).filter(|word| !word.is_empty()).collect();
    let behind = |pair: &[&str]| is_verb(pair[0]).then(|| read(pair[1])).flatten();
    let codes = words.windows(2).filter_map(behind);
    codes.fold(text.to_owned(), |text, code| without(&text, &code))
}

/// Takes the code away with which the arguments of `/pair` begin.
pub fn hidden_in_arguments(arguments: &str) -> String {
    match arguments.split_whitespace().next().and_then(read) {
        Some(code) => without(arguments, &code),
        None => arguments.to_owned(),
    }
}

/// Whether a word is the command before a code: `pair`, `/pair`, `/pair@name_of_the_bot`.
fn is_verb(word: &str) -> bool {
    let bare = word.strip_prefix('/').unwrap_or(word);
    bare.split('@').next().is_some_and(|verb| verb.eq_ignore_ascii_case("pair"))
}

/// Puts [`HIDDEN`] for a code, in whatever letters.
fn without(text: &str, code: &str) -> String {
    let small = text.to_ascii_lowercase();
    let mut left = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in small.match_indices(code) {
        left.push_str(&text[done..at]);
        left.push_str(HIDDEN);
        done = at + found.len();
    }
    left + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::{FixedChance, SystemChance};

    #[test]
    fn every_code_is_read_and_no_word_is_one() {
        for _ in 0..200 {
            let code = new_code(&SystemChance);
            assert_eq!(in_words(&format!("Pair {}", code.to_uppercase())), Some(code));
        }
        assert_eq!(new_code(&FixedChance(0.999_999)), "99999999");
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

    #[test]
    fn a_code_is_hidden_wherever_it_stands() {
        assert_eq!(hidden("pair AB3defgh"), "pair (pairing code)");
        assert_eq!(hidden("/pair@a_bot ab3defgh"), "/pair@a_bot (pairing code)");
        let offered = "give them `ab3defgh`: they write `/pair ab3defgh` to me, ä";
        let told = "give them `(pairing code)`: they write `/pair (pairing code)` to me, ä";
        assert_eq!(hidden(offered), told);
        for other in ["a pair of socks", "pair drawings", "repair ab3defgh", "ab3defgh", ""] {
            assert_eq!(hidden(other), other);
        }
        assert_eq!(hidden_in_arguments("Ab3defgh now"), "(pairing code) now");
        assert_eq!(hidden_in_arguments("socks"), "socks");
    }
}
