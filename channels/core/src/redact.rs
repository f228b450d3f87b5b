//! Keeps secrets out of everything that leaves the process.
//!
//! Known secrets are replaced by value, others by their makers' patterns (`secret_patterns`): a platform may put one into an
//! error text, a person into a message, that we never saw before.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::beside::beside;
use crate::encoded::{EncodedSecrets, begun};
use crate::invisible_chars::shows_nothing;
use crate::secret_patterns::{self, MARK};

/// What parts words.
const BLANKS: [char; 4] = [' ', '\n', '\r', '\t'];
/// Without any of these a text of Markdown is shown as it was written.
pub(crate) const MARKS: [char; 12] = ['*', '_', '~', '`', '\\', '[', ']', '<', '>', '&', '|', '%'];
/// The longest raw event that is kept, bytes.
const RAW_LIMIT: usize = 16 * 1024;
/// A shorter value may be an ordinary word.
const SURE: usize = 12;
/// So many different characters make a value of letters alone no word, and one with digits no simple one.
const VARIED: usize = 10;
const VARIED_WITH_DIGITS: usize = 6;
/// A longer word without a blank is no secret that comes piece by piece, bytes.
const MAX_WORD: usize = 4096;
/// What the names of secrets hold.
const NAMES: [&str; 8] = ["pass", "pwd", "secret", "token", "key", "auth", "credential", "bearer"];

/// Whether a secret is so short, or so much like a word, that it may stand in any text: it is hidden only where it
/// stands as a secret.
pub fn is_weak(secret: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_. ".contains(c);
    let varied = match secret.chars().any(|c| c.is_ascii_digit()) {
        true => VARIED_WITH_DIGITS,
        false => VARIED,
    };
    let different = secret.chars().collect::<BTreeSet<_>>().len();
    secret.chars().count() < SURE || (secret.chars().all(word) && different < varied)
}

/// Replaces secrets in text. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<KnownSecrets>>,
}

#[derive(Default)]
struct KnownSecrets {
    /// Hidden wherever they stand.
    sure: EncodedSecrets,
    /// Hidden where they stand as secrets.
    weak: Vec<String>,
    /// The length of the longest, bytes.
    longest: usize,
}

impl Redactor {
    /// Remembers a secret. One that may be a word ([`is_weak`]) is hidden only where it stands as a secret.
    pub fn learn(&self, secret: &str) {
        let secret = secret.trim();
        if secret.is_empty() {
            return;
        }
        // A poisoned lock still holds a usable list: reading it is safer than printing a secret.
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.longest = known.longest.max(secret.len());
        match is_weak(secret) {
            false => known.sure.learn(secret),
            true if known.weak.iter().any(|weak| weak == secret) => {}
            true => known.weak.push(secret.to_owned()),
        }
    }

    /// Hides a secret no more that has ended.
    pub fn forget(&self, secret: &str) {
        let secret = secret.trim();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.weak.retain(|weak| weak != secret);
        known.sure.forget(secret);
    }

    /// Returns `text` without known secrets and without anything that looks like one.
    pub fn clean(&self, text: &str) -> String {
        beside(text.len(), || replaced(text, &self.found(text)))
    }

    /// Whether nothing of it has to be hidden.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.clean(text) == text
    }

    /// Whether a known secret stands in what is no text.
    pub fn knows_any_in(&self, text: &str) -> bool {
        !self.known().sure.found(text).is_empty()
    }

    /// Returns the length of the longest known secret, bytes.
    pub(crate) fn longest(&self) -> usize {
        self.known().longest
    }

    /// Returns where secrets stand, in order and apart from each other. A word that holds one once its marks, escapes and
    /// invisible characters are gone, or their numbers, is one.
    pub(crate) fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = self.found_as_written(text);
        for word in words(text).filter(|word| text[word.clone()].contains(is_mark)) {
            let hide = |word: &str| replaced(word, &self.found_as_written(word));
            let written = &text[word.clone()];
            // The brackets of the mark go as others do.
            if hide(&bare(written)).replace(MARK, "redacted") != bare(&hide(written)) {
                spans.push(word);
            }
        }
        apart(spans)
    }

    fn found_as_written(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.known();
        let mut spans = secret_patterns::found(text);
        spans.extend(known.sure.found(text));
        spans.extend(known.weak.iter().flat_map(|secret| in_place(text, secret)));
        apart(spans)
    }

    /// Returns a raw event as it is kept: without secrets, and no more of it than 16 KiB.
    pub fn kept(&self, raw: &str) -> String {
        let mut kept = self.clean(raw);
        kept.truncate(kept.floor_char_boundary(RAW_LIMIT));
        kept
    }

    /// Returns how much of a text that goes on may be shown, cleaned: no secret begins there and ends behind it,
    /// also once it is rendered.
    pub fn settled(&self, text: &str) -> usize {
        beside(text.len(), || {
            let settled = self.open_at(text).min(self.open_between_marks(text));
            if settled >= text.len() {
                return text.len();
            }
            // The end of a whole one may be the beginning of another one: it is shown hidden, or not yet.
            let mut whole = self.found(text).into_iter();
            let cut = whole.find(|span| span.start < settled && settled < span.end);
            cut.map_or(settled, |span| span.start)
        })
    }

    /// Where a secret may have begun that is not whole yet; the text's length when none can have.
    fn open_at(&self, text: &str) -> usize {
        let known = self.known();
        // Whether a weak one is hidden depends on what follows it, so that a whole one is open, too.
        let weak = known.weak.iter().map(|secret| begun(text, secret, secret.len()));
        let weak = weak.min().unwrap_or(text.len());
        weak.min(known.sure.open_at(text)).min(secret_patterns::open_at(text))
    }

    /// Where the last word begins, if a secret may have begun in it once its marks are gone.
    fn open_between_marks(&self, text: &str) -> usize {
        let word = text.rfind(BLANKS).map_or(0, |blank| blank + 1);
        if text.len() - word > MAX_WORD || !text[word..].contains(is_mark) {
            return text.len();
        }
        let bare = bare(&text[word..]);
        if self.open_at(&bare) < bare.len() { word } else { text.len() }
    }

    fn known(&self) -> RwLockReadGuard<'_, KnownSecrets> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Whether a character may be gone from a word, or stand for another one, when somebody reads it. An underscore inside of
/// a word is shown.
fn is_mark(c: char) -> bool {
    matches!(c, '%' | '⟨') || goes(c)
}

fn goes(c: char) -> bool {
    matches!(c, '*' | '~' | '`' | '\\' | '[' | ']') || shows_nothing(c)
}

/// Returns where words stand, without the signs that end a sentence behind them.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    text.split(BLANKS).map(move |word| {
        let at = from;
        from += word.len() + 1;
        at..at + word.trim_end_matches([',', '.', ';', ':', '!', '?', ')', '"', '\'']).len()
    })
}

/// Returns a word with the escapes of addresses (`%41`) read, without marks and invisible characters.
fn bare(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = behind_number(rest) {
            rest = behind;
            continue;
        }
        let escape =
            rest.get(1..3).filter(|_| c == '%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (read, length) = match escape.filter(u8::is_ascii) {
            Some(byte) => (char::from(byte), 3),
            None => (c, c.len_utf8()),
        };
        if !goes(read) {
            out.push(read);
        }
        rest = &rest[length..];
    }
    out
}

/// Returns what follows the number of a character that does not show (`⟨U+200B⟩`), if a text begins with one: it was in the
/// word as the character itself.
fn behind_number(text: &str) -> Option<&str> {
    let (number, behind) = text.strip_prefix("⟨U+")?.split_once('⟩')?;
    let is_number = number.len() <= 6 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then_some(behind)
}

/// Returns where a weak secret stands behind its name (`password=…`), and before the host of a URL.
fn in_place(text: &str, secret: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut passed = 0;
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        let before = &text[passed..at];
        let after = &text[end..];
        // What closes emphasis goes on with nothing.
        let goes_on = after.trim_start_matches('_').starts_with(char::is_alphanumeric);
        let in_url = before.ends_with(':') && after.starts_with('@');
        if in_url || (!goes_on && is_named(before)) {
            spans.push(at..end);
            passed = end;
        }
    }
    spans
}

/// Puts them into order, and makes one of those that overlap.
fn apart(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    spans
}

/// Returns a text with the mark where these stood.
pub(crate) fn replaced(text: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        out.push_str(&text[copied..span.start]);
        out.push_str(MARK);
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether a text ends in what names a secret: `password=`, `"api_key": "`, `Bearer `.
fn is_named(before: &str) -> bool {
    // As much as a name takes, however long the text is.
    let near = &before[before.floor_char_boundary(before.len().saturating_sub(64))..];
    let gap = |c: char| c.is_whitespace() || "\"'".contains(c);
    let named = near.trim_end_matches(gap);
    if named.ends_with("Bearer") || named.ends_with("bearer") {
        return true;
    }
    let Some(name) = named.strip_suffix(['=', ':']) else { return false };
    let name = name.trim_end_matches(gap);
    let from = name.rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
    let name = name[from.map_or(0, |at| at + 1)..].to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_secret_is_hidden_with_the_numbers_of_what_does_not_show_in_it() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        for text in ["h⟨U+200B⟩unter2hunter2", "hunter2⟨U+0001⟩⟨U+E0041⟩hunter2"] {
            assert_eq!(redactor.clean(&format!("it is {text}.")), "it is [redacted].");
        }
        for text in ["⟨U+200B⟩", "a⟨U+200B⟩b", "⟨U+zz⟩hunter3", "⟨"] {
            assert_eq!(redactor.clean(text), text);
        }
    }

    #[test]
    fn a_known_secret_and_an_unknown_token_are_hidden() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let token = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";
        let text =
            format!("GET https://api.telegram.org/bot{token}/getMe x=hunter2hunter2 at 10:30");
        assert_eq!(
            redactor.clean(&text),
            "GET https://api.telegram.org/bot[redacted]/getMe x=[redacted] at 10:30"
        );
    }

    #[test]
    fn a_secret_that_may_be_a_word_is_hidden_where_it_stands_as_one() {
        let redactor = Redactor::default();
        ["selkie", "correct-horse", "a"].iter().for_each(|secret| redactor.learn(secret));
        for plain in [
            "who is selkie? see https://selkie.example/a",
            "rm srv/correct-horse; echo a",
            "the selkie: a seal; selkie@sea",
        ] {
            assert_eq!(redactor.clean(plain), plain);
        }
        for (text, clean) in [
            ("postgres://selkie:selkie@db/selkie", "postgres://selkie:[redacted]@db/selkie"),
            ("host=db password=selkie user=selkie", "host=db password=[redacted] user=selkie"),
            ("it is _password=selkie_", "it is _password=[redacted]_"),
            ("password=selkie_two", "password=selkie_two"),
            ("{\"api_key\": \"correct-horse\"}", "{\"api_key\": \"[redacted]\"}"),
            ("Authorization: Bearer selkie", "Authorization: Bearer [redacted]"),
            ("PGPASSWORD='a' psql a", "PGPASSWORD='[redacted]' psql a"),
        ] {
            assert_eq!(redactor.clean(text), clean);
        }
    }

    #[test]
    fn a_whole_secret_is_not_cut_where_another_one_may_begin() {
        let redactor = Redactor::default();
        ["qvjzkxwpbfhgmydl", "lzqkxwvpbfhgmyd"].iter().for_each(|secret| redactor.learn(secret));
        let text = "It is qvjzkxwpbfhgmydl";
        assert_eq!(redactor.settled(text), 6);
        assert_eq!(redactor.settled(&format!("{text} ")), text.len() + 1);
    }

    #[test]
    fn words_and_short_values_are_weak() {
        for weak in
            ["selkie", "hunter2", "correct-horse", "aaaaaaaaaaaaaaaaaaaa", "1234123412341234"]
        {
            assert!(is_weak(weak), "{weak}");
        }
        for sure in [
            "hunter2hunter2",
            "0123456789abcdef",
            "Sw0rdf1sh-Pass",
            "sk-playground-key-1234567890",
            "qvjzkxwpbfhgmydl",
        ] {
            assert!(!is_weak(sure), "{sure}");
        }
    }

    proptest! {
        #[test]
        fn text_without_colons_is_untouched(text in "[^:]{0,200}") {
            prop_assert_eq!(Redactor::default().clean(&text), text);
        }

        #[test]
        fn a_learned_secret_never_survives(secret in "[a-z]{8,20}", before in ".{0,40}", after in ".{0,40}") {
            let redactor = Redactor::default();
            let secret = format!("{secret}A7b!");
            redactor.learn(&secret);
            let text = format!("{before}{secret}{after}");
            prop_assert!(!redactor.clean(&text).contains(&secret));
        }
    }
}
