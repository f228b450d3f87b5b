//! What is said becomes calls of the Messaging API: the form in which a part is stored.

use selkie_channel_core::{Body, Outbound, Part, plain, split};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{Spot, uuid_of};

/// LINE's limit of a bubble, UTF-16 units.
const MAX_TEXT: usize = 5000;
/// LINE's limit of bubbles in one call.
const MAX_BUBBLES: usize = 5;
/// Stands before a text that may be there twice.
const MARK: &str = "(possibly repeated)";
/// Room that is kept for the mark and a line break.
const MARK_ROOM: usize = MARK.len() + 1;
const SHOWN: usize = 200;
/// How long the loading animation turns; LINE takes 5 to 60 in steps of 5. A message ends it.
pub const LOADING_SECONDS: u64 = 20;

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Call {
    /// Up to five bubbles: as a free reply while the token lives, else as a push.
    Say(Say),
    /// The loading animation of a one-to-one chat.
    Loading {
        /// The person.
        chat: String,
    },
}

/// Bubbles that go out together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Say {
    /// The chat's id.
    pub to: String,
    /// The right to a free reply, for the first part of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<String>,
    /// Makes a repeated push harmless for a day.
    pub retry_key: String,
    /// What each bubble says.
    pub bubbles: Vec<String>,
    /// The message that the first bubble quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// An earlier reply with this token is unclear: it must never become a push.
    #[serde(default)]
    pub unclear_before: bool,
}

impl Say {
    fn mark(&mut self) {
        let Some(first) = self.bubbles.first_mut() else { return };
        if !first.starts_with(MARK) {
            *first = format!("{MARK}\n{first}");
        }
        self.unclear_before = true;
    }
}

/// Turns what is said into calls, in order. Empty when there is nothing to show.
pub fn render(outbound: &Outbound) -> Vec<Part> {
    let Some(spot) = Spot::parse(outbound.conversation.key()) else {
        tracing::error!(conversation = %outbound.conversation, "not a conversation of LINE");
        return Vec::new();
    };
    match &outbound.body {
        Body::Text { markdown } => say(outbound, &spot, &plain::render(markdown)),
        Body::File { name, caption, .. } => say(outbound, &spot, &file(name, caption.as_deref())),
        Body::Photo { caption, .. } => say(outbound, &spot, &file("picture", caption.as_deref())),
        Body::Voice { name, .. } => say(outbound, &spot, &file(name, None)),
        // Bots cannot react on LINE.
        Body::Reaction { .. } => Vec::new(),
        Body::Typing if spot.kind() == "user" => {
            let call = Call::Loading { chat: spot.id().to_owned() };
            let part = part(outbound, &call, "[loading animation]".to_owned());
            vec![Part { repeatable: true, ..part }]
        }
        Body::Question(question) => say(outbound, &spot, &plain::render(&question.in_words())),
        // Messages on LINE cannot be changed; the animation is there in one-to-one chats only.
        Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::TapAnswer { .. }
        | Body::Typing => Vec::new(),
    }
}

/// Returns the part with a visible mark; a push needs none: its retry key makes repeating harmless.
pub fn marked(part: &Part) -> Part {
    let mut part = part.clone();
    if part.repeatable {
        return part;
    }
    let mark = |value: &Value| match serde_json::from_value(value.clone()).ok()? {
        Call::Say(mut say) => {
            say.mark();
            serde_json::to_value(Call::Say(say)).ok()
        }
        Call::Loading { .. } => None,
    };
    if let Some(call) = mark(&part.call) {
        part.call = call;
    }
    part.fallback = part.fallback.as_ref().and_then(mark);
    if !part.shown.starts_with(MARK) {
        part.shown = shown(&format!("{MARK} {}", part.shown));
    }
    part
}

/// A file cannot go: LINE takes one by a public address only.
fn file(name: &str, caption: Option<&str>) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let words = caption.map(|c| format!("\n{}", plain::render(c))).unwrap_or_default();
    format!("[{name}: bots cannot send files on LINE]{words}")
}

fn say(outbound: &Outbound, spot: &Spot, text: &str) -> Vec<Part> {
    let bubbles = split::plain(text, MAX_TEXT - MARK_ROOM);
    let calls = bubbles.chunks(MAX_BUBBLES).enumerate();
    calls.map(|(at, bubbles)| bundle(outbound, spot, at, bubbles)).collect()
}

fn bundle(outbound: &Outbound, spot: &Spot, at: usize, bubbles: &[String]) -> Part {
    let first = at == 0;
    let window = outbound.reply_window.as_ref().filter(|w| first && w.calls > 0);
    let say = Say {
        to: spot.id().to_owned(),
        reply_token: window.map(|w| w.token.clone()),
        retry_key: retry_key(outbound, at, bubbles),
        bubbles: bubbles.to_vec(),
        quote: outbound.quote.as_ref().filter(|_| first).map(|m| m.as_str().to_owned()),
        unclear_before: false,
    };
    // A reply has no retry key: it is resolved by its token, in `lookup`.
    let repeatable = say.reply_token.is_none();
    let fallback = Call::Say(Say { quote: None, ..say.clone() });
    let part = part(outbound, &Call::Say(say), shown(&bubbles.join("\n")));
    Part { repeatable, fallback: Some(json!(fallback)), ..part }
}

/// A key of this part alone: the outbound's number tells apart what says the same in the same place.
fn retry_key(outbound: &Outbound, at: usize, bubbles: &[String]) -> String {
    let token = outbound.reply_window.as_ref().map_or("", |w| w.token.as_str());
    let place = outbound.conversation.full();
    uuid_of(&format!("{place}\n{}\n{token}\n{at}\n{}", outbound.nonce, bubbles.join("\n")))
}

fn part(outbound: &Outbound, call: &Call, shown: String) -> Part {
    Part {
        v: Part::VERSION,
        conversation: outbound.conversation.clone(),
        call: json!(call),
        fallback: None,
        shown,
        repeatable: false,
        follows: false,
    }
}

fn shown(text: &str) -> String {
    let line = text.trim();
    if split::utf16_len(line) <= SHOWN {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SHOWN - 1).collect();
    cut + "…"
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use selkie_channel_core::{AccountId, MessageRef, ReplyWindow};

    use super::*;

    fn outbound(chat: &str, body: Body) -> Outbound {
        let spot = Spot::parse(chat).unwrap();
        let token = "nHuyWiB7yP5Zw52FIkcQobQuGDXCTA".to_owned();
        let window = ReplyWindow { token, until: DateTime::UNIX_EPOCH, calls: 1 };
        Outbound::new(spot.conversation(&AccountId::new("line:x1")), body)
            .quoting(Some(MessageRef::new("325708")))
            .within(Some(window))
    }

    fn text(markdown: &str) -> Outbound {
        outbound("U1", Body::Text { markdown: markdown.to_owned() })
    }

    fn says(part: &Part) -> Say {
        match serde_json::from_value(part.call.clone()).unwrap() {
            Call::Say(say) => say,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_short_answer_is_one_reply() {
        let parts = render(&text("**hello**"));
        assert_eq!(parts.len(), 1);
        insta::assert_json_snapshot!(parts[0].call, @r#"
        {
          "kind": "say",
          "to": "U1",
          "reply_token": "nHuyWiB7yP5Zw52FIkcQobQuGDXCTA",
          "retry_key": "7747a539-1b5c-8d99-97b6-ab61a0f93c8a",
          "bubbles": [
            "hello"
          ],
          "quote": "325708",
          "unclear_before": false
        }
        "#);
        assert!(!parts[0].repeatable);
    }

    #[test]
    fn five_bubbles_are_one_call_and_only_the_first_carries_the_token() {
        let parts = render(&text(&"word ".repeat(6000)));
        let says: Vec<Say> = parts.iter().map(says).collect();
        assert_eq!(says.iter().map(|s| s.bubbles.len()).collect::<Vec<_>>(), [5, 2]);
        assert_eq!(says.iter().filter(|s| s.reply_token.is_some()).count(), 1);
        assert!(says[0].reply_token.is_some() && says[1].quote.is_none());
        assert_ne!(says[0].retry_key, says[1].retry_key);
        assert!(parts[1].repeatable, "a push is repeated under its key");
    }

    #[test]
    fn two_that_say_the_same_have_keys_of_their_own() {
        let (one, two) = (text("same").numbered(1), text("same").numbered(2));
        assert_ne!(says(&render(&one)[0]).retry_key, says(&render(&two)[0]).retry_key);
        assert_eq!(render(&one), render(&one));
    }

    #[test]
    fn a_marked_reply_keeps_its_token_and_never_becomes_a_push() {
        let part = marked(&render(&text("hello"))[0]);
        let say = says(&part);
        assert_eq!(say.bubbles, ["(possibly repeated)\nhello"]);
        assert!(say.unclear_before && say.reply_token.is_some());
        assert_eq!(marked(&part), part);
        let push = &render(&text(&"word ".repeat(6000)))[1];
        assert_eq!(&marked(push), push);
    }

    #[test]
    fn loading_is_for_one_to_one_chats_alone() {
        assert_eq!(render(&outbound("U1", Body::Typing)).len(), 1);
        assert!(render(&outbound("C1", Body::Typing)).is_empty());
        assert!(render(&outbound("R1", Body::Typing)).is_empty());
    }

    #[test]
    fn a_file_is_told_of_instead_of_lost() {
        let body = Body::File {
            path: "/x/notes.txt".to_owned(),
            name: "notes.txt".to_owned(),
            caption: Some("the *notes*".to_owned()),
        };
        let bubbles = says(&render(&outbound("U1", body))[0]).bubbles;
        assert_eq!(bubbles, ["[notes.txt: bots cannot send files on LINE]\nthe notes"]);
    }

    proptest! {
        #[test]
        fn every_bubble_fits_with_its_mark(text in "(\\PC|\n| |😀){0,60}", times in 1usize..400) {
            let body = Body::Text { markdown: text.repeat(times) };
            for part in render(&outbound("C1", body)) {
                let say = says(&marked(&part));
                prop_assert!((1..=MAX_BUBBLES).contains(&say.bubbles.len()));
                for bubble in &say.bubbles {
                    prop_assert!(split::utf16_len(bubble) <= MAX_TEXT);
                    prop_assert!(!bubble.trim().is_empty());
                }
                prop_assert!(part.fallback.is_some());
            }
        }
    }
}
