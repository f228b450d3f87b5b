//! Asks an authorization server for tokens.

use reqwest::Url;
use selkie_domain::clock::SharedClock;
use serde::Deserialize;

use super::challenge::scopes_in;
use super::error::LoginError;
use super::grant::Grant;
use super::oauth_client::{ClientProof, OAuthClient};
use super::wire::Wire;
use crate::settings::OAuthSettings;

const WHAT: &str = "the token endpoint";
/// Bytes of a token: a header has room for it.
const MAX_TOKEN: usize = 16 * 1024;
/// Seconds that a token lives at most, as far as we go by what is said of it.
const MAX_LIFE: u64 = 10 * 365 * 24 * 60 * 60;

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    token_type: String,
    /// Seconds.
    expires_in: Option<f64>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// Asks for the tokens of a grant, with these words besides those that every such question has; the grant takes them. Where
/// no other refresh token is given, the one that was stays.
pub(crate) async fn ask(
    grant: &mut Grant,
    wire: &Wire,
    settings: &OAuthSettings,
    words: &[(&str, &str)],
    clock: &SharedClock,
) -> Result<(), LoginError> {
    let url = wire.address(WHAT, &grant.token_endpoint)?;
    let OAuthClient { id, proof, .. } = &grant.client;
    let mut all = words.to_vec();
    all.push(("resource", &grant.resource));
    let mut basic = None;
    match (proof, settings.secret_of(&grant.client)) {
        (ClientProof::Basic, Some(secret)) => basic = Some(secret),
        (ClientProof::Post, Some(secret)) => {
            all.extend([("client_id", id.as_str()), ("client_secret", secret)]);
        }
        _ => all.push(("client_id", id.as_str())),
    }
    let answer = wire.post(WHAT, url, |request| {
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.body(form(&all));
        match basic {
            Some(secret) => request.basic_auth(encoded(id), Some(encoded(secret))),
            None => request,
        }
    });
    let answer = read(&answer.await?)?;
    grant.ends = answer.ends(clock.now().timestamp());
    if let Some(scope) = &answer.scope {
        grant.scopes = scopes_in(scope);
    }
    grant.access_token = answer.access_token;
    grant.refresh_token = answer.refresh_token.or(grant.refresh_token.take());
    Ok(())
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
    fn ends(&self, now: i64) -> Option<i64> {
        let life = self.expires_in.filter(|life| *life >= 0.0)?;
        Some(now.saturating_add(life.min(MAX_LIFE as f64) as i64))
    }
}

fn form(words: &[(&str, &str)]) -> String {
    // An address of which only the query counts.
    let mut url = Url::parse("http://x").expect("it is an address");
    url.query_pairs_mut().extend_pairs(words);
    url.query().unwrap_or_default().to_owned()
}

fn encoded(text: &str) -> String {
    form(&[(text, "")]).trim_end_matches('=').to_owned()
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
        assert_eq!([encoded("i:d"), encoded("p=w")], ["i%3Ad", "p%3Dw"]);
    }
}
