//! One call to X's API: out over one client, back as a result that says what is proven.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::SecretString;
use selkie_channel_core::{Now, Redactor, client, json};
use serde_json::Value;

use crate::credential::{Credential, Login};
use crate::sign::encoded;

/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// X's windows are a quarter of an hour; how long to wait when it limits us and names no time.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// How long an access token lives when X does not say.
const TOKEN_LIFE: i64 = 7200;

/// What a client is made of.
pub struct Platform {
    /// Ends before `/2`.
    pub base: Url,
    /// The one TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// Knows the secrets.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
    /// The time.
    pub now: Now,
    /// The channel's own folder.
    pub folder: PathBuf,
}

/// Calls X for one account.
pub struct Api {
    wire: Wire,
    credential: Credential,
}

/// The connection, without a word of who calls.
pub struct Wire {
    client: Client,
    base: Url,
    redactor: Redactor,
    now: Now,
    /// How far X's clock is ahead.
    ahead: Mutex<Option<TimeDelta>>,
}

/// What a refresh brings.
pub struct Renewed {
    /// The access token.
    pub access: SecretString,
    /// The next refresh token.
    pub refresh: SecretString,
    /// How long the access token lives.
    pub seconds: i64,
}

/// Why there is no answer, by what is proven.
#[derive(Debug)]
pub enum Fault {
    /// Nothing reached X.
    NotSent(String),
    /// X refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// X's own refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// X's title and detail, cleaned.
    pub text: String,
    /// How long to wait, with a status of 429.
    pub wait: Duration,
}

impl Fault {
    /// Says it for a log; never holds a secret.
    pub fn words(self) -> String {
        match self {
            Self::NotSent(why) | Self::Unclear(why) => why,
            Self::Refused(refusal) => format!("X says {}: {}", refusal.code, refusal.text),
        }
    }
}

impl Api {
    /// Opens a client.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(platform: Platform, login: Login) -> Result<Self, String> {
        let Platform { base, tls, redactor, user_agent, now, folder } = platform;
        let client = client::builder(&tls, &user_agent)
            .build()
            .map_err(|e| redactor.clean(&format!("no HTTP client: {}", client::words(e))))?;
        let credential = Credential::new(login, folder, redactor.clone(), Arc::clone(&now));
        Ok(Self { wire: Wire { client, base, redactor, now, ahead: Mutex::default() }, credential })
    }

    /// Posts JSON to a path below `/2`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        let url = self.wire.url(path);
        self.call("POST", &url, |client| client.post(url.clone()).json(body)).await
    }

    /// Asks for a path below `/2`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Fault> {
        let mut url = self.wire.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.call("GET", &url, |client| client.get(url.clone())).await
    }

    /// Returns how far X's clock is ahead of ours, as its last answer told.
    pub fn ahead(&self) -> Option<TimeDelta> {
        *self.wire.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the keys of the config by which it is proven who posts.
    pub fn keys(&self) -> &'static str {
        self.credential.keys()
    }

    async fn call(
        &self,
        method: &str,
        url: &Url,
        request: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Value, Fault> {
        let once = async || {
            let header = self.credential.header(&self.wire, method, url).await?;
            let request = request(&self.wire.client).header(AUTHORIZATION, &header);
            Ok((self.wire.send(url.path(), request).await, header))
        };
        match once().await? {
            (Err(Fault::Refused(refusal)), header)
                if refusal.code == 401 && self.credential.refused(&header).await =>
            {
                once().await?.0
            }
            (answer, _) => answer,
        }
    }
}

impl Wire {
    /// Asks for the next tokens. A refresh token works once.
    ///
    /// # Errors
    /// `Refused` when X does not take the token; everything else means that no post was sent.
    pub async fn renew(
        &self,
        id: &str,
        secret: Option<&str>,
        refresh: &str,
    ) -> Result<Renewed, Fault> {
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
            Err(Fault::Refused(refusal)) if refusal.code != 429 => {
                return Err(Fault::Refused(Refusal { code: 401, ..refusal }));
            }
            Err(Fault::Refused(refusal)) => return Err(Fault::Refused(refusal)),
            Err(fault) => return Err(Fault::NotSent(fault.words())),
        };
        let text = |key: &str| answer[key].as_str().map(|t| SecretString::from(t.to_owned()));
        let (Some(access), Some(refresh)) = (text("access_token"), text("refresh_token")) else {
            let says = "X renewed the token and gave no refresh token with it: authorize the app again with the \
                scope offline.access";
            return Err(Fault::Refused(Refusal {
                code: 401,
                text: says.to_owned(),
                ..Refusal::default()
            }));
        };
        let seconds = answer["expires_in"].as_i64().unwrap_or(TOKEN_LIFE);
        Ok(Renewed { access, refresh, seconds })
    }

    /// Joins a path to the base; an http(s) URL always has segments: the settings take no other.
    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("2").extend(path.split('/'));
        }
        url
    }

    async fn send(&self, path: &str, request: RequestBuilder) -> Result<Value, Fault> {
        let sent = request.timeout(CALL_LIMIT).send().await;
        let response = sent.map_err(|e| {
            let not_sent = client::never_left(&e);
            let words = self.words(path, e);
            if not_sent { Fault::NotSent(words) } else { Fault::Unclear(words) }
        })?;
        self.read(path, response).await
    }

    async fn read(&self, path: &str, response: Response) -> Result<Value, Fault> {
        let status = response.status();
        let now = (self.now)();
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        if let Some(theirs) = date.and_then(|date| DateTime::parse_from_rfc2822(date).ok()) {
            let ahead = Some(theirs.with_timezone(&Utc) - now);
            *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = ahead;
        }
        let wait = wait(response.headers(), now.timestamp());
        let bytes = client::read(response, client::MOST_ANSWER).await;
        let bytes =
            bytes.map_err(|why| Fault::Unclear(self.redactor.clean(&format!("{path}: {why}"))))?;
        let body = json::read_bytes::<Value>(&bytes).ok().filter(Value::is_object);
        let code = status.as_u16();
        match body {
            Some(body) if status.is_success() => Ok(body),
            Some(body) if status.is_client_error() => {
                let text = self.redactor.clean(&told(&body));
                Err(Fault::Refused(Refusal { code, text, wait }))
            }
            // Whoever stands before X may limit too; a 429 is a proof by itself.
            _ if status == StatusCode::TOO_MANY_REQUESTS => {
                let text = "Too Many Requests".to_owned();
                Err(Fault::Refused(Refusal { code, text, wait }))
            }
            _ => Err(Fault::Unclear(self.redactor.clean(&format!(
                "{path}: HTTP {code} that is not an answer from X: {}",
                client::beginning(&bytes)
            )))),
        }
    }

    /// Returns a client's error in words.
    fn words(&self, what: &str, error: reqwest::Error) -> String {
        self.redactor.clean(&format!("{what}: {}", client::words(error)))
    }
}

/// So many errors of a list are told.
const MOST_ERRORS: usize = 5;

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
    let mut all = [body].into_iter().chain(errors.iter().take(MOST_ERRORS)).filter_map(words_of);
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
