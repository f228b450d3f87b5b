//! The connection to X: what goes out, and what an answer proves.

use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::SecretString;
use selkie_channel_core::Now;
use selkie_channel_core::http::{Client, Fault, PlatformReply, Refusal, Reply, Request};
use selkie_channel_core::locked;
use selkie_channel_core::settings::Url;
use serde_json::Value;

use crate::sign::encoded;

/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// X's windows are a quarter of an hour; how long to wait when it limits us and names no time.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// How long an access token lives when X does not say.
const TOKEN_LIFE: i64 = 7200;

/// The connection, without a word of who calls.
pub struct Wire {
    client: Client,
    base: Url,
    now: Now,
    /// How far X's clock is ahead.
    ahead: Mutex<Option<TimeDelta>>,
}

/// What a refresh brings.
pub struct RefreshReply {
    /// The access token.
    pub access: SecretString,
    /// The next refresh token.
    pub refresh: SecretString,
    /// How long the access token lives.
    pub seconds: i64,
}

impl Wire {
    /// Opens no connection yet.
    pub fn new(client: Client, base: Url, now: Now) -> Self {
        Self { client, base, now, ahead: Mutex::default() }
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns how far X's clock is ahead of ours, as its last answer told.
    pub fn ahead(&self) -> Option<TimeDelta> {
        *locked(&self.ahead)
    }

    /// Returns X's time, as its last answer told.
    pub fn their_time(&self) -> Option<DateTime<Utc>> {
        self.ahead().map(|ahead| (self.now)() + ahead)
    }

    /// Asks for the next tokens. A refresh token works once.
    ///
    /// # Errors
    /// `Refused` when X does not take the token; everything else means that no post was sent.
    pub async fn renew(
        &self,
        id: &str,
        secret: Option<&str>,
        refresh: &str,
    ) -> Result<RefreshReply, Fault> {
        let fields =
            [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", id)];
        let body = fields.map(|(name, value)| format!("{name}={}", encoded(value))).join("&");
        let request = self.client.post(self.url("oauth2/token")).body(body);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = match secret {
            Some(secret) => request.basic_auth(id, Some(secret)),
            None => request,
        };
        let answer = match self.send("oauth2/token", request).await {
            Ok(answer) => answer,
            // What X does not take here is the login itself.
            Err(Fault::Refused(refusal)) if refusal.status != 429 => {
                return Err(Fault::Refused(Refusal { status: 401, ..refusal }));
            }
            Err(Fault::Refused(refusal)) => return Err(Fault::Refused(refusal)),
            Err(fault) => return Err(Fault::NotSent(fault.to_string())),
        };
        let text = |key: &str| answer[key].as_str().map(|t| SecretString::from(t.to_owned()));
        let Some((access, refresh)) = text("access_token").zip(text("refresh_token")) else {
            let message = "X renewed the token and gave no refresh token with it: authorize the app again with the \
                scope offline.access";
            return Err(Fault::Refused(Refusal {
                status: 401,
                words: message.to_owned(),
                ..Refusal::default()
            }));
        };
        let seconds = answer["expires_in"].as_i64().unwrap_or(TOKEN_LIFE);
        Ok(RefreshReply { access, refresh, seconds })
    }

    /// Joins a path to the base.
    pub fn url(&self, path: &str) -> reqwest::Url {
        self.base.below(["2"].into_iter().chain(path.split('/')))
    }

    /// Makes a request.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn send(&self, path: &str, request: RequestBuilder) -> Result<Value, Fault> {
        let call = Request { what: path, request, limit: CALL_LIMIT, progress: None };
        self.client.call(call, |reply| self.said(reply)).await
    }

    /// What X says in an answer.
    fn said(&self, reply: &Reply) -> PlatformReply<Value> {
        let now = (self.now)();
        if let Some(theirs) = reply.date() {
            *locked(&self.ahead) = Some(theirs - now);
        }
        if reply.status == StatusCode::NO_CONTENT {
            return PlatformReply::Done(Value::Null);
        }
        let words = match reply.object() {
            Some(body) if reply.status.is_success() => return PlatformReply::Done(body),
            Some(body) if reply.status.is_client_error() => told(&body),
            // Whoever stands before X may limit too; a 429 is a proof by itself.
            _ if reply.status == StatusCode::TOO_MANY_REQUESTS => "Too Many Requests".to_owned(),
            _ => return PlatformReply::Foreign,
        };
        let retry_after = Some(wait(&reply.headers, now.timestamp()));
        PlatformReply::Refused(Refusal { words, retry_after, ..reply.refusal() })
    }
}

/// So many errors of a list are told.
const MAX_ERRORS: usize = 5;

/// How long until the limit that is used up ends: a day's, where its headers say that nothing is left, else
/// the window's.
fn wait(headers: &HeaderMap, now: i64) -> Duration {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
    let day = |whose: &str| {
        let left = number(&format!("x-{whose}-limit-24hour-remaining"))?;
        number(&format!("x-{whose}-limit-24hour-reset")).filter(|_| left == 0)
    };
    let reset = [day("user"), day("app"), number("x-rate-limit-reset")];
    // A moment that no calendar knows is none.
    let reset = reset.into_iter().flatten().filter(|at| DateTime::from_timestamp(*at, 0).is_some());
    let Some(at) = reset.max() else {
        return number("retry-after")
            .and_then(|s| u64::try_from(s).ok())
            .map_or(WINDOW, Duration::from_secs);
    };
    // A second more: X counts whole ones.
    Duration::from_secs(u64::try_from(at - now).unwrap_or(0) + 1)
}

/// X's title and detail, wherever they stand, or what its token server says.
fn told(body: &Value) -> String {
    let errors = body["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let mut all = [body].into_iter().chain(errors.iter().take(MAX_ERRORS)).filter_map(words_of);
    let Some(first) = all.next() else { return "no words".to_owned() };
    // A problem's own list of errors says what the problem is about.
    let more: Vec<String> = all.filter(|words| !first.contains(words.as_str())).collect();
    if more.is_empty() { first } else { format!("{first} ({})", more.join("; ")) }
}

fn words_of(told: &Value) -> Option<String> {
    let text = |key: &str| told[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let detail = text("detail").or_else(|| text("error_description")).or_else(|| text("message"));
    let title = text("title").or_else(|| detail.is_none().then(|| text("error")).flatten());
    match (title, detail) {
        (Some(title), Some(detail)) if !detail.starts_with(title) => {
            Some(format!("{title}: {detail}"))
        }
        (title, detail) => detail.or(title).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_a_refusal_are_found_wherever_they_stand() {
        let rows = [
            (json!({ "title": "Forbidden", "detail": "No." }), "Forbidden: No."),
            (json!({ "title": "Unauthorized", "detail": "Unauthorized" }), "Unauthorized"),
            (json!({ "errors": [{ "message": "Bad token.", "code": 89 }] }), "Bad token."),
            (
                json!({ "errors": [{ "title": "Forbidden", "detail": "Not you.", "status": 403 }] }),
                "Forbidden: Not you.",
            ),
            (
                json!({ "title": "Invalid Request", "detail": "One or more parameters.",
                    "errors": [{ "message": "text: too long" }, { "message": "reply: gone" }] }),
                "Invalid Request: One or more parameters. (text: too long; reply: gone)",
            ),
            (json!({ "error": "invalid_request", "error_description": "Old." }), "Old."),
            (json!({ "error": "invalid_request" }), "invalid_request"),
            (json!({}), "no words"),
        ];
        for (body, wanted) in rows {
            assert_eq!(told(&body), wanted);
        }
    }

    #[test]
    fn the_wait_is_until_the_limit_that_is_used_up_ends() {
        let wait = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()));
            wait(&headers.collect(), 1000).as_secs()
        };
        assert_eq!(wait(&[("x-rate-limit-reset", "1030")]), 31);
        assert_eq!(wait(&[("x-rate-limit-reset", "900")]), 1);
        let day = [
            ("x-rate-limit-reset", "1030"),
            ("x-user-limit-24hour-remaining", "0"),
            ("x-user-limit-24hour-reset", "5000"),
            ("x-app-limit-24hour-remaining", "7"),
            ("x-app-limit-24hour-reset", "9000"),
        ];
        assert_eq!(wait(&day), 4001);
        assert_eq!(wait(&[("retry-after", "7")]), 7);
        assert_eq!(wait(&[("x-rate-limit-reset", "soon")]), 900);
    }
}
