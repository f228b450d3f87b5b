//! What is said becomes calls of the Messaging API: the form in which a part is stored.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, Mention, Outbound, Part, Question, plain, split};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::buttons::{self, Buttons, Form};
use crate::ids::{Spot, uuid_of};

/// LINE's limit of a bubble, UTF-16 units.
const MAX_TEXT: usize = 5000;
/// LINE's limit of bubbles in one call.
const MAX_BUBBLES: usize = 5;
/// Stands before a text that may be there twice.
const MARK: &str = Part::MARK;
/// Room that is kept for the mark and a line break.
const MARK_ROOM: usize = MARK.len() + 1;
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
    /// Until when that right surely lives: LINE promises nothing for later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_until: Option<DateTime<Utc>>,
    /// Makes a repeated push harmless for a day.
    pub retry_key: String,
    /// When it was said: no push was made before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<DateTime<Utc>>,
    /// What each bubble says.
    pub bubbles: Vec<String>,
    /// Who is told where a bubble names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The message that the first bubble quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Buttons on the last bubble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<Buttons>,
    /// Worth a free reply and never a push, which counts.
    #[serde(default)]
    pub free_only: bool,
}

impl Say {
    /// The same as a push, which is repeated under its key.
    fn pushed(mut self) -> Self {
        (self.reply_token, self.reply_until) = (None, None);
        self
    }

    /// The same as a push that may say it for the second time. Its key is its own: the one before may have
    /// been used too long ago to be known.
    fn marked(self) -> Self {
        let mut say = self.pushed();
        if let Some(first) = say.bubbles.first_mut()
            && !first.starts_with(MARK)
        {
            *first = format!("{MARK}\n{first}");
            say.retry_key = uuid_of(&format!("{}\n{MARK}", say.retry_key));
        }
        say
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
        Body::File { name, caption, .. } | Body::Voice { name, caption, .. } => {
            say(outbound, &spot, &file(name, caption.as_deref()))
        }
        Body::Photo { caption, .. } => say(outbound, &spot, &file("picture", caption.as_deref())),
        // Bots cannot react on LINE.
        Body::Reaction { .. } => Vec::new(),
        Body::Typing if spot.kind() == "user" => {
            let call = Call::Loading { chat: spot.id().to_owned() };
            let part = part(outbound, &call, "[loading animation]");
            vec![Part { repeatable: true, ..part }]
        }
        Body::Question(question) => ask(outbound, &spot, question),
        Body::Held(question) => held(outbound, &spot, question),
        Body::TapAnswer { handle, text } => answer_tap(outbound, &spot, handle, text),
        // Bots send no files on LINE, and its messages cannot be changed; the animation is there in one-to-one chats only.
        Body::QuestionWithFile { .. }
        | Body::Post(_)
        | Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::Typing => Vec::new(),
    }
}

/// Returns the part as a push that may be repeated under its key.
pub fn pushed(part: &Part) -> Part {
    changed(part, Say::pushed)
}

/// Returns the part as a push with a visible mark.
pub fn marked(part: &Part) -> Part {
    changed(part, Say::marked).shown_marked()
}

/// Changes what a part says in both its forms; what it shows apart from words stays.
fn changed(part: &Part, change: fn(Say) -> Say) -> Part {
    let write = |value: &Value| match serde_json::from_value(value.clone()).ok()? {
        Call::Say(say) => serde_json::to_value(Call::Say(change(say))).ok(),
        Call::Loading { .. } => None,
    };
    let call = write(&part.call).unwrap_or_else(|| part.call.clone());
    let fallback = part.fallback.as_ref().and_then(write);
    Part { call, fallback, repeatable: true, ..part.clone() }
}

/// A file cannot go: LINE takes one by a public address only.
fn file(name: &str, caption: Option<&str>) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let words = caption.map(|c| format!("\n{}", plain::render(c))).unwrap_or_default();
    format!("[{name}: bots cannot send files on LINE]{words}")
}

/// The choices stand in the text too: quick replies are gone with the next message, and a computer shows
/// none.
fn ask(outbound: &Outbound, spot: &Spot, question: &Question) -> Vec<Part> {
    let mut message = says(outbound, spot, &plain::render(&question.in_words()));
    if let Some(last) = message.last_mut() {
        last.buttons = Buttons::of(question, Form::Quick);
    }
    message.into_iter().map(|say| part_of(outbound, say)).collect()
}

/// A card, whose button stays: the answer may be fetched hours later. It is never worth a push.
fn held(outbound: &Outbound, spot: &Spot, question: &Question) -> Vec<Part> {
    let text = split::shorten(plain::render(&question.markdown).trim(), buttons::MAX_CARD);
    let first = says(outbound, spot, &text).into_iter().next();
    let Some(say) = first.filter(|say| say.reply_token.is_some()) else { return Vec::new() };
    let buttons = Buttons::of(question, Form::Card);
    vec![part_of(outbound, Say { buttons, free_only: true, ..say })]
}

/// The tap's own token carries the answer; without words it is kept for whoever has more to say.
fn answer_tap(outbound: &Outbound, spot: &Spot, handle: &str, text: &str) -> Vec<Part> {
    let first = says(outbound, spot, &plain::render(text)).into_iter().next();
    let Some(say) = first.filter(|_| !handle.is_empty()) else { return Vec::new() };
    let reply_token = Some(handle.to_owned());
    vec![part_of(outbound, Say { reply_token, quote: None, free_only: true, ..say })]
}

fn say(outbound: &Outbound, spot: &Spot, text: &str) -> Vec<Part> {
    says(outbound, spot, text).into_iter().map(|say| part_of(outbound, say)).collect()
}

fn says(outbound: &Outbound, spot: &Spot, text: &str) -> Vec<Say> {
    let mut bubbles = split::plain(text, MAX_TEXT - MARK_ROOM);
    bubbles.retain(|bubble| bubble.chars().any(is_seen));
    let calls = bubbles.chunks(MAX_BUBBLES).enumerate();
    calls.map(|(at, bubbles)| bundle(outbound, spot, at, bubbles)).collect()
}

/// Whether a character shows anything: LINE takes no bubble that is empty to the eye.
fn is_seen(c: char) -> bool {
    let hidden = matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}');
    !(hidden || c.is_whitespace() || c.is_control())
}

fn bundle(outbound: &Outbound, spot: &Spot, at: usize, bubbles: &[String]) -> Say {
    let first = at == 0;
    let window = outbound.reply_window.as_ref().filter(|w| first && w.calls > 0);
    Say {
        to: spot.id().to_owned(),
        reply_token: window.map(|w| w.token.clone()),
        reply_until: window.map(|w| w.until),
        retry_key: retry_key(outbound, at, bubbles),
        said_at: outbound.at,
        bubbles: bubbles.to_vec(),
        mentions: told(outbound, spot),
        quote: outbound.quote.as_ref().filter(|_| first).map(|m| m.as_str().to_owned()),
        buttons: None,
        free_only: false,
    }
}

/// Who is told where a text names them: alone with somebody there is nobody to tell.
fn told(outbound: &Outbound, spot: &Spot) -> Vec<Mention> {
    let tells =
        matches!(outbound.body, Body::Text { .. } | Body::Question(_)) && spot.kind() != "user";
    if tells { outbound.mentions.clone() } else { Vec::new() }
}

fn part_of(outbound: &Outbound, say: Say) -> Part {
    // A reply has no retry key: it is resolved by its token, in `lookup`.
    let repeatable = say.reply_token.is_none();
    let words = say.bubbles.join("\n");
    let buttons = say.buttons.clone().filter(|buttons| buttons.form == Form::Card);
    let fallback = Call::Say(Say { quote: None, mentions: Vec::new(), buttons, ..say.clone() });
    let part = part(outbound, &Call::Say(say), &words).or(Some(&fallback));
    Part { repeatable, ..part }
}

/// A key of this part alone: the outbound's number tells apart what says the same in the same place.
fn retry_key(outbound: &Outbound, at: usize, bubbles: &[String]) -> String {
    let token = outbound.reply_window.as_ref().map_or("", |w| w.token.as_str());
    let place = outbound.conversation.full();
    uuid_of(&format!("{place}\n{}\n{token}\n{at}\n{}", outbound.nonce, bubbles.join("\n")))
}

fn part(outbound: &Outbound, call: &Call, words: &str) -> Part {
    Part::new(outbound.conversation.clone(), call, words)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use selkie_channel_core::{AccountId, Choice, MessageRef, ReplyWindow};

    use super::*;

    fn outbound(chat: &str, body: Body) -> Outbound {
        let spot = Spot::parse(&format!("{chat}{}", "0".repeat(31))).unwrap();
        let token = "nHuyWiB7yP5Zw52FIkcQobQuGDXCTA".to_owned();
        let window = ReplyWindow { token, until: DateTime::UNIX_EPOCH, calls: 1, hold_at: None };
        Outbound::new(spot.conversation(&AccountId::new("line:x1")), body)
            .quoting(Some(MessageRef::new("325708")))
            .within(Some(window))
    }

    fn text(markdown: &str) -> Outbound {
        outbound("U1", Body::Text { markdown: markdown.to_owned() })
    }

    fn says_of(part: &Part) -> Say {
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
          "to": "U10000000000000000000000000000000",
          "reply_token": "nHuyWiB7yP5Zw52FIkcQobQuGDXCTA",
          "reply_until": "1970-01-01T00:00:00Z",
          "retry_key": "dee16406-79a4-8217-91a6-13fd2feb72d5",
          "bubbles": [
            "hello"
          ],
          "quote": "325708",
          "free_only": false
        }
        "#);
        assert!(!parts[0].repeatable);
    }

    #[test]
    fn five_bubbles_are_one_call_and_only_the_first_carries_the_token() {
        let parts = render(&text(&"word ".repeat(6000)));
        let message: Vec<Say> = parts.iter().map(says_of).collect();
        assert_eq!(message.iter().map(|s| s.bubbles.len()).collect::<Vec<_>>(), [5, 2]);
        assert_eq!(message.iter().filter(|s| s.reply_token.is_some()).count(), 1);
        assert!(message[0].reply_token.is_some() && message[1].quote.is_none());
        assert_ne!(message[0].retry_key, message[1].retry_key);
        assert!(parts[1].repeatable, "a push is repeated under its key");
    }

    #[test]
    fn two_that_say_the_same_have_keys_of_their_own() {
        let (one, two) = (text("same").numbered(1), text("same").numbered(2));
        assert_ne!(says_of(&render(&one)[0]).retry_key, says_of(&render(&two)[0]).retry_key);
        assert_eq!(render(&one), render(&one));
    }

    #[test]
    fn a_reply_becomes_a_push_that_keeps_its_words_and_its_key() {
        let reply = &render(&text("hello"))[0];
        let (before, part) = (says_of(reply), pushed(reply));
        let say = says_of(&part);
        assert!(say.reply_token.is_none() && part.repeatable);
        assert_eq!((say.bubbles, say.retry_key), (before.bubbles, before.retry_key));
        assert_eq!(pushed(&part), part);
    }

    #[test]
    fn what_is_marked_is_a_push_with_a_key_of_its_own() {
        for part in [&render(&text("hello"))[0], &render(&text(&"word ".repeat(6000)))[1]] {
            let twice = marked(part);
            let (before, say) = (says_of(part), says_of(&twice));
            assert!(say.bubbles[0].starts_with("(possibly repeated)\n"));
            assert!(say.reply_token.is_none() && twice.repeatable);
            assert_ne!(say.retry_key, before.retry_key);
            assert_eq!(marked(&twice), twice);
        }
    }

    fn question() -> Question {
        let choice = |id: &str, label: &str, description: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: description.to_owned(),
        };
        Question {
            key: "k1".to_owned(),
            markdown: "**Which** tea?".to_owned(),
            choices: vec![choice("a", "Green", ""), choice("b", "Black", "with milk")],
            free_text: true,
            placeholder: String::new(),
        }
    }

    #[test]
    fn a_question_has_its_choices_in_words_and_on_buttons() {
        let parts = render(&outbound("U1", Body::Question(question())));
        let say = says_of(&parts[0]);
        let own = "You can also answer in your own words.";
        assert_eq!(say.bubbles, [format!("Which tea?\n\n1. Green\n2. Black: with milk\n\n{own}")]);
        let data: Vec<_> = say.buttons.unwrap().items.into_iter().map(|b| b.data).collect();
        assert_eq!(data, ["q:k1:a", "q:k1:b"]);
        let many = vec![question().choices.remove(0); 14];
        let many = Question { choices: many, ..question() };
        let say = says_of(&render(&outbound("C1", Body::Question(many)))[0]);
        assert!(say.buttons.is_none() && say.bubbles[0].contains("14. Green"));
    }

    #[test]
    fn a_button_for_an_answer_to_come_is_a_card_that_fits_and_is_never_pushed() {
        let long = Question { markdown: "late ".repeat(90), ..question() };
        let parts = render(&outbound("C1", Body::Held(long.clone())));
        let say = says_of(&parts[0]);
        assert!(say.free_only && say.reply_token.is_some());
        assert!(split::utf16_len(&say.bubbles[0]) <= buttons::MAX_CARD);
        assert_eq!(say.buttons.unwrap().form, Form::Card);
        let without = outbound("C1", Body::Held(long)).within(None);
        assert!(render(&without).is_empty(), "no token, no button");
    }

    #[test]
    fn a_tap_is_answered_by_its_own_token_when_there_is_something_to_say() {
        let tap = |text: &str| Body::TapAnswer { handle: "T".to_owned(), text: text.to_owned() };
        let say = says_of(&render(&outbound("U1", tap("too late")))[0]);
        assert_eq!((say.reply_token.as_deref(), say.free_only), (Some("T"), true));
        assert!(render(&outbound("U1", tap(""))).is_empty());
        let dead = Body::TapAnswer { handle: String::new(), text: "too late".to_owned() };
        assert!(render(&outbound("U1", dead)).is_empty());
    }

    #[test]
    fn what_cannot_be_changed_on_line_is_not_said() {
        let (message, markdown) = (MessageRef::new("1"), "…".to_owned());
        for body in [
            Body::Status { markdown: markdown.clone() },
            Body::Revision { message: message.clone(), markdown, question: None },
            Body::Withdrawal { message },
        ] {
            assert!(render(&outbound("U1", body)).is_empty());
        }
    }

    #[test]
    fn what_shows_nothing_is_no_message() {
        for nothing in ["", " \n", "\u{200B}", "\u{2060}\u{FEFF} \u{200D}", "\u{FE0F}"] {
            assert!(render(&text(nothing)).is_empty(), "{nothing:?}");
        }
        assert_eq!(render(&text("a\u{200B}")).len(), 1);
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
        let bubbles = says_of(&render(&outbound("U1", body))[0]).bubbles;
        assert_eq!(bubbles, ["[notes.txt: bots cannot send files on LINE]\nthe notes"]);
    }

    proptest! {
        #[test]
        fn every_bubble_fits_with_its_mark(text in "(\\PC|\n| |😀){0,60}", times in 1usize..400) {
            let body = Body::Text { markdown: text.repeat(times) };
            for part in render(&outbound("C1", body)) {
                let say = says_of(&marked(&part));
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
