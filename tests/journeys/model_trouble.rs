//! A model server that fails in every way it can: asked again where that helps, said plainly where not.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;

use crate::support::rows::settled;
use crate::support::world::World;

/// A world whose model plays these turns for the first message; the daemon is started by the caller.
async fn playing(turns: Vec<Turn>) -> World {
    let world = World::start().await;
    world.playground.model().script(turns);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_pass_is_asked_again() {
    let busy = |retry_after| Turn::Refuse {
        status: 429,
        message: "slow down".into(),
        code: None,
        retry_after,
    };
    let cases = [
        ("a cut stream", Turn::CutStream { text: "half an ans".into() }),
        ("a hang-up", Turn::HangUp),
        ("a 200 with an error", Turn::OkError { message: "upstream broke".into() }),
        ("an empty answer", Turn::Empty),
        ("a 429", busy(Some(1))),
        ("a 503", Turn::refuse(503, "overloaded")),
    ];
    let world = World::start().await;
    let _daemon = world.daemon();
    for (what, turn) in cases {
        world.playground.model().script(vec![turn, Turn::text(format!("after {what}"))]);
        assert_eq!(world.ask(what).await, format!("after {what}"));
    }
    assert_eq!(world.playground.model().turns_left(), 0);
    assert!(world.telegram().answer_counts(ADA).is_clean());
    assert!(!world.texts(ADA).iter().any(|t| t.contains("half an ans")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_refused_is_said_with_what_to_do() {
    let world = playing(vec![Turn::refuse(401, "Incorrect API key provided")]).await;
    let _daemon = world.daemon();
    let answer = world.ask("hello").await;
    assert!(answer.contains("refuses the key"), "{answer}");
    assert!(answer.contains("api_key"), "{answer}");
    assert!(!answer.contains("sk-playground"), "{answer}");
    assert!(world.ask("and again").await.ends_with("and again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_others_read_along_a_providers_words_stay_inside() {
    let refusals = [
        Turn::refuse(400, "org-secret does not allow this"),
        Turn::refuse(400, "org-secret does not allow this"),
        Turn::refuse(401, "Incorrect API key for org-secret at llm.internal.example"),
        Turn::refuse(402, "billing of org-secret"),
    ];
    let world = playing(refusals.into()).await;
    let _daemon = world.daemon();
    for _ in 0..3 {
        let answer = world.ask_in(GROUP, ADA, "@selkie_demo_bot hello").await;
        let plain =
            answer.contains("not available right now") || answer.contains("does not accept");
        assert!(plain, "{answer}");
        for inside in ["org-secret", "llm.", "api_key", "internal.example"] {
            assert!(!answer.contains(inside), "{inside}: {answer}");
        }
    }
    assert!(world.home.log().contains("org-secret"), "the log says why");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_refused_twice_is_set_aside_and_that_is_said() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("this poisons the history").await;
    let refusal = || Turn::refuse(400, "messages.1: invalid content");
    world.playground.model().script(vec![refusal(), refusal(), Turn::text("a fresh answer")]);
    let answer = world.ask("go on").await;
    assert!(
        answer.contains("I have set it aside") && answer.contains("a fresh answer"),
        "{answer}"
    );
    assert!(!world.last_prompt().contains("poisons"), "{}", world.last_prompt());
    world.ask("later").await;
    assert!(!world.last_prompt().contains("poisons"), "{}", world.last_prompt());
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_message_that_is_refused_is_not_asked_for_ever() {
    let refusal = || Turn::refuse(400, "this content is not allowed");
    let world = playing(vec![refusal(), refusal()]).await;
    let _daemon = world.daemon();
    let answer = world.ask("the first message").await;
    assert!(answer.contains("refuses this request"), "{answer}");
    assert_eq!(world.playground.model().calls(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_arguments_are_answered_and_the_model_goes_on() {
    let cases = ["{\"todos\": ", "[]", "nonsense", "{\"todos\": \"milk\"}", "", "{\"tudos\": []}"];
    let mut turns: Vec<_> = cases.map(|c| Turn::calls([("todo_write", c.to_owned())])).into();
    turns.push(Turn::text("I give up"));
    let world = playing(turns).await;
    let _daemon = world.daemon();
    assert_eq!(world.ask("note milk").await, "I give up");
    assert_eq!(world.malformed(), Vec::<String>::new());
    let prompt = world.last_prompt();
    assert!(prompt.contains("todos is required"), "{prompt}");
    assert_eq!(prompt.matches("\"role\":\"tool\"").count(), cases.len(), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_third_identical_call_gets_a_step_without_tools_and_the_next_ends_it() {
    let think = || Turn::call("think", json!({"thought": "again"}));
    let world = playing(vec![think(), think(), think(), Turn::text("enough")]).await;
    let _daemon = world.daemon();
    assert_eq!(world.ask("think").await, "enough");
    let last = world.playground.model().requests().pop().expect("a request").body;
    assert!(last["tools"].is_null() || last["tool_choice"] == "none", "{last}");
    assert!(last.to_string().contains("Not called: think was called 2 times"), "{last}");
    world.playground.model().script(vec![think(), think(), think(), think()]);
    let answer = world.ask("think again").await;
    assert!(answer.contains("going in circles"), "{answer}");
    assert!(world.ask("still there?").await.ends_with("still there?"));
    assert_eq!(world.malformed(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_are_answered_in_their_order() {
    let todo = |title: &str| json!({"todos": [{"id": "1", "title": title, "status": "pending"}]});
    let calls = Turn::calls([
        ("think", json!({"thought": "first"}).to_string()),
        ("todo_write", todo("second").to_string()),
        ("no_such_tool", "{}".to_owned()),
        ("todo_read", "{}".to_owned()),
    ]);
    let world = playing(vec![calls, Turn::text("all four")]).await;
    let _daemon = world.daemon();
    assert_eq!(world.ask("do four things").await, "all four");
    let last = world.playground.model().requests().pop().expect("a request").body;
    let messages = last["messages"].as_array().expect("messages");
    let answers: Vec<_> = messages
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(answers.len(), 4, "{answers:#?}");
    assert!(answers[0].contains("Thought recorded"), "{answers:#?}");
    assert!(answers[1].contains("second") && answers[3].contains("second"), "{answers:#?}");
    assert!(answers[2].contains("no_such_tool"), "{answers:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_with_a_tool_that_is_gone_is_no_obstacle() {
    let list = json!({"todos": [{"id": "1", "title": "x", "status": "pending"}]});
    let mut world = playing(vec![Turn::call("todo_write", list), Turn::text("noted")]).await;
    let daemon = world.daemon();
    assert_eq!(world.ask("note x").await, "noted");
    assert!(daemon.stop().await.success());
    world.home.set("tools", json!({"todo_write": {"enabled": false}}));
    let _daemon = world.daemon();
    assert!(world.ask("what now?").await.ends_with("what now?"));
    let last = world.last_prompt();
    let (history, tools) = last.split_once("\"tools\":").unwrap_or((&last, ""));
    assert!(history.contains("todo_write"), "the history tells what was done: {last}");
    assert!(!tools.contains("\"name\":\"todo_write\""), "{tools}");
    assert_eq!(world.malformed(), Vec::<String>::new());
    world.playground.model().script(vec![Turn::call("todo_write", "{}"), Turn::text("told")]);
    assert_eq!(world.ask("note y").await, "told");
    assert!(world.last_prompt().contains("todo_write tool is disabled"), "{}", world.last_prompt());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_too_long_is_fitted_and_asked_again() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for n in 0..4 {
        world.ask(&format!("filler {n} {}", "words ".repeat(500))).await;
    }
    let too_long = || Turn::Refuse {
        status: 400,
        message: "This model's maximum context length is 4096 tokens".into(),
        code: Some("context_length_exceeded".into()),
        retry_after: None,
    };
    world.playground.model().script(vec![too_long(), too_long(), Turn::text("it fits now")]);
    assert_eq!(world.ask("and now?").await, "it fits now");
    let prompts = world.prompts();
    let [.., first, _, last] = prompts.as_slice() else { panic!("three requests") };
    assert!(last.len() < first.len(), "{} → {} bytes", first.len(), last.len());
    assert!(last.contains("and now?"));
    assert_eq!(world.malformed(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_by_an_impossible_name_does_not_spoil_the_conversation() {
    let long = "x".repeat(200);
    let calls = Turn::calls([
        ("functions.todo_read", "{}".to_owned()),
        ("no such tool!", "{}".to_owned()),
        (&*long, "{}".to_owned()),
        ("", "{}".to_owned()),
    ]);
    let world = playing(vec![calls, Turn::text("sorry")]).await;
    let _daemon = world.daemon();
    assert_eq!(world.ask("do something").await, "sorry");
    world.ask("and with this history?").await;
    let last = world.playground.model().requests().pop().expect("a request").body;
    let messages = last["messages"].as_array().expect("messages").iter();
    let calls: Vec<_> = messages.filter_map(|m| m["tool_calls"].as_array()).flatten().collect();
    assert_eq!(calls.len(), 4, "{last}");
    for call in calls {
        let name = call["function"]["name"].as_str().expect("a name");
        let fits = (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        assert!(fits, "providers refuse {name:?} in a history");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_are_cut_inside_a_character_arrive_whole_by_both_dialects() {
    let text = "Do 😀 NOT delete the 🏴‍☠️ backup.";
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
        world.playground.model().script(vec![Turn::Torn { text: text.into() }]);
        let _daemon = world.daemon();
        assert_eq!(world.ask("shall I?").await, text, "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_provider_gives_way_to_the_next_at_once_and_rests() {
    let mut world = World::start().await;
    let endpoint = world.playground.model_endpoint();
    let profile =
        |model| json!({ "endpoint": endpoint, "api_key": "sk-playground-1", "model": model });
    world.home.set(
        "llm",
        json!({
            "profiles": { "first": profile("one"), "second": profile("two") },
            "routes": { "main": ["first", "second"] },
        }),
    );
    let limited = Turn::Refuse {
        status: 429,
        message: "slow down".into(),
        code: None,
        retry_after: Some(500),
    };
    world.playground.model().script(vec![limited, Turn::text("from the second")]);
    let _daemon = world.daemon();
    assert_eq!(world.ask("hello").await, "from the second");
    world.ask("and again").await;
    let asked = world.playground.model().requests();
    let models: Vec<&str> = asked.iter().filter_map(|a| a.body["model"].as_str()).collect();
    assert_eq!(models, ["one", "two", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_told_once_in_a_conversation_where_the_config_says_so_and_once_to_the_owner() {
    let mut world = World::start().await;
    world.home.set_key("outbox", "outages", "once".into());
    let away = || Turn::refuse(401, "Incorrect API key provided");
    world.playground.model().script(vec![away(), away(), Turn::text("here I am"), away()]);
    let _daemon = world.daemon();
    let group =
        |text: &str| world.telegram().say(GROUP, GRACE, &format!("@selkie_demo_bot {text}"));
    let first = group("hello");
    let said = world.answer(GROUP.chat, first).await;
    assert!(said.contains("not available right now"), "{said}");
    world.hears(ADA, "The model does not answer, so people get no answers from me").await;
    let second = group("hello?");
    settled(&world, 2).await;
    assert_eq!(world.telegram().answers_to(GROUP.chat, second).len(), 0, "it was told");
    let third = group("are you back?");
    assert_eq!(world.answer(GROUP.chat, third).await, "here I am");
    world.hears(ADA, "The model answers again.").await;
    let fourth = group("and now?");
    let said = world.answer(GROUP.chat, fourth).await;
    assert!(said.contains("not available right now"), "another outage: {said}");
}
