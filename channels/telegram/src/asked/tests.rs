//! What questions, edits and answers to taps look like on the wire, and that their limits hold.

use proptest::prelude::*;
use selkie_channel_core::{AccountId, Body, Choice, ConversationId, Outbound};

use super::*;
use crate::call::{marked, readdressed};
use crate::maker::MAX_TEXT;
use crate::render::render;

fn said(key: &str, body: Body) -> Vec<Part> {
    let conversation = ConversationId::new(AccountId::new("tg:8"), key);
    render(&Outbound::new(conversation, body).quoting(Some(MessageRef::new("41"))))
}

fn calls(parts: &[Part]) -> String {
    parts.iter().map(|part| format!("{}\n", part.call)).collect()
}

fn choice(id: &str, label: &str, description: &str) -> Choice {
    Choice { id: id.into(), label: label.into(), description: description.into() }
}

fn question(markdown: &str, choices: &[Choice]) -> Question {
    Question {
        key: "k1".to_owned(),
        markdown: markdown.to_owned(),
        choices: choices.to_vec(),
        free_text: false,
        placeholder: String::new(),
    }
}

fn yes_no(markdown: &str) -> Question {
    question(markdown, &[choice("y", "Yes", ""), choice("n", "No", "leaves *everything* as it is")])
}

fn revision(message: &str, markdown: &str, question: Option<Question>) -> Vec<Part> {
    let (message, markdown) = (MessageRef::new(message), markdown.to_owned());
    said("tg:7", Body::Revision { message, markdown, question })
}

#[test]
fn a_question_has_its_buttons_and_explains_them() {
    let parts = said("tg:-100:7", Body::Question(yes_no("Delete **all**?")));
    insta::assert_snapshot!(calls(&parts), @r#"{"method":"sendMessage","params":{"chat_id":-100,"text":"Delete <b>all</b>?\n\n• <b>No</b>: leaves *everything* as it is","message_thread_id":7,"parse_mode":"HTML","link_preview_options":{"is_disabled":true},"reply_parameters":{"message_id":41,"allow_sending_without_reply":true},"reply_markup":{"inline_keyboard":[[{"text":"Yes","callback_data":"q:k1:y"},{"text":"No","callback_data":"q:k1:n"}]]}}}"#);
    insta::assert_snapshot!(parts[0].fallback.as_ref().unwrap()["params"], @r#"{"chat_id":-100,"text":"Delete all?\n\n• No: leaves *everything* as it is","message_thread_id":7,"link_preview_options":{"is_disabled":true},"reply_parameters":{"message_id":41,"allow_sending_without_reply":true},"reply_markup":{"inline_keyboard":[[{"text":"Yes","callback_data":"q:k1:y"},{"text":"No","callback_data":"q:k1:n"}]]}}"#);
    assert!(!parts[0].repeatable);
}

#[test]
fn a_long_question_has_its_buttons_under_the_last_message() {
    let parts = said("tg:7", Body::Question(yes_no(&"word ".repeat(2000))));
    let has =
        |key: &str| parts.iter().map(|p| p.call["params"].get(key).is_some()).collect::<Vec<_>>();
    assert_eq!(has("reply_markup"), [false, false, true]);
    assert_eq!(has("reply_parameters"), [true, false, false]);
}

#[test]
fn words_are_asked_for_by_an_open_reply_in_groups() {
    let placeholder = "a name, as short as you like, but long enough that everybody can read it";
    let open = Question {
        free_text: true,
        placeholder: placeholder.to_owned(),
        ..question("What name?", &[])
    };
    let group = said("tg:-100", Body::Question(open.clone()));
    insta::assert_snapshot!(group[0].call["params"]["reply_markup"], @r#"{"force_reply":true,"input_field_placeholder":"a name, as short as you like, but long enough that everybody ca…","selective":true}"#);
    let private = said("tg:7", Body::Question(open));
    assert_eq!(private[0].call["params"].get("reply_markup"), None);
}

#[test]
fn own_words_beside_buttons_have_their_hint() {
    let both = Question {
        free_text: true,
        placeholder: "or write another day".to_owned(),
        ..question("When?", &[choice("a", "Monday", "")])
    };
    let parts = said("tg:-100", Body::Question(both));
    assert_eq!(parts[0].call["params"]["text"], "When?\n\n<i>or write another day</i>");
    let without = question("When?", &[choice("a", "Monday", "")]);
    let parts = said("tg:7", Body::Question(Question { free_text: true, ..without }));
    let own = "You can also answer in your own words.";
    assert_eq!(parts[0].call["params"]["text"], format!("When?\n\n<i>{own}</i>"));
}

#[test]
fn what_no_keyboard_carries_is_asked_in_numbers() {
    let odd = question("Which?", &[choice("a:b", "One", "the first"), choice("c", "Two", "")]);
    let parts = said("tg:7", Body::Question(odd));
    assert_eq!(parts[0].call["params"].get("reply_markup"), None);
    assert_eq!(parts[0].shown, "Which?\n\n1. One: the first\n2. Two");
    let wordless = said("tg:7", Body::Question(question(" ", &[choice("a", "One", "")])));
    assert!(wordless[0].call["params"].get("reply_markup").is_some());
}

#[test]
fn a_message_is_revised_with_and_without_buttons_and_withdrawn() {
    let mut parts = revision("41", "**Deleted.**", None);
    parts.extend(revision("41", "Sure?", Some(yes_no("Delete?"))));
    parts.extend(revision("41", "", None));
    parts.extend(said("tg:-100:7", Body::Withdrawal { message: MessageRef::new("41") }));
    insta::assert_snapshot!(calls(&parts), @r#"
    {"method":"editMessageText","params":{"chat_id":7,"message_id":41,"text":"<b>Deleted.</b>","parse_mode":"HTML","link_preview_options":{"is_disabled":true}}}
    {"method":"editMessageText","params":{"chat_id":7,"message_id":41,"text":"Sure?\n\n• <b>No</b>: leaves *everything* as it is","parse_mode":"HTML","link_preview_options":{"is_disabled":true},"reply_markup":{"inline_keyboard":[[{"text":"Yes","callback_data":"q:k1:y"},{"text":"No","callback_data":"q:k1:n"}]]}}}
    {"method":"editMessageReplyMarkup","params":{"chat_id":7,"message_id":41}}
    {"method":"deleteMessage","params":{"chat_id":-100,"message_id":41}}
    "#);
    assert!(parts.iter().all(|part| part.repeatable));
    assert_eq!(marked(&parts[0]), parts[0]);
    assert!(revision("1234.5678", "x", None).is_empty(), "no message of Telegram");
}

#[test]
fn a_status_makes_no_sound() {
    let parts = said("tg:-100:7", Body::Status { markdown: "☑ read\n⏳ write".to_owned() });
    insta::assert_snapshot!(calls(&parts), @r#"{"method":"sendMessage","params":{"chat_id":-100,"text":"☑ read\n⏳ write","message_thread_id":7,"parse_mode":"HTML","link_preview_options":{"is_disabled":true},"disable_notification":true,"reply_parameters":{"message_id":41,"allow_sending_without_reply":true}}}"#);
    assert_eq!(said("tg:7", Body::Status { markdown: "w ".repeat(9_000) }).len(), 1);
}

#[test]
fn a_tap_is_answered_without_naming_a_chat() {
    let answer = |text: &str| {
        said("tg:-100", Body::TapAnswer { handle: "77".to_owned(), text: text.to_owned() })
    };
    assert_eq!(answer("")[0].call["params"], json!({ "callback_query_id": "77" }));
    let long = answer(&"no ".repeat(100)).remove(0);
    assert!(split::utf16_len(long.call["params"]["text"].as_str().unwrap()) <= 200);
    let to = selkie_channel_core::PlaceId::new(AccountId::new("tg:8"), "tg:-1009");
    assert_eq!(readdressed(&long, &to).call, long.call);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_asked_fits(
        markdown in "([a-z&<*`]{1,60}|\n|😀{1,40}| ){0,200}",
        labels in prop::collection::vec("\\PC{0,80}", 0..110),
    ) {
        let choices: Vec<_> =
            labels.iter().enumerate().map(|(n, l)| choice(&n.to_string(), l, l)).collect();
        let asked = question(&markdown, &choices);
        let mut parts = said("tg:7", Body::Question(asked.clone()));
        parts.extend(revision("41", &markdown, Some(asked)));
        for part in parts {
            let plain = part.fallback.as_ref().map(|f| f["params"].clone());
            let Some(text) = plain.as_ref().and_then(|p| p["text"].as_str()) else { continue };
            prop_assert!((1..=MAX_TEXT).contains(&split::utf16_len(text)));
            let rows = part.call["params"]["reply_markup"]["inline_keyboard"].as_array();
            let buttons = rows.map_or(0, |rows| rows.iter().map(|r| r.as_array().unwrap().len()).sum());
            prop_assert!(buttons <= 100);
        }
    }
}
