//! Health checks and metrics: a daemon lives while its loops turn, is ready while its platforms answer, and counts what it
//! did.

use std::net::SocketAddr;

use selkie_playground::telegram::ADA;
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::http::get;
use crate::support::world::World;

/// The address that the log names.
async fn console(world: &World) -> SocketAddr {
    let named = |log: &str| {
        let address = log.split("console=\"").nth(1)?.split_once('"')?.0;
        address.parse().ok()
    };
    world.within("the console", world.home.logged(0, |log| named(log).is_some())).await;
    named(&world.home.log()).expect("it is named")
}

async fn world() -> World {
    World::with(json!({ "console": { "listen": "127.0.0.1:0" } })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_did_is_counted() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::call("todo_write", r#"{"todos":[]}"#), Turn::text("done")]);
    assert_eq!(world.ask("a secret of Ada's").await, "done");
    let at = console(&world).await;
    let scraped = async {
        loop {
            let text = get(at, "/metrics").body;
            if text.contains("selkie_parts_total{channel=\"telegram\",outcome=\"sent\"} 1") {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    let text = world.within("the receipt's count", scraped).await;
    for line in [
        "selkie_events_received_total{channel=\"telegram\"} 1",
        "selkie_tasks_total{state=\"done\"} 1",
        "selkie_model_requests_total{outcome=\"answered\"} 2",
        "selkie_tool_calls_total{tool=\"todo_write\",outcome=\"ok\"} 1",
        "selkie_task_seconds_count{phase=\"model\"} 2",
        "selkie_task_seconds_count{phase=\"tools\"} 1",
        "selkie_task_seconds_count{phase=\"send\"} 1",
        "selkie_task_seconds_count{phase=\"wait\"} 1",
        "selkie_channel_up{channel=\"telegram\"} 1.0",
        "selkie_open_tasks{state=\"waiting\"} 0.0",
        "selkie_store_up 1.0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    let told = text.contains("secret") || text.contains("Ada") || text.contains(&ADA.to_string());
    assert!(!told, "no words of people, no people: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_takes_readiness_and_no_life() {
    let world = world().await;
    world.telegram().fault(Fault::next("getUpdates", FaultKind::Unauthorized).times(1_000));
    world.telegram().fault(Fault::next("getMe", FaultKind::Unauthorized).times(1_000));
    let _daemon = world.daemon();
    let at = console(&world).await;
    let lives = get(at, "/livez");
    assert_eq!((lives.status, lives.body.as_str()), (200, "ok\n"));
    let ready = get(at, "/readyz");
    assert!(ready.status == 503 && ready.body.starts_with("telegram "), "{}", ready.body);
    world.telegram().clear_faults();
    let mended = async {
        while get(at, "/readyz").status != 200 {
            tokio::task::yield_now().await;
        }
    };
    world.within("readiness", mended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_life_that_waits_for_a_word_lives_and_is_not_ready() {
    let mut world = World::restored().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let at = free.expect("a free port");
    world.home.set("console", json!({ "listen": at.to_string() }));
    let before = world.home.log().len();
    let _daemon = world.home.start();
    let held = |log: &str| log.contains("this selkie was restored from");
    world.within("a word of it", world.home.logged(before, held)).await;
    let (lives, ready) = (get(at, "/livez"), get(at, "/readyz"));
    assert_eq!((lives.status, ready.status), (200, 503), "{}", ready.body);
    assert!(ready.body.contains("selkie resume"), "{}", ready.body);
    let (code, out, _) = world.home.run(&["doctor"]);
    assert!(code == 1 && out.contains("selkie resume"), "{out}");
}
