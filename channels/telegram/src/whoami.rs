//! Who the bot is: asked beside the first poll, never before it, kept and asked again now and then.

use std::convert::Infallible;
use std::time::Duration;

use selkie_channel_core::http::Fault;
use selkie_channel_core::json;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::api::{Api, CALL_LIMIT};
use crate::hear::Me;

/// A bot's username can be changed; it seldom is.
const FRESH: Duration = Duration::from_secs(6 * 3600);
/// How long the first batch waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The bot's own id and name.
pub struct Whoami {
    known: watch::Sender<IdentityCache>,
}

#[derive(Clone)]
struct IdentityCache {
    me: Me,
    /// Telegram answered, be it with a refusal: waiting longer brings nothing.
    answered: bool,
}

impl Whoami {
    /// Begins with what the token tells.
    pub fn new(id: i64) -> Self {
        let known = IdentityCache { me: Me { id, username: None }, answered: false };
        Self { known: watch::Sender::new(known) }
    }

    /// Asks until there is an answer, and again when it is old.
    pub async fn keep_fresh(&self, api: &Api, pause: impl Fn(u32) -> Duration) -> Infallible {
        let mut fails = 0;
        let mut hears_all = true;
        loop {
            match ask(api).await {
                Ok((me, all)) => {
                    if hears_all && !all {
                        tracing::info!(
                            "in groups Telegram passes on only what is meant for the bot (privacy mode): /setprivacy at \
                             @BotFather changes that; then add the bot to the group again"
                        );
                    }
                    hears_all = all;
                    tracing::info!(username = me.username.as_deref(), id = me.id, "the bot's name");
                    self.known.send_replace(IdentityCache { me, answered: true });
                    fails = 0;
                    sleep(FRESH).await;
                }
                Err(fault) => {
                    tracing::debug!(%fault, "getMe failed; mentions by name wait for it");
                    let refused = matches!(fault, Fault::Refused(_));
                    self.known.send_modify(|known| known.answered |= refused);
                    fails += 1;
                    sleep(pause(fails)).await;
                }
            }
        }
    }

    /// Returns who the bot is, waiting a little for the first answer.
    pub async fn get(&self) -> Me {
        let mut changes = self.known.subscribe();
        let answered = changes.wait_for(|known| known.answered);
        if timeout(TIMEOUT, answered).await.is_err() {
            // The id from the token serves: mentions by name are missed, nothing else. Only the first
            // batch waits; a later answer still counts.
            tracing::warn!("getMe has not answered; mentions by the bot's name are not seen yet");
            self.known.send_modify(|known| known.answered = true);
        }
        self.known.borrow().me.clone()
    }
}

/// Who the bot is, and whether it is given all that is said in groups.
async fn ask(api: &Api) -> Result<(Me, bool), Fault> {
    let answer = api.call("getMe", &json!({}), CALL_LIMIT).await?;
    let user: Value = json::read(answer.result.get()).unwrap_or_default();
    let id = user.get("id").and_then(Value::as_i64);
    let username = user.get("username").and_then(Value::as_str).map(str::to_owned);
    match id {
        Some(id) => {
            let hears_all = user.get("can_read_all_group_messages").and_then(Value::as_bool);
            Ok((Me { id, username }, hears_all.unwrap_or(true)))
        }
        None => Err(Fault::Unclear("getMe answered without an id".to_owned())),
    }
}
