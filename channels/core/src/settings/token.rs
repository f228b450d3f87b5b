//! A secret as its platform shows it.

use std::ops::Deref;

use secrecy::{ExposeSecret, SecretString};

/// A secret: one word, and never printed.
#[derive(Clone, Debug)]
pub struct Token(SecretString);

impl Token {
    /// Reads a secret of a section.
    ///
    /// # Errors
    /// `missing` when there is none, `misshapen` when it is not one word; the value never.
    pub fn read(
        value: Option<&SecretString>,
        missing: impl FnOnce() -> String,
        misshapen: impl FnOnce() -> String,
    ) -> Result<Self, String> {
        let text = value.map(|value| value.expose_secret().trim()).unwrap_or_default();
        if text.is_empty() {
            return Err(missing());
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(misshapen());
        }
        Ok(Self(SecretString::from(text.to_owned())))
    }
}

impl Deref for Token {
    type Target = SecretString;

    fn deref(&self) -> &SecretString {
        &self.0
    }
}

impl From<Token> for SecretString {
    fn from(token: Token) -> Self {
        token.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_is_never_shown() {
        let read = |text: &str| {
            let value = SecretString::from(text.to_owned());
            Token::read(Some(&value), || "missing".to_owned(), || "misshapen".to_owned())
        };
        let token = read(" hunter2\n").unwrap();
        assert_eq!(token.expose_secret(), "hunter2");
        assert!(!format!("{token:?}").contains("hunter2"));
        assert_eq!(read("hunter2 hunter2").unwrap_err(), "misshapen");
        assert_eq!(read(" ").unwrap_err(), "missing");
        assert!(Token::read(None, || "missing".to_owned(), String::new).is_err());
    }
}
