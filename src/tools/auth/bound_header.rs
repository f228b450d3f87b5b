//! A credential as the header that carries it: the one door to it, which the redactor learns all its forms at.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use selkie_channel_core::Redactor;

use super::error::AuthError;
use super::settings::Bind;

/// A header that carries a credential.
#[derive(Clone)]
pub struct BoundHeader {
    /// Its name.
    pub name: HeaderName,
    /// Its value.
    pub value: HeaderValue,
}

impl BoundHeader {
    /// Makes one. Whatever a server may echo of it is known to the redactor before anybody has it.
    ///
    /// # Errors
    /// It is empty, or does not fit into the header.
    pub fn of(bind: &Bind, credential: &str, redactor: &Redactor) -> Result<Self, AuthError> {
        let credential = credential.trim();
        redactor.learn(credential);
        if credential.is_empty() {
            return Err(AuthError::Empty);
        }
        let written = match bind {
            Bind::Bearer => format!("Bearer {credential}"),
            Bind::Basic if !credential.contains(':') => return Err(AuthError::NoPair),
            Bind::Basic => format!("Basic {}", STANDARD.encode(credential)),
            Bind::Raw | Bind::Header(_) => credential.to_owned(),
        };
        forms(&written).iter().for_each(|form| redactor.learn(form));
        let name = match bind {
            Bind::Header(name) => HeaderName::try_from(name).map_err(|_| AuthError::Unfit)?,
            Bind::Bearer | Bind::Basic | Bind::Raw => AUTHORIZATION,
        };
        let mut value = HeaderValue::from_str(&written).map_err(|_| AuthError::Unfit)?;
        value.set_sensitive(true);
        Ok(Self { name, value })
    }
}

/// Lists what of a header's value is a secret by itself: all of it, what stands behind the scheme, and the pair and password
/// that this encodes.
fn forms(written: &str) -> Vec<String> {
    let mut forms = vec![written.to_owned()];
    let Some((scheme, bare)) = written.split_once(' ') else { return forms };
    forms.push(bare.to_owned());
    let is_basic = scheme.eq_ignore_ascii_case("basic");
    let pair = STANDARD.decode(bare.trim()).ok().filter(|_| is_basic);
    if let Some(pair) = pair.and_then(|pair| String::from_utf8(pair).ok()) {
        forms.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
        forms.push(pair);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_it_is_hidden_once_it_is_bound() {
        let (pair, password) = ("ada:Tr0ub4dor-and-3-more", "Tr0ub4dor-and-3-more");
        let encoded = STANDARD.encode(pair);
        let raw = format!("Basic {encoded}");
        for (bind, credential) in [(Bind::Basic, pair), (Bind::Raw, raw.as_str())] {
            let redactor = Redactor::default();
            let bound = BoundHeader::of(&bind, credential, &redactor).unwrap();
            assert_eq!(bound.value.to_str().unwrap(), raw);
            assert!(!format!("{:?}", bound.value).contains(&encoded));
            for form in [pair, password, &encoded, &raw] {
                let said = redactor.clean(&format!("it says {form}."));
                assert!(!said.contains(form), "{bind:?}: {said}");
            }
        }
        let redactor = Redactor::default();
        let token = "zX9-quiet-otter-4471";
        let bound = BoundHeader::of(&Bind::Bearer, &format!(" {token}\n"), &redactor).unwrap();
        assert_eq!(bound.value.to_str().unwrap(), format!("Bearer {token}"));
        assert!(!redactor.clean(&format!("token {token}")).contains(token));
        let name = Bind::Header("X-Api-Key".to_owned());
        assert_eq!(BoundHeader::of(&name, token, &redactor).unwrap().name, "x-api-key");
    }

    #[test]
    fn what_does_not_fit_is_refused_without_it() {
        let why = |bind: Bind, credential: &str| {
            BoundHeader::of(&bind, credential, &Redactor::default()).err().unwrap().to_string()
        };
        insta::assert_snapshot!([
            why(Bind::Bearer, " \n"),
            why(Bind::Basic, "no-pair-4471"),
            why(Bind::Bearer, "a\r\nHost: x"),
        ].join("\n"), @r"
        the credential is empty
        the credential is to be user:password for bind: basic
        the credential holds characters that no header has
        ");
    }
}
