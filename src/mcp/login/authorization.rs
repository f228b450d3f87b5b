//! What a browser is asked to bring, and what it may bring back: state, PKCE, and who answers (RFC 7636, 9207).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use selkie_domain::chance::Chance;
use sha2::{Digest as _, Sha256};

use super::discovery::ServerDocument;
use super::error::LoginError;
use super::grant::Grant;
use crate::text::short;

const MAX_ANSWER: usize = 16 * 1024;
/// Characters of a secret made by chance, each of six bits.
const SECRET: usize = 43;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A question to an authorization server that a browser carries.
pub(crate) struct AuthorizationRequest {
    /// Proves that the question was ours.
    pub(crate) verifier: String,
    state: String,
    issuer: String,
    /// The answer must name the issuer.
    is_named: bool,
}

impl AuthorizationRequest {
    pub(crate) fn new(at: &ServerDocument, chance: &dyn Chance) -> Self {
        Self {
            verifier: secret(chance),
            state: secret(chance),
            issuer: at.issuer.clone(),
            is_named: at.authorization_response_iss_parameter_supported,
        }
    }

    /// Writes it behind the authorization endpoint.
    pub(crate) fn address(&self, endpoint: &Url, redirect: &str, about: &Grant) -> Url {
        let mut url = endpoint.clone();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &about.client.id)
            .append_pair("redirect_uri", redirect)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &about.resource);
        if !about.scopes.is_empty() {
            url.query_pairs_mut().append_pair("scope", &about.scopes.join(" "));
        }
        url
    }

    /// Reads the code that a browser brings. Nothing of the answer counts, and nothing of it is told, before it is clear
    /// that it is the answer to this question, and whose.
    pub(crate) fn code(&self, query: &str) -> Result<String, LoginError> {
        let odd = |why: &str| {
            LoginError::Unusable(format!("the answer of the browser is not used: {why}"))
        };
        if query.len() > MAX_ANSWER {
            return Err(odd("it is too long"));
        }
        let url = Url::parse(&format!("http://x/?{query}")).map_err(|_| odd("it is no query"))?;
        let value = |key: &str| {
            let mut found = url.query_pairs().filter(|(name, _)| name == key);
            let value = found.next().map(|(_, value)| value.into_owned());
            match found.next() {
                Some(_) => Err(odd(&format!("{key} stands there twice"))),
                None => Ok(value.unwrap_or_default()),
            }
        };
        if value("state")? != self.state {
            return Err(odd("it belongs to another question (state)"));
        }
        let named = value("iss")?;
        if named != self.issuer && (self.is_named || !named.is_empty()) {
            return Err(LoginError::issuer("the answer of the browser", &named, &self.issuer));
        }
        let error = value("error")?;
        if !error.is_empty() {
            let words = short(&value("error_description")?, 200);
            let code = short(&error, 60);
            return Err(LoginError::Refused { what: "the authorization server", code, words });
        }
        Some(value("code")?).filter(|code| !code.is_empty()).ok_or_else(|| odd("it has no code"))
    }
}

fn secret(chance: &dyn Chance) -> String {
    let letter = |_| char::from(ALPHABET[(chance.unit() * 64.0) as usize & 63]);
    (0..SECRET).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use selkie_domain::chance::{FixedChance, SystemChance};

    use super::*;

    fn request(is_named: bool) -> AuthorizationRequest {
        AuthorizationRequest {
            verifier: "v".to_owned(),
            state: "s".to_owned(),
            issuer: "https://a.example".to_owned(),
            is_named,
        }
    }

    fn told(is_named: bool, query: &str) -> String {
        request(is_named).code(query).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn an_answer_counts_when_it_is_to_this_question_and_of_whom_was_asked() {
        let iss = "iss=https%3A%2F%2Fa.example";
        assert_eq!(told(false, "code=c&state=s"), "c");
        assert_eq!(told(true, &format!("code=c&state=s&{iss}")), "c");
        insta::assert_snapshot!([
            told(false, "code=c"),
            told(false, "code=c&state=S"),
            told(false, "code=c&state=s&state=t"),
            told(false, "state=s"),
            told(true, "code=c&state=s"),
            told(false, &format!("code=c&state=s&{iss}%2F")),
            told(true, "error=access_denied&error_description=call+1-800&state=s"),
            told(true, &format!("error=access_denied&error_description=no&state=s&{iss}")),
            told(false, &format!("code=c&state=s&x={}", "x".repeat(MAX_ANSWER))),
        ].join("\n"), @r#"
        the answer of the browser is not used: it belongs to another question (state)
        the answer of the browser is not used: it belongs to another question (state)
        the answer of the browser is not used: state stands there twice
        the answer of the browser is not used: it has no code
        the answer of the browser names the issuer "", not "https://a.example": nothing of it is used
        the answer of the browser names the issuer "https://a.example/", not "https://a.example": nothing of it is used
        the answer of the browser names the issuer "", not "https://a.example": nothing of it is used
        the authorization server refuses: access_denied: no
        the answer of the browser is not used: it is too long
        "#);
    }

    #[test]
    fn secrets_are_long_and_differ() {
        assert_eq!(secret(&FixedChance(0.999)), "_".repeat(43));
        assert_ne!(secret(&SystemChance), secret(&SystemChance));
    }
}
