//! How services sign what they send, and whether a request is signed so: compared in a time that tells nothing.

use axum::http::HeaderMap;
use chrono::{DateTime, TimeDelta, Utc};
use ring::hmac;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::hash::in_hex;
use serde::{Deserialize, Serialize};

use crate::header::{Signature, bearer, hex, only, seconds, signed_at};

/// How far from now a signed time may be: what is older is somebody's recording.
const WINDOW: TimeDelta = TimeDelta::minutes(5);

pub const GITHUB_SIGNATURE: &str = "x-hub-signature-256";
pub const STRIPE_SIGNATURE: &str = "stripe-signature";
pub const SLACK_SIGNATURE: &str = "x-slack-signature";
pub const SLACK_TIME: &str = "x-slack-request-timestamp";
pub const PLAIN_SIGNATURE: &str = "x-signature";
const AUTHORIZATION: &str = "authorization";

/// How a service signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// `X-Hub-Signature-256: sha256=…` over the body.
    Github,
    /// `Stripe-Signature: t=…,v1=…` over time and body.
    Stripe,
    /// `X-Slack-Signature: v0=…` over `X-Slack-Request-Timestamp` and body.
    Slack,
    /// `Authorization: Bearer SECRET`, or `X-Signature: sha256=…` over the body.
    #[default]
    Plain,
}

/// Why a request is not taken for its service's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// It is not signed, or with another secret.
    Wrong,
    /// It is signed, at a time that is more than five minutes away.
    Stale,
}

impl Form {
    /// Whether a request is signed with this secret.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(
        self,
        secret: &SecretString,
        headers: &HeaderMap,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Result<(), SignatureFault> {
        let key = key(secret);
        let is_signed = |parts: &[&[u8]], signature: &Signature| {
            hmac::verify(&key, &parts.concat(), signature).is_ok()
        };
        let mut signed_time = None;
        let is_good = match self {
            Self::Github => only(headers, GITHUB_SIGNATURE)
                .and_then(|text| hex(text, "sha256="))
                .is_some_and(|signature| is_signed(&[body], &signature)),
            Self::Stripe => {
                only(headers, STRIPE_SIGNATURE).and_then(signed_at).is_some_and(|read| {
                    signed_time = Some(read.time);
                    let parts = [read.time.as_bytes(), b".", body];
                    read.signatures.iter().any(|signature| is_signed(&parts, signature))
                })
            }
            Self::Slack => only(headers, SLACK_TIME).is_some_and(|time| {
                signed_time = Some(time);
                let signature = only(headers, SLACK_SIGNATURE).and_then(|text| hex(text, "v0="));
                let parts = [b"v0:", time.as_bytes(), b":", body];
                signature.is_some_and(|signature| is_signed(&parts, &signature))
            }),
            Self::Plain => is_plain(&key, secret, headers, body),
        };
        match signed_time {
            _ if !is_good => Err(SignatureFault::Wrong),
            Some(time) if !is_near(time, now) => Err(SignatureFault::Stale),
            _ => Ok(()),
        }
    }

    /// Signs a body as the service would: the headers that say so.
    pub fn sign(
        self,
        secret: &SecretString,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Vec<(&'static str, String)> {
        let key = key(secret);
        let signed = |parts: &[&[u8]]| in_hex(hmac::sign(&key, &parts.concat()).as_ref());
        let time = now.timestamp().to_string();
        let at = time.as_bytes();
        match self {
            Self::Github => vec![(GITHUB_SIGNATURE, format!("sha256={}", signed(&[body])))],
            Self::Stripe => {
                let signature = signed(&[at, b".", body]);
                vec![(STRIPE_SIGNATURE, format!("t={time},v1={signature}"))]
            }
            Self::Slack => {
                let signature = signed(&[b"v0:", at, b":", body]);
                vec![(SLACK_SIGNATURE, format!("v0={signature}")), (SLACK_TIME, time)]
            }
            Self::Plain => vec![(PLAIN_SIGNATURE, format!("sha256={}", signed(&[body])))],
        }
    }
}

fn key(secret: &SecretString) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes())
}

/// Whether the secret itself was sent, or a signature by it. Of a secret only its signature is compared, which takes the
/// same time whatever was sent.
fn is_plain(key: &hmac::Key, secret: &SecretString, headers: &HeaderMap, body: &[u8]) -> bool {
    let secret = secret.expose_secret().as_bytes();
    let token = only(headers, AUTHORIZATION).and_then(bearer);
    if let Some(token) = token {
        let sent = hmac::sign(key, token.as_bytes());
        return hmac::verify(key, secret, sent.as_ref()).is_ok();
    }
    let signature = only(headers, PLAIN_SIGNATURE).and_then(|text| hex(text, "sha256="));
    signature.is_some_and(|signature| hmac::verify(key, body, &signature).is_ok())
}

fn is_near(time: &str, now: DateTime<Utc>) -> bool {
    let at = seconds(time).and_then(|at| DateTime::from_timestamp(at, 0));
    at.is_some_and(|at| (now - at).abs() <= WINDOW)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    const ALL: [Form; 4] = [Form::Github, Form::Stripe, Form::Slack, Form::Plain];

    fn headers(all: &[(&str, &str)]) -> HeaderMap {
        let one = |(name, value): &(&str, &str)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        };
        all.iter().map(one).collect()
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    /// From GitHub's page "Validating webhook deliveries".
    #[test]
    fn githubs_published_example_is_signed() {
        let secret = "It's a Secret to Everybody".into();
        let said = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let check = |body: &[u8], said| {
            Form::Github.check(&secret, &headers(&[(GITHUB_SIGNATURE, said)]), body, at(0))
        };
        assert_eq!(check(b"Hello, World!", said), Ok(()));
        assert_eq!(check(b"Hello, World?", said), Err(SignatureFault::Wrong));
        assert_eq!(check(b"Hello, World!", &said[7..]), Err(SignatureFault::Wrong), "no prefix");
    }

    /// From Slack's page "Verifying requests from Slack".
    #[test]
    fn slacks_published_example_is_signed_for_five_minutes() {
        let secret = "8f742231b10e8888abcd99yyyzzz85a5".into();
        let body = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
            &channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
            &command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands\
            %2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
            &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let said = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
        let check = |time, now| {
            let headers = headers(&[(SLACK_TIME, time), (SLACK_SIGNATURE, said)]);
            Form::Slack.check(&secret, &headers, body, at(now))
        };
        assert_eq!(check("1531420618", 1_531_420_618 + 300), Ok(()));
        assert_eq!(check("1531420618", 1_531_420_618 - 300), Ok(()));
        assert_eq!(check("1531420618", 1_531_420_618 + 301), Err(SignatureFault::Stale));
        assert_eq!(
            check("1531420619", 1_531_420_618),
            Err(SignatureFault::Wrong),
            "the time is signed"
        );
    }

    /// Stripe publishes the form and no example with its secret: this signature is openssl's.
    #[test]
    fn stripes_form_is_signed_by_any_of_its_signatures() {
        let secret = "whsec_test_secret".into();
        let said = "6c1c3af5ccf1c4dbb73dbf30d0ea1b1f0d1a0c0dcb2a0ad66e9a4d8ff9f5a0aa";
        let right = Form::Stripe.sign(&secret, b"{}", at(1_492_774_577)).remove(0).1;
        let check = |said: &str, now| {
            Form::Stripe.check(&secret, &headers(&[(STRIPE_SIGNATURE, said)]), b"{}", at(now))
        };
        let (time, signature) = right.split_once(',').unwrap();
        let two = format!("{time},v1={said},{signature},v0={said}");
        assert_eq!(check(&two, 1_492_774_577), Ok(()));
        assert_eq!(check(&format!("{time},v1={said}"), 1_492_774_577), Err(SignatureFault::Wrong));
        assert_eq!(check(&two, 1_492_774_577 + 400), Err(SignatureFault::Stale));
        assert_eq!(
            right,
            "t=1492774577,v1=53140ab8fa70c511cc40d5c9198af7dde7bbaee877038c056d8250c3bd3b2e11"
        );
    }

    #[test]
    fn a_plain_secret_is_sent_or_signs() {
        let secret = "a plain secret of ours".into();
        let check = |all: &[(&str, &str)]| Form::Plain.check(&secret, &headers(all), b"x", at(0));
        assert_eq!(check(&[("authorization", "Bearer a plain secret of ours")]), Ok(()));
        for wrong in ["Bearer a plain secret of our", "Bearer", "a plain secret of ours", "Basic x"]
        {
            assert_eq!(check(&[("authorization", wrong)]), Err(SignatureFault::Wrong), "{wrong}");
        }
        assert_eq!(check(&[]), Err(SignatureFault::Wrong));
        let signed = Form::Plain.sign(&secret, b"x", at(0)).remove(0);
        assert_eq!(check(&[(signed.0, &signed.1)]), Ok(()));
        let both = [("authorization", "Bearer wrong"), (signed.0, &*signed.1)];
        assert_eq!(check(&both), Err(SignatureFault::Wrong), "what is sent has to be right");
    }

    proptest! {
        /// What is signed is taken; with one bit changed, another secret or another form it is not.
        #[test]
        fn only_what_is_signed_is_taken(
            body in prop::collection::vec(any::<u8>(), 1..200),
            bit in any::<prop::sample::Index>(),
            form in prop::sample::select(&ALL[..]),
        ) {
            let secret: SecretString = "one secret of ours".into();
            let now = at(1_800_000_000);
            let signed = form.sign(&secret, &body, now);
            let signed: Vec<_> = signed.iter().map(|(name, value)| (*name, &**value)).collect();
            let headers = headers(&signed);
            prop_assert_eq!(form.check(&secret, &headers, &body, now), Ok(()));
            let mut changed = body.clone();
            let bit = bit.index(body.len() * 8);
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(form.check(&secret, &headers, &changed, now), Err(SignatureFault::Wrong));
            let other = "another secret".into();
            prop_assert_eq!(form.check(&other, &headers, &body, now), Err(SignatureFault::Wrong));
            for other in ALL.into_iter().filter(|other| *other != form) {
                prop_assert_eq!(other.check(&secret, &headers, &body, now), Err(SignatureFault::Wrong));
            }
        }

        #[test]
        fn any_headers_end(
            value in "[ -~]{0,200}",
            name in prop::sample::select(vec![
                GITHUB_SIGNATURE, STRIPE_SIGNATURE, SLACK_SIGNATURE, SLACK_TIME, PLAIN_SIGNATURE, AUTHORIZATION,
            ]),
        ) {
            let secret = "one secret of ours".into();
            let headers = headers(&[(name, &value)]);
            for form in ALL {
                prop_assert_eq!(form.check(&secret, &headers, b"x", at(0)), Err(SignatureFault::Wrong));
            }
        }
    }
}
