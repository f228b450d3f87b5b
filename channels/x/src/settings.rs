//! The `x` section of the configuration: its keys, the three ways to prove who posts, every problem at once.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::settings::{self, Findings, PaceName, Token, Url};
use selkie_channel_core::{AlsoCalled, Pace, Problem};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::credential::Login;
use crate::sign::Keys;

/// The keys that hold secrets.
pub const SECRETS: [&str; 8] = [
    "consumer_key",
    "consumer_secret",
    "access_token",
    "access_token_secret",
    "client_id",
    "client_secret",
    "refresh_token",
    "bearer_token",
];

/// X's older words for a user's bearer.
pub const ALSO: [AlsoCalled; 1] = [AlsoCalled {
    key: "bearer_token",
    written: ("twitter", "bearer_token"),
    variable: "TWITTER_BEARER_TOKEN",
    home: ("base_url", HOME),
}];

/// Where the API is.
const HOME: &str = "https://api.x.com";

/// The `x` section. One of three ways proves who posts: the four keys of OAuth 1.0a, `client_id` with a
/// `refresh_token`, or a `bearer_token` of a user.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// OAuth 1.0a: the app's API key. A secret; `consumer_key_file` is better.
    #[schemars(with = "Option<String>")]
    consumer_key: Option<SecretString>,
    /// OAuth 1.0a: the app's API key secret. A secret.
    #[schemars(with = "Option<String>")]
    consumer_secret: Option<SecretString>,
    /// OAuth 1.0a: the user's access token, made with "Read and write" permission. A secret.
    #[schemars(with = "Option<String>")]
    access_token: Option<SecretString>,
    /// OAuth 1.0a: the user's access token secret. A secret.
    #[schemars(with = "Option<String>")]
    access_token_secret: Option<SecretString>,
    /// OAuth 2.0: the app's client id.
    #[schemars(with = "Option<String>")]
    client_id: Option<SecretString>,
    /// OAuth 2.0: the app's client secret; public clients have none. A secret.
    #[schemars(with = "Option<String>")]
    client_secret: Option<SecretString>,
    /// OAuth 2.0: the first refresh token of the user (scopes tweet.read, tweet.write, users.read, media.write,
    /// offline.access; media.write is for pictures). It works once; its successors are kept in the state folder. A
    /// secret.
    #[schemars(with = "Option<String>")]
    refresh_token: Option<SecretString>,
    /// OAuth 2.0: a user's access token that somebody else renews. An app's bearer cannot post. A secret.
    #[schemars(with = "Option<String>")]
    bearer_token: Option<SecretString>,
    /// Whether the posts of a thread end with their number, `2/5`.
    numbering: bool,
    /// Posts in a calendar month (UTC) at most: what goes beyond is refused with the day on which the count begins
    /// anew. What X's free plan gives; pay as you go has no such limit but its price.
    #[schemars(range(min = 1))]
    posts_a_month: Month,
    /// Where the API is; ends before `/2`. Another server or a proxy can stand in.
    base_url: Base,
    /// `platform` posts once a second at most; `lifted` as fast as it can, for benchmarks.
    pace: PaceName,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
struct Month(NonZeroU32);

impl Default for Month {
    fn default() -> Self {
        const FREE: NonZeroU32 = NonZeroU32::new(500).expect("it is not zero");
        Self(FREE)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
struct Base(String);

impl Default for Base {
    fn default() -> Self {
        Self(HOME.to_owned())
    }
}

/// The section, checked.
#[derive(Debug)]
pub struct CheckedSettings {
    /// How it is proven who posts.
    pub login: Login,
    /// Ends before `/2`.
    pub base: Url,
    /// Whether the posts of a thread are numbered.
    pub numbering: bool,
    /// Posts in a month at most.
    pub posts_a_month: u32,
    /// How fast it may speak.
    pub pace: Pace,
}

/// Checks the section. `Ok(None)` when it is absent or empty.
///
/// # Errors
/// Every problem at once, each naming key, value (never a secret) and what is taken.
pub fn read(section: Value) -> Result<Option<CheckedSettings>, Vec<Problem>> {
    settings::read(section, &SECRETS, taken, check)
}

fn check(settings: Settings, findings: &mut Findings) -> Option<CheckedSettings> {
    let base = findings.take("base_url", Url::read(&settings.base_url.0, HOME));
    let numbering = settings.numbering;
    let pace = settings.pace.pace(PACE);
    let posts_a_month = settings.posts_a_month.0.get();
    let login = login(settings);
    let login = login.map_err(|found| found.into_iter().for_each(|p| findings.add(p))).ok();
    Some(CheckedSettings { login: login?, base: base?, numbering, posts_a_month, pace })
}

fn taken(key: &str) -> Option<&'static str> {
    Some(match key {
        key if SECRETS.contains(&key) => "the value from X's developer console, as text",
        "numbering" => "true or false",
        "posts_a_month" => "a whole number, 1 or more",
        "base_url" => "a URL such as https://api.x.com",
        "pace" => PaceName::TAKEN,
        _ => return None,
    })
}

/// Finds the one way that is complete.
fn login(settings: Settings) -> Result<Login, Vec<Problem>> {
    let Settings { consumer_key, consumer_secret, access_token, access_token_secret, .. } =
        settings;
    let one = [consumer_key, consumer_secret, access_token, access_token_secret];
    let two = [settings.client_id, settings.refresh_token];
    let is_two = two.iter().chain([&settings.client_secret]).any(Option::is_some);
    let ways = [one.iter().any(Option::is_some), is_two, settings.bearer_token.is_some()];
    match ways.iter().filter(|begun| **begun).count() {
        1 => {}
        0 => return Err(vec![Problem::of("", NO_WAY)]),
        _ => return Err(vec![Problem::of(begun(ways), TOO_MANY_WAYS)]),
    }
    let mut problems = Vec::new();
    let mut take = |key: &str, value: Option<SecretString>| {
        secret(value).map_err(|message| problems.push(Problem::of(key, message))).ok()
    };
    let login = if ways[0] {
        let keys = ["consumer_key", "consumer_secret", "access_token", "access_token_secret"];
        let mut values = keys.iter().zip(one).map(|(key, value)| take(key, value));
        let [consumer, consumer_secret, token, token_secret] =
            std::array::from_fn(|_| values.next().flatten());
        (|| Some(Login::One(Keys::new([consumer?, consumer_secret?, token?, token_secret?]))))()
    } else if ways[1] {
        let [id, refresh] = two;
        let id = take("client_id", id);
        let refresh = take("refresh_token", refresh);
        let secret = settings.client_secret.map(|value| take("client_secret", Some(value)));
        (|| Some(Login::Two { id: id?, secret: secret.flatten(), refresh: refresh? }))()
    } else {
        take("bearer_token", settings.bearer_token).map(Login::Bearer)
    };
    login.filter(|_| problems.is_empty()).ok_or(problems)
}

const NO_WAY: &str = "has no login: give consumer_key, consumer_secret, access_token and access_token_secret \
    (OAuth 1.0a, from X's developer console), or client_id and refresh_token (OAuth 2.0), or bearer_token (a user's \
    own)";

const TOO_MANY_WAYS: &str = "is set beside another login: keep one of consumer_key, consumer_secret, access_token \
    and access_token_secret (OAuth 1.0a), client_id and refresh_token (OAuth 2.0), bearer_token (a user's own)";

/// The first key of the later way that is begun.
fn begun(ways: [bool; 3]) -> &'static str {
    if ways[2] { "bearer_token" } else { "client_id" }
}

fn secret(value: Option<SecretString>) -> Result<SecretString, String> {
    let missing =
        "is missing: copy it from X's developer console into a file and name it here with _file";
    let misshapen = "the value is not a key of X; write it without spaces or quotes";
    let token = Token::read(value.as_ref(), || missing.to_owned(), || misshapen.to_owned())?;
    Ok(token.into())
}

/// A post a second.
const PACE: Pace = Pace { per_account_second: NonZeroU32::new(1), ..Pace::LIFTED };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(section: Value) -> String {
        let problems = read(section).unwrap_err();
        let lines = problems.iter().map(|p| format!("{}: {}", p.key, p.message));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_absent_section_is_no_channel() {
        assert!(read(Value::Null).unwrap().is_none());
        assert!(read(json!({})).unwrap().is_none());
    }

    #[test]
    fn everything_wrong_is_told_at_once_and_the_secrets_never() {
        let text = says(json!({
            "consumer_key": "hunter2 hunter2",
            "consumer_secret": ["hunter2"],
            "access_token": "ok",
            "base_url": "ftp://x",
            "numbering": "yes",
            "tweets": 1,
            "pace": "fast",
        }));
        assert!(!text.contains("hunter2"), "{text}");
        insta::assert_snapshot!(text, @r#"
        consumer_secret: the value is not accepted; it takes the value from X's developer console, as text
        numbering: "yes" is not accepted; it takes true or false
        tweets: unknown field `tweets`, expected one of `consumer_key`, `consumer_secret`, `access_token`, `access_token_secret`, `client_id`, `client_secret`, `refresh_token`, `bearer_token`, `numbering`, `posts_a_month`, `base_url`, `pace`
        pace: "fast" is not accepted; it takes platform or lifted
        base_url: "ftp://x" is not accepted; it takes a URL such as https://api.x.com
        consumer_key: the value is not a key of X; write it without spaces or quotes
        access_token_secret: is missing: copy it from X's developer console into a file and name it here with _file
        "#);
    }

    #[test]
    fn one_way_is_taken_and_no_more() {
        insta::assert_snapshot!(says(json!({ "numbering": true })), @": has no login: give consumer_key, consumer_secret, access_token and access_token_secret (OAuth 1.0a, from X's developer console), or client_id and refresh_token (OAuth 2.0), or bearer_token (a user's own)");
        let both = json!({ "client_id": "a", "refresh_token": "b", "bearer_token": "c" });
        insta::assert_snapshot!(says(both), @"bearer_token: is set beside another login: keep one of consumer_key, consumer_secret, access_token and access_token_secret (OAuth 1.0a), client_id and refresh_token (OAuth 2.0), bearer_token (a user's own)");
        insta::assert_snapshot!(says(json!({ "client_secret": "a" })), @"
        client_id: is missing: copy it from X's developer console into a file and name it here with _file
        refresh_token: is missing: copy it from X's developer console into a file and name it here with _file
        ");
        let one = json!({ "consumer_key": "a", "consumer_secret": "b", "access_token": "c",
            "access_token_secret": "d" });
        assert!(matches!(read(one).unwrap().unwrap().login, Login::One(_)));
        let two = json!({ "client_id": "a", "refresh_token": "b" });
        assert!(matches!(read(two).unwrap().unwrap().login, Login::Two { secret: None, .. }));
        let three = read(json!({ "bearer_token": "made_up" })).unwrap().unwrap();
        assert!(!format!("{three:?}").contains("made_up"));
    }

    #[test]
    fn the_schema_names_every_key_and_default() {
        let schema = schemars::schema_for!(Settings);
        let keys = schema.get("properties").and_then(Value::as_object).unwrap();
        let lines = keys.iter().map(|(key, value)| format!("{key}: {}", value["default"]));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
        consumer_key: null
        consumer_secret: null
        access_token: null
        access_token_secret: null
        client_id: null
        client_secret: null
        refresh_token: null
        bearer_token: null
        numbering: false
        posts_a_month: 500
        base_url: "https://api.x.com"
        pace: "platform"
        "#);
    }
}
