//! What is said becomes posts: the form in which a part is stored.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, MessageRef, Outbound, Part, plain};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::thread::{Numbering, posts};

/// Longer threads are refused: whoever has more to say means an article.
const MOST_POSTS: usize = 25;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Call {
    /// One post.
    Post(Post),
    /// Nothing that X could take: refused before anything is sent.
    Cannot {
        /// Why, and what to do.
        why: String,
    },
}

/// One post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// What it says, in normal form C.
    pub text: String,
    /// The post it goes on from, known when that one is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// It was not posted before this moment; without one nothing can be looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

/// Turns what is said into calls, in order. Empty when there is nothing to show.
pub fn render(outbound: &Outbound, numbering: Numbering) -> Vec<Part> {
    match &outbound.body {
        Body::Text { markdown } => thread(outbound, &plain::render(markdown), numbering),
        Body::File { name, .. } | Body::Voice { name, .. } => cannot(outbound, &no_files(name)),
        Body::Photo { .. } => cannot(outbound, &no_files("a picture")),
        Body::Question(_) => {
            cannot(outbound, "nobody can be asked on X: ask in a chat, or post the words as a text")
        }
        // A timeline shows posts and nothing else.
        Body::Reaction { .. }
        | Body::Held(_)
        | Body::QuestionWithFile { .. }
        | Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::TapAnswer { .. }
        | Body::Typing => Vec::new(),
    }
}

/// Returns a part of a thread that goes on from this post.
pub fn following(part: &Part, before: &MessageRef) -> Part {
    let Ok(Call::Post(post)) = serde_json::from_value(part.call.clone()) else {
        return part.clone();
    };
    let post = Post { reply_to: Some(before.as_str().to_owned()), ..post };
    Part { call: json!(Call::Post(post)), ..part.clone() }
}

fn thread(outbound: &Outbound, text: &str, numbering: Numbering) -> Vec<Part> {
    let posts = posts(text, numbering);
    if posts.len() > MOST_POSTS {
        let why = format!(
            "it would be a thread of {} posts and {MOST_POSTS} are the most: make it shorter, or post a link to it",
            posts.len()
        );
        return cannot(outbound, &why);
    }
    let parts = posts.into_iter().enumerate().map(|(n, text)| {
        let post = Post { text, reply_to: None, since: outbound.at };
        let words = post.text.clone();
        Part { follows: n > 0, ..part(outbound, &Call::Post(post), &words) }
    });
    parts.collect()
}

fn no_files(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    format!(
        "{name} was not posted: pictures and files are not supported on X yet, post the text alone"
    )
}

fn cannot(outbound: &Outbound, why: &str) -> Vec<Part> {
    vec![part(outbound, &Call::Cannot { why: why.to_owned() }, why)]
}

/// A post is plain already: there is no plainer form to fall back to.
fn part(outbound: &Outbound, call: &Call, words: &str) -> Part {
    Part::new(outbound.conversation.clone(), call, words)
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{AccountId, ConversationId};

    use super::*;

    fn rendered(body: Body) -> Vec<Part> {
        let conversation = ConversationId::new(AccountId::new("x:1"), "x:main");
        let outbound = Outbound::new(conversation, body).said(DateTime::UNIX_EPOCH);
        render(&outbound, Numbering::Off)
    }

    fn text(markdown: &str) -> Vec<Part> {
        rendered(Body::Text { markdown: markdown.to_owned() })
    }

    #[test]
    fn a_short_text_is_one_post_without_markdown() {
        let parts = text("**tea** at [five](https://example.com)");
        assert_eq!(parts.len(), 1);
        insta::assert_json_snapshot!(parts[0].call, @r#"
        {
          "kind": "post",
          "text": "tea at five (https://example.com)",
          "since": "1970-01-01T00:00:00Z"
        }
        "#);
        assert!(!parts[0].follows && !parts[0].repeatable);
    }

    #[test]
    fn what_is_longer_is_a_thread_whose_posts_follow_one_another() {
        let parts = text(&"word ".repeat(120));
        assert_eq!(parts.iter().map(|p| p.follows).collect::<Vec<_>>(), [false, true, true]);
        let next = following(&parts[1], &MessageRef::new("7"));
        assert_eq!(next.call["reply_to"], "7");
        assert_eq!(following(&next, &MessageRef::new("7")), next);
    }

    #[test]
    fn what_cannot_be_posted_is_told_and_nothing_is_lost_silently() {
        let why = |body| rendered(body)[0].call["why"].as_str().unwrap().to_owned();
        let path = "/x/cat.png".to_owned();
        let all = [
            why(Body::Photo { path: path.clone(), caption: None }),
            why(Body::File { path, name: "../cat.png".to_owned(), caption: None }),
            why(Body::Text { markdown: "word ".repeat(2000) }),
        ];
        insta::assert_snapshot!(all.join("\n"), @"
        a picture was not posted: pictures and files are not supported on X yet, post the text alone
        cat.png was not posted: pictures and files are not supported on X yet, post the text alone
        it would be a thread of 36 posts and 25 are the most: make it shorter, or post a link to it
        ");
        assert!(rendered(Body::Typing).is_empty());
        assert!(text(" ").is_empty());
    }
}
