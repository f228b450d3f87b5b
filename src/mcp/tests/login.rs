//! Signing in at a server, and what the tokens are used for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use selkie_channel_core::locked;
use selkie_domain::chance::SystemChance;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::desk::Desk;
use super::login_server::LoginServer;
use crate::{LoginSummary, McpError, OAuthSettings};

/// Signs in as somebody does who opens what is printed.
pub(super) async fn log_in(desk: &Desk, scopes: &[&str]) -> Result<LoginSummary, McpError> {
    let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let login = desk.connections().login("robin", &scopes, &SystemChance).await?;
    let address = login.address().to_owned();
    let browser = TaskTracker::new();
    browser.spawn(async move { LoginServer::sign_in(&address).await });
    login.wait().await
}

fn file(desk: &Desk) -> Value {
    let text = fs::read_to_string(desk.state.join("mcp/robin.token.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Another process with the same state folder.
fn beside(desk: &Desk, url: &str) -> Desk {
    let mut other = Desk::at(url);
    other.state = desk.state.clone();
    other.open()
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_signs_in_and_calls_work() {
    let server = LoginServer::new(|_, _| {}).await;
    let desk = Desk::at(&server.web.url).open();
    let summary = log_in(&desk, &[]).await.unwrap();
    let issuer = server.web.url.trim_end_matches("/mcp").to_owned();
    assert_eq!(
        summary,
        LoginSummary { issuer, scopes: vec!["read".to_owned()], is_renewable: true }
    );
    let client = server.last("/register").body;
    assert_eq!(client["application_type"], "native");
    assert_eq!(client["token_endpoint_auth_method"], "none");
    let said = desk.says("a").await;
    let token = file(&desk)["access_token"].as_str().unwrap().to_owned();
    assert_eq!(said, format!("done with {token}"));
    assert_eq!(
        desk.redactor.clean(&said),
        "done with [redacted]",
        "what a server echoes is hidden"
    );

    let mode =
        |path: &str| fs::metadata(desk.state.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("mcp"), mode("mcp/robin.token.json")], [0o700, 0o600]);
    assert!(desk.tokens().is_signed_in("robin", &server.web.url).unwrap());
    assert!(desk.tokens().sign_out("robin").await.unwrap());
    assert!(!desk.tokens().sign_out("robin").await.unwrap());
    let said = desk.says("a").await;
    assert!(
        said.ends_with("(HTTP status 401): an owner can run `selkie mcp login robin`"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_elsewhere_is_pasted() {
    let server = LoginServer::new(|_, _| {}).await;
    let desk = Desk::at(&server.web.url).open();
    let login = desk.connections().login("robin", &[], &SystemChance).await.unwrap();
    let back = LoginServer::browse(login.address()).await;
    assert!(back.starts_with(login.redirect()));
    login.take(&format!("  {back}#x\n")).await.unwrap();
    assert!(desk.says("a").await.starts_with("done with access-"));
    let login = desk.connections().login("robin", &[], &SystemChance).await.unwrap();
    let error = login.take("no address").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "the answer of the browser is not used: it belongs to another question (state)"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_before_its_end_and_when_it_is_refused() {
    let soon = |path: &str, answer: &mut Value| {
        if path == "authorization_code" {
            answer["expires_in"] = json!(30);
        }
        if path == "refresh_token" {
            answer.as_object_mut().unwrap().remove("refresh_token");
        }
    };
    let server = LoginServer::new(soon).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let first = file(&desk);
    assert!(desk.says("a").await.starts_with("done with"));
    let second = file(&desk);
    assert_ne!(first["access_token"], second["access_token"], "it would have ended soon");
    assert_eq!(first["refresh_token"], second["refresh_token"], "no other was given");
    assert_eq!(server.last("/token").word("resource"), server.web.url);

    // What is refused is renewed once; a refresh token that is used up ends it. The question for news carries the token,
    // too: refused at the same time, it could use up the refresh token first.
    server.web.until("subscriptions/listen").await;
    server.revoke();
    let said = desk.says("a").await;
    assert_eq!(
        said,
        "the sign-in at the MCP server is over: an owner can run `selkie mcp login robin`"
    );
    assert!(!desk.state.join("mcp/robin.token.json").exists());
    assert_eq!(server.asked("/token"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_is_renewed_and_the_call_is_made() {
    let server = LoginServer::new(|_, _| {}).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let before = file(&desk);
    server.revoke();
    let said = desk.says("a").await;
    let after = file(&desk);
    assert_eq!(said, format!("done with {}", after["access_token"].as_str().unwrap()));
    assert_ne!(before["refresh_token"], after["refresh_token"], "they rotate");
    for _ in 0..3 {
        server.revoke();
        desk.says("a").await;
    }
    let hides = |grant: &Value| {
        let token = grant["access_token"].as_str().unwrap();
        desk.redactor.clean(token) != token
    };
    assert!(!hides(&before) && hides(&file(&desk)), "what ended long ago is no secret any more");
    server.revoke();
    server.end();
    let said = desk.says("a").await;
    assert_eq!(
        said,
        "the sign-in at the MCP server is over: an owner can run `selkie mcp login robin`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_renew_at_once_one_asks() {
    let soon = |path: &str, answer: &mut Value| {
        if path == "authorization_code" {
            answer["expires_in"] = json!(30);
        }
    };
    let server = LoginServer::new(soon).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let others = [1, 2, 3].map(|_| beside(&desk, &server.web.url));
    let calls = others.iter().chain([&desk]).map(|desk| desk.says("a"));
    let said = futures_util::future::join_all(calls).await;
    assert!(said.iter().all(|it| it.starts_with("done with") && *it == said[0]), "{said:?}");
    assert_eq!(server.asked("/token"), 2, "the login, and one renewal");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_whose_caller_goes_away_is_kept() {
    let soon = |path: &str, answer: &mut Value| {
        if path == "authorization_code" {
            answer["expires_in"] = json!(30);
        }
    };
    let server = LoginServer::new(soon).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let before = file(&desk);
    {
        let call = desk.says("a");
        let mut call = std::pin::pin!(call);
        // It has asked, and is dropped before it reads on.
        while server.asked("/token") < 2 {
            tokio::select! {
                biased;
                _ = &mut call => break,
                () = tokio::task::yield_now() => {}
            }
        }
    }
    desk.connections().end().await;
    assert_ne!(before["refresh_token"], file(&desk)["refresh_token"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_nowhere_but_to_whom_it_is_for() {
    let server = LoginServer::new(|_, _| {}).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let other = LoginServer::new(|_, _| {}).await;
    let said = beside(&desk, &other.web.url).says("a").await;
    assert!(said.contains("selkie mcp login robin"), "{said}");
    assert!(other.web.heard().iter().all(|heard| heard.header("authorization").is_empty()));
    let said = beside(&desk, &server.web.url).says("a").await;
    assert!(said.starts_with("done with"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_more_it_takes_is_said_and_asked_for_beside_what_was() {
    let server = LoginServer::new(|_, _| {}).await;
    let desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    let said = desk.says("write").await;
    assert!(
        said.ends_with("an owner can run `selkie mcp login robin --scope \"write list\"`"),
        "{said}"
    );
    let error = log_in(&desk, &["write \""]).await.unwrap_err().to_string();
    assert_eq!(error, r#"--scope takes scopes such as files:write, not "write \"""#);
    log_in(&desk, &["write list"]).await.unwrap();
    assert_eq!(server.last("/authorize").word("scope"), "read write list");
    log_in(&desk, &[]).await.unwrap();
    assert_eq!(server.last("/authorize").word("scope"), "read");
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_the_servers_else_the_configs_else_all() {
    let silent = |path: &str, document: &mut Value| match path {
        "challenge" => *document = json!({}),
        "/.well-known/oauth-authorization-server" => {
            document["scopes_supported"] = json!(["offline_access"]);
        }
        _ => {}
    };
    let server = LoginServer::new(silent).await;
    let mut desk = Desk::at(&server.web.url).open();
    log_in(&desk, &[]).await.unwrap();
    assert_eq!(server.last("/authorize").word("scope"), "read list offline_access");
    desk.settings.oauth =
        Some(OAuthSettings { scopes: vec!["one".to_owned()], ..OAuthSettings::default() });
    log_in(&desk.open(), &[]).await.unwrap();
    assert_eq!(server.last("/authorize").word("scope"), "one offline_access");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_config_is_used_with_its_secret_and_its_issuer() {
    let server = LoginServer::new(|_, _| {}).await;
    let mut desk = Desk::at(&server.web.url);
    let issuer = server.web.url.trim_end_matches("/mcp").to_owned();
    let ours = OAuthSettings {
        issuer: Some(issuer),
        client_id: Some("me".to_owned()),
        client_secret: Some("s3cret of mine".into()),
        ..OAuthSettings::default()
    };
    desk.settings.oauth = Some(ours.clone());
    let desk = desk.open();
    let login = desk.connections().login("robin", &[], &SystemChance).await.unwrap();
    let client = json!({ "redirect_uris": [login.redirect()] });
    locked(&server.desk.clients).insert("me".to_owned(), client);
    let back = LoginServer::browse(login.address()).await;
    login.take(&back).await.unwrap();
    let proof = server.last("/token").header("authorization").to_owned();
    assert_eq!(proof, "Basic bWU6czNjcmV0K29mK21pbmU=");
    assert_eq!(server.asked("/register"), 0);
    assert_eq!(file(&desk)["client"]["secret"], Value::Null, "it stays in the config");
    server.revoke();
    assert!(desk.says("a").await.starts_with("done with"), "renewed with the secret");

    let mut desk = Desk::at(&server.web.url);
    desk.settings.oauth =
        Some(OAuthSettings { issuer: Some("https://a.example".to_owned()), ..ours });
    let error = log_in(&desk.open(), &[]).await.unwrap_err().to_string();
    assert!(error.ends_with("not \"https://a.example\": nothing of it is used"), "{error}");
}
