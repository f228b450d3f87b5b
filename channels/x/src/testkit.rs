//! What the tests share: a playground, and a channel on it.

use std::path::Path;
use std::sync::Arc;

use chrono::Utc;
use selkie_channel_core::{BuildContext, Channel, ConversationId, Outbound, Part, Redactor, tls};
use selkie_playground::x::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, CLIENT_ID, CONSUMER_KEY, CONSUMER_SECRET, REFRESH_TOKEN,
};
use selkie_playground::{Options, Playground, XPlatform};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A playground and a channel on it.
pub struct Guest {
    pub playground: Playground,
    pub channel: Channel,
    pub home: TempDir,
    pub redactor: Redactor,
}

impl Guest {
    /// With a login of OAuth 1.0a.
    pub async fn signing() -> Self {
        Self::with(json!({
            "consumer_key": CONSUMER_KEY, "consumer_secret": CONSUMER_SECRET,
            "access_token": ACCESS_TOKEN, "access_token_secret": ACCESS_TOKEN_SECRET,
        }))
        .await
    }

    /// With a token that is renewed.
    pub async fn renewing() -> Self {
        Self::with(json!({ "client_id": CLIENT_ID, "refresh_token": REFRESH_TOKEN })).await
    }

    pub async fn with(login: Value) -> Self {
        let playground = Playground::start(Options::default()).await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        let channel = channel(&playground, home.path(), redactor.clone(), login);
        Self { playground, channel, home, redactor }
    }

    /// The same channel in another process: what is in memory is gone.
    pub fn restart(&mut self, login: Value) {
        self.channel = channel(&self.playground, self.home.path(), self.redactor.clone(), login);
    }

    /// The same account in another process, which knows nothing of this one's posts.
    pub fn again(&self) -> Channel {
        let login = json!({
            "consumer_key": CONSUMER_KEY, "consumer_secret": CONSUMER_SECRET,
            "access_token": ACCESS_TOKEN, "access_token_secret": ACCESS_TOKEN_SECRET,
        });
        channel(&self.playground, self.home.path(), self.redactor.clone(), login)
    }

    pub fn x(&self) -> &XPlatform {
        self.playground.x()
    }

    pub fn conversation(&self) -> ConversationId {
        self.channel.address.parse("x:main").unwrap()
    }

    pub fn parts(&self, text: &str) -> Vec<Part> {
        self.channel.sender.render(&Outbound::text(self.conversation(), text).said(now()))
    }

    pub fn part(&self, text: &str) -> Part {
        self.parts(text).remove(0)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's clock, which the playground shares")]
pub fn now() -> chrono::DateTime<Utc> {
    Utc::now()
}

fn channel(playground: &Playground, home: &Path, redactor: Redactor, login: Value) -> Channel {
    let mut section = json!({ "base_url": playground.x_base_url(), "pace": "lifted" });
    section.as_object_mut().unwrap().extend(login.as_object().unwrap().clone());
    let context = BuildContext {
        tls: tls::client_config(rustls::RootCertStore::empty).unwrap(),
        redactor,
        user_agent: "selkie/test".to_owned(),
        cache_dir: "/nonexistent".into(),
        state_dir: home.join("channels/x"),
        now: Arc::new(now),
    };
    crate::build(section, context).unwrap().unwrap()
}
