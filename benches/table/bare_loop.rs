//! The floor we measure against: a bot in one loop, without features, durability or order guarantees
//! beyond what it needs to answer. Long poll, one model call, one sendMessage.

use std::sync::Arc;

use serde_json::{Value, json};

/// Runs until it is killed.
pub async fn run(telegram: String, token: String, model: String) -> ! {
    let bot = Arc::new(Bot { http: client(), base: format!("{telegram}/bot{token}"), model });
    let mut offset = 0;
    loop {
        let asked = json!({ "offset": offset, "timeout": 50, "limit": 100 });
        let Ok(answer) = bot.post(&format!("{}/getUpdates", bot.base), &asked).await else {
            continue;
        };
        let updates = answer["result"].as_array().cloned().unwrap_or_default();
        // One task per chat of the batch, so that a chat's answers keep their order.
        let mut chats: std::collections::BTreeMap<i64, Vec<Value>> =
            std::collections::BTreeMap::new();
        for update in updates {
            offset = update["update_id"].as_i64().unwrap_or_default() + 1;
            let chat = update["message"]["chat"]["id"].as_i64().unwrap_or_default();
            chats.entry(chat).or_default().push(update["message"].clone());
        }
        let answering = chats.into_iter().map(|(chat, messages)| {
            let bot = Arc::clone(&bot);
            async move {
                for message in messages {
                    bot.answer(chat, &message).await;
                }
            }
        });
        futures_util::future::join_all(answering).await;
    }
}

struct Bot {
    http: reqwest::Client,
    base: String,
    model: String,
}

impl Bot {
    async fn answer(&self, chat: i64, message: &Value) {
        let asked = json!({
            "model": "bare",
            "messages": [{ "role": "user", "content": message["text"] }],
        });
        let Ok(reply) = self.post(&format!("{}/chat/completions", self.model), &asked).await else {
            return;
        };
        let said = json!({ "chat_id": chat, "text": reply["choices"][0]["message"]["content"] });
        drop(self.post(&format!("{}/sendMessage", self.base), &said).await);
    }

    async fn post(&self, url: &str, body: &Value) -> reqwest::Result<Value> {
        self.http.post(url).json(body).send().await?.json().await
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bare loop has no daemon that would build its client"
)]
fn client() -> reqwest::Client {
    // A second installation is no error: the first one stands.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .build()
        .expect("a plain client needs nothing that can be missing")
}
