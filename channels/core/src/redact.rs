//! Keeps secrets out of everything that leaves the process.
//!
//! Known secrets are replaced by value, others by their look (`looks`): a platform may put one into an error text, a person
//! into a message, that we never saw before. No regular expressions: twelve of them with
//! Unicode classes cost more memory than the rest of the daemon.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, RwLock};

use crate::beside::beside;
use crate::encoded::{EncodedSecrets, begun};
use crate::lookalike;
use crate::secret_patterns::{self, MARK};
use crate::visible_text::{self, Through};

/// The longest raw event that is kept, bytes.
const RAW_LIMIT: usize = 16 * 1024;
/// A shorter value may be an ordinary word.
const SURE: usize = 12;
/// So many different characters make a value of letters alone no word, and one with digits no simple one.
const VARIED: usize = 10;
const VARIED_WITH_DIGITS: usize = 6;
/// So many letters and digits tell a secret without its marks.
const LEFT: usize = 8;
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
    known: Arc<RwLock<KnownSecret>>,
}

#[derive(Default)]
struct KnownSecret {
    /// Hidden wherever they stand; the longest first.
    sure: Vec<String>,
    /// The same, as they are and as one command turns them back.
    encoded: EncodedSecrets,
    /// Hidden where they stand as secrets.
    weak: Vec<String>,
    /// The sure ones as they are left when all marks are gone, see [`visible_text::without_marks`].
    bare: Vec<String>,
}

impl KnownSecret {
    fn learn(&mut self, secret: &str) {
        let is_weak = is_weak(secret);
        let known = if is_weak { &mut self.weak } else { &mut self.sure };
        if known.iter().any(|k| k == secret) {
            return;
        }
        known.push(secret.to_owned());
        known.sort_by_key(|k| std::cmp::Reverse(k.len()));
        if is_weak {
            return;
        }
        self.encoded.learn(secret);
        // As it is read where look-alikes are read.
        let read = lookalike::read(secret);
        if read != secret {
            self.encoded.learn(&read);
        }
        let bare = visible_text::bare(secret);
        // What is left of marks alone may be a word.
        if bare.chars().count() >= LEFT {
            self.bare.push(bare);
        }
    }
}

impl Redactor {
    /// Remembers a secret. One that may be a word ([`is_weak`]) is hidden only where it stands as a secret.
    pub fn learn(&self, secret: &str) {
        let secret = secret.trim();
        if secret.is_empty() {
            return;
        }
        // A poisoned lock still holds a usable list: reading it is safer than printing a secret.
        let mut known = self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.learn(secret);
    }

    /// Returns `text` without known secrets and without anything that looks like one, whatever nobody sees stands in
    /// between.
    pub fn clean(&self, text: &str) -> String {
        beside(text.len(), || replaced(text, &self.found(text)))
    }

    /// Returns where secrets stand, in order and apart from each other.
    pub(crate) fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = self.found_as_it_is(text);
        for seen in visible_text::seen(text) {
            spans
                .extend(self.found_as_it_is(seen.text()).into_iter().map(|span| seen.source(span)));
        }
        apart(spans)
    }

    /// Returns where secrets stand in Markdown once its marks are gone, in order and apart from each other.
    fn found_between_marks(&self, markdown: &str) -> Vec<Range<usize>> {
        let bare = visible_text::without_marks(markdown);
        let shown = visible_text::shown(markdown, visible_text::KEY);
        self.found_between(&bare, &shown)
    }

    /// `bare`: without any mark; `shown`: with signs that are none.
    fn found_between(&self, bare: &[Through], shown: &[Through]) -> Vec<Range<usize>> {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut spans = Vec::new();
        for plain in bare {
            for secret in &known.bare {
                let found = plain.text().match_indices(secret.as_str());
                spans.extend(found.map(|(at, _)| plain.source(at..at + secret.len())));
            }
        }
        for shown in shown {
            let found = secret_patterns::found(shown.text()).into_iter();
            let found = found.chain(known.encoded.found(shown.text()));
            spans.extend(found.map(|span| shown.source(span)));
        }
        apart(spans)
    }

    /// Returns where secrets stand in Markdown, as it is and once its marks are gone, in order and apart from each other.
    pub(crate) fn found_in_markdown(&self, markdown: &str) -> Vec<Range<usize>> {
        beside(markdown.len(), || {
            let mut spans = self.found(markdown);
            spans.extend(self.found_between_marks(markdown));
            apart(spans)
        })
    }

    /// Returns where secrets stand in the text of a file, as in Markdown, but for what the targets of links take apart: in a
    /// text of nothing but links these would take far too long.
    pub(crate) fn found_in_file(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = self.found(text);
        if text.is_ascii() && !text.contains(visible_text::MARKS) {
            return spans;
        }
        let shown: Vec<Through> =
            visible_text::shown_with_links(text, visible_text::KEY).into_iter().collect();
        spans.extend(self.found_between(&[visible_text::without_own_marks(text)], &shown));
        apart(spans)
    }

    /// Whether a known secret stands in what is no text, as it is or encoded.
    pub(crate) fn knows_any_in(&self, text: &str) -> bool {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        !known.encoded.found(text).is_empty()
    }

    /// Returns the length of the longest known secret, bytes.
    pub(crate) fn longest(&self) -> usize {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.sure.iter().chain(&known.weak).map(String::len).max().unwrap_or_default()
    }

    fn found_as_it_is(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut spans = secret_patterns::found(text);
        spans.extend(known.encoded.found(text));
        for secret in &known.weak {
            spans.extend(in_place(text, secret));
        }
        spans
    }

    /// Returns a raw event as it is kept: without secrets, and no more of it than 16 KiB.
    pub fn kept(&self, raw: &str) -> String {
        let mut kept = self.clean(raw);
        kept.truncate(kept.floor_char_boundary(RAW_LIMIT));
        kept
    }
}

impl Redactor {
    /// Returns how much of a text that goes on may be shown, cleaned: no secret begins there and ends behind it,
    /// also once it is rendered.
    pub fn settled(&self, text: &str) -> usize {
        beside(text.len(), || self.settled_of(text))
    }

    fn settled_of(&self, text: &str) -> usize {
        let settled = self.unopened(text);
        if settled >= text.len() {
            return text.len();
        }
        // The end of a whole one may be the beginning of another one: it is shown hidden, or not yet.
        let whole = self.found_in_markdown(text).into_iter();
        let mut cut = whole.filter(|span| span.start < settled && settled < span.end);
        cut.next().map_or(settled, |span| span.start)
    }

    /// Where the first secret may have begun that is not whole yet.
    fn unopened(&self, text: &str) -> usize {
        let open = |text: &str| self.open_at(text).min(secret_patterns::open_at(text));
        let mut settled = open(text);
        for seen in visible_text::seen(text) {
            settled = settled.min(seen.settled(open(seen.text())));
        }
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        for plain in visible_text::without_marks(text) {
            let begun =
                known.bare.iter().map(|secret| begun(plain.text(), secret, secret.len() - 1));
            let begun = begun.min().unwrap_or(plain.text().len());
            settled = settled.min(plain.settled(begun));
        }
        for shown in visible_text::shown(text, visible_text::BEGUN_KEY) {
            let open =
                secret_patterns::open_at(shown.text()).min(known.encoded.open_at(shown.text()));
            settled = settled.min(shown.settled(open));
        }
        settled
    }

    /// Where a known secret may have begun that is not whole yet; the text's length when none can have.
    fn open_at(&self, text: &str) -> usize {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Whether a weak one is hidden depends on what follows it, so that a whole one is open, too.
        let weak = known.weak.iter().map(|secret| begun(text, secret, secret.len()));
        weak.min().unwrap_or(text.len()).min(known.encoded.open_at(text))
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Returns where a weak secret stands behind its name (`password=…`), and before the host of a URL.
fn in_place(text: &str, secret: &str) -> Vec<Range<usize>> {
    let (mut spans, mut passed) = (Vec::new(), 0);
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        let (before, after) = (&text[passed..at], &text[end..]);
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
