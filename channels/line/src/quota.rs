//! The month's messages: looked at before a group is pushed to, and told to the owner when they are out.

use selkie_channel_core::UnpromptedCost;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::api::Api;
use crate::ids::Spot;

/// Something the owner should know; the receiver tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Said once a day.
    pub key: &'static str,
    /// The words.
    pub text: String,
}

/// Watches what pushes cost.
#[derive(Clone)]
pub struct Quota {
    api: Api,
    notices: mpsc::Sender<Notice>,
}

/// What the month has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Month {
    limit: u64,
    used: u64,
}

impl Quota {
    /// Asks through `api`, tells through `notices`.
    pub fn new(api: Api, notices: mpsc::Sender<Notice>) -> Self {
        Self { api, notices }
    }

    /// Says why a push must not go out: a group's push costs one message per member. Where LINE does not
    /// tell, LINE decides.
    pub async fn objection(&self, spot: &Spot) -> Option<String> {
        if spot.kind() == "user" {
            return None;
        }
        let members = self.members(spot).await?;
        let Month { limit, used } = self.month().await?;
        let left = limit.saturating_sub(used);
        tracing::info!(members, used, limit, "a push to a group counts once per member");
        if members <= left {
            return None;
        }
        let forecast = format!("it would cost {members} messages, one per member");
        let state = format!("{used} of this month's {limit} messages are used");
        self.tell(&format!("A push to {} was not sent: {forecast}, and {state}.", spot.id()));
        Some(format!("LINE's monthly limit: {forecast}, and {state}; replies are still free"))
    }

    /// Tells how many of the month's messages a push costs, and whether they are left. The owner is not told: who
    /// asks tells them. Where LINE does not answer, delivery finds out.
    pub async fn costs(&self, spot: &Spot) -> UnpromptedCost {
        let Some(members) = self.members(spot).await else { return UnpromptedCost::Free };
        match self.month().await {
            Some(Month { limit, used }) if members > limit.saturating_sub(used) => {
                UnpromptedCost::Spent(format!(
                    "LINE's monthly limit: it would cost {members}, and {used} of this month's {limit} messages are used"
                ))
            }
            _ => UnpromptedCost::Counted(members),
        }
    }

    /// How many people a push to this chat is counted for.
    async fn members(&self, spot: &Spot) -> Option<u64> {
        if spot.kind() == "user" {
            return Some(1);
        }
        let path = format!("{}/{}/members/count", spot.kind(), spot.id());
        self.api.get(&path).await.ok()?["count"].as_u64()
    }

    /// Says that LINE refuses pushes for the rest of the month.
    pub fn is_out(&self) -> String {
        self.tell("LINE's monthly limit of messages is reached: pushes are refused.");
        "LINE's monthly limit of messages is reached; replies are still free".to_owned()
    }

    /// Says that the access token is refused.
    pub fn token_refused(&self, words: &str) {
        let text = format!(
            "LINE refuses the bot's channel access token ({words}): I receive messages but cannot answer. Issue a \
             new one in the LINE Developers console, put it into line.channel_access_token_file, and start again. \
             Answers wait until then."
        );
        self.send(Notice { key: "line-token", text });
    }

    fn tell(&self, what: &str) {
        let text = format!(
            "{what} Answers within a minute are replies and still free; later ones, long ones and scheduled ones \
             are pushes. A larger plan in the LINE Official Account Manager lifts it; otherwise the count starts \
             over next month."
        );
        self.send(Notice { key: "line-quota", text });
    }

    fn send(&self, notice: Notice) {
        // Full means that the same things are waiting to be told.
        if let Err(error) = self.notices.try_send(notice) {
            tracing::debug!(%error, "a notice was not passed on");
        }
    }

    async fn month(&self) -> Option<Month> {
        let quota = self.api.get("message/quota").await.ok()?;
        if quota["type"] != "limited" {
            return None;
        }
        let usage = self.api.get("message/quota/consumption").await.ok()?;
        let number = |value: &Value, key: &str| value[key].as_u64();
        Some(Month { limit: number(&quota, "value")?, used: number(&usage, "totalUsage")? })
    }
}
