//! What is said, as parts.

use proptest::prelude::*;
use selkie_channel_core::{Choice, ConversationId, ReplyWindow, split};

use super::*;
use crate::call::{key_of, marked};
use crate::ids::account_of;

fn outbound(key: &str, body: Body) -> Outbound {
    let conversation = ConversationId::new(account_of("xoxb-test"), key);
    Outbound::new(conversation, body)
}

fn text(markdown: &str) -> Vec<Part> {
    render(&outbound("slack:T1:D3", Body::Text { markdown: markdown.to_owned() }))
}

#[test]
fn the_mark_is_seen_in_both_forms_and_once() {
    let part = text("**hi**").remove(0);
    let twice = marked(&marked(&part));
    assert_eq!(twice.call.pointer("/params/text"), Some(&json!("_(possibly repeated)_\n*hi*")));
    let plain = twice.fallback.unwrap();
    assert_eq!(plain.pointer("/params/text"), Some(&json!("(possibly repeated)\nhi")));
    assert_eq!(twice.shown, "(possibly repeated) hi");
}

#[test]
fn typing_and_foreign_conversations_make_no_call() {
    assert!(render(&outbound("slack:T1:D3", Body::Typing)).is_empty());
    assert!(render(&outbound("tg:-100", Body::Text { markdown: "hi".to_owned() })).is_empty());
}

#[test]
fn markdown_that_is_all_markup_is_shown_as_it_stands() {
    assert_eq!(text("[a]: https://x.org").len(), 1);
    assert!(text("  ").is_empty());
}

#[test]
fn a_key_tells_messages_apart() {
    let key = |quote: &str| {
        let body = Body::Text { markdown: "ok".to_owned() };
        let quote = Some(MessageRef::new(quote));
        let part = render(&outbound("slack:T1:D3", body).quoting(quote)).remove(0);
        let call: Call = serde_json::from_value(part.call).unwrap();
        key_of(&call).unwrap().to_owned()
    };
    assert_eq!(key("1763640000.000100"), key("1763640000.000100"));
    assert_ne!(key("1763640000.000100"), key("1763640000.000200"));
}

proptest! {
    #[test]
    fn every_part_fits_with_its_mark(markdown in "(\\PC|\n|&| |\\*){0,200}", times in 1usize..60) {
        for part in text(&markdown.repeat(times)) {
            let part = marked(&part);
            for call in [Some(part.call), part.fallback].into_iter().flatten() {
                let text = call.pointer("/params/text").unwrap().as_str().unwrap();
                prop_assert!(split::utf16_len(text) <= MAX_TEXT);
            }
        }
    }
}

fn question(choices: usize) -> Question {
    let choice = |n: usize| Choice {
        id: format!("c{n}"),
        label: format!("Choice {n}"),
        description: if n == 1 { "the first*".to_owned() } else { String::new() },
    };
    Question {
        key: "q7".to_owned(),
        markdown: "**Which** one & why?".to_owned(),
        choices: (1..=choices).map(choice).collect(),
        free_text: false,
        placeholder: String::new(),
    }
}

#[test]
fn own_words_have_their_hint() {
    let asked = |choices, hint: &str| {
        let placeholder = hint.to_owned();
        let question = Question { free_text: true, placeholder, ..question(choices) };
        render(&outbound("slack:T1:D3", Body::Question(question))).remove(0).call["params"].clone()
    };
    let both = asked(2, "or write another day");
    assert!(both["text"].as_str().unwrap().ends_with("2. Choice 2\n\nor write another day"));
    assert!(
        both["blocks"][1]["text"]["text"].as_str().unwrap().ends_with("_or write another day_")
    );
    assert_eq!(
        asked(1, "")["text"],
        "Which one &amp; why?\n\n1. Choice 1: the first*\n\nYou can also answer in your own words."
    );
    let open = asked(0, "a day, such as Monday");
    assert!(open["text"].as_str().unwrap().ends_with("\n\na day, such as Monday"), "{open}");
}

#[test]
fn a_question_has_buttons_and_says_the_same_in_words() {
    let part = render(&outbound("slack:T1:C2:1763640000.000100", Body::Question(question(2))));
    assert_eq!(part.len(), 1);
    let params = part[0].call.get("params").unwrap();
    insta::assert_snapshot!(params["text"].as_str().unwrap(), @r"
    Which one &amp; why?

    1. Choice 1: the first*
    2. Choice 2
    ");
    insta::assert_json_snapshot!(params["blocks"], @r#"
    [
      {
        "type": "section",
        "text": {
          "type": "mrkdwn",
          "text": "*Which* one &amp; why?"
        }
      },
      {
        "type": "section",
        "text": {
          "type": "mrkdwn",
          "text": "• *Choice 1*: the first*"
        }
      },
      {
        "type": "actions",
        "block_id": "selkie:q7:0",
        "elements": [
          {
            "type": "button",
            "action_id": "selkie:q7:0",
            "text": {
              "type": "plain_text",
              "text": "Choice 1",
              "emoji": true
            },
            "value": "c1"
          },
          {
            "type": "button",
            "action_id": "selkie:q7:1",
            "text": {
              "type": "plain_text",
              "text": "Choice 2",
              "emoji": true
            },
            "value": "c2"
          }
        ]
      }
    ]
    "#);
    let plain = part[0].fallback.as_ref().unwrap();
    assert_eq!(plain.pointer("/params/text"), params.get("text"));
    assert_eq!(plain.pointer("/params/blocks"), None);
    let twice = marked(&part[0]);
    let first = twice.call.pointer("/params/blocks/0/text/text").unwrap().as_str().unwrap();
    assert!(first.starts_with("_(possibly repeated)_\n"), "{first}");
}

#[test]
fn a_question_without_choices_is_a_message() {
    let part = render(&outbound("slack:T1:D3", Body::Question(question(0)))).remove(0);
    assert_eq!(part.call.pointer("/params/blocks"), None);
}

#[test]
fn a_revision_takes_the_buttons_away_or_names_new_ones() {
    let message = MessageRef::new("1763640000.000200");
    let revision = |question: Option<Question>| {
        let body =
            Body::Revision { message: message.clone(), markdown: "**Done**".into(), question };
        render(&outbound("slack:T1:C2", body)).remove(0)
    };
    let gone = revision(None);
    assert!(gone.repeatable);
    assert_eq!(gone.call.pointer("/params/blocks"), Some(&json!([])));
    assert_eq!(gone.call.pointer("/params/text"), Some(&json!("*Done*")));
    assert_eq!(gone.call.pointer("/params/ts"), Some(&json!("1763640000.000200")));
    let asked = revision(Some(question(1)));
    assert_eq!(asked.call.pointer("/params/blocks/0/text/text"), Some(&json!("*Done*")));
    let button = asked.call.pointer("/params/blocks/2/elements/0/action_id");
    assert_eq!(button, Some(&json!("selkie:q7:0")));
}

#[test]
fn a_tap_is_answered_where_it_was_made_and_nothing_needs_no_answer() {
    let handle = r#"{"channel":"C2","user":"U2","thread":"1763640000.000100"}"#;
    let answer = |text: &str| {
        let body = Body::TapAnswer { handle: handle.to_owned(), text: text.to_owned() };
        render(&outbound("slack:T1:C9:1763640000.000900", body))
    };
    assert!(answer("").is_empty());
    let params = answer("Taken.").remove(0).call["params"].clone();
    assert_eq!((&params["channel"], &params["user"]), (&json!("C2"), &json!("U2")));
    assert_eq!(params["thread_ts"], "1763640000.000100");
}

#[test]
fn a_slash_commands_answer_goes_to_the_person_first_or_last() {
    let answered = |alone: bool| {
        let token = json!({ "url": "https://hooks.slack.com/x", "alone": alone }).to_string();
        let window =
            ReplyWindow { token, until: chrono::DateTime::UNIX_EPOCH, calls: 1, hold_at: None };
        let body = Body::Text { markdown: "x ".repeat(MAX_TEXT) };
        render(&outbound("slack:T1:C2", body).within(Some(window)))
    };
    let first = answered(true);
    assert_eq!(first[0].call["do"], "respond");
    assert_eq!(first[1].call["do"], "post", "the right to answer is used up");
    assert_eq!(answered(false)[0].call["aside"], "https://hooks.slack.com/x");
}

/// What Slack holds blocks against.
fn fits(blocks: &Value) -> bool {
    let text =
        |block: &Value| block.pointer("/text/text").and_then(Value::as_str).map(str::to_owned);
    let blocks = blocks.as_array().unwrap();
    let section = |block: &Value| {
        text(block).is_some_and(|text| !text.is_empty() && split::utf16_len(&text) <= 3000)
    };
    let button = |button: &Value| {
        let label = text(button).unwrap_or_default();
        (1..=75).contains(&label.chars().count())
            && button["action_id"].as_str().unwrap().len() <= 255
            && button["value"].as_str().unwrap().len() <= 2000
    };
    let row = |block: &Value| {
        let elements = block["elements"].as_array().unwrap();
        (1..=25).contains(&elements.len()) && elements.iter().all(button)
    };
    blocks.len() <= 50
        && blocks.iter().all(|block| match block["type"].as_str() {
            Some("section") => section(block),
            Some("actions") => row(block),
            _ => false,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_question_fits(
        markdown in "(\\PC|\n|&| |\\*){0,80}", times in 1usize..60,
        labels in proptest::collection::vec("(\\PC|<|&){0,90}", 1..40),
        description in "\\PC{0,200}",
    ) {
        let choices = labels.into_iter().enumerate().map(|(n, label)| Choice {
            id: format!("c{n}"), label, description: description.clone(),
        });
        let question = Question {
            markdown: markdown.repeat(times), choices: choices.collect(), ..question(0)
        };
        let parts = render(&outbound("slack:T1:D3", Body::Question(question)));
        prop_assert!(!parts.is_empty());
        for part in parts.iter().map(marked) {
            for call in [Some(part.call), part.fallback].into_iter().flatten() {
                let text = call.pointer("/params/text").unwrap().as_str().unwrap();
                prop_assert!(!text.trim().is_empty() && split::utf16_len(text) <= MAX_TEXT);
                if let Some(blocks) = call.pointer("/params/blocks") {
                    prop_assert!(fits(blocks), "{}", blocks);
                }
            }
        }
    }
}

#[test]
fn what_takes_a_message_over_changes_it_or_is_posted_in_full() {
    let body = Body::Text { markdown: "**hi** there".to_owned() };
    let said = outbound("slack:T1:C2:1763640000.000100", body);
    let whole = render(&said).remove(0);
    let over = render(&said.over(Some(MessageRef::new("1763640009.000900")))).remove(0);
    assert!(over.repeatable && !whole.repeatable);
    let call = |value: &Value| serde_json::from_value::<Call>(value.clone()).unwrap();
    let Call::Update { params, .. } = call(&over.call) else { panic!("{:?}", over.call) };
    assert_eq!(
        (&params["ts"], &params["text"]),
        (&json!("1763640009.000900"), &json!("*hi* there"))
    );
    for (changed, posted) in
        [(Some(&over.call), Some(&whole.call)), (over.fallback.as_ref(), whole.fallback.as_ref())]
    {
        let (changed, posted) = (call(changed.unwrap()), call(posted.unwrap()));
        assert_eq!(changed.made_anew(), Some(posted), "as if it had never been there");
    }
}

#[test]
fn what_is_still_written_grows_in_a_thread_for_somebody_of_the_same_workspace() {
    let growing = |key: &str, reader: Option<&str>, over: Option<&str>| {
        let said = outbound(key, Body::Text { markdown: "**hi** …".to_owned() });
        let reader = reader.map(PersonId::new);
        let said = said.over(over.map(MessageRef::new));
        let part =
            render(&said.growing(GrowingText { so_far: "**hi**".to_owned(), reader })).remove(0);
        serde_json::from_value::<Call>(part.call).unwrap()
    };
    let thread = "slack:T1:C2:1763640000.000100";
    let Call::Grow { text, reader, way } = growing(thread, Some("slack:T1:U2"), None) else {
        panic!("it does not grow")
    };
    assert_eq!((text.as_str(), reader.team.as_str(), reader.user.as_str()), ("**hi**", "T1", "U2"));
    assert!(matches!(*way, Call::Post { params, .. } if params["text"] == "*hi* …"));
    let over = Some("1763640009.000900");
    let Call::Grow { way, .. } = growing(thread, Some("slack:T1:U2"), over) else {
        panic!("it does not grow")
    };
    assert!(matches!(*way, Call::Update { anew: None, .. }));
    for (key, reader) in [
        ("slack:T1:C2", Some("slack:T1:U2")),
        (thread, Some("slack:T9:U2")),
        (thread, Some("slack:T1:B2")),
        (thread, None),
    ] {
        assert!(matches!(growing(key, reader, None), Call::Post { .. }), "{key} {reader:?}");
        assert!(matches!(growing(key, reader, over), Call::Update { anew: None, .. }));
    }
}
