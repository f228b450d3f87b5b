//! `selkie doctor` names what a server says of itself only when it is asked: another address, a prompt that it has cut.

use selkie_playground::Family;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn doctor_names_a_cut_prompt_and_the_other_address() {
    for (family, more, named) in [
        (Family::Local, json!({ "context": 128_000 }), "cut the prompt: it read"),
        (Family::Local, json!({ "context": 4_096 }), "its window: 4,096 tokens, by the config"),
        (Family::Local, json!({}), "its window: 4,096 tokens, as its server says at /api/ps"),
        (Family::OpenAi, json!({}), "answers at /responses alone"),
        (Family::OpenAi, json!({ "api": "responses" }), " answers ("),
    ] {
        let mut world = World::start().await;
        world.asks(family, &more);
        let (_, out, err) = world.home.run(&["doctor"]);
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("{}: {out}", family.name());
        assert!(out.contains(named), "{} {more}: {out}{err}", family.name());
    }
}
