//! What is remembered is found by what it means, where a server of embeddings is named; whatever trouble that server gives,
//! it is found by its words.

use std::fs;

use selkie_playground::EmbeddingMode;
use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::rows::texts;
use crate::support::world::World;

const VECTORS: &str = "SELECT path FROM memory_vector";
const IN_OTHER_WORDS: &str = "which beverage does Ada prefer?";
const TOLD: &str = "the embeddings server fails";

fn search(query: &str) -> String {
    format!("call memory_search {}", json!({ "query": query }))
}

/// A stand-in for the model, and the playground's server of embeddings.
async fn world() -> World {
    let mut world = World::offline().await;
    let endpoint = world.playground.model_endpoint();
    world.home.set("memory", json!({ "embeddings": { "endpoint": endpoint, "model": "senses" } }));
    world
}

/// Waits until so many lines have a vector.
async fn embedded(world: &World, lines: usize) {
    let all = async {
        while texts(&world.home, VECTORS).len() != lines {
            tokio::task::yield_now().await;
        }
    };
    world.within("the vectors", all).await;
}

/// Every text that was sent to be embedded.
fn sent(world: &World) -> Vec<String> {
    let of = |body: &Value| {
        let all = body["input"].as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    world.playground.model().embedded().iter().flat_map(|asked| of(&asked.body)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_in_other_words_finds_the_line() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("remember that I like tea").await;
    world.ask("remember that the boat lies in the harbour").await;
    embedded(&world, 2).await;
    let found = world.ask(&search("which beverage do I prefer?")).await;
    assert!(found.contains("I like tea") && !found.contains("boat"), "{found}");
    assert!(found.contains("MEMORY.md:3 (score 0."), "{found}");
    let sent_once = sent(&world);
    assert_eq!(sent_once.iter().filter(|text| *text == "I like tea").count(), 1, "{sent_once:?}");
    world.ask("/memory forget 1").await;
    embedded(&world, 1).await;
    let none = world.ask(&search("which beverage do I prefer?")).await;
    assert!(none.contains("Nothing that is remembered here fits"), "{none}");
    world.ask("/forget yes").await;
    embedded(&world, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_embeds_everything_anew() {
    let mut world = world().await;
    let daemon = world.daemon();
    world.ask("remember that I like tea").await;
    embedded(&world, 1).await;
    daemon.stop().await;
    world.home.set_key("memory", "embeddings", {
        let endpoint = world.playground.model_endpoint();
        json!({ "endpoint": endpoint, "model": "other" })
    });
    let _daemon = world.daemon();
    let anew = async {
        while texts(&world.home, "SELECT model FROM memory_vector") != ["other"] {
            tokio::task::yield_now().await;
        }
    };
    world.within("the vectors of the other model", anew).await;
    let found = world.ask(&search("which beverage do I prefer?")).await;
    assert!(found.contains("I like tea"), "{found}");
}

/// Searches in the line's own words and in others while the server gives trouble.
async fn goes_on(world: &World, does: EmbeddingMode) -> Daemon {
    world.playground.model().set_embedding(does);
    let daemon = world.daemon();
    let told = || world.home.log().matches(TOLD).count();
    let before = told();
    let found = world.ask(&search("tea")).await;
    assert!(found.contains("Ada likes tea"), "{does:?}: {found}");
    let none = world.ask(&search(IN_OTHER_WORDS)).await;
    assert!(!none.contains("boat"), "{does:?}: {none}");
    let status = world.ask("/status").await;
    assert!(status.contains("I search my memory by keyword only"), "{does:?}: {status}");
    assert!((1..=2).contains(&(told() - before)), "{does:?}: told once, of lines and of questions");
    daemon
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_trouble_the_server_gives_words_are_searched() {
    let world = world().await;
    fs::create_dir_all(world.home.state()).unwrap();
    let file = world.home.state().join("MEMORY.md");
    fs::write(&file, "- Ada likes tea\n- The boat lies in the harbour\n").unwrap();
    let daemon = world.daemon();
    world.ask("hello").await;
    embedded(&world, 2).await;
    let found = world.ask(&search(IN_OTHER_WORDS)).await;
    assert!(found.contains("Ada likes tea"), "{found}");
    daemon.stop().await;
    for (n, does) in [
        EmbeddingMode::Silent,
        EmbeddingMode::OtherSize,
        EmbeddingMode::TooFew,
        EmbeddingMode::TooMany,
        EmbeddingMode::NoIndex,
        EmbeddingMode::Empty,
        EmbeddingMode::NoNumber,
        EmbeddingMode::Huge,
        EmbeddingMode::Garbled,
        EmbeddingMode::Busy,
        EmbeddingMode::Away,
    ]
    .into_iter()
    .enumerate()
    {
        // A line that has no vector yet: that is asked for, too.
        let mut text = fs::read_to_string(&file).unwrap();
        text.push_str(&format!("- Grace has {n} cats\n"));
        fs::write(&file, text).unwrap();
        let daemon = goes_on(&world, does).await;
        assert_eq!(texts(&world.home, VECTORS).len(), 2, "{does:?}: nothing of it is kept");
        daemon.stop().await;
    }
    world.playground.model().set_embedding(EmbeddingMode::Good);
    let _daemon = world.daemon();
    embedded(&world, 13).await;
    let found = world.ask(&search(IN_OTHER_WORDS)).await;
    assert!(found.contains("Ada likes tea"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_the_server_refuses_keeps_no_other_from_being_embedded() {
    let world = world().await;
    fs::create_dir_all(world.home.state()).unwrap();
    let file = world.home.state().join("MEMORY.md");
    fs::write(&file, "- Ada likes tea\n- something unspeakable\n- The boat is new\n").unwrap();
    world.playground.model().set_embedding(EmbeddingMode::Choosy);
    let _daemon = world.daemon();
    world.ask("hello").await;
    embedded(&world, 2).await;
    let found = world.ask(&search(IN_OTHER_WORDS)).await;
    assert!(found.contains("Ada likes tea"), "{found}");
    let found = world.ask(&search("unspeakable")).await;
    assert!(found.contains("something unspeakable"), "{found}");
}
