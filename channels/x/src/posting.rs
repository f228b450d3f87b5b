//! What can be posted on the timeline, and what has to be known before: data for the tools that post.

use selkie_channel_core::{
    MessageRef, PictureKind, PostPictures, Posting, PostingTool, has_no_width,
};

use crate::ids::MAIN;
use crate::refusal::{of_account, of_words};
use crate::weigh::{LIMIT, composed, weight};

/// Longer threads are refused: whoever has more to say means an article.
pub const MAX_POSTS: usize = 25;
/// The longest id of a post, in digits.
const MAX_ID: usize = 19;
/// Where posts have addresses.
const HOSTS: [&str; 6] =
    ["x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com"];

/// Bytes of a picture at most.
const PICTURE: u64 = 5 * 1024 * 1024;
/// Bytes of a GIF at most, which may move.
const GIF: u64 = 15 * 1024 * 1024;
/// What X takes.
const KINDS: [PictureKind; 4] = [
    PictureKind { name: "JPEG", mime: "image/jpeg", max_bytes: PICTURE, alone: false },
    PictureKind { name: "PNG", mime: "image/png", max_bytes: PICTURE, alone: false },
    PictureKind { name: "WebP", mime: "image/webp", max_bytes: PICTURE, alone: false },
    PictureKind { name: "GIF", mime: "image/gif", max_bytes: GIF, alone: true },
];

/// Posting on X.
pub static POSTING: Posting = Posting {
    to: MAIN,
    now: PostingTool {
        name: "twitter_post",
        description: "Post on X (Twitter), in public, now. One post has 1 to 280 weighted characters: a link counts \
                      23, an emoji or a CJK character 2. X shows no Markdown.",
    },
    later: PostingTool {
        name: "twitter_schedule",
        description: "Schedule a post on X (Twitter), in public. One post has 1 to 280 weighted characters: a link counts 23, \
                      an emoji or a CJK character 2. X shows no Markdown. The cron tool lists, pauses and removes \
                      schedules.",
    },
    most: MAX_POSTS,
    fault,
    mention,
    named,
    pictures: PostPictures { most: 4, kinds: &KINDS },
    such_as: "1790000000000000000 or https://x.com/name/status/1790000000000000000",
    url,
    of_words,
    of_account,
    again: "X refuses a text that it has seen shortly before (it does not say for how long; people report up to 12 \
            hours). Such a refusal ends that time, and three in a row pause the schedule. Vary the words: a date or a \
            number in them is enough, or schedule a prompt with the cron tool that writes each post anew",
};

/// Says why X would never take a text as one post.
pub fn fault(text: &str) -> Option<String> {
    let text = written(text);
    if text.is_empty() {
        return Some("it is empty".to_owned());
    }
    if text.chars().all(|c| c.is_whitespace() || has_no_width(c)) {
        return Some("nobody would see anything of it: write something".to_owned());
    }
    let weight = weight(&text);
    (weight > LIMIT).then(|| {
        format!(
            "it weighs {weight} characters and {LIMIT} are the most (a link counts 23, an emoji or a CJK character \
             2): shorten it, or cut it into the posts of a thread"
        )
    })
}

/// Returns a text as X gets it: in normal form C, without what X refuses.
pub fn written(text: &str) -> String {
    composed(text).replace(['\u{FFFE}', '\u{FEFF}', '\u{FFFF}'], "").trim().to_owned()
}

/// Returns the first name that a text mentions: an at sign that begins a word.
fn mention(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.char_indices().filter(|(_, c)| "@＠".contains(*c)).find_map(|(at, sign)| {
        let before = text[..at].chars().next_back();
        // The sign of an address of e-mail mentions nobody.
        if before.is_some_and(|c| is_name(c) || "!#$%&*@＠".contains(c)) {
            return None;
        }
        let rest = &text[at + sign.len_utf8()..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        (end > 0).then(|| format!("@{}", &rest[..end]))
    })
}

/// Reads a post's id or its address.
fn named(text: &str) -> Option<MessageRef> {
    let text = text.trim();
    let is_id =
        |id: &str| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit());
    if is_id(text) {
        return Some(MessageRef::new(text));
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let (host, path) = rest.split_once('/')?;
    if !HOSTS.iter().any(|known| known.eq_ignore_ascii_case(host)) {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut pieces = path.split('/').skip_while(|piece| *piece != "status");
    pieces.next()?;
    pieces.next().filter(|id| is_id(id)).map(MessageRef::new)
}

fn url(post: &MessageRef) -> String {
    format!("https://x.com/i/web/status/{}", post.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_x_never_takes_is_told_with_its_weight() {
        assert_eq!(fault("tea"), None);
        assert_eq!(fault(&"a".repeat(280)), None);
        let why = fault(&"あ".repeat(141)).unwrap();
        assert!(why.starts_with("it weighs 282 characters and 280 are the most"), "{why}");
        assert_eq!(fault(" \u{FEFF}\n").as_deref(), Some("it is empty"));
        let unseen = fault("\u{200B}\u{2060} \u{E0041}").unwrap();
        assert!(unseen.starts_with("nobody would see anything"), "{unseen}");
    }

    #[test]
    fn a_mention_is_an_at_sign_that_begins_a_word() {
        for (text, name) in [
            ("thanks @ada!", Some("@ada")),
            ("@ada_1 is here", Some("@ada_1")),
            ("(＠ada)", Some("@ada")),
            ("é@ada", Some("@ada")),
            ("write to ada@example.com", None),
            ("tea @ five", None),
            ("nobody", None),
        ] {
            assert_eq!(mention(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn a_post_is_named_by_its_id_or_its_address() {
        for text in [
            "1790",
            " 1790 ",
            "https://x.com/ada/status/1790",
            "https://x.com/i/web/status/1790?s=20",
            "https://mobile.twitter.com/ada/status/1790/photo/1",
            "http://X.com/ada/status/1790#top",
        ] {
            assert_eq!(named(text).unwrap().as_str(), "1790", "{text}");
        }
        for text in [
            "",
            "ada",
            "12345678901234567890",
            "https://x.com/ada",
            "https://x.com/ada/status/",
            "https://x.com/ada/status/17a",
            "https://x.com.example.org/ada/status/1790",
            "https://example.org/ada/status/1790",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
        assert_eq!(named(&url(&MessageRef::new("1790"))).unwrap().as_str(), "1790");
    }
}
