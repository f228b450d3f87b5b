//! What the tests share: a playground, a channel that is its guest, and an inbox that can break.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use selkie_channel_core::{
    AccountId, BuildContext, Channel, ConversationId, Cursor, Inbound, Inbox, InboxBroken, Now,
    Pulse, Redactor, tls,
};
use selkie_channel_core::{MessageRef, Quote};
use selkie_playground::line_platform::{ACCESS_TOKEN, SECRET};
use selkie_playground::{LinePlatform, Options, Playground};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A playground and a channel on it.
pub struct Guest {
    pub playground: Playground,
    pub channel: Channel,
    /// How many seconds the channel's clock is ahead.
    pub ahead: Arc<AtomicI64>,
}

impl Guest {
    pub async fn new() -> Self {
        Self::with(json!({})).await
    }

    /// A guest with more settings.
    pub async fn with(settings: Value) -> Self {
        let playground = Playground::start(Options::default()).await.unwrap();
        let port = free_port();
        playground.line().set_webhook(&format!("http://127.0.0.1:{port}/line/webhook"));
        let ahead = Arc::new(AtomicI64::new(0));
        let now = clock(&ahead);
        let channel = configured(&playground, port, (Redactor::default(), now), settings);
        Self { playground, channel, ahead }
    }

    /// What the channel takes for now.
    pub fn now(&self) -> chrono::DateTime<chrono::Utc> {
        clock(&self.ahead)()
    }

    /// Lets so many seconds pass for the channel.
    pub fn pass(&self, seconds: i64) {
        self.ahead.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn line(&self) -> &LinePlatform {
        self.playground.line()
    }

    pub fn conversation(&self, chat: &str) -> ConversationId {
        self.channel.address.parse(chat).unwrap()
    }
}

pub fn channel(playground: &Playground, port: u16, redactor: Redactor) -> Channel {
    let now = clock(&Arc::new(AtomicI64::new(0)));
    configured(playground, port, (redactor, now), json!({}))
}

#[expect(clippy::disallowed_methods, reason = "the emulated platform's clock is the machine's")]
fn clock(ahead: &Arc<AtomicI64>) -> Now {
    let ahead = Arc::clone(ahead);
    Arc::new(move || chrono::Utc::now() + TimeDelta::seconds(ahead.load(Ordering::SeqCst)))
}

fn configured(
    playground: &Playground,
    port: u16,
    (redactor, now): (Redactor, Now),
    more: Value,
) -> Channel {
    let mut section = json!({
        "channel_access_token": ACCESS_TOKEN, "channel_secret": SECRET,
        "base_url": playground.line_base_url(), "data_base_url": playground.line_data_base_url(),
        "webhook_listen": format!("127.0.0.1:{port}"), "pace": "lifted",
        "max_download_bytes": 1000,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        section[key] = value.clone();
    }
    let context = BuildContext {
        tls: tls::client_config(rustls::RootCertStore::empty).unwrap(),
        redactor,
        user_agent: "selkie/test".to_owned(),
        cache_dir: "/nonexistent".into(),
        state_dir: "/nonexistent".into(),
        now,
    };
    crate::build(section, context).unwrap().unwrap()
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An inbox that hands on what it stores, and stores nothing while it is broken.
pub struct TestInbox {
    pub broken: AtomicBool,
    batches: mpsc::UnboundedSender<Vec<Inbound>>,
    notices: mpsc::UnboundedSender<(String, String)>,
}

/// What the test inbox was given.
pub struct Told {
    pub batches: mpsc::UnboundedReceiver<Vec<Inbound>>,
    pub notices: mpsc::UnboundedReceiver<(String, String)>,
}

impl TestInbox {
    pub fn new() -> (Self, Told) {
        let (batches, stored) = mpsc::unbounded_channel();
        let (notices, told) = mpsc::unbounded_channel();
        let inbox = Self { broken: AtomicBool::new(false), batches, notices };
        (inbox, Told { batches: stored, notices: told })
    }
}

/// A message that the store knows: the bot said it before a restart.
pub const STORED: &str = "777";

#[async_trait]
impl Inbox for TestInbox {
    async fn quoted(
        &self,
        _: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>, InboxBroken> {
        let text = "forty-two".to_owned();
        let quote = Quote {
            message: message.clone(),
            speaker: String::new(),
            text,
            ours: true,
            attachments: Vec::new(),
        };
        Ok(Some(quote).filter(|_| message.as_str() == STORED))
    }

    async fn accept(&self, batch: Vec<Inbound>, _: Option<Cursor>) -> Result<(), InboxBroken> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(InboxBroken("disk full".to_owned()));
        }
        self.batches.send(batch).unwrap();
        Ok(())
    }

    async fn cursor(&self, _: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken> {
        Ok(None)
    }

    async fn notice(&self, _: &AccountId, key: &str, text: &str) {
        self.notices.send((key.to_owned(), text.to_owned())).unwrap();
    }

    fn pulse(&self, _: &AccountId, _: Pulse) {}
}
