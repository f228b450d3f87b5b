//! A long conversation: its beginning stays as it was sent, so that the provider reads it from its cache, and it is cut
//! in steps.

use selkie_playground::telegram::ADA;

use crate::support::rows::{self, number};
use crate::support::world::World;

const TURNS: usize = 60;
const FIRED: &str = "SELECT count(*) FROM occurrence";
/// How much of what was sent the provider had read before, in percent.
const CACHED: &str =
    "SELECT CAST(SUM(cached) * 100 / SUM(input) AS BIGINT) FROM task WHERE input > 0";
const CUT: &str = "SELECT cut FROM conversation WHERE key LIKE 'tg:%'";

#[tokio::test(flavor = "multi_thread")]
async fn most_of_a_long_conversation_is_read_from_the_providers_cache() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let add = ["schedules", "add", "--every", "1h", "--prompt", "what is new?"];
    let (code, _, err) = world.home.run(&add);
    assert_eq!(code, 0, "{err}");
    let mut cuts = Vec::new();
    for turn in 1..=TURNS {
        let words = format!("{turn} {}", "wind and water ".repeat(60));
        let answer = world.ask(&words).await;
        assert!(answer.contains(&format!("{turn} wind")), "{answer}");
        if turn % 10 == 0 {
            let (code, _, err) = world.home.run(&["schedules", "run", "1"]);
            assert_eq!(code, 0, "{err}");
            rows::delivered(&world, FIRED, (turn / 10) as i64).await;
        }
        let cut = number(&world.home, CUT).unwrap_or_default();
        if cuts.last() != Some(&cut) {
            cuts.push(cut);
        }
    }
    assert!((3..=8).contains(&cuts.len()), "it is cut in steps: {cuts:?}");
    let cached = number(&world.home, CACHED).unwrap_or_default();
    assert!(cached >= 80, "{cached} % of what was sent was read from the cache; cuts: {cuts:?}");
    eprintln!("{cached} % cached, cut at {cuts:?}");
    world.telegram().say(ADA, ADA, "/reset");
    world.hears(ADA, "A fresh start").await;
    assert_eq!(number(&world.home, CUT), Some(0));
}
