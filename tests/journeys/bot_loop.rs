//! Two bots in one group that like to talk: allowed, they are answered, and after three answers without
//! a person between them no more.

use selkie_playground::telegram::{GRACE, GROUP};
use serde_json::json;

use crate::support::rows::texts;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_talk_of_bots_ends() {
    let mut world = World::start().await;
    world.home.set("groups", json!({ format!("tg:{}", GROUP.chat): { "bots": true } }));
    let _daemon = world.daemon();
    for round in 1..=3 {
        parrot(&world, round);
        world.hears(GROUP, &format!("round {round}")).await;
    }
    parrot(&world, 4);
    let refused = |log: &str| log.contains("gate.bot_answers is reached");
    world.within("an end of it", world.home.logged(0, refused)).await;
    world.ask_in(GROUP, GRACE, "@selkie_demo_bot a person").await;
    parrot(&world, 5);
    world.hears(GROUP, "round 5").await;
    assert!(!world.texts(GROUP).iter().any(|text| text.contains("round 4")));
    assert_eq!(world.playground.model().calls(), 5);
    let why = texts(&world.home, "SELECT why FROM task WHERE state = 'failed'");
    assert_eq!(why, ["ignored: gate.bot_answers is reached"]);
}

fn parrot(world: &World, round: i64) {
    world.telegram().inject_raw_update(json!({"message": {
        "message_id": 700 + round, "date": 1_700_000_000, "text": format!("@selkie_demo_bot round {round}"),
        "chat": {"id": GROUP.chat, "type": "group", "title": "Tea room"},
        "from": {"id": 99, "is_bot": true, "first_name": "parrot", "username": "parrot_bot"},
        "entities": [{"type": "mention", "offset": 0, "length": 16}],
    }}));
}
