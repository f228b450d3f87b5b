//! What tools that post in public share: a post is read and checked before anybody is asked about it.

use selkie_channel_core::{MessageRef, Post, Posting};
use serde_json::Value;

use super::pictures;
use crate::ToolError;
use crate::basis::{NameMeaning, Reach, Target};
use crate::paths::Roots;
use crate::ports::Poster;
use crate::scope::Scope;
use crate::shown::Preview;

/// Arguments that a preview shows by itself.
const SHOWS: &[&str] = &["text", "thread", pictures::NAME];

/// Reads a post, with everything that can be refused beforehand refused.
pub(super) fn post(data: &Posting, args: &Value) -> Result<Post, String> {
    let texts = texts(args);
    if texts.len() > data.most {
        return Err(format!("a thread has {} posts at most, not {}", data.most, texts.len()));
    }
    for (n, text) in texts.iter().enumerate() {
        if let Some(why) = (data.fault)(text) {
            let which = if n == 0 { "text".to_owned() } else { format!("thread, post {n}") };
            return Err(format!("{which}: {why}"));
        }
    }
    let quote = named(data, args, "quote")?;
    let reply_to = named(data, args, "reply_to")?;
    Ok(Post { texts, quote, reply_to, pictures: Vec::new(), by: None })
}

/// The same for a tool that is called, without its pictures.
pub(super) fn accepted(data: &Posting, args: &Value) -> Result<Post, ToolError> {
    post(data, args).map_err(ToolError::Tell)
}

/// Says why a post can never be made as it is asked for, if so.
pub(super) fn fault(data: &'static Posting, roots: &Roots, args: &Value) -> Option<String> {
    post(data, args).err().or_else(|| pictures::fault(data, roots, args))
}

/// Where a call speaks: by the account that posts. What is `refused` anyway is nothing to ask the platform about.
pub(super) async fn target(data: &Posting, scope: &Scope, refused: bool) -> Target {
    let poster = if refused { None } else { scope.reply.poster(data.to).await };
    let named = |Poster { account, login }| NameMeaning {
        name: "account".to_owned(),
        is: account,
        identity: login,
    };
    let names = poster.map(named).into_iter().collect();
    Target { reach: Reach::Public, names, is_excused: false }
}

/// Says why a post needs somebody's approval whatever the policy: it speaks to people who did not ask for it.
pub(super) fn asks(data: &Posting, args: &Value) -> Option<String> {
    if text(args, "reply_to").is_some() {
        return Some("asks first: it answers somebody's post".to_owned());
    }
    let name = texts(args).iter().find_map(|text| (data.mention)(text))?;
    Some(format!("asks first: it speaks to somebody by name ({name})"))
}

/// Shows a whole post: its first text as it is, the others and the pictures each on a line.
pub(super) fn preview(
    head: &'static str,
    data: &'static Posting,
    roots: &Roots,
    args: &Value,
) -> Preview {
    let texts = texts(args);
    let further = texts.iter().enumerate().skip(1);
    let shown = further.fold(Preview::of(head, SHOWS), |shown, (n, text)| {
        shown.noting(format!("post {} of the thread", n + 1), text)
    });
    pictures::noted(shown, data, roots, args).with(texts.first().map_or("", String::as_str))
}

fn texts(args: &Value) -> Vec<String> {
    let first = args.get("text").and_then(Value::as_str).unwrap_or_default();
    let further = args.get("thread").and_then(Value::as_array).into_iter().flatten();
    let further = further.map(|text| text.as_str().unwrap_or_default());
    std::iter::once(first).chain(further).map(str::to_owned).collect()
}

/// Reads what names a post.
fn named(data: &Posting, args: &Value, key: &str) -> Result<Option<MessageRef>, String> {
    let Some(written) = text(args, key) else { return Ok(None) };
    let found = (data.named)(written).map(Some);
    found.ok_or_else(|| {
        let shown: String = written.chars().take(80).collect();
        format!("{key} {shown:?} names no post (takes {})", data.such_as)
    })
}

fn text<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    args.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
