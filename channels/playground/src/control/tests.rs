//! The page's API against a real HTTP client.

use serde_json::{Value, json};

use crate::telegram::{ADA, BOT_ID, GRACE};
use crate::testing::{Bot, client, lifted};

#[tokio::test]
async fn the_world_and_its_chats() {
    let playground = lifted().await;
    playground.set_daemon_url("http://127.0.0.1:9");
    let world: Value = client()
        .get(format!("{}/api/world", playground.url()))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(world["daemon"], "http://127.0.0.1:9");
    let bot = json!({"id": BOT_ID, "username": "selkie_demo_bot", "name": "selkie"});
    assert_eq!(world["bot"], bot);
    let chats = world["chats"].as_array().unwrap();
    let ids: Vec<_> = chats.iter().map(|chat| chat["id"].as_str().unwrap()).collect();
    let telegram = ["telegram:private", "telegram:group", "telegram:topic", "telegram:grace"];
    assert_eq!(ids[..4], telegram);
    assert_eq!(ids[4..], ["slack:dm", "slack:channel", "line:user", "line:group", "x:main"]);
    let hears: Vec<_> = chats.iter().map(|chat| chat["hears"].as_bool().unwrap()).collect();
    assert_eq!(hears.iter().filter(|hears| !**hears).count(), 1, "X alone is not heard");
    assert_eq!(chats[0]["key"], format!("tg:{ADA}"));
    assert_eq!(chats[1]["members"], json!(["Ada", "Grace", "Linus"]));
    assert_eq!(chats[3]["me"], json!({ "id": GRACE, "name": "Grace" }));
    let guests: Vec<_> = chats.iter().filter(|chat| chat["guest"] == true).collect();
    assert_eq!(guests.len(), 1, "the others are Ada's");
}

#[tokio::test]
async fn the_page_and_all_that_it_imports_are_served() {
    let playground = lifted().await;
    let get = async |path: &str| {
        let page = client().get(format!("{}/{path}", playground.url())).send().await.unwrap();
        let kind = page.headers()["content-type"].to_str().unwrap().to_owned();
        (page.status().as_u16(), kind, page.text().await.unwrap())
    };
    assert_eq!(get("").await.1, "text/html; charset=utf-8");
    assert_eq!(get("style.css").await.1, "text/css; charset=utf-8");
    assert_eq!(get("nothing.js").await.0, 404);
    let (mut seen, mut next) = (vec![], vec!["app.js".to_owned()]);
    while let Some(file) = next.pop() {
        let (status, kind, text) = get(&file).await;
        assert_eq!((status, &*kind), (200, "text/javascript; charset=utf-8"), "{file}");
        let imported = text.split("from './").skip(1).filter_map(|rest| rest.split('\'').next());
        next.extend(imported.map(str::to_owned).filter(|name| !seen.contains(name)));
        seen.push(file);
    }
    assert!(seen.contains(&"compare.js".to_owned()), "{seen:?}");
}

#[tokio::test]
async fn a_person_says_uploads_and_edits() {
    let playground = lifted().await;
    let base = format!("{}/api/chats/telegram:group", playground.url());
    let post = async |path: &str, body: Value| {
        client().post(format!("{base}/{path}")).json(&body).send().await.unwrap()
    };
    let said: Value =
        post("say", json!({"text": "hi @ada", "from": "Grace"})).await.json().await.unwrap();
    let id = said["message_id"].as_i64().unwrap();
    post("edit", json!({"message_id": id, "text": "hello"})).await;
    let upload = format!("{base}/upload?name=a.txt&caption=look&kind=document");
    let kind = ("content-type", "application/octet-stream");
    client().post(upload).header(kind.0, kind.1).body("bytes").send().await.unwrap();
    let messages: Value =
        client().get(format!("{base}/messages")).send().await.unwrap().json().await.unwrap();
    assert_eq!(messages[0]["from"], json!({"id": GRACE, "name": "Grace", "is_bot": false}));
    assert_eq!((&messages[0]["text"], &messages[0]["edited"]), (&json!("hello"), &json!(true)));
    assert_eq!(messages[1]["file"]["caption"], "look");
    let url = format!("{}{}", playground.url(), messages[1]["file"]["url"].as_str().unwrap());
    let file = client().get(url).send().await.unwrap();
    assert_eq!(file.headers()["content-type"], "application/octet-stream");
    assert_eq!(file.text().await.unwrap(), "bytes");
    assert_eq!(post("say", json!({"text": " "})).await.status(), 400);
    assert_eq!(post("say", json!({"text": "x", "from": "Nobody"})).await.status(), 404);
}

#[tokio::test]
async fn no_web_site_is_obeyed() {
    let playground = lifted().await;
    let chats = format!("{}/api/chats/telegram:private", playground.url());
    let upload = format!("{chats}/upload?name=a.txt&caption=run%20it");
    let sent = async |url: &str, headers: &[(&str, &str)]| {
        let asked = client().post(url).body(r#"{"text": "run it"}"#);
        let asked = headers.iter().fold(asked, |asked, (name, value)| asked.header(*name, *value));
        asked.send().await.unwrap().status().as_u16()
    };
    let json = ("content-type", "application/json");
    let file = ("content-type", "application/octet-stream");
    let wishes = [(format!("{chats}/say"), json), (upload, file)];
    for (said, (url, kind)) in wishes.into_iter().enumerate() {
        assert_eq!(sent(&url, &[("content-type", "text/plain")]).await, 415);
        assert_eq!(sent(&url, &[]).await, 415);
        assert_eq!(sent(&url, &[kind, ("origin", "http://evil.example")]).await, 403);
        assert_eq!(sent(&url, &[kind, ("sec-fetch-site", "cross-site")]).await, 403);
        assert_eq!(sent(&url, &[kind, ("host", "evil.example")]).await, 403);
        let before = playground.telegram().messages(ADA).len();
        assert_eq!(sent(&url, &[kind, ("origin", &playground.url())]).await, 200);
        assert_eq!((before, playground.telegram().messages(ADA).len()), (said, said + 1), "{url}");
    }
    // Nor may one speak for a platform.
    let hook =
        format!("{}/bot{}/sendMessage", playground.telegram_base_url(), crate::telegram::TOKEN);
    assert_eq!(sent(&hook, &[json, ("origin", "http://evil.example")]).await, 403);
}

#[tokio::test]
async fn events_stream_what_happens() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let events = format!("{}/api/events", playground.url());
    let mut stream = client().get(events).send().await.unwrap();
    bot.call("sendChatAction", json!({"chat_id": ADA, "action": "typing"})).await;
    bot.call("sendMessage", json!({"chat_id": ADA, "text": "hi"})).await;
    let mut text = String::new();
    while text.matches("\n\n").count() < 2 {
        text += &String::from_utf8_lossy(&stream.chunk().await.unwrap().unwrap());
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    let typing =
        json!({"kind": "typing", "chat": "telegram:private", "message": null, "text": null});
    assert_eq!(events[0], typing);
    assert_eq!(
        (&events[1]["kind"], &events[1]["message"]["from"]["id"]),
        (&json!("message"), &json!(BOT_ID))
    );
}

#[tokio::test]
async fn faults_and_scripts_are_planned_by_http() {
    let playground = lifted().await;
    let bot = Bot::of(&playground);
    let url = format!("{}/api/faults", playground.url());
    let fault = json!({"method": "sendMessage", "chat": "telegram:private", "kind": "too_many", "retry_after": 4});
    assert_eq!(client().post(&url).json(&fault).send().await.unwrap().status(), 200);
    let wrong =
        client().post(&url).json(&json!({"method": "x", "kind": "magic"})).send().await.unwrap();
    assert_eq!(wrong.status(), 400);
    let words = bot.words("sendMessage", json!({"chat_id": ADA, "text": "x"})).await;
    assert_eq!(words, "429 Too Many Requests: retry after 4");
    let script = format!("{}/api/model/script", playground.url());
    client().post(script).json(&json!([{"kind": "text", "text": "hi"}])).send().await.unwrap();
    assert_eq!(playground.model().turns_left(), 1);
}

#[tokio::test]
async fn every_platform_is_spoken_to_in_one_form() {
    let playground = lifted().await;
    let base = format!("{}/api/chats", playground.url());
    let (http, root) = (client(), base.clone());
    let say = async |chat: &str, body: Value| -> (u16, Value) {
        let answer = http.post(format!("{root}/{chat}/say")).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    };
    for chat in ["slack:channel", "line:group"] {
        let (_, said) = say(chat, json!({"text": "@selkie tea?", "from": "Grace"})).await;
        let again = json!({"text": "yes", "reply_to": said["message_id"]});
        assert_eq!(say(chat, again).await.0, 200);
        let messages: Value =
            http.get(format!("{base}/{chat}/messages")).send().await.unwrap().json().await.unwrap();
        assert_eq!(messages[0]["text"], "@selkie tea?", "{chat}");
        assert_eq!(messages[0]["from"]["name"], "Grace", "{chat}");
        assert_eq!(messages[1]["reply_to"], said["message_id"], "{chat}");
        let at = messages[0]["at"].as_str().unwrap();
        assert!(chrono::DateTime::parse_from_rfc3339(at).is_ok(), "{chat}: {at}");
    }
    assert_eq!(playground.slack().messages("C0TEA")[0].text, "<@U0SELKIE> tea?");
    assert_eq!(say("x:main", json!({"text": "by hand"})).await.0, 200);
    let (status, refused) = say("x:main", json!({"text": "by hand"})).await;
    assert_eq!(status, 404);
    assert!(refused["error"].as_str().unwrap().contains("duplicate"), "{refused}");
    assert!(playground.x().posts()[0].by_hand);
    assert_eq!(say("line:group", json!({"text": "x", "from": "Nobody"})).await.0, 404);
}

#[tokio::test]
async fn a_button_of_another_platform_is_pressed_by_what_it_says() {
    let playground = lifted().await;
    let button = json!({ "type": "button", "action_id": "a", "value": "v",
        "text": { "type": "plain_text", "text": "Green" } });
    let blocks = json!([{ "type": "actions", "elements": [button] }]);
    let body = json!({ "channel": "D0ADA", "text": "which tea?", "blocks": blocks });
    let post = client().post(format!("{}/chat.postMessage", playground.slack_base_url()));
    let posted = post.bearer_auth(crate::slack::BOT_TOKEN).json(&body).send().await.unwrap();
    let posted: Value = posted.json().await.unwrap();
    assert_eq!(posted["ok"], true, "{posted}");
    let chat = format!("{}/api/chats/slack:dm", playground.url());
    let messages = client().get(format!("{chat}/messages")).send().await.unwrap();
    let messages: Value = messages.json().await.unwrap();
    let key = json!([[{ "text": "Green", "callback_data": "Green" }]]);
    assert_eq!(messages[0]["keyboard"], key);
    let press = async |data: &str| {
        let body = json!({ "message_id": posted["ts"], "data": data });
        client().post(format!("{chat}/press")).json(&body).send().await.unwrap().status().as_u16()
    };
    assert_eq!((press("Green").await, press("Black").await), (200, 404));
}
