//! What the tests beside the code share: a client, a bot's calls, a trivial bot.

use serde_json::Value;

use crate::playground::{Options, Playground};
use crate::telegram::{Pace, TOKEN};

/// An HTTP client without proxies.
#[expect(clippy::disallowed_methods, reason = "the daemon's client lives above this crate")]
pub(crate) fn client() -> reqwest::Client {
    rustls::crypto::ring::default_provider().install_default().ok();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A playground without pace.
pub(crate) async fn lifted() -> Playground {
    let options = Options { pace: Pace::Lifted, ..Options::default() };
    Playground::start(options).await.unwrap()
}

/// A bot that calls methods.
#[derive(Clone)]
pub(crate) struct Bot {
    base: String,
    pub(crate) client: reqwest::Client,
}

impl Bot {
    pub(crate) fn of(playground: &Playground) -> Self {
        let base = format!("{}/bot{TOKEN}", playground.telegram_base_url());
        Self { base, client: client() }
    }

    pub(crate) fn url(&self, method: &str) -> String {
        format!("{}/{method}", self.base)
    }

    /// Calls with JSON; the whole answer.
    pub(crate) async fn try_call(&self, method: &str, params: Value) -> reqwest::Result<Value> {
        self.client.post(self.url(method)).json(&params).send().await?.json().await
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, params).await.unwrap()
    }

    /// `400 Bad Request: …`, or `ok`.
    pub(crate) async fn words(&self, method: &str, params: Value) -> String {
        let answer = self.call(method, params).await;
        if answer["ok"] == true {
            return "ok".to_owned();
        }
        format!("{} {}", answer["error_code"], answer["description"].as_str().unwrap())
    }

    pub(crate) async fn updates(&self, params: Value) -> Vec<Value> {
        self.call("getUpdates", params).await["result"].as_array().unwrap().clone()
    }
}
