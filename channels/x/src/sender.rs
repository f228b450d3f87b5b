//! Posts on X, and tells by what is proven what came of it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::locked;
use selkie_channel_core::{
    CredentialCheck, Delivery, ExaminationReport, Examine, Lookup, MessageRef, Outbound, Part,
    PostPicture, Receipt, Sender,
};
use serde_json::{Value, json};

use crate::api::Api;
use crate::call::{self, Call, Post};
use crate::examine::{check_credential, examine};
use crate::ids::is_id;
use crate::media::{NotUploaded, upload};
use crate::refusal::{Kind, advice, advice_of_picture, kind, of_another};
use crate::thread::ThreadNumbering;
use crate::timeline::{Timeline, TimelineMatch};

/// First wait after a failure that proves nothing was sent; the delivery worker lengthens it.
const SOON: Duration = Duration::from_secs(1);
/// So many posts are remembered.
const REMEMBERED: usize = 500;

/// Posts for one account.
pub struct XSender {
    api: Api,
    who: Who,
    numbering: ThreadNumbering,
    timeline: Timeline,
    memory: Mutex<Memory>,
}

/// Whose login it is.
pub struct Who {
    /// Names the login.
    pub login: String,
    /// The account's id, where the login tells it.
    pub id: Option<String>,
}

/// What this process knows of its own posts.
#[derive(Default)]
struct Memory {
    /// Ids of posts that have their receipt.
    posted: VecDeque<String>,
    /// Posts of which an attempt was unclear.
    doubted: VecDeque<Post>,
    /// Posts in doubt whose words X refused as a duplicate: that the timeline does not show them proves nothing.
    refused_again: VecDeque<Post>,
}

impl XSender {
    /// Posts through `api`.
    pub fn new(api: Api, numbering: bool, who: Who) -> Self {
        let numbering = if numbering { ThreadNumbering::On } else { ThreadNumbering::Off };
        Self { api, who, numbering, timeline: Timeline::default(), memory: Mutex::default() }
    }

    async fn post(&self, post: &Post) -> Delivery {
        let mut body = json!({ "text": post.text });
        if !post.pictures.is_empty() {
            match self.uploaded(&post.pictures).await {
                Ok(ids) => body["media"] = json!({ "media_ids": ids }),
                Err(delivery) => return delivery,
            }
        }
        if let Some(id) = &post.reply_to {
            body["reply"] = json!({ "in_reply_to_tweet_id": id });
        }
        if let Some(id) = &post.quote {
            body["quote_tweet_id"] = json!(id);
        }
        match self.api.post("tweets", &body).await {
            Ok(answer) => match answer["data"]["id"].as_str().filter(|id| is_id(id)) {
                Some(id) => self.sent(id, None),
                None => self.unclear(post, format!("X's answer names no post: {}", short(&answer))),
            },
            Err(Fault::NotSent(why)) => Delivery::Retry { after: SOON, why, account: true },
            Err(Fault::Unclear(why)) => self.unclear(post, why),
            Err(Fault::Refused(refusal)) => self.refused(post, &refusal).await,
        }
    }

    /// Uploads pictures, or says what becomes of their post: an upload publishes nothing, so a doubt is tried again.
    async fn uploaded(&self, pictures: &[PostPicture]) -> Result<Vec<String>, Delivery> {
        let mut ids = Vec::new();
        for picture in pictures {
            let why = match upload(&self.api, picture).await {
                Ok(id) => {
                    ids.push(id);
                    continue;
                }
                Err(NotUploaded::Never(why)) => return Err(Delivery::refused(why)),
                Err(NotUploaded::Fault(Fault::NotSent(why) | Fault::Unclear(why))) => why,
                Err(NotUploaded::Fault(Fault::Refused(refusal))) => {
                    return Err(match kind(&refusal) {
                        Kind::Limited => self.limited(&refusal),
                        _ => {
                            let keys = self.api.keys();
                            Delivery::refused(advice_of_picture(&refusal, keys, &picture.name))
                        }
                    });
                }
            };
            let why = format!("a picture did not get to X: {why}");
            return Err(Delivery::Retry { after: SOON, why, account: true });
        }
        Ok(ids)
    }

    async fn me(&self) -> Result<&str, Fault> {
        match &self.who.id {
            Some(id) => Ok(id),
            None => self.timeline.me(&self.api).await,
        }
    }

    /// Returns the account that a post was approved for and the one that would post it, where they are known to be two.
    /// The same login is the same account; who posts with another one is asked.
    async fn another<'a>(&'a self, post: &'a Post) -> Result<Option<[&'a str; 2]>, Fault> {
        let by = post.by.as_ref().filter(|by| by.login != self.who.login);
        let Some(wanted) = by.and_then(|by| by.id.as_deref()) else { return Ok(None) };
        let me = self.me().await?;
        Ok((me != wanted).then_some([wanted, me]))
    }

    /// Posts, where it is for this account to post.
    async fn post_of_ours(&self, post: &Post) -> Delivery {
        match self.another(post).await {
            Ok(None) => {}
            Ok(Some([wanted, me])) => {
                return Delivery::refused(of_another(wanted, me, self.api.keys()));
            }
            // What cannot reach X does not post either.
            Err(Fault::NotSent(why) | Fault::Unclear(why)) => {
                return Delivery::Retry { after: SOON, why, account: true };
            }
            Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Limited => {
                return self.limited(&refusal);
            }
            Err(fault) => {
                tracing::warn!(%fault, "X does not say whose login this is: what was approved is posted");
            }
        }
        self.post(post).await
    }

    fn limited(&self, refusal: &Refusal) -> Delivery {
        Delivery::Retry {
            after: refusal.retry_after.unwrap_or_default(),
            why: advice(refusal, self.api.keys()),
            account: true,
        }
    }

    async fn refused(&self, post: &Post, refusal: &Refusal) -> Delivery {
        match kind(refusal) {
            Kind::Limited => self.limited(refusal),
            Kind::Duplicate => self.duplicate(post, refusal).await,
            _ => {
                let reason = advice(refusal, self.api.keys());
                Delivery::Refused { reason, closed: false }
            }
        }
    }

    /// X has this text already: the proof of an earlier attempt, or of somebody else's post.
    async fn duplicate(&self, post: &Post, refusal: &Refusal) -> Delivery {
        if !self.memory().doubted.contains(post) {
            // No attempt at this post was ever in doubt: what stands there is another.
            return Delivery::Refused { reason: advice(refusal, self.api.keys()), closed: false };
        }
        let why = match self.seen(post).await {
            TimelineMatch::There(id) => return self.sent(&id, Some(TOOK_IT)),
            TimelineMatch::Missing => "the timeline shows none since it was said".to_owned(),
            TimelineMatch::Unreadable(why) => why,
        };
        // It may be an older post with the same words that X means.
        remember(&mut self.memory().refused_again, post.clone());
        self.unclear(
            post,
            format!("X has these words already, and not provably from this post: {why}"),
        )
    }

    async fn seen(&self, post: &Post) -> TimelineMatch {
        let other = |id: &str| self.memory().posted.iter().any(|known| known == id);
        self.timeline.find(&self.api, post, other).await
    }

    fn sent(&self, id: &str, note: Option<&str>) -> Delivery {
        remember(&mut self.memory().posted, id.to_owned());
        let message = Some(MessageRef::new(id));
        let note = note.map(str::to_owned);
        Delivery::Sent(Receipt { message, note, ..Receipt::default() })
    }

    fn unclear(&self, post: &Post, why: String) -> Delivery {
        remember(&mut self.memory().doubted, post.clone());
        Delivery::Unclear { why }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        locked(&self.memory)
    }
}

const TOOK_IT: &str = "X had taken it before: the first answer was lost";

#[async_trait]
impl Sender for XSender {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        call::render(outbound, self.numbering)
    }

    async fn examine(&self, _: Examine<'_>) -> ExaminationReport {
        examine(&self.api).await
    }

    async fn check_credential(&self) -> CredentialCheck {
        check_credential(&self.api).await
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Post(post)) => self.post_of_ours(&post).await,
            Ok(Call::Cannot { why }) => Delivery::Refused { reason: why, closed: false },
            Err(_) => Delivery::unreadable(),
        }
    }

    /// The timeline tells.
    async fn lookup(&self, part: &Part) -> Lookup {
        let Ok(Call::Post(post)) = serde_json::from_value(part.call.clone()) else {
            return Lookup::Unknown;
        };
        if let Ok(Some([wanted, me])) = self.another(&post).await {
            tracing::warn!(wanted, me, "this account's timeline does not show another one's post");
            return Lookup::Unknown;
        }
        remember(&mut self.memory().doubted, post.clone());
        match self.seen(&post).await {
            TimelineMatch::There(id) => match self.sent(&id, Some("found on the timeline")) {
                Delivery::Sent(receipt) => Lookup::Sent(receipt),
                _ => Lookup::Unknown,
            },
            // Posting it once more would only be refused once more.
            TimelineMatch::Missing if self.memory().refused_again.contains(&post) => {
                Lookup::Unknown
            }
            TimelineMatch::Missing => Lookup::NotSent,
            TimelineMatch::Unreadable(why) => {
                tracing::warn!(why, "the timeline does not show whether the post is there");
                Lookup::Unknown
            }
        }
    }

    /// A timeline is read by everybody: nothing goes out twice on a doubt.
    fn marked(&self, part: &Part) -> Part {
        part.clone()
    }

    fn login(&self) -> Option<String> {
        Some(self.who.login.clone())
    }

    async fn posts_as(&self) -> Option<String> {
        match self.me().await {
            Ok(id) => Some(id.to_owned()),
            Err(fault) => {
                tracing::warn!(%fault, "X does not say whose login this is");
                None
            }
        }
    }

    async fn handle(&self) -> Option<String> {
        self.timeline.handle(&self.api).await.ok().flatten()
    }

    fn following(&self, part: &Part, before: &MessageRef) -> Part {
        call::following(part, before)
    }
}

fn remember<T: PartialEq>(memory: &mut VecDeque<T>, item: T) {
    if memory.contains(&item) {
        return;
    }
    memory.push_back(item);
    if memory.len() > REMEMBERED {
        memory.pop_front();
    }
}

fn short(answer: &Value) -> String {
    answer.to_string().chars().take(120).collect()
}

#[cfg(test)]
mod tests;
