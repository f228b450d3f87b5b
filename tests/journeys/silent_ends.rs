//! A model that acts and then ends without a word: what it said beside its calls is the answer, nothing where it has
//! reacted, and never that it should be asked again.

use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use selkie_playground::{ScriptedCall, Turn};
use serde_json::{Value, json};

use crate::support::rows;
use crate::support::world::World;

fn calls(words: &str, name: &str, arguments: &Value) -> Turn {
    let call = ScriptedCall { name: name.to_owned(), arguments: arguments.to_string() };
    Turn::Calls { text: words.to_owned(), calls: vec![call] }
}

fn react(words: &str) -> Turn {
    calls(words, "message_react", &json!({ "emoji": "👍" }))
}

fn note(words: &str) -> Turn {
    let todo = json!({ "action": "add", "content": "buy milk", "people": [] });
    calls(words, "todo_update", &todo)
}

async fn speaking(provider: &str, stream: bool) -> World {
    let mut world = World::with(json!({ "progress": { "status": "off" } })).await;
    let endpoint = match provider {
        "anthropic" => world.playground.anthropic_endpoint(),
        _ => world.playground.model_endpoint(),
    };
    let profile = json!({
        "provider": provider, "endpoint": endpoint, "api_key": "sk-playground-key-1234567890", "model": "m",
        "stream": stream,
    });
    world.home.set("llm", json!({ "profiles": { "main": profile } }));
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_without_words_is_an_end_in_both_dialects() {
    for (provider, stream) in
        [("openai", true), ("openai", false), ("anthropic", true), ("anthropic", false)]
    {
        let world = speaking(provider, stream).await;
        let _daemon = world.daemon();
        let model = world.playground.model();
        // Its reaction has said it.
        model.script(vec![react(""), Turn::Empty]);
        let reacted = world.telegram().say(ADA, ADA, "good night");
        rows::settled(&world, 1).await;
        assert_eq!((world.texts(ADA), model.calls()), (vec![], 2), "{provider} {stream}");
        let messages = world.telegram().messages(ADA);
        let shown = messages.iter().find(|m| m.id == reacted).expect("the message");
        assert_eq!(shown.reactions.len(), 1, "{provider} {stream}");
        // Its words beside the call are the answer.
        model.script(vec![note("I have noted it."), Turn::Empty]);
        world.telegram().say(ADA, ADA, "note: milk");
        rows::settled(&world, 2).await;
        // Neither words nor speech.
        model.script(vec![calls("", "todo_read", &json!({})), Turn::Empty]);
        world.telegram().say(ADA, ADA, "and?");
        rows::settled(&world, 3).await;
        assert_eq!(model.calls(), 6, "{provider} {stream}: each step is asked once");
        // An answer that holds nothing at all is asked for again.
        model.script(vec![Turn::Empty, Turn::text("here I am")]);
        world.telegram().say(ADA, ADA, "hello?");
        rows::settled(&world, 4).await;
        assert_eq!(world.texts(ADA), ["I have noted it.", "Done.", "here I am"]);
        let states = rows::texts(&world.home, "SELECT state FROM task ORDER BY id");
        assert_eq!(states, ["done"; 4], "{provider} {stream}");
        assert_eq!((world.malformed(), model.turns_left()), (vec![], 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_without_words_is_one_after_a_death_too() {
    for point in [CrashPoint::AfterResults, CrashPoint::BeforeFinish] {
        for (words, said) in [("", vec![]), ("I like that.", vec!["I like that."])] {
            let mut world = World::start().await;
            world.home.set("debug", json!({ "crash_at": point.name() }));
            world.playground.model().script(vec![react(words)]);
            world.playground.model().script(vec![Turn::Empty; 2]);
            world.telegram().say(ADA, ADA, "a poem");
            world.daemon().gone().await;
            world.home.set("debug", json!({}));
            let _daemon = world.daemon();
            rows::settled(&world, 1).await;
            assert_eq!(world.texts(ADA), said, "{}", point.name());
            let reacted = world.telegram().counted("setMessageReaction");
            assert_eq!(reacted, 1, "{}: the effect is done once", point.name());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_did_not_work_is_not_told_as_done() {
    let world = World::start().await;
    world.playground.model().script(vec![
        calls("", "todo_read", &json!({})),
        calls("I have sent it.", "telegram_send_file", &json!({ "path": "gone.txt" })),
        Turn::Empty,
    ]);
    let _daemon = world.daemon();
    let message = world.telegram().say(GROUP, GRACE, "@selkie_demo_bot send it");
    let answer = world.answer(GROUP.chat, message).await;
    assert!(
        answer.contains("I have sent it.") && answer.contains("My last step did not work"),
        "{answer}"
    );
    assert_eq!(world.playground.model().calls(), 3);
}
