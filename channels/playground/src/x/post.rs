//! What X checks of a post, and how it shows one.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use icu_normalizer::ComposingNormalizerBorrowed;
use serde_json::{Value, json};

use super::record::XPost;
use super::refusal::Refusal;
use super::server::World;
use super::{count, media};

/// The same words are refused for so long. X does not say how long; people report up to this.
const SEEN: TimeDelta = TimeDelta::hours(12);
/// X's ids tell the time since this moment, in milliseconds.
const EPOCH: i64 = 1_288_834_974_657;

/// Makes a post; gives what X answers.
pub(super) fn make(world: &mut World, body: &Value, now: DateTime<Utc>) -> Result<Value, Refusal> {
    let invalid = |says: &str| Refusal::new(400, "Invalid Request", says);
    let fields = body.as_object().ok_or_else(|| invalid("The body is no JSON object."))?;
    if let Some(field) = fields
        .keys()
        .find(|field| !["text", "reply", "quote_tweet_id", "media"].contains(&field.as_str()))
    {
        return Err(invalid(&format!("$.{field}: is not defined in the schema")));
    }
    let text = body["text"].as_str().ok_or_else(|| invalid("$.text: string expected"))?;
    let text = ComposingNormalizerBorrowed::new_nfc().normalize(text.trim()).into_owned();
    if text.is_empty() {
        return Err(invalid("The text may not be empty."));
    }
    if count::weight(&text) > count::MAX {
        return Err(Refusal::new(403, "Forbidden", "Your Tweet text is too long."));
    }
    let reply_to = match &body["reply"] {
        Value::Null => None,
        reply => {
            let id = reply["in_reply_to_tweet_id"].as_str();
            Some(
                id.ok_or_else(|| invalid("$.reply.in_reply_to_tweet_id: string expected"))?
                    .to_owned(),
            )
        }
    };
    if reply_to.as_ref().is_some_and(|id| !world.posts.iter().any(|post| post.id == *id)) {
        let says = "You attempted to reply to a Tweet that is deleted or not visible to you.";
        return Err(Refusal::new(403, "Forbidden", says));
    }
    let quote = match &body["quote_tweet_id"] {
        Value::Null => None,
        id => Some(
            id.as_str().ok_or_else(|| invalid("$.quote_tweet_id: string expected"))?.to_owned(),
        ),
    };
    if quote.as_ref().is_some_and(|id| !world.posts.iter().any(|post| post.id == *id)) {
        let says = "You attempted to quote a Tweet that is deleted or not visible to you.";
        return Err(Refusal::new(403, "Forbidden", says));
    }
    if world.posts.iter().any(|post| post.text == text && now - post.at < SEEN) {
        let says = "You are not allowed to create a Tweet with duplicate content.";
        return Err(Refusal::new(403, "Forbidden", says));
    }
    let pictures = media::named(world, &body["media"], now)?;
    let id = id(world, now);
    let shown = shorter(&text).0;
    let made = XPost { id: id.clone(), text, reply_to, quote, pictures, by_hand: false, at: now };
    world.posts.push(made);
    Ok(json!({ "data": { "id": id, "text": shown, "edit_history_tweet_ids": [id] } }))
}

/// An id that tells the time, as X's do.
fn id(world: &mut World, now: DateTime<Utc>) -> String {
    let since = u64::try_from(now.timestamp_millis() - EPOCH).unwrap_or(0);
    ((since << 22) | (world.next() & 0x3F_FFFF)).to_string()
}

/// How the timeline shows a post, with these fields beside id and text.
pub(super) fn shown(post: &XPost, fields: &[&str]) -> Value {
    // The links that X adds, which count nothing.
    let of_quote =
        post.quote.iter().map(|id| format!("https://twitter.com/selkie_demo/status/{id}"));
    let of_picture = format!("https://x.com/selkie_demo/status/{}/photo/1", post.id);
    let of_picture = (!post.pictures.is_empty()).then_some(of_picture);
    let written = of_picture
        .into_iter()
        .chain(of_quote)
        .fold(post.text.clone(), |text, link| format!("{text} {link}"));
    let (text, links) = shorter(&written);
    let mut value = json!({ "id": post.id, "text": text, "edit_history_tweet_ids": [post.id] });
    if fields.contains(&"created_at") {
        value["created_at"] = json!(post.at.to_rfc3339_opts(SecondsFormat::Millis, true));
    }
    if fields.contains(&"entities") && !links.is_empty() {
        value["entities"] = json!({ "urls": links });
    }
    let other = |how: &str, id: &Option<String>| Some(json!({ "type": how, "id": id.as_ref()? }));
    let others: Vec<Value> = [other("replied_to", &post.reply_to), other("quoted", &post.quote)]
        .into_iter()
        .flatten()
        .collect();
    if fields.contains(&"referenced_tweets") && !others.is_empty() {
        value["referenced_tweets"] = json!(others);
    }
    value
}

/// A text as X gives it back: links replaced by its own, `&`, `<` and `>` as HTML writes them.
fn shorter(text: &str) -> (String, Vec<Value>) {
    let mut links = Vec::new();
    let mut word = |word: &str| {
        let is_link = word.starts_with("https://") || word.starts_with("http://");
        if !is_link {
            return word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        }
        let url = format!("https://t.co/{:010x}", links.len() + 1);
        links.push(json!({ "url": url, "expanded_url": word, "display_url": word }));
        url
    };
    let shown: String = text
        .split_inclusive(char::is_whitespace)
        .map(|piece| {
            let bare = piece.trim_end_matches(char::is_whitespace);
            word(bare) + &piece[bare.len()..]
        })
        .collect();
    (shown, links)
}
