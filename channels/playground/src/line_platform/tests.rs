//! The emulated LINE is as strict as the real one.

use serde_json::{Value, json};

use super::{ACCESS_TOKEN, ADA, Draft, GRACE, GROUP, LinePlatform, MediaKind};
use crate::faults::{Fault, FaultKind};
use crate::playground::Playground;
use crate::testing::{client, lifted};

/// A bot that calls methods.
struct Bot(Playground);

impl Bot {
    async fn new() -> Self {
        Self(lifted().await)
    }

    fn line(&self) -> &LinePlatform {
        self.0.line()
    }

    async fn post(&self, path: &str, body: Value, key: Option<&str>) -> (u16, Value) {
        let url = format!("{}/v2/bot/{path}", self.0.line_base_url());
        let mut request = client().post(url).bearer_auth(ACCESS_TOKEN).json(&body);
        if let Some(key) = key {
            request = request.header("X-Line-Retry-Key", key);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    async fn get(&self, base: &str, path: &str) -> (u16, String) {
        let request = client().get(format!("{base}/v2/bot/{path}")).bearer_auth(ACCESS_TOKEN);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn reply(&self, token: &str, messages: Value) -> (u16, Value) {
        let body = json!({ "replyToken": token, "messages": messages });
        self.post("message/reply", body, None).await
    }

    /// A token for Ada's word.
    fn token(&self) -> String {
        let message = self.line().say(ADA, ADA, "hi");
        self.line().event_of(&message)["replyToken"].as_str().unwrap().to_owned()
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

const KEY: &str = "123e4567-e89b-12d3-a456-426614174000";

#[tokio::test]
async fn a_reply_token_works_once_and_not_for_ever() {
    let bot = Bot::new().await;
    let token = bot.token();
    let (status, sent) = bot.reply(&token, json!([text("a"), text("b")])).await;
    assert_eq!((status, sent["sentMessages"].as_array().unwrap().len()), (200, 2));
    let (status, refusal) = bot.reply(&token, json!([text("a")])).await;
    assert_eq!((status, &refusal["message"]), (400, &json!("Invalid reply token")));
    let token = bot.token();
    bot.line().expire_tokens();
    assert_eq!(bot.reply(&token, json!([text("a")])).await.0, 400);
    assert_eq!(bot.line().used(), 0, "replies are free");
}

#[tokio::test]
async fn a_bad_body_costs_no_token() {
    let bot = Bot::new().await;
    let token = bot.token();
    let six: Vec<Value> = (0..6).map(|_| text("a")).collect();
    for messages in [json!([]), json!(six), json!([text("")]), json!([text(&"😀".repeat(2501))])]
    {
        assert_eq!(bot.reply(&token, messages).await.0, 400);
    }
    assert_eq!(bot.reply(&token, json!([text(&"😀".repeat(2500))])).await.0, 200);
}

fn item(label: &str) -> Value {
    let action =
        json!({ "type": "postback", "label": label, "data": "q:k:1", "displayText": label });
    json!({ "type": "action", "action": action })
}

fn asking(items: &[Value]) -> Value {
    json!([{ "type": "text", "text": "tea?", "quickReply": { "items": items } }])
}

#[tokio::test]
async fn buttons_that_line_would_refuse_are_refused() {
    let bot = Bot::new().await;
    let token = bot.token();
    let long = item("a label of 21 letters");
    for items in [vec![], vec![item("x"); 14], vec![long.clone()], vec![item("")]] {
        let (status, refusal) = bot.reply(&token, asking(&items)).await;
        assert_eq!(status, 400);
        assert!(refusal["details"][0]["property"].as_str().unwrap().contains("quickReply"));
    }
    let card = |text: &str, actions: &[Value]| {
        let template = json!({ "type": "buttons", "text": text, "actions": actions });
        json!([{ "type": "template", "altText": "late", "template": template }])
    };
    let action = item("Get")["action"].clone();
    let five = vec![action; 5];
    assert_eq!(bot.reply(&token, card(&"x".repeat(161), &five[..1])).await.0, 400);
    assert_eq!(bot.reply(&token, card("late", &five)).await.0, 400);
    assert_eq!(bot.reply(&token, card("late", &five[..4])).await.0, 200);
}

#[tokio::test]
async fn quick_replies_go_with_the_next_message_and_a_tap_brings_a_token() {
    let bot = Bot::new().await;
    assert_eq!(bot.reply(&bot.token(), asking(&[item("yes")])).await.0, 200);
    let line = bot.line();
    let question = line.messages(ADA).pop().unwrap();
    assert_eq!(line.tap(ADA, ADA, &question.id, "no"), None);
    let words = line.tap(ADA, ADA, &question.id, "yes").unwrap();
    assert_eq!(line.messages(ADA).pop().unwrap().text, "yes");
    assert_ne!(words, question.id);
    assert_eq!(line.tap(ADA, ADA, &question.id, "yes"), None, "it is gone");
}

#[tokio::test]
async fn a_push_counts_heads_and_its_key_makes_it_one() {
    let bot = Bot::new().await;
    let body = json!({ "to": GROUP, "messages": [text("a"), text("b")] });
    assert_eq!(bot.post("message/push", body.clone(), Some("no-key")).await.0, 400);
    assert_eq!(bot.post("message/push", body.clone(), Some(KEY)).await.0, 200);
    assert_eq!(bot.post("message/push", body.clone(), Some(KEY)).await.0, 409);
    assert_eq!((bot.line().used(), bot.line().messages(GROUP).len()), (3, 2));
    bot.line().set_quota(Some(5), 3);
    let (status, refusal) = bot.post("message/push", body.clone(), None).await;
    assert_eq!(status, 429);
    assert_eq!(refusal["message"], "You have reached your monthly limit.");
    bot.line().close(GROUP);
    assert_eq!(bot.post("message/push", body, None).await.0, 400);
}

#[tokio::test]
async fn who_is_asked_for_must_be_there_and_the_token_right() {
    let bot = Bot::new().await;
    let base = bot.0.line_base_url();
    assert_eq!(bot.get(&base, &format!("profile/{ADA}")).await.0, 200);
    assert_eq!(bot.get(&base, "profile/Unobody").await.0, 404);
    assert_eq!(bot.get(&base, &format!("group/{GROUP}/member/{GRACE}")).await.0, 200);
    assert_eq!(bot.get(&base, "message/1/content").await.0, 404, "another host");
    let bare = client().get(format!("{base}/v2/bot/info")).send().await.unwrap();
    assert_eq!(bare.status().as_u16(), 401);
    let loading = |chat: &str, seconds: u64| json!({ "chatId": chat, "loadingSeconds": seconds });
    assert_eq!(bot.post("chat/loading/start", loading(ADA, 20), None).await.0, 202);
    assert_eq!(bot.post("chat/loading/start", loading(ADA, 7), None).await.0, 400);
    assert_eq!(bot.post("chat/loading/start", loading(GROUP, 20), None).await.0, 400);
}

#[tokio::test]
async fn films_are_prepared_before_they_are_handed_out() {
    let bot = Bot::new().await;
    let data = bot.0.line_data_base_url();
    let film = Draft { preparing: 1, ..Draft::new(MediaKind::Video, "", "film") };
    let id = bot.line().upload(ADA, ADA, film);
    let (content, state) =
        (format!("message/{id}/content"), format!("message/{id}/content/transcoding"));
    assert_eq!(bot.get(&data, &content).await.0, 202);
    assert!(bot.get(&data, &state).await.1.contains("processing"));
    assert!(bot.get(&data, &state).await.1.contains("succeeded"));
    assert_eq!(bot.get(&data, &content).await, (200, "film".to_owned()));
}

#[tokio::test]
async fn a_fault_after_the_effect_leaves_the_effect() {
    let bot = Bot::new().await;
    bot.line().fault(Fault::next("push", FaultKind::CutAfter));
    let url = format!("{}/v2/bot/message/push", bot.0.line_base_url());
    let body = json!({ "to": ADA, "messages": [text("a")] });
    assert!(client().post(url).bearer_auth(ACCESS_TOKEN).json(&body).send().await.is_err());
    assert_eq!(bot.line().messages(ADA).len(), 1);
}
