//! LINE: what becomes of an answer whose result is lost, or whose process dies while it is being sent.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use selkie::domain::crash::CrashPoint;
use selkie_playground::line_platform::{ADA, LineMessage, LinePlatform, Via};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::line;
use crate::support::world::World;

const MARK: &str = "(possibly repeated)";
const OUTAGE: FaultKind = FaultKind::Html { status: 503 };
/// Events come so late that their tokens surely live for seconds only.
const LATE: Duration = Duration::from_secs(42);

async fn world() -> World {
    let mut world = World::start().await;
    line::add(&mut world, json!({}));
    world.home.set("outbox", json!({ "unclear_after": "300ms" }));
    world
}

/// Dies at an edge while `say` is being answered.
async fn dies(world: &mut World, point: CrashPoint, nth: u32) {
    world.home.set("debug", json!({ "crash_at": format!("{}:{nth}", point.name()) }));
    let dying = world.daemon();
    world.playground.line().say(ADA, ADA, "tell me all");
    let status = world.within("the end of the process", dying.gone()).await;
    assert_eq!(status.signal(), Some(9), "{}: {status}", point.name());
    world.home.set("debug", json!({}));
}

/// Waits for what the bot says to something that comes after everything that was left behind.
async fn said(world: &World) -> Vec<LineMessage> {
    let platform = world.playground.line();
    let last = platform.say(ADA, ADA, "/id");
    world.within("the last word", platform.wait_for_answer(ADA, &last)).await;
    let mut said = platform.messages(ADA);
    said.retain(|m| m.from.is_none() && !m.text.contains(ADA));
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_outlives_an_outage_that_is_longer_than_its_reply_token() {
    let world = world().await;
    let _daemon = world.daemon();
    let platform = world.playground.line();
    world.playground.model().script(vec![Turn::text("forty-two")]);
    // An event that meets a closed door comes again, and its right counts from then.
    world.home.logged(0, |log| log.contains("LINE's webhook listens")).await;
    platform.set_lateness(LATE);
    platform.fault(Fault::next("reply", OUTAGE).times(100));
    platform.say(ADA, ADA, "what is it?");
    let look = |l: &LinePlatform| l.messages(ADA).into_iter().find(|m| m.from.is_none());
    let answer = world.within("a push", platform.wait_until(look)).await;
    assert_eq!(answer.text, format!("{MARK}\nforty-two"));
    assert_eq!(answer.via, Via::Push);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_before_a_reply_left_loses_nothing() {
    for dead in [false, true] {
        let mut world = world().await;
        world.playground.model().script(vec![Turn::text("forty-two")]);
        if dead {
            world.playground.line().set_lateness(LATE);
        }
        dies(&mut world, CrashPoint::AfterSending, 1).await;
        if dead {
            world.playground.line().set_lateness(Duration::ZERO);
            world.playground.line().fault(Fault::next("reply", OUTAGE).times(100));
        }
        let _daemon = world.daemon();
        let platform = world.playground.line();
        let look = |l: &LinePlatform| l.messages(ADA).into_iter().find(|m| m.from.is_none());
        let answer = world.within("the answer", platform.wait_until(look)).await;
        let wanted = if dead {
            (format!("{MARK}\nforty-two"), Via::Push)
        } else {
            ("forty-two".to_owned(), Via::Reply)
        };
        assert_eq!((answer.text, answer.via), wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_after_a_reply_arrived_repeats_nothing() {
    let mut world = world().await;
    world.playground.model().script(vec![Turn::text("forty-two")]);
    dies(&mut world, CrashPoint::AfterDeliver, 1).await;
    let _daemon = world.daemon();
    let said = said(&world).await;
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(world.playground.line().calls_of("push").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_in_flight_at_a_kill_is_repeated_under_its_key() {
    for point in [CrashPoint::AfterSending, CrashPoint::AfterDeliver] {
        let mut world = world().await;
        world.playground.model().script(vec![Turn::text("word ".repeat(6000))]);
        dies(&mut world, point, 2).await;
        let _daemon = world.daemon();
        let said = said(&world).await;
        assert_eq!(said.len(), 7, "{}", point.name());
        assert!(said.iter().all(|m| !m.text.contains(MARK)), "{}", point.name());
        let pushes = world.playground.line().calls_of("push");
        assert!(pushes.iter().all(|call| call.retry_key == pushes[0].retry_key));
        assert_eq!(world.playground.line().used(), 1, "{}", point.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_took_the_place_of_a_reply_outlives_a_kill() {
    for point in [CrashPoint::AfterSending, CrashPoint::AfterDeliver] {
        let mut world = world().await;
        world.playground.model().script(vec![Turn::text("forty-two")]);
        world.playground.line().fault(Fault::next("reply", dead_token()));
        dies(&mut world, point, 2).await;
        let _daemon = world.daemon();
        let said = said(&world).await;
        let texts: Vec<&str> = said.iter().map(|m| m.text.as_str()).collect();
        assert_eq!(texts, ["forty-two"], "{}", point.name());
        assert_eq!((said[0].via, world.playground.line().used()), (Via::Push, 1));
    }
}

fn dead_token() -> FaultKind {
    FaultKind::Refuse { code: 400, description: "Invalid reply token".to_owned() }
}
