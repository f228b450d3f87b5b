//! One answer of a model stays one message when it is sent back, with all of its calls and all of their answers, also
//! where one of them had to wait for a person and for the next start.

use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::{ScriptedCall, Turn};
use serde_json::{Value, json};

use crate::support::rows;
use crate::support::world::World;

/// The second of them asks.
fn three_calls() -> Turn {
    let call = |name: &str, arguments: Value| ScriptedCall {
        name: name.to_owned(),
        arguments: arguments.to_string(),
    };
    let calls = vec![
        call("todo_read", json!({})),
        call("ask_user", json!({ "question": "Which shop?" })),
        call("glob", json!({ "pattern": "*.nothing" })),
    ];
    Turn::Calls { text: "Let me see.".to_owned(), calls }
}

/// How many calls each message of the model makes, and how many answers follow it, in either dialect.
fn calls_and_answers(body: &Value) -> Vec<[usize; 2]> {
    let mut all = Vec::new();
    for message in body["messages"].as_array().expect("messages") {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
        let calls = message["tool_calls"].as_array().map_or(of("tool_use"), Vec::len);
        if calls > 0 {
            all.push([calls, 0]);
        }
        let answers = of("tool_result") + usize::from(message["role"] == "tool");
        if let Some([_, seen]) = all.last_mut() {
            *seen += answers;
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_answer_go_back_as_one_message() {
    for provider in ["openai", "anthropic"] {
        let mut world = World::start().await;
        let endpoint = match provider {
            "anthropic" => world.playground.anthropic_endpoint(),
            _ => world.playground.model_endpoint(),
        };
        let key = "sk-playground-key-1234567890";
        let llm =
            json!({ "provider": provider, "endpoint": endpoint, "api_key": key, "model": "m" });
        world.home.set("llm", llm);
        world.playground.model().script(vec![three_calls(), Turn::text("all there")]);
        let daemon = world.daemon();
        world.telegram().say(ADA, ADA, "what do I need?");
        world.hears(PRIVATE, "Which shop?").await;
        rows::settled(&world, 1).await;
        daemon.kill();
        let _second = world.daemon();
        world.telegram().say(ADA, ADA, "the green one");
        world.hears(PRIVATE, "all there").await;
        let last = world.playground.model().requests().pop().expect("a request").body;
        assert_eq!(calls_and_answers(&last), [[3, 3]], "{provider}: {last}");
        // Later tasks read it in the same way.
        world.ask("thank you").await;
        let last = world.playground.model().requests().pop().expect("a request").body;
        assert_eq!(calls_and_answers(&last), [[3, 3]], "{provider}: {last}");
        assert_eq!(world.malformed(), Vec::<String>::new());
    }
}
