//! Hides secrets in text that comes piece by piece: what may yet become one is held back until it is told.

use crate::redact::Redactor;

/// As much of what was shown as is read again to know what stands before a secret, bytes.
const BEFORE: usize = 128;

/// Text on its way to somebody who reads along.
#[derive(Debug)]
pub struct Piecewise {
    redactor: Redactor,
    /// What is not shown yet, behind a little of what is.
    window: String,
    /// So much of the window is shown.
    shown: usize,
}

impl Redactor {
    /// Starts to hide secrets in text that comes piece by piece.
    pub fn piecewise(&self) -> Piecewise {
        Piecewise { redactor: self.clone(), window: String::new(), shown: 0 }
    }
}

impl Piecewise {
    /// Takes a piece; returns what may be shown now, without secrets.
    pub fn push(&mut self, piece: &str) -> String {
        self.window.push_str(piece);
        let settled = self.redactor.settled(&self.window).max(self.shown);
        self.show(settled)
    }

    /// Returns what was held back: the text has ended.
    pub fn finish(mut self) -> String {
        self.show(self.window.len())
    }

    fn show(&mut self, to: usize) -> String {
        let before = self.redactor.clean(&self.window[..self.shown]);
        let now = self.redactor.clean(&self.window[..to]);
        // Where they part, what follows hides something that had begun before: it is told from there.
        let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
        let told = now[now.floor_char_boundary(same)..].to_owned();
        let from = self.window.floor_char_boundary(to.saturating_sub(BEFORE));
        self.window.drain(..from);
        self.shown = to - from;
        told
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(redactor: &Redactor, pieces: &[&str]) -> Vec<String> {
        let mut text = redactor.piecewise();
        let mut told: Vec<String> = pieces.iter().map(|piece| text.push(piece)).collect();
        told.push(text.finish());
        told
    }

    fn knowing(secrets: &[&str]) -> Redactor {
        let redactor = Redactor::default();
        secrets.iter().for_each(|secret| redactor.learn(secret));
        redactor
    }

    #[test]
    fn prose_is_shown_at_once() {
        let redactor = knowing(&["Sw0rdf1sh-Pass"]);
        assert_eq!(
            told(&redactor, &["Hel", "lo", " world", "."]),
            ["Hel", "lo", " world", ".", ""]
        );
        assert_eq!(told(&redactor, &["日本", "語。"]), ["日本", "語。", ""]);
    }

    #[test]
    fn a_secret_is_hidden_wherever_it_is_cut() {
        let token = format!("110201543:AA{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
            "a1B2c3D4e5F6g7H8i9J0".repeat(4)
        );
        for secret in
            ["Sw0rdf1sh-Pass", "two words 4 one", &token, &key, "sk-proj-a1B2c3D4e5F6g7H8i9J0"]
        {
            let redactor = knowing(&["Sw0rdf1sh-Pass", "two words 4 one"]);
            let text = format!("It is {secret} indeed.");
            let whole = redactor.clean(&text);
            assert!(!whole.contains(secret), "{secret}");
            for cut in 0..=text.len() {
                assert_eq!(told(&redactor, &[&text[..cut], &text[cut..]]).concat(), whole, "{cut}");
            }
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            let told = told(&redactor, &letters).concat();
            assert!(!told.contains(&secret[4..]), "{told}");
            assert!(told.ends_with(" indeed."), "{told}");
        }
    }

    #[test]
    fn a_weak_secret_is_hidden_where_it_is_named() {
        let redactor = knowing(&["selkie"]);
        assert_eq!(
            told(&redactor, &["password: sel", "kie", " ok"]).concat(),
            "password: [redacted] ok"
        );
        assert_eq!(told(&redactor, &["the sel", "kies", " swim"]).concat(), "the selkies swim");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_known_is_told(
            parts in prop::collection::vec("[a-z ]{0,6}|Sw0rdf1sh-Pass|Sw0|rdf1sh|-Pass|\n|ä|日", 0..14),
        ) {
            let redactor = knowing(&["Sw0rdf1sh-Pass"]);
            let whole = parts.concat();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let told = told(&redactor, &parts).concat();
            prop_assert_eq!(told, redactor.clean(&whole));
        }
    }
}
