//! Providers that mark a part of their answers as their own and refuse to go on without it: it goes back as it came.

use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::{OwnForm, ScriptedCall, Turn};
use serde_json::{Value, json};

use crate::support::rows;
use crate::support::world::World;

fn calls(words: &str, calls: &[(&str, Value)]) -> Turn {
    let call = |(name, arguments): &(&str, Value)| ScriptedCall {
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    };
    Turn::Calls { text: words.to_owned(), calls: calls.iter().map(call).collect() }
}

async fn wanting(owned: OwnForm, provider: &str, stream: bool) -> World {
    let mut world = World::start().await;
    let endpoint = match provider {
        "anthropic" => world.playground.anthropic_endpoint(),
        _ => world.playground.model_endpoint(),
    };
    let profile = json!({
        "provider": provider, "endpoint": endpoint, "api_key": "sk-playground-key-1234567890", "model": "m",
        "stream": stream,
    });
    world.home.set("llm", json!({ "profiles": { "main": profile } }));
    world.playground.model().set_owned(owned);
    world
}

const SERVERS: [(OwnForm, &str, bool); 6] = [
    (OwnForm::Thoughts, "openai", true),
    (OwnForm::Thoughts, "openai", false),
    (OwnForm::Marks, "openai", true),
    (OwnForm::Marks, "openai", false),
    (OwnForm::Thoughts, "anthropic", true),
    (OwnForm::Thoughts, "anthropic", false),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_marks_as_its_own_goes_back_to_it() {
    for (owned, provider, stream) in SERVERS {
        let world = wanting(owned, provider, stream).await;
        let look = |pattern: &str| ("glob", json!({ "pattern": pattern }));
        world.playground.model().script(vec![
            calls("Let me look.", &[look("*.one"), look("*.two")]),
            calls("", &[look("*.three")]),
            Turn::text("all done"),
            Turn::text("gladly"),
        ]);
        let _daemon = world.daemon();
        assert_eq!(world.ask("look twice").await, "all done", "{owned:?} {provider} {stream}");
        // It is nobody's to see, and no later task's.
        assert_eq!(world.ask("thank you").await, "gladly");
        let last = world.last_prompt();
        assert!(!last.contains("thinking of request") && !last.contains("c2lnbmVk"), "{last}");
        assert!(!world.texts(PRIVATE).join(" ").contains("thinking"));
        assert_eq!((world.malformed(), world.playground.model().calls()), (vec![], 4));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_back_after_a_wait_and_a_death_too() {
    for (owned, provider, stream) in [SERVERS[0], SERVERS[2], SERVERS[4]] {
        let world = wanting(owned, provider, stream).await;
        world.playground.model().script(vec![
            calls("", &[("todo_read", json!({}))]),
            calls(
                "One thing.",
                &[
                    ("glob", json!({ "pattern": "*.one" })),
                    ("ask_user", json!({ "question": "Which shop?" })),
                    ("glob", json!({ "pattern": "*.none" })),
                ],
            ),
            calls("", &[("glob", json!({ "pattern": "*.two" }))]),
            Turn::text("all done"),
        ]);
        let daemon = world.daemon();
        world.telegram().say(ADA, ADA, "what do I need?");
        world.hears(PRIVATE, "Which shop?").await;
        rows::settled(&world, 1).await;
        // Whoever operates the bot sees that it is there, and no word of it.
        let (_, trace, _) = world.home.run(&["trace", "1"]);
        assert!(trace.contains("its provider's own form is kept until the task ends: "), "{trace}");
        assert!(!trace.contains("thinking of request") && !trace.contains("c2lnbmVk"), "{trace}");
        daemon.kill();
        let kept = "SELECT count(*) FROM own_form";
        assert_eq!(rows::number(&world.home, kept), Some(2));
        let _second = world.daemon();
        world.telegram().say(ADA, ADA, "the green one");
        world.hears(PRIVATE, "all done").await;
        rows::settled(&world, 2).await;
        assert_eq!(world.malformed(), Vec::<String>::new(), "{owned:?} {provider}");
        assert_eq!(rows::number(&world.home, kept), Some(0), "it goes with the task's end");
    }
}
