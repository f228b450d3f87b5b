//! An owner's tools read the daemon over its read API: every route, on the real store.

use std::net::SocketAddr;

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::{Value, json};

use crate::support::http::{Events, get, send};
use crate::support::world::World;

const ORIGIN: &str = "http://127.0.0.1:8080";

async fn world() -> World {
    World::with(json!({
        "llm": { "provider": "offline" },
        "console": { "listen": "127.0.0.1:0", "allow_origin": ORIGIN },
    }))
    .await
}

/// The address that the log names; the daemon is up when something was answered.
fn console(world: &World) -> SocketAddr {
    let log = world.home.log();
    let address = log.split("console=\"").nth(1).and_then(|rest| rest.split('"').next());
    address.and_then(|a| a.parse().ok()).unwrap_or_else(|| panic!("no address in:\n{log}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_tells_what_the_store_holds() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let at = console(&world);
    let mut events = Events::open(at, "/v1/events");
    assert!(world.ask("note: buy milk").await.contains("buy milk"));
    // What still comes of the first message is passed over.
    let mut called = false;
    let delivered = move |e: &Value| {
        called |= e["happening"] == "called";
        called && e["happening"] == "delivered"
    };
    let happened = tokio::task::spawn_blocking(move || events.until(delivered)).await.unwrap();
    let heard = happened.iter().position(|e| e["happening"] == "heard").unwrap();
    let happened = &happened[heard..];
    tells_the_task_as_it_went(happened);

    let tasks = get(at, "/v1/tasks").json();
    let task = &tasks[0];
    assert_eq!((&task["key"], &task["asked"]), (&json!("tg:4711"), &json!("note: buy milk")));
    let here = get(at, "/v1/conversations/tg:4711/tasks?limit=1").json();
    assert_eq!(here, json!([task]));
    let id = task["id"].as_i64().unwrap();
    let story = get(at, &format!("/v1/tasks/{id}")).json();
    assert_eq!(story["transcript"][0]["text"], "note: buy milk");
    assert_eq!(story["state"], "done");
    shape_is_that_of_the_tool_list(&world, &get(at, &format!("/v1/tasks/{id}/shape")).json());

    let conversations = get(at, "/v1/conversations").json();
    assert_eq!(
        (&conversations[0]["key"], &conversations[0]["tasks"]),
        (&json!("tg:4711"), &json!(2))
    );
    let chain = &get(at, &format!("/v1/trace/{id}")).json()[0];
    assert_eq!(chain["task"]["id"], id);
    let part = &chain["outbounds"][0]["parts"][0];
    assert_eq!(part["state"], "sent");
    assert_ne!(part["receipt"], Value::Null);
    status_counts(&get(at, "/v1/status").json());
}

/// What a conversation knows, as it knows it: an owner in private everything, a group its own.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_conversation_knows_is_told_as_it_knows_it() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("remember that I like tea").await;
    world.ask("todo: buy a ring").await;
    let there = |text: &str| format!("@selkie_demo_bot {text}");
    world.ask_in(GROUP.chat, GRACE, &there("remember that the kettle leaks")).await;
    // Who has only just written is known to the owner, and by name.
    let todo = world.ask("remind Grace to bring milk").await;
    assert!(todo.contains("2 open items"), "{todo}");
    let at = console(&world);
    let knows = |key: &str, what: &str| get(at, &format!("/v1/conversations/{key}/{what}")).json();
    let names = |all: &Value| -> Vec<String> {
        let all = all["contacts"].as_array().unwrap().iter();
        let number = |one: &Value| {
            let ids = one["ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
            ids.map(str::to_owned).find(|id| !id.contains('@')).unwrap_or_default()
        };
        all.map(number).collect()
    };
    let (own, group) = (format!("tg:{ADA}"), format!("tg:{}", GROUP.chat));
    let known = knows(&own, "contacts");
    let mut all = names(&known);
    all.sort();
    assert_eq!((&known["sees_all"], all), (&json!(true), vec![own.clone(), format!("tg:{GRACE}")]));
    let known = knows(&group, "contacts");
    assert_eq!((&known["sees_all"], names(&known)), (&json!(false), vec![format!("tg:{GRACE}")]));
    let todos = knows(&own, "todos");
    assert_eq!(todos["open"][0]["text"], "Remind Grace to bring milk");
    assert_eq!(todos["open"][0]["people"][0]["id"], "tg:@grace");
    assert_eq!(todos["open"][1]["text"], "buy a ring");
    assert_eq!(knows(&group, "todos")["open"], json!([]));
    for (key, says) in [(&own, "I like tea"), (&group, "the kettle leaks")] {
        let memory = knows(key, "memory");
        let texts: Vec<&Value> =
            memory["lines"].as_array().unwrap().iter().map(|line| &line["text"]).collect();
        assert_eq!(texts, [says], "{key}");
    }
}

fn tells_the_task_as_it_went(happened: &[Value]) {
    let mut names: Vec<&str> = happened.iter().filter_map(|e| e["happening"].as_str()).collect();
    names.retain(|name| !["wrote", "delivered"].contains(name));
    names.dedup();
    let told = ["heard", "started", "asked", "called", "answered", "asked", "called", "answered"];
    assert_eq!(names[..5], told[..5], "{names:?}");
    assert!(names.contains(&"ended"), "{names:?}");
    let called = happened.iter().filter(|e| e["happening"] == "called");
    assert!(called.clone().any(|e| e["tool"] == "todo_write"), "{happened:?}");
    assert!(called.clone().all(|e| e["key"] == "tg:4711"), "{happened:?}");
}

/// The shape of a task that ran is the one `tools list` foretells.
fn shape_is_that_of_the_tool_list(world: &World, shape: &Value) {
    let (code, list, _) = world.home.run(&["tools", "list", "--in", "telegram:private", "--json"]);
    assert_eq!(code, 0);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(shape["setting"], list["setting"]);
    assert_eq!(shape["there"], list["there"]);
    assert_ne!(shape["there"].as_array().map(Vec::len), Some(0));
}

fn status_counts(status: &Value) {
    assert_eq!((&status["healthy"], &status["problem"]), (&json!(true), &Value::Null));
    assert_eq!(status["model"], "built-in stand-in");
    let counts = &status["counts"];
    assert_eq!(
        (&counts["inbox"], &counts["running"], &counts["queued"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert!(status["store_syncs"].as_u64().unwrap() >= 4, "{status}");
    let states = status["channels"].as_array().unwrap();
    assert!(
        states.iter().any(|c| c["name"] == "telegram" && c["state"] == "listening"),
        "{status}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_this_machine_and_the_one_page_may_read_and_nobody_writes() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let at = console(&world);
    let host = ("host", &*at.to_string());

    let foreign = send(at, "GET", "/v1/status", &[("host", "evil.example")]);
    assert_eq!(foreign.status, 403);
    assert!(foreign.body.contains("loopback only"), "{}", foreign.body);

    let allowed = |origin| send(at, "GET", "/v1/status", &[host, ("origin", origin)]).head;
    assert!(allowed(ORIGIN).contains(&format!("access-control-allow-origin: {ORIGIN}")));
    assert!(!allowed("http://evil.example").contains("access-control-allow-origin"));

    let written = send(at, "POST", "/v1/status", &[host]);
    assert_eq!(written.status, 405);
    assert!(written.body.contains("only reads"), "{}", written.body);

    for (path, says) in [
        ("/v1/nothing", "/v1/conversations"),
        ("/v1/tasks/99", "see /v1/tasks"),
        ("/v1/tasks/seven", "not a task id"),
        ("/v1/tasks?limit=many", "a number from 1"),
        ("/v1/conversations/tg:1/tasks", "see /v1/conversations"),
        ("/v1/trace/nothing", "give a task id"),
    ] {
        let missing = get(at, path);
        assert!(matches!(missing.status, 400 | 404), "{path}: {}", missing.status);
        let error = missing.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(says), "{path}: {error}");
    }
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_others_could_reach_is_refused() {
    let world = World::with(json!({ "console": { "listen": "0.0.0.0:7300" } })).await;
    let (code, _, says) = world.home.run(&["run"]);
    assert_eq!(code, 2, "{says}");
    assert!(says.contains("console.listen takes a loopback address (127.0.0.1:7780)"), "{says}");
}
