//! What is said becomes posts: the form in which a part is stored.

use chrono::{DateTime, Utc};
use selkie_channel_core::{
    self as core, Body, MessageRef, Outbound, Part, PostPicture, PostedBy, plain,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::posting::{MAX_POSTS, fault, written};
use crate::thread::{ThreadNumbering, posts};

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
    /// The post that it quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Its pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PostPicture>,
    /// Who posts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PostedBy>,
    /// It was not posted before this moment; without one nothing can be looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

/// Turns what is said into calls, in order. Empty when there is nothing to show.
pub fn render(outbound: &Outbound, numbering: ThreadNumbering) -> Vec<Part> {
    match &outbound.body {
        Body::Text { markdown } => thread(outbound, &plain::render(markdown), numbering),
        Body::Post(post) => drafted(outbound, post),
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

fn thread(outbound: &Outbound, text: &str, numbering: ThreadNumbering) -> Vec<Part> {
    let posts = posts(text, numbering);
    if posts.len() > MAX_POSTS {
        let why = format!(
            "it would be a thread of {} posts and {MAX_POSTS} are the most: make it shorter, or post a link to it",
            posts.len()
        );
        return cannot(outbound, &why);
    }
    let parts = posts.into_iter().enumerate().map(|(n, text)| {
        let post = Post {
            text,
            reply_to: None,
            quote: None,
            pictures: Vec::new(),
            by: None,
            since: outbound.at,
        };
        one_of(outbound, post, n)
    });
    parts.collect()
}

/// Posts that somebody has cut themselves: each is one, or none is posted.
fn drafted(outbound: &Outbound, post: &core::Post) -> Vec<Part> {
    let core::Post { texts, quote, reply_to, pictures, by } = post;
    let id = |post: &Option<MessageRef>| post.as_ref().map(|post| post.as_str().to_owned());
    if texts.len() > MAX_POSTS {
        let why =
            format!("a thread of {} posts was asked for and {MAX_POSTS} are the most", texts.len());
        return cannot(outbound, &why);
    }
    if let Some((n, why)) = texts.iter().enumerate().find_map(|(n, text)| Some((n, fault(text)?))) {
        return cannot(outbound, &format!("post {} was not posted: {why}", n + 1));
    }
    let parts = texts.iter().enumerate().map(|(n, text)| {
        let first = n == 0;
        let post = Post {
            text: written(text),
            reply_to: id(reply_to).filter(|_| first),
            quote: id(quote).filter(|_| first),
            pictures: if first { pictures.clone() } else { Vec::new() },
            by: by.clone(),
            since: outbound.at,
        };
        one_of(outbound, post, n)
    });
    parts.collect()
}

/// One post of a thread.
fn one_of(outbound: &Outbound, post: Post, n: usize) -> Part {
    let words = post.text.clone();
    Part { follows: n > 0, ..part(outbound, &Call::Post(post), &words) }
}

fn no_files(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    format!(
        "{name} was not posted: X takes no files, and a picture only with a post of twitter_post"
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
        render(&outbound, ThreadNumbering::Off)
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
    fn posts_that_were_cut_by_hand_stay_as_they_are_and_each_has_to_fit() {
        let picture = PostPicture {
            path: "/kept/cat.png".to_owned(),
            name: "cat.png".to_owned(),
            mime: "image/png".to_owned(),
            bytes: 7,
            sha256: "00".to_owned(),
        };
        let post = |texts: &[&str]| {
            Body::Post(core::Post {
                texts: texts.iter().map(|text| (*text).to_owned()).collect(),
                quote: Some(MessageRef::new("7")),
                reply_to: Some(MessageRef::new("8")),
                pictures: vec![picture.clone()],
                by: None,
            })
        };
        let parts = rendered(post(&["**one**", " two "]));
        assert_eq!(parts.iter().map(|p| p.follows).collect::<Vec<_>>(), [false, true]);
        let of = |n: usize, key: &str| parts[n].call[key].as_str().map(str::to_owned);
        assert_eq!((of(0, "text"), of(1, "text")), (Some("**one**".into()), Some("two".into())));
        assert_eq!((of(0, "quote"), of(0, "reply_to")), (Some("7".into()), Some("8".into())));
        assert_eq!((of(1, "quote"), of(1, "reply_to")), (None, None));
        assert_eq!(parts[0].call["pictures"], json!([picture]));
        assert_eq!(parts[1].call.get("pictures"), None, "a thread's pictures are its first post's");
        let long = "a".repeat(281);
        let parts = rendered(post(&["fits", &long]));
        assert_eq!(parts.len(), 1, "none is posted");
        let why = parts[0].call["why"].as_str().unwrap();
        assert!(why.starts_with("post 2 was not posted: it weighs 281"), "{why}");
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
        a picture was not posted: X takes no files, and a picture only with a post of twitter_post
        cat.png was not posted: X takes no files, and a picture only with a post of twitter_post
        it would be a thread of 36 posts and 25 are the most: make it shorter, or post a link to it
        ");
        assert!(rendered(Body::Typing).is_empty());
        assert!(text(" ").is_empty());
    }
}
