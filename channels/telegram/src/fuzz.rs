//! What Telegram sends, and what is made of a model's words, for any bytes.

use chrono::DateTime;
use selkie_channel_core::{AccountId, Redactor};

use crate::hear::{self, Frame, Me};
use crate::{cut, markdown};

#[test]
fn fuzz_updates() {
    let account = AccountId::new("tg:8");
    let me = Me { id: 8, username: Some("selkie_bot".to_owned()) };
    let redactor = Redactor::default();
    selkie_fuzz::text("telegram_update", |raw| {
        let frame = Frame { account: &account, me: &me, received: DateTime::UNIX_EPOCH };
        drop(hear::read(raw, &redactor, frame));
        let _ = hear::update_id(raw);
    });
}

#[test]
fn fuzz_markdown() {
    selkie_fuzz::text("markdown", |markdown| {
        drop(cut::pieces(&markdown::render(markdown), 4096, 4096))
    });
}
