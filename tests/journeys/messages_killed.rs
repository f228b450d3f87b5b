//! A real SIGKILL while words go to somebody elsewhere: they arrive once, and only the edges between the mark and the receipt
//! leave a doubt.

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, GRACE};
use serde_json::json;

use crate::messages::knows_grace;
use crate::support::killing::{Said, through_a_kill};
use crate::support::rows::number;
use crate::support::world::World;

/// At which passes of a point the process dies.
const PASSES: [u32; 3] = [1, 2, 3];
/// So often it has to die for the story to be one: not every edge is passed in it so many times.
const FEWEST_DEATHS: usize = 20;
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
    let lives = stream::iter(cases).map(|(point, nth)| one(point, nth));
    let deaths = lives.buffer_unordered(SIDE_BY_SIDE).filter(|died| std::future::ready(*died));
    let deaths = deaths.count().await;
    assert!(deaths >= FEWEST_DEATHS, "{deaths} deaths prove nothing");
}

async fn one(point: CrashPoint, nth: u32) -> bool {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GRACE]));
    world.telegram().add_person(GRACE, "Grace");
    knows_grace(&world);
    let session = json!({ "session_id": format!("tg:{GRACE}"), "content": "say cake is ready" });
    let lines =
        [format!("tell Grace: {SAID}"), format!("call sessions_send {session}"), "over".to_owned()];
    let at = format!("{}:{nth}", point.name());
    let say = |world: &World, line: &String| {
        world.telegram().say(ADA, ADA, line);
    };
    let has_died = through_a_kill(&mut world, &at, Said { before: 0, lines: &lines }, say).await;
    check(&world, &at);
    has_died
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
