//! The Bot API server against a real HTTP client: strictness, polling, faults, counting.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::*;
use crate::clock::Now;
use crate::faults::{Fault, FaultKind};
use crate::playground::{Options, Playground};
use crate::testing::{Bot, client, lifted};

#[tokio::test]
async fn refuses_with_the_real_words() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let chat = json!(ADA);
    let telegram = playground.telegram();
    let asked = telegram.say(PRIVATE, ADA, "hello");
    let own = bot.call("sendMessage", json!({"chat_id": ADA, "text": "mine"})).await;
    let own = own["result"]["message_id"].as_i64().unwrap();
    let long = "x".repeat(4097);
    let buttons = |count: usize| {
        let row: Vec<Value> =
            (0..count).map(|n| json!({"text": "b", "callback_data": n.to_string()})).collect();
        json!({"inline_keyboard": [row]})
    };
    let table: Vec<(&str, Value, &str)> = vec![
        (
            "sendMessage",
            json!({"chat_id": chat, "text": " \n"}),
            "400 Bad Request: message text is empty",
        ),
        ("sendMessage", json!({"chat_id": chat}), "400 Bad Request: message text is empty"),
        ("sendMessage", json!({"text": "x"}), "400 Bad Request: chat_id is empty"),
        ("sendMessage", json!({"chat_id": 99, "text": "x"}), "400 Bad Request: chat not found"),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": long}),
            "400 Bad Request: message is too long",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "<b>x", "parse_mode": "HTML"}),
            "400 Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "<b></b>", "parse_mode": "HTML"}),
            "400 Bad Request: message text is empty",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "parse_mode": "Wiki"}),
            "400 Bad Request: unsupported parse_mode",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_parameters": {"message_id": 999}}),
            "400 Bad Request: message to be replied not found",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_parameters": {"message_id": 999, "allow_sending_without_reply": true}}),
            "ok",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "message_thread_id": 5}),
            "400 Bad Request: message thread not found",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_markup": buttons(101)}),
            "400 Bad Request: reply markup is too long",
        ),
        ("sendMessage", json!({"chat_id": chat, "text": "x", "reply_markup": buttons(100)}), "ok"),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "b", "callback_data": "é".repeat(33)}]]}}),
            "400 Bad Request: BUTTON_DATA_INVALID",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "b"}]]}}),
            "400 Bad Request: Text buttons are unallowed in the inline keyboard",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_markup": {"force_reply": true, "input_field_placeholder": "x".repeat(65)}}),
            "400 Bad Request: input field placeholder is too long",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "x", "reply_markup": {"buttons": []}}),
            "400 Bad Request: can't parse reply keyboard markup JSON object",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": 999, "text": "x"}),
            "400 Bad Request: message to edit not found",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": asked, "text": "x"}),
            "400 Bad Request: message can't be edited",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": own, "text": "mine"}),
            "400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": own, "text": long}),
            "400 Bad Request: MESSAGE_TOO_LONG",
        ),
        (
            "editMessageReplyMarkup",
            json!({"chat_id": chat, "message_id": own, "reply_markup": buttons(1)}),
            "ok",
        ),
        (
            "editMessageReplyMarkup",
            json!({"chat_id": chat, "message_id": asked, "reply_markup": buttons(1)}),
            "400 Bad Request: message can't be edited",
        ),
        (
            "deleteMessage",
            json!({"chat_id": chat, "message_id": 999}),
            "400 Bad Request: message to delete not found",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": asked, "reaction": [{"type": "emoji", "emoji": "🔄"}]}),
            "400 Bad Request: REACTION_INVALID",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": asked, "reaction": [{"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "👀"}]}),
            "400 Bad Request: REACTIONS_TOO_MANY",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": asked, "reaction": [{"type": "emoji", "emoji": "❤\u{fe0f}"}]}),
            "ok",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": 999, "reaction": []}),
            "400 Bad Request: message to react not found",
        ),
        (
            "sendDocument",
            json!({"chat_id": chat}),
            "400 Bad Request: there is no document in the request",
        ),
        (
            "sendDocument",
            json!({"chat_id": chat, "document": "nonsense"}),
            "400 Bad Request: wrong file identifier/HTTP URL specified",
        ),
        ("getFile", json!({"file_id": "nonsense"}), "400 Bad Request: invalid file_id"),
        (
            "sendChatAction",
            json!({"chat_id": chat, "action": "dancing"}),
            "400 Bad Request: wrong parameter action in request",
        ),
        (
            "answerCallbackQuery",
            json!({"callback_query_id": "1"}),
            "400 Bad Request: query is too old and response timeout expired or query ID is invalid",
        ),
        (
            "answerCallbackQuery",
            json!({"callback_query_id": "1", "text": "x".repeat(201)}),
            "400 Bad Request: MESSAGE_TOO_LONG",
        ),
        ("sendCake", json!({"chat_id": chat}), "404 Not Found"),
    ];
    for (method, params, words) in table {
        assert_eq!(bot.words(method, params.clone()).await, words, "{method} {params}");
    }
}

#[tokio::test]
async fn text_is_counted_in_utf16_units_after_parsing() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let send = async |text: String| {
        bot.words("sendMessage", json!({"chat_id": ADA, "text": text, "parse_mode": "HTML"})).await
    };
    assert_eq!(send(format!("<b>{}</b>", "x".repeat(4096))).await, "ok");
    assert_eq!(send("😀".repeat(2048)).await, "ok");
    assert_eq!(send("😀".repeat(2049)).await, "400 Bad Request: message is too long");
}

#[tokio::test]
async fn wrong_tokens_and_paths() {
    let playground = lifted().await;
    let base = playground.telegram_base_url();
    for (path, status) in [("bot1:wrong/getMe", 401), ("botwrong/getMe", 404), ("getMe", 404)] {
        let answer = client().get(format!("{base}/{path}")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!((&body["ok"], &body["error_code"]), (&json!(false), &json!(status)));
    }
}

#[tokio::test]
async fn methods_take_any_case_and_query_form_json_and_multipart() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let me = bot.call("GETME", json!({})).await;
    assert_eq!(me["result"]["has_main_web_app"], false);
    assert_eq!(me["result"]["username"], "selkie_demo_bot");
    let query = format!("{}?chat_id={ADA}&text=a%20b+%C3%A9", bot.url("SendMessage"));
    let by_query: Value = bot.client.get(query).send().await.unwrap().json().await.unwrap();
    assert_eq!(by_query["result"]["text"], "a b é");
    let form = bot.client.post(bot.url("sendMessage"));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let form = form.body(format!("chat_id={ADA}&text=x%26y"));
    let by_form: Value = form.send().await.unwrap().json().await.unwrap();
    assert_eq!(by_form["result"]["text"], "x&y");
    let part = reqwest::multipart::Part::bytes(b"hello".to_vec()).file_name("notes.txt");
    let form = reqwest::multipart::Form::new()
        .text("chat_id", ADA.to_string())
        .text("document", "attach://abc")
        .text("caption", "look")
        .part("abc", part);
    let sent = bot.client.post(bot.url("SendDocument")).multipart(form).send().await.unwrap();
    let sent: Value = sent.json().await.unwrap();
    assert_eq!(sent["result"]["document"]["file_name"], "notes.txt");
    assert_eq!(sent["result"]["caption"], "look");
    let id = &sent["result"]["document"]["file_id"];
    let file = bot.call("getFile", json!({"file_id": id})).await;
    let path = file["result"]["file_path"].as_str().unwrap();
    let url = format!("{}/file/bot{TOKEN}/{path}", playground.telegram_base_url());
    let bytes = bot.client.get(url).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(&bytes[..], b"hello");
    assert_eq!(bot.words("sendDocument", json!({"chat_id": ADA, "document": id})).await, "ok");
}

#[tokio::test]
async fn photos_must_be_images_and_big_files_are_not_given() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let photo = async |bytes: &[u8]| {
        let part = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name("p.png");
        let form =
            reqwest::multipart::Form::new().text("chat_id", ADA.to_string()).part("photo", part);
        let sent = bot.client.post(bot.url("sendPhoto")).multipart(form).send().await.unwrap();
        sent.json::<Value>().await.unwrap()["description"].as_str().map(str::to_owned)
    };
    assert_eq!(photo(b"\x89PNG\r\n\x1a\nrest").await, None);
    assert_eq!(photo(b"text").await.unwrap(), "Bad Request: IMAGE_PROCESS_FAILED");
    assert_eq!(photo(b"").await.unwrap(), "Bad Request: file must be non-empty");
    let mut big = b"\x89PNG\r\n\x1a\n".to_vec();
    big.resize(10 * 1024 * 1024 + 1, 0);
    assert!(photo(&big).await.unwrap().contains("is too big for a photo"));
    let told_size = Some(21 * 1024 * 1024);
    let file = FileDraft { told_size, ..FileDraft::new(FileKind::Voice, "v.ogg", &b"x"[..]) };
    playground.telegram().upload(PRIVATE, ADA, file);
    let update = bot.updates(json!({})).await.remove(0);
    let id = &update["message"]["voice"]["file_id"];
    assert_eq!(
        bot.words("getFile", json!({"file_id": id})).await,
        "400 Bad Request: file is too big"
    );
}

#[tokio::test]
async fn a_private_message_has_its_fields() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let asked = playground.telegram().say(PRIVATE, ADA, "/start now");
    let reply = playground.telegram().reply(PRIVATE, ADA, asked, "again");
    let updates = bot.updates(json!({})).await;
    let message = &updates[0]["message"];
    assert_eq!(message["message_id"], asked);
    assert_eq!(message["from"]["username"], "ada");
    assert_eq!(
        message["chat"],
        json!({"id": ADA, "type": "private", "first_name": "Ada", "last_name": "Lovelace", "username": "ada"})
    );
    assert_eq!(message["entities"], json!([{"type": "bot_command", "offset": 0, "length": 6}]));
    assert!(message["date"].as_i64().unwrap() > 0);
    assert_eq!(updates[1]["message"]["message_id"], reply);
    assert_eq!(updates[1]["message"]["reply_to_message"]["message_id"], asked);
    assert!(!updates[0].to_string().contains("null"), "a missing field is absent");
}

#[tokio::test]
async fn topic_messages_carry_their_root() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    playground.telegram().say(TOPIC, GRACE, "boats?");
    let message = bot.updates(json!({})).await.remove(0)["message"].take();
    let root = TOPIC.thread.unwrap();
    assert_eq!(
        (&message["message_thread_id"], &message["is_topic_message"]),
        (&json!(root), &json!(true))
    );
    assert_eq!(message["reply_to_message"]["message_id"], root);
    assert_eq!(message["reply_to_message"]["forum_topic_created"]["name"], "Boats");
    assert_eq!(message["chat"]["is_forum"], true);
    let answer = json!({"chat_id": TOPIC.chat, "message_thread_id": root, "text": "yes"});
    let sent = bot.call("sendMessage", answer).await;
    assert_eq!(sent["result"]["is_topic_message"], true);
    assert_eq!(playground.telegram().messages(TOPIC).last().unwrap().text, "yes");
}

#[tokio::test]
async fn privacy_mode_shows_commands_and_replies() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let own = bot.call("sendMessage", json!({"chat_id": GROUP.chat, "text": "hi"})).await;
    let own = own["result"]["message_id"].as_i64().unwrap();
    telegram.set_privacy_mode(true);
    telegram.say(GROUP, ADA, "just talk");
    telegram.say(GROUP, ADA, "/help@other_bot");
    let shown = [
        telegram.say(GROUP, ADA, "/help"),
        telegram.say(GROUP, ADA, "/help@Selkie_demo_bot"),
        telegram.reply(GROUP, ADA, own, "to you"),
    ];
    let updates = bot.updates(json!({})).await;
    let ids: Vec<_> =
        updates.iter().map(|u| u["message"]["message_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, shown);
}

#[tokio::test]
async fn a_long_poll_wakes_on_a_message_and_offset_acknowledges() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let poll = {
        let bot = bot.clone();
        AbortOnDropHandle::new(
            TaskTracker::new().spawn(async move { bot.updates(json!({"timeout": 50})).await }),
        )
    };
    while playground.telegram().counted("getUpdates") == 0 {
        tokio::task::yield_now().await;
    }
    playground.telegram().say(PRIVATE, ADA, "wake up");
    let updates = tokio::time::timeout(Duration::from_secs(40), poll).await.unwrap().unwrap();
    assert_eq!(updates[0]["message"]["text"], "wake up");
    assert_eq!(bot.updates(json!({})).await.len(), 1, "unacknowledged updates come again");
    let next = updates[0]["update_id"].as_i64().unwrap() + 1;
    assert_eq!(bot.updates(json!({"offset": next})).await.len(), 0);
    assert_eq!(playground.telegram().pending_updates(), 0);
}

#[tokio::test]
async fn the_older_of_two_pollers_gets_409_and_a_webhook_forbids_polling() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let older = {
        let bot = bot.clone();
        AbortOnDropHandle::new(
            TaskTracker::new()
                .spawn(async move { bot.call("getUpdates", json!({"timeout": 50})).await }),
        )
    };
    while playground.telegram().counted("getUpdates") == 0 {
        tokio::task::yield_now().await;
    }
    bot.updates(json!({})).await;
    let refused = older.await.unwrap();
    assert_eq!(refused["error_code"], 409);
    assert!(
        refused["description"]
            .as_str()
            .unwrap()
            .starts_with("Conflict: terminated by other getUpdates request")
    );
    assert_eq!(bot.words("setWebhook", json!({"url": "https://x.example/hook"})).await, "ok");
    assert!(
        bot.words("getUpdates", json!({}))
            .await
            .starts_with("409 Conflict: can't use getUpdates method while webhook is active")
    );
    assert_eq!(
        bot.call("getWebhookInfo", json!({})).await["result"]["url"],
        "https://x.example/hook"
    );
    assert_eq!(bot.words("deleteWebhook", json!({})).await, "ok");
    assert_eq!(bot.words("getUpdates", json!({})).await, "ok");
}

#[tokio::test]
async fn old_updates_are_forgotten_and_unknown_kinds_come_through() {
    let hours = Arc::new(std::sync::atomic::AtomicI64::new(0));
    let clock = Arc::clone(&hours);
    let now: Now = Arc::new(move || {
        DateTime::UNIX_EPOCH + TimeDelta::hours(clock.load(std::sync::atomic::Ordering::SeqCst))
    });
    let playground = Playground::start(Options { now, ..Options::default() }).await.unwrap();
    let bot = Bot::of(&playground);
    playground.telegram().say(PRIVATE, ADA, "old");
    hours.store(25, std::sync::atomic::Ordering::SeqCst);
    playground.telegram().inject_raw_update(json!({"brand_new_kind": {"x": 1}}));
    let updates = bot.updates(json!({})).await;
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["brand_new_kind"]["x"], 1);
}

#[tokio::test]
async fn blocked_kicked_and_migrated() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let send =
        async |chat: i64| bot.words("sendMessage", json!({"chat_id": chat, "text": "x"})).await;
    telegram.close(ADA);
    assert_eq!(send(ADA).await, "403 Forbidden: bot was blocked by the user");
    telegram.reopen(ADA);
    assert_eq!(send(ADA).await, "ok");
    telegram.close(GROUP.chat);
    assert_eq!(send(GROUP.chat).await, "403 Forbidden: bot was kicked from the group chat");
    telegram.reopen(GROUP.chat);
    telegram.migrate(GROUP.chat, -1_009_999);
    let refused = bot.call("sendMessage", json!({"chat_id": GROUP.chat, "text": "x"})).await;
    assert_eq!(refused["parameters"]["migrate_to_chat_id"], -1_009_999);
    assert_eq!(send(-1_009_999).await, "ok");
    let updates = bot.updates(json!({})).await;
    let kinds = |name: &str| updates.iter().filter(|update| update.get(name).is_some()).count();
    assert_eq!((kinds("my_chat_member"), kinds("message")), (4, 2));
    assert_eq!(updates[4]["message"]["migrate_to_chat_id"], -1_009_999);
    assert_eq!(updates[5]["message"]["migrate_from_chat_id"], GROUP.chat);
}

#[tokio::test]
async fn edits_albums_reactions_and_buttons_arrive_as_their_kinds() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let kinds = json!(["message", "edited_message", "message_reaction", "callback_query"]);
    bot.updates(json!({"allowed_updates": kinds})).await;
    let asked = telegram.say(PRIVATE, ADA, "first");
    assert!(telegram.edit(ADA, asked, "second"));
    assert!(telegram.react(ADA, ADA, asked, Some("👍")));
    let files = ["a.txt", "b.txt"].map(|name| FileDraft::new(FileKind::Document, name, &b"x"[..]));
    telegram.album(PRIVATE, ADA, files.to_vec());
    let query = telegram.press(ADA, ADA, asked, "yes");
    let updates = bot.updates(json!({})).await;
    assert_eq!(updates[1]["edited_message"]["text"], "second");
    assert!(updates[1]["edited_message"]["edit_date"].is_i64());
    assert_eq!(updates[2]["message_reaction"]["new_reaction"][0]["emoji"], "👍");
    let album = &updates[3]["message"]["media_group_id"];
    assert!(album.is_string() && album == &updates[4]["message"]["media_group_id"]);
    assert_eq!(updates[5]["callback_query"]["data"], "yes");
    let answer = json!({"callback_query_id": query});
    assert_eq!(bot.words("answerCallbackQuery", answer.clone()).await, "ok");
    assert!(bot.words("answerCallbackQuery", answer).await.contains("query is too old"));
}

#[tokio::test]
async fn a_button_is_tapped_and_the_tap_is_answered_once() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let keyboard = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "q:k1:y"}]]});
    let sent = bot
        .call("sendMessage", json!({"chat_id": TOPIC.chat, "message_thread_id": TOPIC.thread, "text": "Sure?", "reply_markup": keyboard}))
        .await;
    let id = sent["result"]["message_id"].as_i64().unwrap();
    assert_eq!(telegram.tap(TOPIC.chat, ADA, id, "No"), None);
    let query = telegram.tap(TOPIC.chat, GRACE, id, "Yes").unwrap();
    let update = bot.updates(json!({})).await.remove(0)["callback_query"].clone();
    assert_eq!((&update["id"], &update["data"]), (&json!(query), &json!("q:k1:y")));
    assert_eq!(update["from"]["id"], GRACE);
    assert_eq!(update["message"]["message_thread_id"], json!(TOPIC.thread));
    let answer = json!({"callback_query_id": query, "text": "noted"});
    assert_eq!(bot.words("answerCallbackQuery", answer).await, "ok");
    assert_eq!(telegram.tap_answer(&query).await, "noted");
    let gone = json!({"chat_id": TOPIC.chat, "message_id": id});
    assert_eq!(bot.words("deleteMessage", gone).await, "ok");
    telegram.press(TOPIC.chat, ADA, id, "q:k1:y");
    let late = bot.updates(json!({})).await.pop().unwrap()["callback_query"]["message"].clone();
    assert_eq!((&late["date"], &late["chat"]["id"]), (&json!(0), &json!(TOPIC.chat)));
}

#[tokio::test]
async fn the_words_of_a_forced_reply_stay_as_they_were_sent() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let asked = json!({"chat_id": GROUP.chat, "text": "Name?", "reply_markup": {"force_reply": true, "selective": true}});
    let sent = bot.call("sendMessage", asked).await;
    let edit =
        json!({"chat_id": GROUP.chat, "message_id": sent["result"]["message_id"], "text": "x"});
    assert_eq!(
        bot.words("editMessageText", edit).await,
        "400 Bad Request: message can't be edited"
    );
}

#[tokio::test]
async fn the_pace_is_held_until_it_is_lifted() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let bot = Bot::of(&playground);
    let send = async || bot.call("sendMessage", json!({"chat_id": ADA, "text": "x"})).await;
    let mut refused = Value::Null;
    for _ in 0..50 {
        refused = send().await;
        if refused["ok"] == false {
            break;
        }
    }
    assert_eq!(refused["error_code"], 429);
    assert_eq!(refused["description"], "Too Many Requests: retry after 1");
    assert_eq!(refused["parameters"]["retry_after"], 1);
    playground.telegram().set_pace(Pace::Lifted);
    assert_eq!(send().await["ok"], true);
}

#[tokio::test]
async fn faults_refuse_cut_and_spoil() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let count = || telegram.messages(PRIVATE).len();
    let send = async || bot.try_call("sendMessage", json!({"chat_id": ADA, "text": "x"})).await;
    telegram.fault(Fault::next("sendMessage", FaultKind::TooMany { retry_after: 7 }));
    assert_eq!(send().await.unwrap()["parameters"]["retry_after"], 7);
    telegram.fault(Fault::next("sendMessage", FaultKind::CutBefore));
    assert!(send().await.unwrap_err().is_request());
    assert_eq!(count(), 0);
    telegram.fault(Fault::next("sendMessage", FaultKind::CutAfter));
    assert!(send().await.unwrap_err().is_request());
    assert_eq!(count(), 1);
    for (kind, expected) in [(FaultKind::Truncate, 2), (FaultKind::Garbage, 3)] {
        telegram.fault(Fault::next("sendMessage", kind));
        assert!(send().await.unwrap_err().is_decode());
        assert_eq!(count(), expected);
    }
    telegram.fault(Fault::next("sendMessage", FaultKind::Html { status: 502 }));
    let sent = bot.client.post(bot.url("sendMessage")).json(&json!({"chat_id": ADA, "text": "x"}));
    let sent = sent.send().await.unwrap();
    assert_eq!(sent.status(), 502);
    assert!(sent.text().await.unwrap().starts_with("<html>"));
    telegram.fault(Fault::next("*", FaultKind::Delay { ms: 1 }));
    assert_eq!(send().await.unwrap()["ok"], true);
    let outcomes: Vec<_> = telegram.calls().into_iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes[..3], [Outcome::Faulted, Outcome::Faulted, Outcome::Done]);
    assert_eq!(telegram.counted("sendMessage"), 7);
}

#[tokio::test]
async fn updates_are_delivered_twice_on_demand() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    telegram.say(PRIVATE, ADA, "once");
    telegram.fault(Fault::next("getUpdates", FaultKind::Duplicate));
    let twice = bot.updates(json!({})).await;
    assert_eq!((twice.len(), &twice[0]), (2, &twice[1]));
    let next = twice[0]["update_id"].as_i64().unwrap() + 1;
    telegram.fault(Fault::next("getUpdates", FaultKind::Redeliver));
    assert_eq!(bot.updates(json!({"offset": next})).await[0], twice[0]);
}

#[tokio::test]
async fn answers_are_linked_by_reply_and_by_order() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let asked: Vec<i64> =
        ["a", "b", "c"].iter().map(|text| telegram.say(PRIVATE, ADA, text)).collect();
    let send = async |params: Value| bot.words("sendMessage", params).await;
    let to = |id: i64| json!({"chat_id": ADA, "text": "by reply", "reply_parameters": {"message_id": id}});
    assert_eq!(send(to(asked[1])).await, "ok");
    assert_eq!(send(json!({"chat_id": ADA, "text": "by order"})).await, "ok");
    let counts = telegram.answer_counts(PRIVATE);
    assert_eq!(counts.answers, [(asked[0], 1), (asked[1], 1), (asked[2], 0)]);
    assert!(!counts.in_order && !counts.is_clean());
    assert_eq!(telegram.answers_to(ADA, asked[0])[0].text, "by order");
    assert_eq!(send(to(asked[2])).await, "ok");
    assert_eq!(telegram.wait_for_answer(PRIVATE, asked[2]).await.text, "by reply");
}

#[tokio::test]
async fn commands_are_checked_and_kept_by_their_scope() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let command = |name: &str, words: &str| json!([{ "command": name, "description": words }]);
    let long = "x".repeat(257);
    for (params, words) in [
        (json!({ "commands": command("stop", "ends it") }), "ok"),
        (json!({ "commands": command("Stop", "ends it") }), "400 Bad Request: BOT_COMMAND_INVALID"),
        (
            json!({ "commands": command("stop", &long) }),
            "400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID",
        ),
        (
            json!({ "commands": [], "scope": { "type": "everywhere" } }),
            "400 Bad Request: can't parse BotCommandScope: Unsupported type specified",
        ),
    ] {
        assert_eq!(bot.words("setMyCommands", params).await, words);
    }
    let scope = json!({ "type": "all_group_chats" });
    let known = bot.call("getMyCommands", json!({})).await;
    assert_eq!(known["result"], command("stop", "ends it"));
    assert_eq!(bot.call("getMyCommands", json!({ "scope": scope })).await["result"], json!([]));
    assert_eq!(playground.telegram().commands("default"), ["stop"]);
}

#[tokio::test]
async fn a_topic_that_was_deleted_takes_no_message() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    playground.telegram().delete_topic(TOPIC.chat, TOPIC.thread.unwrap());
    let there = json!({ "chat_id": TOPIC.chat, "message_thread_id": TOPIC.thread, "text": "x" });
    let words = bot.words("sendMessage", there).await;
    assert_eq!(words, "400 Bad Request: message thread not found");
}

#[tokio::test]
async fn people_react_once_and_a_bot_learns_of_it_where_telegram_tells_it() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let telegram = playground.telegram();
    let asked = telegram.say(PRIVATE, ADA, "first");
    assert!(telegram.react(ADA, ADA, asked, Some("👍")));
    bot.updates(json!({"allowed_updates": ["message_reaction"]})).await;
    assert!(telegram.react(ADA, ADA, asked, Some("❤\u{fe0f}")), "in place of the other one");
    assert!(telegram.react(ADA, ADA, asked, Some("❤")), "it stands already");
    assert!(telegram.react(ADA, ADA, asked, None));
    assert!(!telegram.react(ADA, ADA, asked, Some("🔄")), "Telegram has no such reaction");
    assert!(!telegram.react(ADA, GRACE, asked, Some("👍")), "Grace is not in this chat");
    assert!(!telegram.react(ADA, ADA, 999, Some("👍")));
    let heard = telegram.say(GROUP, GRACE, "tea?");
    assert!(telegram.react(GROUP.chat, GRACE, heard, Some("👍")), "the bot is a mere member");
    telegram.promote(GROUP.chat);
    assert!(telegram.react(GROUP.chat, ADA, heard, Some("👍")));
    let updates = bot.updates(json!({})).await;
    let told: Vec<_> = updates.iter().filter_map(|u| u.get("message_reaction")).collect();
    let emoji = |emoji: &str| json!([{"type": "emoji", "emoji": emoji}]);
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0]["old_reaction"], emoji("👍"));
    assert_eq!(told[0]["new_reaction"], emoji("❤"));
    assert_eq!((&told[1]["old_reaction"], &told[1]["new_reaction"]), (&emoji("❤"), &json!([])));
    assert_eq!((&told[2]["user"]["id"], &told[2]["chat"]["id"]), (&json!(ADA), &json!(GROUP.chat)));
    let member = json!({"chat_id": GROUP.chat, "user_id": BOT_ID});
    assert_eq!(bot.call("getChatMember", member).await["result"]["status"], "administrator");
    assert_eq!(telegram.messages(GROUP)[0].reactions.len(), 2);
}
