//! Trouble is told to the owner in chat, once each time it comes about, whatever restarts come.

use selkie_playground::telegram::ADA;
use serde_json::json;

use crate::support::rows::texts;
use crate::support::world::World;

/// More than any disk has.
const FULL: u64 = 1 << 62;

fn alerts(least: u64) -> serde_json::Value {
    json!({ "disk_free_bytes": least, "crashes": 2 })
}

/// The notices that were stored, each by its trouble.
fn told(world: &World) -> Vec<String> {
    let keys =
        texts(&world.home, "SELECT key FROM notice WHERE key LIKE 'notice:alert:%' ORDER BY key");
    keys.iter().filter_map(|key| key.split(':').nth(2).map(str::to_owned)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_once_and_again_when_it_was_well_in_between() {
    let mut world = World::with(json!({ "alerts": alerts(FULL) })).await;
    let daemon = world.daemon();
    world.hears(ADA, "The disk is nearly full: ").await;
    assert!(daemon.stop().await.success());
    for (least, times) in [(FULL, 1), (1, 1), (FULL, 2)] {
        world.home.set("alerts", alerts(least));
        let from = world.home.log().len();
        let daemon = world.daemon();
        world.home.logged(from, |log| log.contains("looked for trouble")).await;
        assert!(daemon.stop().await.success());
        assert_eq!(told(&world), vec!["disk"; times], "{least}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dies_again_and_again_says_so_once() {
    let world = World::with(json!({ "alerts": alerts(0) })).await;
    for times in [0, 0, 1, 1] {
        let from = world.home.log().len();
        let daemon = world.daemon();
        world.home.logged(from, |log| log.contains("looked for trouble")).await;
        daemon.kill();
        assert_eq!(told(&world), vec!["crashes"; times]);
    }
}
