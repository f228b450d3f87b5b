//! A real SIGKILL while words go to somebody elsewhere: they arrive once, and only the edges between the mark and the receipt
//! leave a doubt.

use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, GRACE};
use serde_json::json;

use crate::messages::knows_grace;
use crate::support::rows::{number, settled};
use crate::support::world::World;

/// At which passes of a point the process dies.
const PASSES: [u32; 3] = [1, 2, 3];
/// Worlds at once.
const SIDE_BY_SIDE: usize = 6;
const SAID: &str = "tea is ready";
/// What was said there for somebody, and what was sent on.
const RELAYED: &str = "SELECT count(*) FROM task WHERE cause LIKE 'from:%'";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_on_its_way_to_somebody_arrives_once() {
    let edges = CrashPoint::ALL.iter().filter(|point| {
        // The gate speaks to nobody.
        !matches!(point, CrashPoint::AfterGate | CrashPoint::AfterJudged)
    });
    let cases = edges.flat_map(|point| PASSES.map(|nth| (*point, nth)));
    stream::iter(cases)
        .for_each_concurrent(SIDE_BY_SIDE, |(point, nth)| async move {
            println!("{} at pass {nth}", point.name());
            one(point, nth).await;
        })
        .await;
}

async fn one(point: CrashPoint, nth: u32) {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GRACE]));
    world.telegram().add_person(GRACE, "Grace");
    knows_grace(&world);
    world.home.set("debug", json!({ "crash_at": format!("{}:{nth}", point.name()) }));
    let session = json!({ "session_id": format!("tg:{GRACE}"), "content": "say cake is ready" });
    let lines =
        [format!("tell Grace: {SAID}"), format!("call sessions_send {session}"), "over".to_owned()];
    let dying = world.daemon();
    let mut gone = pin!(dying.gone());
    let mut second = None;
    for (said, line) in (1..).zip(&lines) {
        world.telegram().say(ADA, ADA, line);
        if second.is_none() {
            let status = tokio::select! {
                biased;
                status = &mut gone => status,
                () = settled(&world, said) => continue,
            };
            assert_eq!(status.signal(), Some(9), "{}: {status}", point.name());
            world.home.set("debug", json!({}));
            second = Some(world.daemon());
        }
        settled(&world, said).await;
    }
    check(&world, &format!("{}:{nth}", point.name()));
}

fn check(world: &World, name: &str) {
    let heard = world.texts(GRACE);
    let told: Vec<&String> = heard.iter().filter(|text| text.contains(SAID)).collect();
    let marked =
        |all: &[&String]| all.iter().filter(|text| text.contains("possibly repeated")).count();
    let answers: Vec<&String> =
        heard.iter().filter(|text| text.contains("cake is ready")).collect();
    // Two conversations are at work: a kill at any edge of one may hit what the other has on its way.
    let sql = "SELECT count(*) FROM part WHERE state IN ('unclear', 'repeated')";
    let doubts = number(&world.home, sql).and_then(|n| usize::try_from(n).ok()).expect("a number");
    assert!(doubts <= 2, "{name}: {doubts} in doubt: {heard:?}");
    for all in [&told, &answers] {
        assert!(all.len() - marked(all) <= 1, "{name}: {heard:?}");
        // What nobody asked for there is not said again on a doubt.
        assert!(!all.is_empty() || doubts > 0, "{name}: {heard:?}");
    }
    assert!(marked(&told) + marked(&answers) <= doubts, "{name}: {heard:?}");
    assert_eq!(number(&world.home, RELAYED), Some(2), "{name}: each stands there once");
}
