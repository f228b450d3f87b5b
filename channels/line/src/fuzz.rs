//! What LINE sends, for any bytes.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use secrecy::SecretString;
use selkie_channel_core::http::Opener;
use selkie_channel_core::settings::{Token, Url};
use selkie_channel_core::{AccountId, Redactor, tls};
use serde_json::Value;

use crate::api::{Api, ClientFactory};
use crate::hear::{self, Frame};
use crate::known::RecentMessages;
use crate::names::Names;

#[test]
fn fuzz_webhooks() {
    let nowhere = || Url::read("https://line.invalid", "").unwrap();
    let line = ClientFactory {
        token: Token::read(Some(&SecretString::from("x")), String::new, String::new).unwrap(),
        base: nowhere(),
        data: nowhere(),
        http: Opener {
            platform: "LINE",
            tls: tls::client_config(rustls::RootCertStore::empty).unwrap(),
            redactor: Redactor::default(),
            user_agent: "selkie/test".to_owned(),
        },
    };
    let api = Api::open(line).unwrap();
    let (known, names, redactor) =
        (Arc::new(RecentMessages::default()), Names::new(api), Redactor::default());
    let account = AccountId::new("line:x");
    selkie_fuzz::bytes("line_webhook", |bytes| {
        let Ok(body) = selkie_channel_core::json::read_bytes::<Value>(bytes) else { return };
        let frame = Frame {
            account: &account,
            known: &known,
            names: &names,
            redactor: &redactor,
            deadline: TimeDelta::seconds(50),
            now: DateTime::UNIX_EPOCH,
        };
        for event in body["events"].as_array().into_iter().flatten() {
            drop(hear::read(event, frame));
        }
    });
}
