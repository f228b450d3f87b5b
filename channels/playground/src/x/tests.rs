//! The emulated X is as strict as the real one.

use serde_json::{Value, json};

use super::*;
use crate::playground::{Options, Playground};
use crate::telegram::{Fault, FaultKind};
use crate::testing::client;

struct App {
    playground: Playground,
    client: reqwest::Client,
}

impl App {
    async fn new() -> Self {
        let playground = Playground::start(Options::default()).await.unwrap();
        Self { playground, client: client() }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/2/{path}", self.playground.x_base_url())
    }

    async fn post(&self, token: &str, body: Value) -> (u16, Value) {
        let request = self.client.post(self.url("tweets")).bearer_auth(token).json(&body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    async fn words(&self, token: &str, body: Value) -> String {
        let (status, answer) = self.post(token, body).await;
        format!("{status} {}", answer["detail"].as_str().unwrap_or_default())
    }

    async fn renew(&self, token: &str) -> (u16, Value) {
        let body = format!("grant_type=refresh_token&refresh_token={token}&client_id={CLIENT_ID}");
        let request = self.client.post(self.url("oauth2/token")).body(body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

#[tokio::test]
async fn what_the_real_one_refuses_is_refused() {
    let app = App::new().await;
    let text = |text: &str| json!({ "text": text });
    assert!(
        app.words(APP_BEARER, text("a"))
            .await
            .starts_with("403 Authenticating with OAuth 2.0 Application-Only")
    );
    assert_eq!(app.words("nobody", text("a")).await, "401 Unauthorized");
    assert_eq!(app.words(USER_BEARER, text("a")).await, "201 ");
    assert_eq!(
        app.words(USER_BEARER, text("a")).await,
        "403 You are not allowed to create a Tweet with duplicate content."
    );
    assert_eq!(
        app.words(USER_BEARER, text(&"a".repeat(281))).await,
        "403 Your Tweet text is too long."
    );
    assert_eq!(
        app.words(USER_BEARER, text(&"日".repeat(141))).await,
        "403 Your Tweet text is too long."
    );
    assert!(app.words(USER_BEARER, text(" ")).await.starts_with("400"));
    assert!(
        app.words(USER_BEARER, json!({ "text": "b", "status": "b" }))
            .await
            .starts_with("400 $.status")
    );
    let gone = json!({ "text": "b", "reply": { "in_reply_to_tweet_id": "7" } });
    assert!(app.words(USER_BEARER, gone).await.starts_with("403 You attempted to reply"));
    assert_eq!(app.playground.x().posts().len(), 1);
}

#[tokio::test]
async fn a_refresh_token_works_once() {
    let app = App::new().await;
    let (status, first) = app.renew(REFRESH_TOKEN).await;
    assert_eq!(status, 200);
    assert_eq!(app.renew(REFRESH_TOKEN).await.0, 400);
    let access = first["access_token"].as_str().unwrap();
    assert_eq!(app.post(access, json!({ "text": "a" })).await.0, 201);
    app.playground.x().end_access_tokens();
    assert_eq!(app.post(access, json!({ "text": "b" })).await.0, 401);
    assert_eq!(app.renew(first["refresh_token"].as_str().unwrap()).await.0, 200);
}

#[tokio::test]
async fn the_timeline_shows_xs_own_links_and_a_limit_names_its_end() {
    let app = App::new().await;
    let x = app.playground.x();
    app.post(USER_BEARER, json!({ "text": "a & b https://example.com/x" })).await;
    let url = app.url(&format!("users/{USER}/tweets?max_results=5&tweet.fields=entities"));
    let read = async || {
        let response = app.client.get(&url).bearer_auth(USER_BEARER).send().await.unwrap();
        let reset = response.headers().contains_key("x-rate-limit-reset");
        (response.status().as_u16(), reset, response.json::<Value>().await.unwrap())
    };
    let (_, _, page) = read().await;
    assert_eq!(page["data"][0]["text"], "a &amp; b https://t.co/0000000001");
    assert_eq!(page["data"][0]["entities"]["urls"][0]["expanded_url"], "https://example.com/x");
    x.fault(Fault::next("timeline", FaultKind::TooMany { retry_after: 9 }));
    let (status, reset, _) = read().await;
    assert_eq!((status, reset), (429, true));
}
