//! Reads the account's own timeline: the proof of a post whose result was lost.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use selkie_channel_core::http::Fault;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::sleep;

use crate::api::Api;
use crate::atoms::atoms;
use crate::call::Post;
use crate::ids::is_id;
use crate::weigh::composed;

/// Clocks differ, and X counts whole seconds.
const SKEW: TimeDelta = TimeDelta::seconds(30);
/// What a clock that counts whole seconds may hide, and the way there.
const WHOLE: TimeDelta = TimeDelta::seconds(2);
/// X's ids tell the time since this moment, in milliseconds.
const EPOCH: i64 = 1_288_834_974_657;
/// What did not reach X is asked again so soon.
const AGAIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Reads one account's timeline.
#[derive(Default)]
pub struct Timeline {
    /// The account, asked once.
    me: OnceCell<Me>,
}

/// The account.
struct Me {
    id: String,
    handle: Option<String>,
}

/// What the timeline says of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineMatch {
    /// It stands there under this id.
    There(String),
    /// It does not.
    Missing,
    /// The timeline cannot be read, or not far enough back.
    Unreadable(String),
}

impl Timeline {
    /// Looks for a post among those since it was said; `other` tells ids of posts that are known to be others.
    pub async fn find(
        &self,
        api: &Api,
        post: &Post,
        other: impl Fn(&str) -> bool,
    ) -> TimelineMatch {
        let Some(since) = post.since else {
            return TimelineMatch::Unreadable("it is not known since when".to_owned());
        };
        let page = match self.page(api, since).await {
            Ok(page) => page,
            Err(fault) => return TimelineMatch::Unreadable(fault.to_string()),
        };
        let posts = match page["data"].as_array() {
            Some(posts) => posts.as_slice(),
            None if page["meta"]["result_count"] == 0 => &[],
            None => return TimelineMatch::Unreadable("X's answer is no timeline".to_owned()),
        };
        let wanted = canonical(&post.text);
        // By X's own clock: what stood there before this was said is another.
        let earliest = api.ahead().map(|ahead| since + ahead - WHOLE);
        let before = |id: &str| earliest.zip(made_at(id)).is_some_and(|(since, at)| at < since);
        let same = posts.iter().find(|seen| {
            let id = seen["id"].as_str().unwrap_or_default();
            let ours = is_readable(seen) && !other(id) && !before(id);
            let quote = post.quote.as_deref();
            ours && other_post(seen, "replied_to") == post.reply_to.as_deref()
                && other_post(seen, "quoted") == quote
                && text(seen, &AddedSuffix { quote, pictures: !post.pictures.is_empty() }) == wanted
        });
        match same.and_then(|seen| seen["id"].as_str()) {
            Some(id) => TimelineMatch::There(id.to_owned()),
            None if !posts.iter().all(is_readable) => TimelineMatch::Unreadable(
                "a post of it has no text, or an id that tells no time".to_owned(),
            ),
            None if page["meta"]["next_token"].is_string() => TimelineMatch::Unreadable(
                "there are more posts since than one page tells".to_owned(),
            ),
            None => TimelineMatch::Missing,
        }
    }

    /// Returns the account's id, asked once.
    pub async fn me(&self, api: &Api) -> Result<&str, Fault> {
        Ok(&self.account(api).await?.id)
    }

    /// Returns the account's name as people write it, asked once: `@selkie`.
    pub async fn handle(&self, api: &Api) -> Result<Option<String>, Fault> {
        Ok(self.account(api).await?.handle.clone())
    }

    async fn account(&self, api: &Api) -> Result<&Me, Fault> {
        let me = self.me.get_or_try_init(|| async {
            let answer = patiently(|| api.get("users/me", &[])).await?;
            let id = answer["data"]["id"].as_str().filter(|id| is_id(id)).map(str::to_owned);
            let handle = answer["data"]["username"].as_str().map(|name| format!("@{name}"));
            let me = id.map(|id| Me { id, handle });
            me.ok_or_else(|| Fault::Unclear("X does not say who the account is".to_owned()))
        });
        me.await
    }

    async fn page(&self, api: &Api, since: DateTime<Utc>) -> Result<Value, Fault> {
        let path = format!("users/{}/tweets", self.me(api).await?);
        let start = (since - SKEW).to_rfc3339_opts(SecondsFormat::Secs, true);
        let query = [
            ("max_results", "100"),
            ("start_time", &*start),
            ("tweet.fields", "entities,referenced_tweets"),
        ];
        patiently(|| api.get(&path, &query)).await
    }
}

/// Asks again what a moment's trouble left without an answer: reading changes nothing.
async fn patiently<F: Future<Output = Result<Value, Fault>>>(
    ask: impl Fn() -> F,
) -> Result<Value, Fault> {
    for pause in AGAIN {
        match ask().await {
            Err(Fault::NotSent(_) | Fault::Unclear(_)) => sleep(pause).await,
            answer => return answer,
        }
    }
    ask().await
}

/// Whether a post can be told from the one that is looked for.
fn is_readable(seen: &Value) -> bool {
    let id = seen["id"].as_str().filter(|id| is_id(id));
    id.and_then(made_at).is_some() && seen["text"].is_string()
}

/// When a post was made, from its id; ids of before 2010 do not tell.
fn made_at(id: &str) -> Option<DateTime<Utc>> {
    let id = id.parse::<u64>().ok().filter(|id| *id > 1 << 40)?;
    DateTime::from_timestamp_millis(EPOCH + i64::try_from(id >> 22).ok()?)
}

/// The post that this one answers or quotes.
fn other_post<'a>(seen: &'a Value, how: &str) -> Option<&'a str> {
    let others = seen["referenced_tweets"].as_array()?;
    others.iter().find(|other| other["type"] == how)?["id"].as_str()
}

/// What X may have added to a text, at its end.
struct AddedSuffix<'a> {
    /// A link to the post that is quoted.
    quote: Option<&'a str>,
    /// Links to the pictures.
    pictures: bool,
}

impl AddedSuffix<'_> {
    /// Whether X has added this link to the post with this id.
    fn is_added(&self, id: &str, long: &str) -> bool {
        let of_picture = |kind: &str| long.contains(&format!("/status/{id}/{kind}/"));
        let of_quote = self.quote.is_some_and(|id| long.ends_with(&format!("/status/{id}")));
        of_quote || (self.pictures && (of_picture("photo") || of_picture("video")))
    }
}

/// The text of a post as it was written: X replaces links by its own, writes `&`, `<` and `>` as HTML does, and may
/// add links to the post that is quoted and to the pictures.
fn text(seen: &Value, added: &AddedSuffix<'_>) -> String {
    let mut text = seen["text"].as_str().unwrap_or_default().to_owned();
    let urls = seen["entities"]["urls"].as_array().map_or(&[][..], Vec::as_slice);
    let links = || {
        urls.iter().filter_map(|url| Some((url["url"].as_str()?, url["expanded_url"].as_str()?)))
    };
    let id = seen["id"].as_str().unwrap_or_default();
    while let Some((short, _)) =
        links().find(|(short, long)| text.trim_end().ends_with(short) && added.is_added(id, long))
        && !short.is_empty()
    {
        text.truncate(text.trim_end().len() - short.len());
    }
    for (short, long) in links() {
        text = text.replace(short, long);
    }
    canonical(&text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// A text by which two are compared: in normal form C, white space as one blank, links without what X may
/// add or take away at both ends.
fn canonical(text: &str) -> String {
    let text = composed(text);
    let mut out = String::new();
    let mut from = 0;
    for atom in atoms(&text) {
        let piece = &text[from..atom.end];
        from = atom.end;
        if !atom.is_link {
            out.push_str(piece);
            continue;
        }
        let bare = piece.split_once("://").map_or(piece, |(_, bare)| bare);
        out.push_str(bare.trim_end_matches('/'));
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain() -> AddedSuffix<'static> {
        AddedSuffix { quote: None, pictures: false }
    }

    #[test]
    fn a_post_is_known_again_behind_xs_own_links_and_html() {
        let seen = json!({
            "text": "a &lt;b&gt; &amp;amp; caf\u{e9} https://t.co/abc and\nmore https://t.co/def",
            "entities": { "urls": [
                { "url": "https://t.co/abc", "expanded_url": "https://example.com/" },
                { "url": "https://t.co/def", "expanded_url": "http://example.org/x" },
            ] },
        });
        let ours = "a <b> &amp; cafe\u{301} https://example.com and\nmore example.org/x";
        assert_eq!(text(&seen, &plain()), canonical(ours));
        assert_ne!(
            text(&seen, &plain()),
            canonical("a <b> &amp; cafe https://example.com and more example.org/x")
        );
    }

    #[test]
    fn what_tells_no_time_or_no_words_is_not_read() {
        let readable = |id: Value, text: Value| is_readable(&json!({ "id": id, "text": text }));
        assert!(readable(json!("1790000000000000000"), json!("tea")));
        for id in [json!(null), json!(1_790_000_000_000_000_000_u64), json!("12"), json!("../1790")]
        {
            assert!(!readable(id, json!("tea")));
        }
        assert!(!readable(json!("1790000000000000000"), json!(null)));
    }

    #[test]
    fn a_reply_is_told_from_a_post() {
        let reply = json!({ "referenced_tweets": [
            { "type": "quoted", "id": "1" }, { "type": "replied_to", "id": "2" },
        ] });
        assert_eq!(other_post(&reply, "replied_to"), Some("2"));
        assert_eq!(other_post(&reply, "quoted"), Some("1"));
        assert_eq!(other_post(&json!({}), "replied_to"), None);
    }

    #[test]
    fn the_link_that_x_adds_to_a_quote_is_none_of_the_text() {
        let link = "https://twitter.com/ada/status/7";
        let seen = json!({
            "text": "look https://t.co/abc",
            "entities": { "urls": [{ "url": "https://t.co/abc", "expanded_url": link }] },
        });
        assert_eq!(
            text(&seen, &AddedSuffix { quote: Some("7"), pictures: false }),
            canonical("look")
        );
        assert_eq!(text(&seen, &plain()), canonical(&format!("look {link}")));
    }

    #[test]
    fn the_links_that_x_adds_to_pictures_are_none_of_the_text() {
        let photo = "https://x.com/ada/status/8/photo/1";
        let quoted = "https://twitter.com/ada/status/7";
        let seen = json!({
            "id": "8",
            "text": "look https://t.co/abc https://t.co/def",
            "entities": { "urls": [
                { "url": "https://t.co/abc", "expanded_url": photo },
                { "url": "https://t.co/def", "expanded_url": quoted },
            ] },
        });
        assert_eq!(
            text(&seen, &AddedSuffix { quote: Some("7"), pictures: true }),
            canonical("look")
        );
        let whole = canonical(&format!("look {photo} {quoted}"));
        assert_eq!(text(&seen, &plain()), whole);
    }
}
