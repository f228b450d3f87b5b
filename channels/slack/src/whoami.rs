//! Who the bot is and which emoji its workspace has: asked beside the first socket, never before it, kept
//! and asked again now and then.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use selkie_channel_core::http::Fault;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::api::Api;
use crate::refusal;

/// Emoji are added now and then.
const FRESH: Duration = Duration::from_secs(3600);
/// How long the first events wait for the answer: Slack wants an event acknowledged within three seconds.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Who the bot is, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Me {
    /// Its workspace.
    pub team: String,
    /// Its user, `U…`; empty while unknown.
    pub user: String,
}

impl Me {
    /// Fills in from what somebody else knows.
    pub fn or(&self, other: Option<&Self>) -> Self {
        let pick = |mine: &String, theirs: Option<&String>| match theirs.filter(|_| mine.is_empty())
        {
            Some(theirs) => theirs.clone(),
            None => mine.clone(),
        };
        Self {
            team: pick(&self.team, other.map(|other| &other.team)),
            user: pick(&self.user, other.map(|other| &other.user)),
        }
    }
}

/// The bot's identity and its workspace's emoji.
pub struct Whoami {
    known: watch::Sender<IdentityCache>,
}

#[derive(Clone, Default)]
struct IdentityCache {
    me: Me,
    emoji: BTreeSet<String>,
    emoji_refused: bool,
    /// Slack answered, be it with a refusal: waiting longer brings nothing. A limit is no answer.
    answered: bool,
}

impl Whoami {
    /// Begins knowing nothing.
    pub fn new() -> Self {
        Self { known: watch::Sender::new(IdentityCache::default()) }
    }

    /// Asks until there is an answer, and again when it is old.
    pub async fn keep_fresh(&self, api: &Api, pause: impl Fn(u32) -> Duration) -> Infallible {
        let mut fails = 0;
        loop {
            match self.refresh(api).await {
                Ok(()) => {
                    fails = 0;
                    sleep(FRESH).await;
                }
                Err(fault) => {
                    let limit = refusal::limit(&fault);
                    let refused = matches!(fault, Fault::Refused(_)) && limit.is_none();
                    let why = refusal::why(&fault);
                    match refused && fails == 0 {
                        true => tracing::error!(why, "Slack refuses the bot's token"),
                        false => tracing::debug!(why, "auth.test failed; it is asked again"),
                    }
                    self.known.send_modify(|known| known.answered |= refused);
                    fails += 1;
                    sleep(pause(fails).max(limit.unwrap_or_default())).await;
                }
            }
        }
    }

    async fn refresh(&self, api: &Api) -> Result<(), Fault> {
        let me = ask(api).await?;
        tracing::info!(team = me.team, user = me.user, "the bot's name");
        self.known.send_modify(|known| known.me = me);
        match api.ask("emoji.list", &[("include_categories", "true")]).await {
            Ok(answer) => {
                let emoji = names(&answer);
                self.known.send_modify(|known| known.emoji = emoji);
            }
            Err(fault) => {
                let why = refusal::why(&fault);
                tracing::warn!(
                    why,
                    "the workspace's emoji are not known: reactions are not offered"
                );
                self.known.send_modify(|known| known.emoji_refused = true);
            }
        }
        self.known.send_modify(|known| known.answered = true);
        Ok(())
    }

    /// Returns who the bot is as far as it is known now.
    pub fn known(&self) -> Me {
        self.known.borrow().me.clone()
    }

    /// Takes what an event told of us, until `auth.test` answers.
    pub fn learn(&self, told: &Me) {
        self.known.send_modify(|known| known.me = known.me.or(Some(told)));
    }

    /// Returns who the bot is, waiting a little for the first answer.
    pub async fn get(&self) -> Me {
        let mut changes = self.known.subscribe();
        let answered = changes.wait_for(|known| known.answered);
        if timeout(TIMEOUT, answered).await.is_err() {
            // Only the first events wait; a later answer still counts.
            tracing::warn!("auth.test has not answered, and events do not tell who the bot is");
            self.known.send_modify(|known| known.answered = true);
        }
        self.known.borrow().me.clone()
    }

    /// Returns the bot's workspace, once it is known.
    pub fn home_team(&self) -> Option<String> {
        Some(self.known.borrow().me.team.clone()).filter(|team| !team.is_empty())
    }

    /// Whether reactions can be offered: not where Slack does not tell the workspace's emoji. Before it
    /// has answered they are, and Slack judges each.
    pub fn has_emoji(&self) -> bool {
        let known = self.known.borrow();
        !known.emoji.is_empty() || !known.emoji_refused
    }

    /// Whether the workspace has an emoji of this name; everything counts while they are not known. A
    /// skin tone behind the name is Slack's to judge.
    pub fn knows_emoji(&self, name: &str) -> bool {
        let known = self.known.borrow();
        let base = name.split("::").next().unwrap_or(name);
        known.emoji.is_empty() || known.emoji.contains(base)
    }
}

/// Asks Slack who the bot is.
///
/// # Errors
/// By what is proven; see [`Fault`].
pub async fn ask(api: &Api) -> Result<Me, Fault> {
    let answer = api.call("auth.test", &json!({})).await?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    Ok(Me { team: text("team_id").to_owned(), user: text("user_id").to_owned() })
}

/// Returns the names of custom and standard emoji.
fn names(answer: &Value) -> BTreeSet<String> {
    let custom = answer.get("emoji").and_then(Value::as_object).into_iter().flatten();
    let custom: BTreeSet<String> = custom.map(|(name, _)| name.clone()).collect();
    let categories = answer.get("categories").and_then(Value::as_array).into_iter().flatten();
    let standard: BTreeSet<String> = categories
        .filter_map(|category| category.get("emoji_names")?.as_array())
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    // A server that lists no standard emoji has them all the same: these few are everywhere.
    let assumed = if standard.is_empty() { EVERYWHERE } else { "" };
    let assumed = assumed.split_whitespace().map(str::to_owned);
    custom.into_iter().chain(standard).chain(assumed).collect()
}

const EVERYWHERE: &str = "\
    +1 -1 thumbsup thumbsdown eyes heart tada white_check_mark x warning question exclamation wave clap \
    pray rocket fire 100 thinking_face smile joy sob ok_hand raised_hands bulb hourglass \
    heavy_check_mark memo bug coffee tea sparkles star muscle";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_and_standard_names_are_known() {
        let answer = json!({
            "emoji": { "selkie": "https://x/selkie.png" },
            "categories": [{ "name": "Food", "emoji_names": ["teapot", "cake"] }],
        });
        let known = names(&answer);
        assert!(["selkie", "teapot", "cake"].iter().all(|name| known.contains(*name)));
        assert!(!known.contains("eyes"));
        assert!(names(&json!({ "emoji": {} })).contains("eyes"));
    }
}
