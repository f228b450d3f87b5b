//! The door: what is answered to whom, and what is handed on.

use async_trait::async_trait;
use axum::body::{Body, to_bytes};

use super::*;
use crate::sample::{Sample, sample};

const SECRET: &str = "0123456789abcdef";

/// Keeps what is handed on, and says this of it.
struct Recorder {
    says: Result<Receipt, Refusal>,
    all: Mutex<Vec<Delivery>>,
    counted: Mutex<Vec<String>>,
}

#[async_trait]
impl Deliveries for Recorder {
    async fn deliver(&self, delivery: Delivery) -> Result<Receipt, Refusal> {
        locked(&self.all).push(delivery);
        self.says
    }

    fn count(&self, hook: &str, outcome: &str) {
        locked(&self.counted).push(format!("{hook} {outcome}"));
    }
}

struct Bed {
    door: Arc<Door>,
    kept: Arc<Recorder>,
    settings: Settings,
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn bed(hooks: Value, says: Result<Receipt, Refusal>) -> Bed {
    let settings: Settings =
        serde_json::from_value(json!({ "listen": "127.0.0.1:1", "hooks": hooks })).unwrap();
    assert_eq!(settings.faults(), []);
    let kept = Arc::new(Recorder { says, all: Mutex::default(), counted: Mutex::default() });
    let door = Door::new(&settings, Arc::clone(&kept) as _, Arc::new(now));
    Bed { door, kept, settings }
}

const NEW: Result<Receipt, Refusal> = Ok(Receipt { task: 7, is_new: true });

impl Bed {
    async fn send(&self, request: Request) -> (StatusCode, HeaderMap, Value) {
        let answer = receive(State(Arc::clone(&self.door)), request).await;
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, 10_000).await.unwrap();
        let value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        (head.status, head.headers, value)
    }

    fn signed(&self, name: &str, payload: Option<&str>, id: &str) -> Request {
        let all = self.settings.endpoints();
        let hook = all.iter().find(|hook| hook.name == name).unwrap();
        let payload = payload.map(|text| text.as_bytes().to_vec());
        let Sample { headers, body } = sample(hook, payload, id, now());
        let request = Request::post(&hook.path);
        let with = |request: axum::http::request::Builder, (name, value): &(&str, String)| {
            request.header(*name, value)
        };
        headers.iter().fold(request, with).body(Body::from(body)).unwrap()
    }

    async fn call(&self, name: &str, payload: Option<&str>) -> (StatusCode, Value) {
        let (status, _, value) = self.send(self.signed(name, payload, "1")).await;
        (status, value)
    }

    fn kept(&self) -> Vec<Delivery> {
        std::mem::take(&mut locked(&self.kept.all))
    }
}

fn post(path: &str, body: Body) -> Request {
    Request::post(path).body(body).unwrap()
}

#[tokio::test]
async fn what_every_form_signs_is_handed_on() {
    for form in ["github", "stripe", "slack", "plain"] {
        let bed = bed(
            json!({ "a": { "secret": SECRET, "hmac": form, "prompt": "look", "tools": ["x"] } }),
            NEW,
        );
        assert_eq!(
            bed.call("a", None).await,
            (StatusCode::ACCEPTED, json!({ "task": 7 })),
            "{form}"
        );
        let delivery = bed.kept().remove(0);
        assert_eq!((&*delivery.hook.name, &*delivery.event), ("a", "test"), "{form}");
        assert_eq!(delivery.day_before.is_some(), form == "plain");
        let Content::Prompt { prompt, payload } = delivery.content else { panic!("{form}") };
        assert!(prompt == "look" && payload.contains("test"), "{payload}");
    }
}

#[tokio::test]
async fn a_second_delivery_says_which_task_it_was() {
    let bed = bed(
        json!({ "a": { "secret": SECRET, "prompt": "x" } }),
        Ok(Receipt { task: 7, is_new: false }),
    );
    assert_eq!(
        bed.call("a", None).await,
        (StatusCode::OK, json!({ "task": 7, "duplicate": true }))
    );
}

#[tokio::test]
async fn whoever_is_not_the_service_learns_nothing() {
    let bed = bed(json!({ "a": { "secret": SECRET, "prompt": "x" } }), NEW);
    for (request, wanted) in [
        (post("/hooks/b", Body::empty()), StatusCode::NOT_FOUND),
        (post("/", Body::empty()), StatusCode::NOT_FOUND),
        (Request::get("/hooks/b").body(Body::empty()).unwrap(), StatusCode::NOT_FOUND),
        (Request::get("/hooks/a").body(Body::empty()).unwrap(), StatusCode::METHOD_NOT_ALLOWED),
        (post("/hooks/a", Body::from("{}")), StatusCode::UNAUTHORIZED),
    ] {
        let (status, _, value) = bed.send(request).await;
        assert_eq!((status, value), (wanted, Value::Null));
    }
    let mut changed = bed.signed("a", Some("{}"), "1");
    *changed.body_mut() = Body::from("{ }");
    assert_eq!(bed.send(changed).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(*locked(&bed.kept.counted), ["a unsigned", "a unsigned"]);
    assert!(bed.kept().is_empty());
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let bed = bed(json!({ "a": { "secret": SECRET, "prompt": "x" } }), NEW);
    let never = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let said = Request::post("/hooks/a").header("content-length", 50 * 1024 * 1024);
    let said = said.body(Body::from_stream(never)).unwrap();
    assert_eq!(bed.send(said).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let unsaid = post("/hooks/a", Body::from(vec![b'x'; MAX_WEBHOOK + 1]));
    assert_eq!(bed.send(unsaid).await.0, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn events_that_are_not_wanted_and_looks_make_nothing() {
    let hooks = json!({
        "git": { "secret": SECRET, "hmac": "github", "events": ["issues.opened"], "prompt": "x" },
        "chat": { "secret": SECRET, "hmac": "slack", "words": "x" },
    });
    let bed = bed(hooks, NEW);
    assert_eq!(bed.call("git", None).await.0, StatusCode::ACCEPTED);
    assert_eq!(bed.kept()[0].event, "issues.opened");
    let (status, value) = bed.call("git", Some(r#"{"action":"closed"}"#)).await;
    assert_eq!((status, value["ignored"].is_string()), (StatusCode::OK, true));
    let asks = r#"{"type":"url_verification","challenge":"abc"}"#;
    assert_eq!(bed.call("chat", Some(asks)).await, (StatusCode::OK, json!({ "challenge": "abc" })));
    let form = bed.call("git", Some("payload=%7B%7D")).await;
    assert!(form.0 == StatusCode::BAD_REQUEST && form.1.to_string().contains("application/json"));
    assert!(bed.kept().is_empty());
}

#[tokio::test]
async fn fixed_words_are_filled_in() {
    let bed = bed(json!({ "a": { "secret": SECRET, "words": "v{v} is *out*" } }), NEW);
    bed.call("a", Some(r#"{"v":"1.2"}"#)).await;
    assert_eq!(bed.kept()[0].content, Content::Words("v1.2 is *out*".to_owned()));
    assert_eq!(bed.call("a", Some("no json")).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_flood_is_told_when_to_come_again() {
    let bed = bed(
        json!({ "a": { "secret": SECRET, "prompt": "x" }, "b": { "secret": SECRET, "prompt": "x" } }),
        NEW,
    );
    for _ in 0..60 {
        assert_eq!(bed.call("a", None).await.0, StatusCode::ACCEPTED);
    }
    let (status, headers, _) = bed.send(bed.signed("a", None, "1")).await;
    assert_eq!(
        (status, headers["retry-after"].as_bytes()),
        (StatusCode::TOO_MANY_REQUESTS, &b"60"[..])
    );
    assert_eq!(bed.send(post("/hooks/a", Body::empty())).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(bed.call("b", None).await.0, StatusCode::ACCEPTED, "another hook is free");
    assert_eq!(bed.kept().len(), 61);
}

#[tokio::test]
async fn what_cannot_be_taken_now_may_come_again() {
    let hooks = || json!({ "a": { "secret": SECRET, "prompt": "x" } });
    let full = bed(hooks(), Err(Refusal::Full));
    let (status, headers, _) = full.send(full.signed("a", None, "1")).await;
    assert_eq!(
        (status, headers["retry-after"].as_bytes()),
        (StatusCode::TOO_MANY_REQUESTS, &b"60"[..])
    );
    let gone = bed(hooks(), Err(Refusal::Unavailable));
    assert_eq!(gone.call("a", None).await.0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn hooks_change_while_the_door_is_open() {
    let bed = bed(json!({ "a": { "secret": SECRET, "prompt": "x" } }), NEW);
    let settings = json!({ "hooks": { "b": { "secret": SECRET, "prompt": "x" } } });
    bed.door.put(&serde_json::from_value(settings).unwrap());
    assert_eq!(bed.send(post("/hooks/a", Body::empty())).await.0, StatusCode::NOT_FOUND);
    assert_eq!(bed.send(post("/hooks/b", Body::empty())).await.0, StatusCode::UNAUTHORIZED);
}
