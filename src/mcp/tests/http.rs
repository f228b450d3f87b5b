//! Servers at addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::http::Response;
use selkie_channel_core::{Redactor, locked};
use selkie_domain::question::QuestionResult;
use selkie_domain::span::Span;
use selkie_tools::auth::{AuthProfiles, CredentialDeps};
use selkie_tools::shell::OwnPrograms;
use serde_json::{Map, json};
use tokio::time::timeout;

use super::desk::{Desk, TIMEOUT};
use super::web::{Web, WebRequest, events, status, typed};
use crate::{CallContext, CallOutcome, Inquiry, McpError};

/// Answers all but calls.
fn modern(
    call: impl Fn(&WebRequest) -> Response<Body> + Send + Sync + 'static,
) -> impl Fn(&WebRequest) -> Response<Body> {
    move |heard| match heard.method() {
        "server/discover" => heard.discovered(),
        "tools/call" => call(heard),
        _ => status(404),
    }
}

/// The same in the older era.
fn legacy(
    call: impl Fn(&WebRequest) -> Response<Body> + Send + Sync + 'static,
) -> impl Fn(&WebRequest) -> Response<Body> {
    move |heard| match heard.method() {
        "initialize" => heard.initialized("s-1"),
        "tools/call" => call(heard),
        "" => status(202),
        method if method.starts_with("notifications/") => status(202),
        _ => status(400),
    }
}

#[tokio::test]
async fn the_newer_era_says_all_in_every_request() {
    let web = Web::new(modern(|heard| heard.text("done"))).await;
    let desk = Desk::at(&web.url).open();
    let schema = json!({ "type": "object", "properties": {
        "zone": { "type": "string", "x-mcp-header": "Zone" }, "n": { "type": "integer" },
        "in": { "type": "object", "properties": { "deep": { "type": "string", "x-mcp-header": "Deep" } } },
    } });
    let arguments = json!({ "zone": "Zürich", "n": 1, "in": { "deep": "x" } });
    let of = CallContext { schema: Some(Arc::new(schema)), ..desk.context() };
    let arguments = arguments.as_object().unwrap().clone();
    desk.connections().call("robin", "a tool", &arguments, of).await.unwrap();
    let call = web.until("tools/call").await;
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "a tool"),
        ("mcp-param-zone", "=?base64?WsO8cmljaA==?="),
        ("mcp-param-deep", "x"),
        ("mcp-param-n", ""),
        ("mcp-session-id", ""),
    ] {
        assert_eq!(call.header(name), value, "{name}");
    }
    let meta = &call.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "selkie");
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({ "elicitation": { "form": {}, "url": {} } })
    );
    assert!(!web.methods().contains(&"initialize".to_owned()));
}

#[tokio::test]
async fn the_older_era_has_a_session_that_ends() {
    let web = Web::new(legacy(|heard| heard.text("done"))).await;
    let desk = Desk::at(&web.url).open();
    assert_eq!(desk.says("a").await, "done");
    assert_eq!(desk.says("a").await, "done");
    desk.connections().end().await;
    assert_eq!(
        web.methods(),
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/call",
            "tools/call",
            "DELETE"
        ]
    );
    let heard = web.heard();
    assert_eq!(heard[1].header("mcp-protocol-version"), "", "it only asks which");
    assert_eq!(heard[1].body["params"]["capabilities"], json!({}), "nothing is offered");
    assert!(heard[2..].iter().all(|heard| heard.header("mcp-session-id") == "s-1"));
    assert_eq!(heard[3].header("mcp-protocol-version"), "2025-11-25");
}

#[tokio::test]
async fn a_session_that_is_lost_is_begun_anew_by_the_next_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let web = Web::new(legacy(move |heard| match counted.fetch_add(1, Ordering::SeqCst) {
        1 => status(404),
        _ => heard.text("done"),
    }));
    let web = web.await;
    let desk = Desk::at(&web.url).open();
    assert_eq!(desk.says("a").await, "done");
    let lost = desk.says("a").await;
    assert!(lost.contains("has forgotten its session"), "{lost}");
    assert_eq!(calls.load(Ordering::SeqCst), 2, "a call is never sent twice");
    assert_eq!(desk.says("a").await, "done");
    let methods = web.methods();
    assert_eq!(methods.iter().filter(|method| *method == "initialize").count(), 2);
    assert_eq!(
        methods.iter().filter(|method| *method == "server/discover").count(),
        1,
        "the era is known"
    );
}

#[tokio::test]
async fn a_stream_tells_of_progress_and_asks_for_nothing() {
    let web = Web::new(legacy(|heard| {
        let token = &heard.body["params"]["_meta"]["progressToken"];
        events(&[
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1, "total": 2 } }).to_string(),
            json!({ "jsonrpc": "2.0", "id": "r", "method": "roots/list" }).to_string(),
            "no message".to_owned(),
            json!({ "jsonrpc": "2.0", "id": 99, "result": {} }).to_string(),
            json!({ "jsonrpc": "2.0", "id": heard.body["id"], "result": { "content": [{ "type": "text", "text": "done" }] } }).to_string(),
        ])
    }));
    let web = web.await;
    let desk = Desk::at(&web.url).open();
    assert_eq!(desk.says("a").await, "done");
    assert_eq!(*locked(&desk.ear.lines), ["50 %"]);
    let reply = web.heard().into_iter().find(|heard| heard.body["id"] == "r").unwrap();
    assert_eq!(reply.body["error"]["code"], -32601);
}

/// A body that never ends, and says when nobody reads it any more.
fn endless(gone: &Arc<AtomicUsize>) -> Response<Body> {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let stream = tokio_stream(Gone(Arc::clone(gone)));
    typed("text/event-stream", Body::from_stream(stream))
}

fn tokio_stream<T: Send + 'static>(
    held: T,
) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    futures_util::stream::unfold(held, |held| async move {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        Some((Ok(Bytes::from_static(b": still here\n\n")), held))
    })
}

#[tokio::test]
async fn a_stream_that_never_ends_is_left_in_time() {
    let gone = Arc::<AtomicUsize>::default();
    let told = Arc::clone(&gone);
    let web = Web::new(modern(move |_| endless(&told))).await;
    let desk = Desk::at(&web.url).within(Span::seconds(1)).open();
    let said = desk.says("a").await;
    assert!(said.contains("did not answer within 1 second"), "{said}");
    let left = async {
        while gone.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, left).await.expect("closing the stream calls it off");
    assert!(!web.methods().contains(&"notifications/cancelled".to_owned()));
}

#[tokio::test]
async fn in_the_older_era_a_call_is_called_off_by_a_word() {
    let web = Web::new(legacy(|_| endless(&Arc::default()))).await;
    let desk = Desk::at(&web.url).within(Span::seconds(1)).open();
    desk.says("a").await;
    let word = web.until("notifications/cancelled").await;
    assert_eq!(word.body["params"]["requestId"], web.until("tools/call").await.body["id"]);
}

#[tokio::test]
async fn requests_go_nowhere_but_where_the_config_says() {
    for (code, to) in [
        (307, "/elsewhere"),
        (302, "/elsewhere"),
        (307, "http://169.254.169.254/latest/meta-data"),
        (308, "http://localhost:1/"),
    ] {
        let web = Web::new(move |_: &WebRequest| {
            let mut answer = status(code);
            answer.headers_mut().insert("location", to.parse().unwrap());
            answer
        });
        let web = web.await;
        let said = Desk::at(&web.url).open().says("a").await;
        assert!(said.contains(&format!("redirects to {to}, where nothing was sent")), "{said}");
        assert!(web.heard().iter().all(|heard| heard.path == "/mcp"));
    }
}

#[tokio::test]
async fn headers_of_the_file_go_along_and_stand_in_no_words() {
    let web = Web::new(modern(|heard| heard.text("done"))).await;
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("headers");
    let says = async |content: &str| {
        std::fs::write(&file, content).unwrap();
        let mut desk = Desk::at(&web.url);
        desk.settings.headers_file = Some(file.clone());
        desk.open().says("a").await
    };
    assert_eq!(says("# whose\nAuthorization: Bearer hunter2\n\nX-Team: a\n").await, "done");
    assert!(web.heard().iter().all(|heard| heard.header("authorization") == "Bearer hunter2"));
    let said = says("X-Team: a\nhunter2\n").await;
    assert!(said.contains("line 2 of headers_file") && !said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn the_credential_of_a_profile_goes_to_the_address_that_it_is_for() {
    let web = Web::new(modern(|heard| heard.text("done"))).await;
    let says = async |prefix: &str| {
        let allow = json!([{ "prefix": prefix, "methods": ["POST"] }]);
        let profile = json!({ "credential": "zX9-quiet-otter-4471", "allow": allow });
        let settings = json!({ "auth_profiles": { "shop": profile } });
        let deps = CredentialDeps {
            redactor: Redactor::default(),
            programs: OwnPrograms::default(),
            env: Arc::default(),
        };
        let mut desk = Desk::at(&web.url);
        desk.auth = Arc::new(AuthProfiles::new(&serde_json::from_value(settings).unwrap(), &deps));
        desk.settings.auth = Some("shop".to_owned());
        desk.open().says("a").await
    };
    let said = says("https://elsewhere.example/").await;
    assert!(said.contains("auth shop: auth_profile shop is not for POST"), "{said}");
    assert!(web.heard().is_empty());
    assert_eq!(says(&web.url).await, "done");
    let bearer = "Bearer zX9-quiet-otter-4471";
    assert!(web.heard().iter().all(|heard| heard.header("authorization") == bearer));
}

#[tokio::test]
async fn one_that_wants_a_sign_in_says_so() {
    let web = Web::new(|_: &WebRequest| {
        let mut answer = status(401);
        let challenge = "Bearer resource_metadata=\"https://a.example/x\"";
        answer.headers_mut().insert("www-authenticate", challenge.parse().unwrap());
        answer
    });
    let desk = Desk::at(&web.await.url).open();
    let error = desk.call().await.unwrap_err();
    assert!(error.to_string().ends_with("run `selkie mcp login robin`"), "{error}");
    let McpError::SignIn { status, challenge, .. } = error else { panic!() };
    assert_eq!((status, challenge.contains("a.example")), (401, true));
}

#[tokio::test]
async fn floods_of_bytes_are_refused() {
    let big = || "a".repeat(17 * 1024 * 1024);
    let web = Web::new(modern(move |heard| match heard.body["params"]["name"].as_str() {
        Some("event") => events(&[big()]),
        Some("line") => typed("text/event-stream", big()),
        Some("status") => {
            let mut answer = typed("text/plain", "boom\u{1b}[2J ".repeat(100));
            *answer.status_mut() = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
            answer
        }
        Some("half") => typed("text/event-stream", "data: {"),
        Some("none") => typed("application/json", "{}"),
        _ => typed("application/json", big()),
    }));
    let desk = Desk::at(&web.await.url).open();
    for (tool, why) in [
        ("body", "sent an answer of more than 16777216 bytes"),
        ("event", "sent an event of more than 16777216 bytes"),
        ("line", "sent an event of more than 16777216 bytes"),
        ("status", "HTTP status 500: boom⟨U+001B⟩[2J"),
        ("half", "ended its answer before it was complete"),
        ("none", "sent an answer that is none to the request"),
    ] {
        let said = desk.says(tool).await;
        assert!(said.contains(why) && said.len() < 1_000, "{tool}: {said}");
    }
}

#[tokio::test]
async fn a_person_is_asked_and_the_call_is_made_again() {
    let web = Web::new(modern(|heard| {
        let params = &heard.body["params"];
        match params["requestState"].as_str() {
            None => heard.result(json!({
                "resultType": "input_required", "requestState": "s\u{1}tate",
                "inputRequests": { "who": { "method": "elicitation/create", "params": {
                    "message": "Who?\u{202e}", "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
                } } },
            })),
            Some("s\u{1}tate") => heard.result(json!({ "resultType": "input_required", "requestState": "two" })),
            Some(_) => heard.text("done"),
        }
    }));
    let web = web.await;
    let desk = Desk::at(&web.url).open();
    let CallOutcome::Asks(asks) = desk.call_with(desk.context()).await.unwrap() else { panic!() };
    assert_eq!(asks.questions[0].message, "Who?⟨U+202E⟩");
    let mut inquiry = Inquiry::begin(asks, None).unwrap();
    inquiry.take(&QuestionResult::Words { text: "Ada".to_owned() });
    let of = CallContext { answers: inquiry.answers(), ..desk.context() };
    assert!(matches!(desk.call_with(of).await, Ok(CallOutcome::Done(_))));
    let calls: Vec<_> = web.heard().into_iter().filter(|it| it.method() == "tools/call").collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1].body["params"]["requestState"], "s\u{1}tate");
    let given = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    assert_eq!(calls[1].body["params"]["inputResponses"], given);
    assert_ne!(calls[0].body["id"], calls[1].body["id"]);
}

#[tokio::test]
async fn what_is_not_offered_is_not_given() {
    for method in ["roots/list", "sampling/createMessage"] {
        let web = Web::new(modern(move |heard| {
            heard.result(json!({ "resultType": "input_required", "inputRequests": { "x": { "method": method } } }))
        }));
        let said = Desk::at(&web.await.url).open().says("a").await;
        assert_eq!(said, format!("the MCP server asks for {method}, which is not offered to it"));
    }
    let web =
        Web::new(modern(|heard| heard.result(json!({ "resultType": "task", "taskId": "1" }))));
    let said = Desk::at(&web.await.url).open().says("a").await;
    assert!(said.contains("an answer of an unknown kind: task"), "{said}");
}

#[tokio::test]
async fn a_change_of_the_list_is_heard_on_a_stream() {
    let web = Web::new(|heard: &WebRequest| match heard.method() {
        "server/discover" => heard.discovered(),
        "subscriptions/listen" => {
            let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            events(&[change.to_string()])
        }
        _ => heard.text("done"),
    });
    let web = web.await;
    let desk = Desk::at(&web.url).open();
    desk.connections().call("robin", "a", &Map::new(), desk.context()).await.unwrap();
    let heard = async {
        while *locked(&desk.ear.changes) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, heard).await.expect("it is told");
    assert_eq!(
        web.until("subscriptions/listen").await.body["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
}

#[tokio::test]
async fn one_that_is_not_there_cannot_be_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let desk = Desk::at(&url).open();
    let Err(McpError::Unreachable(_)) = desk.call().await else { panic!() };
    assert!(matches!(desk.call().await, Err(McpError::Resting { .. })), "it is told at once");
}
