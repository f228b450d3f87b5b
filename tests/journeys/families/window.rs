//! A server that tells its window is asked for it: without a word of it in the config, what people say is fitted to it.

use selkie_playground::Family;
use serde_json::json;

use crate::support::world::World;

const KNOWN: &str = "the window of the model is known";

#[tokio::test(flavor = "multi_thread")]
async fn without_a_word_in_the_config_nothing_is_cut() {
    let mut world = World::start().await;
    world.asks(Family::Local, &json!({}));
    let _daemon = world.daemon();
    world.within("its window", world.home.logged(0, |log| log.contains(KNOWN))).await;
    world.ask("hi").await;
    for n in 1..=4 {
        let answer = world.ask(&format!("{n} {}", "wind and water ".repeat(200))).await;
        assert!(answer.contains("wind and water"), "{answer}");
    }
    assert_eq!(world.broken_rules(), Vec::<String>::new());
}
