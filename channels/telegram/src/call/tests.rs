//! What calls look like on the wire, and that their limits hold.

use proptest::prelude::*;
use selkie_channel_core::{AccountId, Body, ConversationId, MessageRef, Outbound, split};

use super::*;
use crate::maker::MAX_TEXT;
use crate::render::render;

fn outbound(key: &str, body: Body) -> Outbound {
    let conversation = ConversationId::new(AccountId::new("tg:8"), key);
    Outbound::new(conversation, body).quoting(Some(MessageRef::new("41")))
}

fn text(markdown: &str) -> Vec<Part> {
    render(&outbound("tg:-100:7", Body::Text { markdown: markdown.to_owned() }))
}

fn calls(parts: &[Part]) -> String {
    parts.iter().map(|part| format!("{}\n", part.call)).collect()
}

#[test]
fn an_answer_quotes_once_and_stays_in_its_topic() {
    let parts = text("a **b** & c");
    insta::assert_snapshot!(calls(&parts), @r#"{"method":"sendMessage","params":{"chat_id":-100,"text":"a <b>b</b> &amp; c","message_thread_id":7,"parse_mode":"HTML","link_preview_options":{"is_disabled":true},"reply_parameters":{"message_id":41,"allow_sending_without_reply":true}}}"#);
    insta::assert_snapshot!(parts[0].fallback.as_ref().unwrap(), @r#"{"method":"sendMessage","params":{"chat_id":-100,"text":"a b & c","message_thread_id":7,"link_preview_options":{"is_disabled":true},"reply_parameters":{"message_id":41,"allow_sending_without_reply":true}}}"#);
    assert_eq!(parts[0].shown, "a b & c");
}

#[test]
fn the_general_topic_is_not_named() {
    let parts = render(&outbound("tg:-100:1", Body::Text { markdown: "x".to_owned() }));
    assert_eq!(parts[0].call["params"].get("message_thread_id"), None);
}

#[test]
fn a_moved_chats_part_names_the_new_chat_everywhere() {
    let to = PlaceId::new(AccountId::new("tg:8"), "tg:-1009");
    let old = text("a **b**").remove(0);
    let new = readdressed(&old, &to);
    assert_eq!(new.conversation.key(), "tg:-1009:7");
    assert_eq!(new.call["params"]["chat_id"], -1009);
    assert_eq!(new.fallback.as_ref().unwrap()["params"]["chat_id"], -1009);
    assert_eq!(
        (&new.call["params"]["text"], &new.shown),
        (&old.call["params"]["text"], &old.shown)
    );
    assert_eq!(readdressed(&new, &to), new, "a second time changes nothing");
    let group = render(&outbound("tg:-100", Body::Text { markdown: "x".to_owned() })).remove(0);
    assert_eq!(readdressed(&group, &to).conversation.key(), "tg:-1009");
}

#[test]
fn only_the_first_of_many_messages_quotes() {
    let parts = text(&"word ".repeat(2000));
    let quoting = |p: &Part| p.call["params"].get("reply_parameters").is_some();
    assert_eq!(parts.iter().map(quoting).collect::<Vec<_>>(), [true, false, false]);
    assert!(parts.iter().all(|p| p.call["params"]["message_thread_id"] == 7));
    assert!(parts.iter().all(|p| p.shown.chars().count() <= 200));
}

#[test]
fn reactions_and_typing_set_a_state() {
    let message = MessageRef::new("41");
    let body = Body::Reaction { message, emoji: "❤️".to_owned(), big: true };
    let mut parts = render(&outbound("tg:7", body));
    parts.extend(render(&outbound("tg:-100:7", Body::Typing)));
    insta::assert_snapshot!(calls(&parts), @r#"
    {"method":"setMessageReaction","params":{"chat_id":7,"message_id":41,"reaction":[{"type":"emoji","emoji":"❤"}],"is_big":true}}
    {"method":"sendChatAction","params":{"chat_id":-100,"action":"typing","message_thread_id":7}}
    "#);
    assert!(parts.iter().all(|p| p.repeatable));
    assert_eq!(marked(&parts[0]), parts[0]);
}

#[test]
fn a_file_keeps_its_name_but_no_folder_and_long_captions_go_on_below() {
    let caption = Some(format!("**see** {}", "word ".repeat(300)));
    let name = "../../etc/pa\u{0}ss.txt".to_owned();
    let body = Body::File { path: "/tmp/x".to_owned(), name, caption };
    let parts = render(&outbound("tg:-100:7", body));
    assert_eq!(parts.len(), 2);
    let upload = &parts[0].call["upload"];
    assert_eq!(upload["name"], "pass.txt");
    assert_eq!(parts[0].call["params"]["parse_mode"], "HTML");
    assert!(parts[0].call["params"]["caption"].as_str().unwrap().starts_with("<b>see</b> word"));
    assert_eq!(parts[1].call["method"], "sendMessage");
    let voice = Body::Voice { path: "/tmp/v.ogg".to_owned(), name: "..".to_owned(), caption: None };
    insta::assert_snapshot!(calls(&render(&outbound("tg:7", voice))), @r#"{"method":"sendVoice","params":{"chat_id":7,"reply_parameters":{"message_id":41,"allow_sending_without_reply":true}},"upload":{"field":"voice","path":"/tmp/v.ogg","name":"file"}}"#);
}

#[test]
fn a_repeated_part_says_so_once() {
    let again = marked(&text("a **b**")[0]);
    assert_eq!(again.call["params"]["text"], "<i>(possibly repeated)</i>\na <b>b</b>");
    assert_eq!(again.fallback.as_ref().unwrap()["params"]["text"], "(possibly repeated)\na b");
    assert_eq!(again.shown, "(possibly repeated) a b");
    assert_eq!(marked(&again), again);
    let table = marked(&marked(&text("| a |\n|---|\n| 1 |")[0]));
    let html = table.call["params"]["rich_message"]["html"].as_str().unwrap();
    assert!(html.starts_with("<p><i>(possibly repeated)</i></p><table"), "{html}");
    let aside = marked(&text("*(an aside)*\n\n| a |\n|---|\n| 1 |")[0]);
    let html = aside.call["params"]["rich_message"]["html"].as_str().unwrap();
    assert!(html.starts_with("<p><i>(possibly repeated)</i></p><p><i>(an aside)"), "{html}");
    let photo = render(&outbound("tg:7", Body::Photo { path: "/p.png".to_owned(), caption: None }));
    let again = marked(&photo[0]);
    assert_eq!(again.call["params"]["caption"], "(possibly repeated)");
}

#[test]
fn nothing_to_say_is_no_call() {
    assert!(text(" \n\u{200b}").is_empty());
    assert_eq!(text("[a]: https://e.org")[0].shown, "[a]: https://e.org");
    let odd = MessageRef::new("ts.1");
    let body = Body::Reaction { message: odd, emoji: "👍".to_owned(), big: false };
    assert!(render(&outbound("tg:7", body)).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_plain_form_always_fits_even_marked(markdown in "([a-z&<*`]{1,60}|\n|😀{1,40}| ){0,400}") {
        for part in text(&markdown) {
            for part in [marked(&part), part] {
                let fallback = part.fallback.unwrap();
                let text = fallback["params"]["text"].as_str().unwrap();
                prop_assert!((1..=MAX_TEXT).contains(&split::utf16_len(text)));
                prop_assert_eq!(fallback["params"].get("parse_mode"), None);
                prop_assert!(part.shown.chars().count() <= 200);
            }
        }
    }
}
