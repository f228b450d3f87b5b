//! Keeps secrets out of everything that leaves the process.
//!
//! Known secrets are replaced by value; a bot token is also replaced by its look, because a platform
//! may put one into an error text that we never saw before. No regular expressions: twelve of them with
//! Unicode classes cost more memory than the rest of the daemon.

use std::sync::{Arc, RwLock};

const MARK: &str = "[redacted]";
/// Shorter values would hide ordinary words.
const SHORTEST: usize = 6;

/// Replaces secrets in text. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Vec<String>>>,
}

impl Redactor {
    /// Remembers a secret. Values under six characters are ignored.
    pub fn learn(&self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < SHORTEST {
            return;
        }
        // A poisoned lock still holds a usable list: reading it is safer than printing a secret.
        let mut known = self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !known.iter().any(|k| k == secret) {
            known.push(secret.to_owned());
            known.sort_by_key(|k| std::cmp::Reverse(k.len()));
        }
    }

    /// Returns `text` without known secrets and without anything that looks like a bot token.
    pub fn clean(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut out = text.to_owned();
        for secret in known.iter() {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), MARK);
            }
        }
        drop(known);
        hide_bot_tokens(&out)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Hides `<digits>:<30 or more of A-Za-z0-9_->`, the look of a Telegram bot token.
fn hide_bot_tokens(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(colon) = bytes[at..].iter().position(|b| *b == b':').map(|i| at + i) {
        let start = bytes[copied..colon].iter().rposition(|b| !b.is_ascii_digit());
        let start = start.map_or(copied, |i| copied + i + 1);
        let tail = bytes[colon + 1..].iter().take_while(|b| token_byte(**b)).count();
        if colon - start >= 5 && tail >= 30 {
            out.push_str(&text[copied..start]);
            out.push_str(MARK);
            copied = colon + 1 + tail;
        }
        at = colon + 1;
    }
    out.push_str(&text[copied..]);
    out
}

fn token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
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

    proptest! {
        #[test]
        fn text_without_colons_is_untouched(text in "[^:]{0,200}") {
            prop_assert_eq!(Redactor::default().clean(&text), text);
        }

        #[test]
        fn a_learned_secret_never_survives(secret in "[a-z]{6,20}", before in ".{0,40}", after in ".{0,40}") {
            let redactor = Redactor::default();
            redactor.learn(&secret);
            let text = format!("{before}{secret}{after}");
            prop_assert!(!redactor.clean(&text).contains(&secret));
        }
    }
}
