//! A model that reads 4,096 tokens holds a conversation: no request is larger than its window, answer included.

use selkie_playground::Turn;
use serde_json::{Value, json};

use crate::support::world::World;

const WINDOW: usize = 4_096;

/// The words of a request and its list of tools: three bytes are a token, on the safe side.
fn tokens(body: &Value) -> usize {
    let messages = body["messages"].as_array().expect("messages");
    let words = messages.iter().map(|message| {
        let said = message["content"].as_str().map_or(0, str::len);
        said + message.get("tool_calls").map_or(0, |calls| calls.to_string().len())
    });
    let tools = body.get("tools").map_or(0, |tools| tools.to_string().len());
    (words.sum::<usize>() + tools) / 3
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_window_holds_a_conversation_and_a_call() {
    let mut world = World::start().await;
    let endpoint = world.playground.model_endpoint();
    world.home.set(
        "llm",
        json!({ "endpoint": endpoint, "api_key": "sk-playground-1", "model": "tiny", "context": WINDOW }),
    );
    let _daemon = world.daemon();
    world.ask("hi").await;
    for n in 1..=20 {
        let answer = world.ask(&format!("{n} {}", "wind and water ".repeat(20))).await;
        assert!(answer.contains(&format!("{n} wind")), "{answer}");
    }
    // It is not listed in so small a window, and can be called.
    let listing = Turn::call("sessions_status", "{}");
    let long = Turn::call("recall", json!({ "id": "r".repeat(9_000) }));
    world.playground.model().script(vec![listing, long, Turn::text("it is done")]);
    assert!(world.ask("how much was it?").await.contains("it is done"));
    let requests = world.playground.model().requests();
    assert!(requests.len() >= 24, "{}", requests.len());
    for asked in &requests {
        let most = asked.body["max_tokens"].as_u64().expect("max_tokens") as usize;
        assert!(most <= WINDOW / 4, "{most}");
        assert!(
            tokens(&asked.body) + most <= WINDOW,
            "{} and {most}: {}",
            tokens(&asked.body),
            asked.body
        );
        assert!(!asked.body["tools"].to_string().contains("sessions_status"));
    }
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("callable all the same: ") && last.contains("sessions_status"), "{last}");
    assert!(!last.contains("is not available here"), "{last}");
}
