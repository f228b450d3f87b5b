//! Who calls: signatures, users' tokens and their renewal, and an app's bearer, which is nobody.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use ring::hmac;
use serde_json::{Value, json};

use super::keys::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, APP_BEARER, BEARER_WITHOUT_MEDIA, CLIENT_ID, CONSUMER_KEY,
    CONSUMER_SECRET, NEXT_USER_BEARER, OTHER_USER_BEARER, USER_BEARER,
};
use super::refusal::Refusal;
use super::server::World;
use crate::form::{decoded, pairs};

const LIFE: i64 = 7200;
/// How far a signature's time may be off.
const OFF: i64 = 300;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    User,
    /// A user whose token may not upload.
    WithoutMedia,
    App,
    /// A user of another account.
    Another,
}

/// A request as it is signed.
pub(super) struct SignedRequest<'a> {
    pub(super) method: &'a str,
    /// With scheme, host and path, without the query.
    pub(super) url: &'a str,
    /// Decoded.
    pub(super) query: &'a [(String, String)],
    pub(super) now: DateTime<Utc>,
}

/// Tells who calls, or refuses.
pub(super) fn caller(
    world: &mut World,
    headers: &HeaderMap,
    signed: &SignedRequest<'_>,
) -> Result<Caller, Refusal> {
    let header = headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if let Some(fields) = header.strip_prefix("OAuth ") {
        return if is_signed(world, fields, signed).is_some() {
            Ok(Caller::User)
        } else {
            Err(unauthorized())
        };
    }
    let token = header.strip_prefix("Bearer ").unwrap_or_default();
    let lives = |token: &str| world.access.get(token).is_some_and(|until| *until > signed.now);
    match token {
        USER_BEARER | NEXT_USER_BEARER => Ok(Caller::User),
        BEARER_WITHOUT_MEDIA => Ok(Caller::WithoutMedia),
        APP_BEARER => Ok(Caller::App),
        OTHER_USER_BEARER => Ok(Caller::Another),
        token if lives(token) => Ok(Caller::User),
        _ => Err(unauthorized()),
    }
}

fn unauthorized() -> Refusal {
    Refusal::new(401, "Unauthorized", "Unauthorized")
}

/// Checks a signature; `None` when anything of it is wrong.
fn is_signed(world: &mut World, fields: &str, signed: &SignedRequest<'_>) -> Option<()> {
    let mut all = BTreeMap::new();
    for field in fields.split(',') {
        let (name, value) = field.trim().split_once('=')?;
        all.insert(name.to_owned(), decoded(value.strip_prefix('"')?.strip_suffix('"')?));
    }
    let signature = all.remove("oauth_signature")?;
    let is = |name: &str, wanted: &str| all.get(name).is_some_and(|value| value == wanted);
    let named = is("oauth_consumer_key", CONSUMER_KEY) && is("oauth_token", ACCESS_TOKEN);
    if !named || !is("oauth_signature_method", "HMAC-SHA1") || !is("oauth_version", "1.0") {
        return None;
    }
    let seconds: i64 = all.get("oauth_timestamp")?.parse().ok()?;
    let nonce = all.get("oauth_nonce").filter(|nonce| !nonce.is_empty())?.clone();
    if (seconds - signed.now.timestamp()).abs() > OFF {
        return None;
    }
    let mut pairs: Vec<String> = all
        .iter()
        .chain(signed.query.iter().map(|(name, value)| (name, value)))
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.sort();
    let base = [signed.method, &encoded(signed.url), &encoded(&pairs.join("&"))].join("&");
    let key = format!("{CONSUMER_SECRET}&{ACCESS_TOKEN_SECRET}");
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    let made = STANDARD.encode(hmac::sign(&key, base.as_bytes()));
    (made == signature && world.nonces.insert(nonce)).then_some(())
}

/// Renews a user's tokens: a refresh token works once.
pub(super) fn renew(world: &mut World, body: &[u8], now: DateTime<Utc>) -> Result<Value, Refusal> {
    let body = String::from_utf8_lossy(body);
    let fields: BTreeMap<String, String> = pairs(&body).into_iter().collect();
    let is = |name: &str, wanted: &str| fields.get(name).is_some_and(|value| value == wanted);
    let refuse = |error: &str, says: &str| {
        Err(Refusal {
            status: 400,
            body: json!({ "error": error, "error_description": says }),
            reset: None,
        })
    };
    if !is("client_id", CLIENT_ID) {
        return refuse("invalid_client", "Value passed for the client was invalid.");
    }
    if !is("grant_type", "refresh_token") {
        return refuse("unsupported_grant_type", "Value passed for the grant type was invalid.");
    }
    if !is("refresh_token", &world.refresh.clone()) {
        return refuse("invalid_request", "Value passed for the token was invalid.");
    }
    let number = world.next();
    world.refresh = format!("playgroundRefreshToken{number}");
    let access = format!("playgroundAccess{number}");
    world.access.insert(access.clone(), now + TimeDelta::seconds(LIFE));
    Ok(json!({
        "token_type": "bearer", "expires_in": LIFE, "access_token": access,
        "scope": "tweet.read tweet.write users.read media.write offline.access", "refresh_token": world.refresh,
    }))
}

fn encoded(text: &str) -> String {
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let one =
        |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}
