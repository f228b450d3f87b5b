//! The emulated X is as strict as the real one.

use serde_json::{Value, json};

use super::*;
use crate::faults::{Fault, FaultKind};
use crate::playground::{Options, Playground};
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

impl App {
    async fn call(&self, token: &str, path: &str, body: Value) -> (u16, Value) {
        let request = self.client.post(self.url(path)).bearer_auth(token).json(&body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    async fn piece(&self, id: &str, n: usize, bytes: &[u8]) -> (u16, Value) {
        let piece = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name("piece");
        let form = reqwest::multipart::Form::new();
        let form = form.text("segment_index", n.to_string()).part("media", piece);
        let url = self.url(&format!("media/upload/{id}/append"));
        let request = self.client.post(url).bearer_auth(USER_BEARER).multipart(form);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Begins an upload; gives its id.
    async fn begin(&self, mime: &str, bytes: usize) -> (u16, String) {
        let category = if mime == "image/gif" { "tweet_gif" } else { "tweet_image" };
        let body = json!({ "media_type": mime, "media_category": category, "total_bytes": bytes });
        let (status, answer) = self.call(USER_BEARER, "media/upload/initialize", body).await;
        (status, answer["data"]["id"].as_str().unwrap_or_default().to_owned())
    }

    async fn end(&self, id: &str) -> (u16, Value) {
        self.call(USER_BEARER, &format!("media/upload/{id}/finalize"), json!({})).await
    }

    /// Uploads a picture; gives its id.
    async fn upload(&self, mime: &str, bytes: &[u8]) -> String {
        let (_, id) = self.begin(mime, bytes.len()).await;
        assert_eq!(self.piece(&id, 0, bytes).await.0, 200);
        assert_eq!(self.end(&id).await.0, 200);
        id
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and pixels";

#[tokio::test]
async fn pictures_are_checked_as_the_real_one_checks_them() {
    let app = App::new().await;
    assert_eq!(app.begin("image/png", 5 * 1024 * 1024 + 1).await.0, 400);
    assert_eq!(app.begin("image/gif", 15 * 1024 * 1024 + 1).await.0, 400);
    assert_eq!(app.begin("image/svg+xml", 9).await.0, 400);
    assert_eq!(app.begin("image/png", 0).await.0, 400);
    let (_, id) = app.begin("image/png", PNG.len()).await;
    assert_eq!(app.piece(&id, 1, PNG).await.0, 400, "not the next one");
    assert_eq!(app.piece("7", 0, PNG).await.0, 400, "not begun");
    assert_eq!(app.piece(&id, 0, &PNG[..5]).await.0, 200);
    assert_eq!(app.end(&id).await.0, 400, "some is missing");
    assert_eq!(app.piece(&id, 1, &PNG[5..]).await.0, 200);
    assert_eq!(app.end(&id).await.0, 200);
    assert_eq!(app.piece(&id, 2, PNG).await.0, 400, "it has ended");
    let (_, no_picture) = app.begin("image/png", 3).await;
    app.piece(&no_picture, 0, b"svg").await;
    assert_eq!(app.end(&no_picture).await.0, 400);
    for token in [APP_BEARER, BEARER_WITHOUT_MEDIA] {
        let body =
            json!({ "media_type": "image/png", "media_category": "tweet_image", "total_bytes": 9 });
        assert_eq!(app.call(token, "media/upload/initialize", body).await.0, 403);
    }
}

#[tokio::test]
async fn a_post_names_pictures_of_its_own_account_that_x_has_read() {
    let app = App::new().await;
    let with = |ids: Value| json!({ "text": "look", "media": { "media_ids": ids } });
    let (_, open) = app.begin("image/png", 9).await;
    let png = app.upload("image/png", PNG).await;
    let gif = app.upload("image/gif", b"GIF89a").await;
    let others = app.playground.x().upload_by_another();
    for ids in [
        json!([]),
        json!(["7"]),
        json!([open]),
        json!([others]),
        json!([gif]),
        json!([png, "7"]),
        json!([png, png, png, png, png]),
        json!(png),
    ] {
        let (status, _) = app.post(USER_BEARER, with(ids.clone())).await;
        assert_eq!(status, 400, "{ids}");
    }
    let url = app.url(&format!("media/upload?command=STATUS&media_id={gif}"));
    let request = app.client.get(url).bearer_auth(USER_BEARER);
    let state: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(state["data"]["processing_info"]["state"], "succeeded");
    assert_eq!(app.post(USER_BEARER, with(json!([png, gif]))).await.0, 400, "a GIF stands alone");
    assert_eq!(app.post(USER_BEARER, with(json!([png]))).await.0, 201);
    assert_eq!(app.playground.x().posts()[0].pictures[0].content, PNG);
}
