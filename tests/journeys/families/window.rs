//! A server that tells its window is asked for it: without a word of it in the config, what people say is fitted to it.

use selkie_playground::Family;
use serde_json::{Value, json};

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
    let why = world.ask("/tools why sessions_status").await;
    assert!(why.contains("for lack of room: the window of qwen3:8b via main has 4,096"), "{why}");
}

/// The config says more than the server has: it drops the beginning of what it is told, and nobody would know.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_prompt_is_shown_to_owners_with_what_to_do() {
    const TO_DO: &str = "or set llm.context in the config to what it has";
    let mut world = World::start().await;
    world.asks(Family::Local, &json!({ "context": 128_000 }));
    let _daemon = world.daemon();
    assert!(!world.home.run(&["status"]).1.contains("prompt cut"));
    for n in 1..=8 {
        world.ask(&format!("{n} {}", "wind and water ".repeat(200))).await;
    }
    assert!(!world.broken_rules().is_empty());
    let (code, out, err) = world.home.run(&["status"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0, "{out}{err}");
    let told = "prompt cut qwen3:8b via main has cut a prompt and read ";
    assert!(out.contains(told) && out.contains(TO_DO), "{out}");
    let (_, out, _) = world.home.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&out).expect("json");
    let sentence = status["cut_prompts"][0].as_str().unwrap_or_default();
    assert!(sentence.ends_with(TO_DO), "{status}");
    let answer = world.ask("/status").await;
    assert!(answer.contains(sentence), "{answer}");
}
