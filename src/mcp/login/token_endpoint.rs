//! Asks an authorization server for tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Deserialize;

use super::error::LoginError;
use super::oauth_client::{ClientProof, OAuthClient};
use super::wire::Wire;

const WHAT: &str = "the token endpoint";
/// Bytes of a token: a header has room for it.
const MAX_TOKEN: usize = 16 * 1024;
/// Seconds that a token lives at most, as far as we go by what is said of it.
const MAX_LIFE: u64 = 10 * 365 * 24 * 60 * 60;

/// Tokens, as they were given.
#[derive(Deserialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: String,
    token_type: String,
    /// Seconds.
    pub(crate) expires_in: Option<f64>,
    pub(crate) refresh_token: Option<String>,
    pub(crate) scope: Option<String>,
}

/// Who asks for tokens, and where.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) wire: &'a Wire,
    /// Its address, not judged yet.
    pub(crate) address: &'a str,
    pub(crate) client: &'a OAuthClient,
    /// What the client proves itself by.
    pub(crate) secret: Option<&'a str>,
    /// What the tokens are for.
    pub(crate) resource: &'a str,
}

impl TokenEndpoint<'_> {
    /// Asks with these words besides those that every such question has.
    ///
    /// # Errors
    /// There are none.
    pub(crate) async fn ask(&self, words: &[(&str, &str)]) -> Result<TokenAnswer, LoginError> {
        let url = self.wire.address(WHAT, self.address)?;
        let OAuthClient { id, proof, .. } = self.client;
        let mut all = words.to_vec();
        all.push(("resource", self.resource));
        let mut request = self.wire.post(&url);
        match (proof, self.secret) {
            (ClientProof::Basic, Some(secret)) => {
                request = request.header("authorization", basic(id, secret));
            }
            (ClientProof::Post, Some(secret)) => {
                all.extend([("client_id", id.as_str()), ("client_secret", secret)]);
            }
            _ => all.push(("client_id", id.as_str())),
        }
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = self.wire.send(WHAT, request.body(form(&all))).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal(WHAT));
        }
        read(&answer.body)
    }
}

/// Reads tokens. What is wrong with them is said without them.
fn read(body: &[u8]) -> Result<TokenAnswer, LoginError> {
    let none = |why: &str| LoginError::Answer { what: WHAT, why: why.to_owned() };
    let answer: TokenAnswer = serde_json::from_slice(body)
        .map_err(|_| none("it sent no tokens (access_token, token_type)"))?;
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(none("it sent a token that is no Bearer token"));
    }
    let tokens = [Some(&answer.access_token), answer.refresh_token.as_ref()];
    let fits = |token: &String| {
        !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|b| b.is_ascii_graphic())
    };
    let all_fit = tokens.into_iter().flatten().all(fits);
    match all_fit {
        true => Ok(answer),
        false => Err(none("it sent a token that fits into no header")),
    }
}

impl TokenAnswer {
    /// Returns when the access token ends, in seconds of Unix time; nothing where that was not said.
    pub(crate) fn ends(&self, now: i64) -> Option<i64> {
        let life = self.expires_in.filter(|life| *life >= 0.0)?;
        Some(now.saturating_add(life.min(MAX_LIFE as f64) as i64))
    }
}

/// Writes words as a form has them.
fn form(words: &[(&str, &str)]) -> String {
    // An address of which only the query counts.
    let mut url = Url::parse("http://x").expect("it is an address");
    url.query_pairs_mut().extend_pairs(words);
    url.query().unwrap_or_default().to_owned()
}

fn basic(id: &str, secret: &str) -> HeaderValue {
    let encoded = |text: &str| form(&[(text, "")]).trim_end_matches('=').to_owned();
    let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let mut value = HeaderValue::from_str(&format!("Basic {pair}")).expect("it is base64");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> String {
        read(body.as_bytes())
            .map_or_else(|error| error.to_string(), |answer| format!("{:?}", answer.ends(100)))
    }

    #[test]
    fn tokens_are_read_with_care() {
        assert_eq!(
            told(r#"{"access_token":"a","token_type":"bearer","expires_in":60}"#),
            "Some(160)"
        );
        assert_eq!(told(r#"{"access_token":"a","token_type":"Bearer","expires_in":-1}"#), "None");
        assert_eq!(
            told(r#"{"access_token":"a","token_type":"Bearer","expires_in":1e99}"#),
            "Some(315360100)"
        );
        for wrong in [
            r#"{"access_token":"s3cret\nx","token_type":"bearer"}"#,
            r#"{"access_token":"s3cret","token_type":"mac"}"#,
            r#"{"access_token":"s3cret"}"#,
            r#"{"access_token":"","token_type":"bearer"}"#,
            r#"{"access_token":"a","token_type":"bearer","refresh_token":"s3cret x"}"#,
        ] {
            let told = told(wrong);
            assert!(
                told.starts_with("the token endpoint: it sent") && !told.contains("s3cret"),
                "{told}"
            );
        }
    }

    #[test]
    fn a_name_and_a_password_are_written_as_forms_are() {
        assert_eq!(form(&[("a b", "ü&=")]), "a+b=%C3%BC%26%3D");
        assert_eq!(basic("i:d", "p=w"), format!("Basic {}", STANDARD.encode("i%3Ad:p%3Dw")));
    }
}
