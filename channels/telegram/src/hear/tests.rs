//! Updates as Telegram sends them, and as it might one day.

use chrono::DateTime;
use proptest::prelude::*;
use selkie_channel_core::{AccountId, AddressReason, Audience, Inbound, Redactor, What};
use serde_json::{Value, json};

use super::*;

fn hear(raw: &str) -> Inbound {
    let account = AccountId::new("tg:8");
    let me = Me { id: 8, username: Some("selkie_bot".to_owned()) };
    let frame = Frame { account: &account, me: &me, received: DateTime::UNIX_EPOCH };
    let redactor = Redactor::default();
    redactor.learn("hunter2hunter2");
    read(raw, &redactor, frame)
}

fn inbound(update: &Value) -> Inbound {
    hear(&update.to_string())
}

fn ann() -> Value {
    json!({ "id": 4711, "is_bot": false, "first_name": "Ann", "last_name": "Lee", "username": "ann" })
}

fn group() -> Value {
    json!({ "id": -100, "type": "supergroup", "title": "Crew", "is_forum": true })
}

/// An update whose message is `fields` over the usual ones.
fn message(chat: Value, fields: Value) -> Value {
    let mut message =
        json!({ "message_id": 42, "date": 1_763_640_000, "from": ann(), "chat": chat });
    let all = message.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    json!({ "update_id": 7, "message": message })
}

#[test]
fn a_private_message() {
    let chat = json!({ "id": 4711, "type": "private", "first_name": "Ann", "username": "ann" });
    let heard = inbound(&message(chat, json!({ "text": "hello" })));
    insta::assert_json_snapshot!(heard, @r#"
    {
      "v": 1,
      "key": "m:4711:42",
      "conversation": "tg:8|tg:4711",
      "place": "tg:8|tg:4711",
      "title": "Ann",
      "order": 42,
      "at": "2025-11-20T12:00:00Z",
      "speaker": {
        "id": "tg:4711",
        "name": "Ann Lee",
        "username": "ann",
        "is_bot": false
      },
      "audience": "direct",
      "what": {
        "kind": "message"
      },
      "message": "42",
      "addressed": "direct",
      "text": "hello",
      "command": null,
      "quote": null,
      "forwarded": false,
      "attachments": [],
      "album": null,
      "reply_window": null
    }
    "#);
}

#[test]
fn a_group_mention_loses_the_name() {
    let entity = json!([{ "type": "mention", "offset": 0, "length": 11 }]);
    let heard =
        inbound(&message(group(), json!({ "text": "@Selkie_bot, hi", "entities": entity })));
    assert_eq!((heard.addressed, heard.text.as_str()), (AddressReason::Mention, "hi"));
    assert_eq!((heard.audience, heard.title.as_str()), (Audience::Group, "Crew"));
    let other = inbound(&message(group(), json!({ "text": "just talk" })));
    assert_eq!(other.addressed, AddressReason::No);
}

#[test]
fn commands_in_groups_and_in_private() {
    let heard = inbound(&message(group(), json!({ "text": "/ask@selkie_bot why?" })));
    assert_eq!(
        (heard.addressed, heard.text.as_str()),
        (AddressReason::Mention, "why?"),
        "by its name"
    );
    let unnamed = inbound(&message(group(), json!({ "text": "/ask why?" })));
    assert_eq!(unnamed.addressed, AddressReason::Command, "every bot there may be meant");
    let reply = json!({ "message_id": 40, "from": { "id": 8, "is_bot": true } });
    let other = json!({ "text": "/ask@other_bot why?", "reply_to_message": reply });
    let heard = inbound(&message(group(), other));
    assert_eq!((heard.addressed, heard.command), (AddressReason::No, None));
    let private = json!({ "id": 4711, "type": "private" });
    let heard = inbound(&message(private, json!({ "text": "/Reset" })));
    assert_eq!(heard.addressed, AddressReason::Direct);
    assert_eq!(heard.command.unwrap().name, "reset");
}

#[test]
fn a_reply_to_us_is_for_us_and_its_text_stays_a_quote() {
    let original = json!({ "message_id": 40, "from": { "id": 8, "is_bot": true, "first_name": "Selkie" }, "text": "whole" });
    let fields =
        json!({ "text": "and?", "reply_to_message": original, "quote": { "text": "part" } });
    let heard = inbound(&message(group(), fields));
    assert_eq!(heard.addressed, AddressReason::Reply);
    let quote = heard.quote.unwrap();
    assert_eq!((quote.text.as_str(), quote.speaker.as_str(), quote.ours), ("part", "Selkie", true));
    let bob =
        json!({ "message_id": 40, "from": { "id": 9, "first_name": "Bob" }, "caption": "pic" });
    let heard = inbound(&message(group(), json!({ "text": "no", "reply_to_message": bob })));
    assert_eq!(heard.addressed, AddressReason::No);
    assert_eq!(heard.quote.unwrap().text, "pic");
}

#[test]
fn what_is_replied_to_brings_its_files_also_from_another_chat() {
    let photo = json!([{ "file_id": "small", "width": 9, "height": 9 }, { "file_id": "large", "width": 90, "height": 90 }]);
    let voice = json!({ "file_id": "said", "file_size": 12 });
    let inside = json!({ "message_id": 40, "from": { "id": 9 }, "photo": photo, "caption": "us" });
    let outside = json!({ "message_id": 4, "chat": { "id": -7 }, "voice": voice });
    for (fields, handle) in [
        (json!({ "text": "who?", "reply_to_message": inside }), r#"{"file_id":"large"}"#),
        (json!({ "text": "who?", "external_reply": outside }), r#"{"file_id":"said"}"#),
    ] {
        let heard = inbound(&message(group(), fields));
        assert!(heard.attachments.is_empty(), "they are another message's");
        let files: Vec<_> =
            heard.quote.unwrap().attachments.into_iter().map(|file| file.handle).collect();
        assert_eq!(files, [handle]);
    }
}

#[test]
fn a_topics_root_is_not_replied_to() {
    let root =
        json!({ "message_id": 7, "from": { "id": 8 }, "forum_topic_created": { "name": "Plans" } });
    let fields = json!({ "text": "hi", "message_thread_id": 7, "is_topic_message": true, "reply_to_message": root });
    let heard = inbound(&message(group(), fields));
    assert_eq!((heard.quote, heard.addressed), (None, AddressReason::No));
    assert_eq!(heard.conversation.key(), "tg:-100:7");
    assert_eq!(heard.place.key(), "tg:-100");
    let thread = inbound(&message(group(), json!({ "text": "hi", "message_thread_id": 7 })));
    assert_eq!(thread.conversation.key(), "tg:-100");
}

#[test]
fn an_album_and_its_files() {
    let sizes = json!([
        { "file_id": "small", "width": 90, "height": 90 },
        { "file_id": "big", "width": 900, "height": 900, "file_size": 12_345 },
    ]);
    let fields = json!({ "photo": sizes, "caption": "look", "media_group_id": "g1" });
    let heard = inbound(&message(group(), fields));
    assert_eq!((heard.text.as_str(), heard.album.as_deref()), ("look", Some("g1")));
    let photo = &heard.attachments[0];
    assert_eq!(file_id(&photo.handle).as_deref(), Some("big"));
    assert_eq!((photo.mime.as_deref(), photo.size), (Some("image/jpeg"), Some(12_345)));
    let document =
        json!({ "file_id": "d", "file_name": "../\u{0}x.pdf", "mime_type": "application/pdf" });
    let heard = inbound(&message(group(), json!({ "document": document, "voice": null })));
    assert_eq!(heard.attachments.len(), 1);
    assert_eq!(heard.attachments[0].name, "../\u{0}x.pdf");
    assert_eq!(heard.what, What::Message);
}

#[test]
fn an_edit_has_its_own_key() {
    let mut update = message(group(), json!({ "text": "new", "edit_date": 1_763_640_009 }));
    let edited = update.as_object_mut().unwrap().remove("message").unwrap();
    update["edited_message"] = edited;
    let heard = inbound(&update);
    assert_eq!((heard.what, heard.key.as_str()), (What::Edit, "m:-100:42:e1763640009"));
}

#[test]
fn a_move_is_told_once_by_both_chats() {
    let old = json!({ "id": -5, "type": "group", "title": "Crew" });
    let out = inbound(&message(old, json!({ "migrate_to_chat_id": -100 })));
    let arrived = inbound(&message(group(), json!({ "migrate_from_chat_id": -5 })));
    assert_eq!(out.key, "moved:-5:-100");
    assert_eq!(out.key, arrived.key);
    assert_eq!(out.conversation, arrived.conversation);
    let What::Moved { to } = &arrived.what else { panic!("{:?}", arrived.what) };
    assert_eq!((out.place.key(), to.key()), ("tg:-5", "tg:-100"));
}

#[test]
fn membership_opens_and_closes() {
    let member = |chat: Value, new: Value| {
        let event =
            json!({ "chat": chat, "from": ann(), "date": 1_763_640_000, "new_chat_member": new });
        inbound(&json!({ "update_id": 9, "my_chat_member": event }))
    };
    let private = json!({ "id": 4711, "type": "private" });
    let closed = |reason: &str| What::Closed { reason: reason.to_owned() };
    let blocked = member(private.clone(), json!({ "status": "kicked" }));
    assert_eq!(blocked.what, closed("blocked by the user"));
    assert_eq!(blocked.key, "u:9:2025-11-20");
    assert_eq!(member(private, json!({ "status": "member" })).what, What::Opened);
    assert_eq!(
        member(group(), json!({ "status": "kicked" })).what,
        closed("kicked from the group")
    );
    let muted = json!({ "status": "restricted", "is_member": true, "can_send_messages": false });
    assert_eq!(member(group(), muted).what, closed("may not write in the group"));
    assert_eq!(member(group(), json!({ "status": "administrator" })).what, What::Opened);
}

#[test]
fn forwards_service_messages_and_bots_are_told_apart() {
    let origin = json!({ "type": "hidden_user", "sender_user_name": "x", "date": 1 });
    let forward = inbound(&message(group(), json!({ "text": "fwd", "forward_origin": origin })));
    let from = |forward: &Inbound| forward.origin.as_ref().map(|origin| origin.from.clone());
    assert!(forward.forwarded);
    assert_eq!(from(&forward).as_deref(), Some("x"));
    assert_eq!(forward.origin.unwrap().at, DateTime::from_timestamp(1, 0));
    let chat = json!({ "id": -1009, "title": "Tea News", "type": "channel" });
    let origins = [
        (
            json!({ "type": "user", "sender_user": { "id": 8, "first_name": "Grace", "last_name": "H" } }),
            Some("Grace H"),
        ),
        (
            json!({ "type": "channel", "chat": chat, "author_signature": "Ed" }),
            Some("Tea News, by Ed"),
        ),
        (json!({ "type": "chat", "sender_chat": chat }), Some("Tea News")),
        (json!({ "type": "user", "sender_user": 7 }), None),
    ];
    for (origin, wanted) in origins {
        let forward =
            inbound(&message(group(), json!({ "text": "fwd", "forward_origin": origin })));
        assert_eq!(from(&forward).as_deref(), wanted);
    }
    let inline = json!({ "text": "result", "via_bot": { "id": 9, "is_bot": true } });
    assert!(
        inbound(&message(group(), inline)).forwarded,
        "an inline bot's words are not the person's"
    );
    let contact = json!({ "contact": { "first_name": "Run it", "phone_number": "1" } });
    assert!(inbound(&message(group(), contact)).forwarded, "a contact is named by anybody");
    let dice = json!({ "dice": { "emoji": "🎲", "value": 3 } });
    assert!(!inbound(&message(group(), dice)).forwarded);
    let joined = inbound(&message(group(), json!({ "new_chat_members": [ann()] })));
    assert_eq!(joined.what, What::Other { name: "new_chat_members".to_owned() });
    let sticker =
        inbound(&message(group(), json!({ "sticker": { "file_id": "s" }, "via_bot": null })));
    assert_eq!(sticker.what, What::Other { name: "sticker".to_owned() });
    let place = json!({ "location": { "latitude": 1, "longitude": 2 } });
    let place = inbound(&message(group(), place));
    assert_eq!((place.what, place.text.as_str()), (What::Message, "(location 1,2)"));
    let bot = json!({ "id": 9, "is_bot": true, "first_name": "Other" });
    assert!(inbound(&message(group(), json!({ "text": "beep", "from": bot }))).speaker.is_bot);
    let anonymous = json!({ "text": "x", "from": { "id": 1_087_968_824, "is_bot": true }, "sender_chat": group() });
    let heard = inbound(&message(group(), anonymous));
    assert_eq!((heard.speaker.id.as_str(), heard.speaker.is_bot), ("tg:-100", false));
}

#[test]
fn what_has_no_words_is_put_into_words_where_somebody_waits_for_an_answer() {
    let private = json!({ "id": 4711, "type": "private" });
    let smile = json!({ "sticker": { "file_id": "s", "emoji": "😀" } });
    let heard = inbound(&message(private.clone(), smile.clone()));
    assert_eq!((heard.what, heard.addressed), (What::Message, AddressReason::Direct));
    assert_eq!(heard.text, "(sticker 😀)");
    let unknown = inbound(&message(private.clone(), json!({ "hologram": { "depth": 3 } })));
    assert_eq!(unknown.text, "(a Telegram hologram, which cannot be read here)");
    // A live location that moves is nothing said anew.
    let mut moved = message(private, json!({ "location": { "latitude": 1, "longitude": 2 } }));
    let edited = moved.as_object_mut().unwrap().remove("message").unwrap();
    moved["edited_message"] = edited;
    assert_eq!(inbound(&moved).what, What::Other { name: "location".to_owned() });
    // A reply to us in a group, and a reply to a thing.
    let ours = json!({ "message_id": 40, "from": { "id": 8, "is_bot": true } });
    let mut reply = smile;
    reply["reply_to_message"] = ours;
    let heard = inbound(&message(group(), reply));
    assert_eq!((heard.what, heard.addressed), (What::Message, AddressReason::Reply));
    let dice = json!({ "message_id": 41, "from": ann(), "dice": { "emoji": "🎲", "value": 6 } });
    let heard = inbound(&message(group(), json!({ "text": "wow", "reply_to_message": dice })));
    assert_eq!(heard.quote.unwrap().text, "(dice 🎲 6)");
}

fn tapped(under: Value, data: &str) -> Inbound {
    let query = json!({ "id": "q1", "from": ann(), "message": under, "data": data });
    inbound(&json!({ "update_id": 7, "callback_query": query }))
}

fn tap(question: &str, choice: &str) -> What {
    let (question, choice) = (question.to_owned(), choice.to_owned());
    What::Tap { question, choice, handle: "q1".to_owned() }
}

#[test]
fn a_tap_is_placed_by_the_message_under_it() {
    let bot = json!({ "id": 8, "is_bot": true, "first_name": "selkie" });
    let fields =
        json!({ "text": "pick", "from": bot, "message_thread_id": 7, "is_topic_message": true });
    let heard = tapped(message(group(), fields)["message"].clone(), "q:k1:yes");
    assert_eq!((heard.key.as_str(), heard.conversation.key()), ("q:q1", "tg:-100:7"));
    assert_eq!((heard.place.key(), heard.order), ("tg:-100", 42));
    assert_eq!(heard.message.unwrap().as_str(), "42");
    assert_eq!((heard.speaker.id.as_str(), heard.speaker.is_bot), ("tg:4711", false));
    assert_eq!((heard.what, heard.text.as_str()), (tap("k1", "yes"), ""));
}

#[test]
fn a_tap_on_what_telegram_does_not_show_any_more_is_still_a_tap() {
    let gone = json!({ "message_id": 42, "date": 0, "chat": group() });
    let heard = tapped(gone, "q:k1:yes");
    assert_eq!((heard.conversation.key(), heard.audience), ("tg:-100", Audience::Group));
    assert_eq!((heard.at, heard.order), (DateTime::UNIX_EPOCH, 42));
}

#[test]
fn a_tap_without_its_message_names_no_question() {
    let nowhere = tapped(Value::Null, "q:k1:yes");
    assert_eq!((nowhere.conversation.key(), nowhere.audience), ("tg:4711", Audience::Direct));
    assert_eq!(nowhere.what, tap("", ""));
}

#[test]
fn a_button_of_somebody_else_names_no_question() {
    let bot = || json!({ "id": 8, "is_bot": true, "first_name": "selkie" });
    let in_chat = |chat, from: Value| {
        message(chat, json!({ "text": "pick", "from": from }))["message"].clone()
    };
    let under = || in_chat(group(), bot());
    let private = |id| json!({ "id": id, "type": "private" });
    assert_eq!(tapped(in_chat(private(4711), bot()), "q:k1:yes").what, tap("k1", "yes"));
    for others in [in_chat(private(4711), ann()), in_chat(private(4712), bot())] {
        assert_eq!(tapped(others, "q:k1:yes").what, tap("", ""), "a message of somebody else");
    }
    for data in ["", "yes", "q:k1", "q:k-1:a", "approve:4711"] {
        assert_eq!(tapped(under(), data).what, tap("", ""), "{data}");
    }
    let game = json!({ "id": "q1", "from": ann(), "message": under(), "game_short_name": "x" });
    let heard = inbound(&json!({ "update_id": 7, "callback_query": game }));
    assert_eq!(heard.what, tap("", ""));
}

#[test]
fn an_unknown_kind_is_kept_without_secrets_and_its_key_is_stable() {
    let update = json!({ "update_id": 7, "telepathy": { "chat": group(), "from": ann(), "date": 1_763_640_000, "x": "hunter2hunter2" } });
    let heard = inbound(&update);
    let What::Unparsed { raw } = &heard.what else { panic!("{:?}", heard.what) };
    assert!(raw.contains("telepathy") && !raw.contains("hunter2"), "{raw}");
    assert_eq!((heard.key.as_str(), heard.place.key()), ("u:7:2025-11-20", "tg:-100"));
    assert_eq!(inbound(&update).key, heard.key);
    let misshapen =
        inbound(&json!({ "update_id": 8, "message": { "some fields": "are missing" } }));
    assert!(matches!(misshapen.what, What::Unparsed { .. }));
    assert!(misshapen.key.starts_with("u:8:"));
}

#[test]
fn nulls_and_odd_values_are_absent_fields() {
    let odd = json!({
        "text": "hi", "reply_to_message": null, "entities": null, "edit_date": null, "photo": null,
        "forward_origin": null, "message_thread_id": "seven", "caption": 3, "media_group_id": null,
    });
    let heard = inbound(&message(group(), odd));
    assert_eq!((heard.what, heard.text.as_str(), heard.forwarded), (What::Message, "hi", false));
    assert_eq!((heard.quote, heard.album), (None, None));
}

#[test]
fn bidi_and_broken_surrogates_pass() {
    let bidi = "\u{202e}abc\u{2066}שלום\u{2069} 👩‍🚀";
    assert_eq!(inbound(&message(group(), json!({ "text": bidi }))).text, bidi);
    let raw = message(group(), json!({ "text": "HERE" })).to_string();
    let lone = raw.replace("HERE", r"a\ud83d b\ude00 c\ud83d\ude00 \\ud83d");
    assert_eq!(hear(&lone).text, "a\u{fffd} b\u{fffd} c😀 \\ud83d");
    assert_eq!(update_id(&lone), Some(7));
}

proptest! {
    #[test]
    fn any_text_at_all_is_a_row(raw in "\\PC{0,200}") {
        prop_assert!(!hear(&raw).key.is_empty());
    }

    #[test]
    fn a_message_with_any_shape_of_fields_is_a_row(
        field in "(text|caption|photo|from|chat|entities|quote|reply_to_message|date|message_id)",
        value in prop_oneof![Just(json!(null)), Just(json!(-1)), Just(json!("x")), Just(json!([1, {}])), Just(json!({}))],
    ) {
        let heard = inbound(&message(group(), json!({ field: value })));
        prop_assert!(!heard.key.is_empty());
    }
}
