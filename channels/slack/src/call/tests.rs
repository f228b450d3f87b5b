//! What is said, as parts.

use proptest::prelude::*;
use selkie_channel_core::ConversationId;

use super::*;
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
