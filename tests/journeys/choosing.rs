//! Which model answers: an owner's /model and /think, what the config says of a place, and who decided.

use selkie_playground::telegram::{ADA, GRACE, GROUP, TOPIC};
use serde_json::{Value, json};

use crate::support::world::World;

/// Two profiles at one server, told apart by their models.
async fn two_models() -> World {
    let mut world = World::start().await;
    let profile = |model: &str| {
        json!({
            "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": model,
            "api_key": "sk-playground-key-1234567890",
        })
    };
    let profiles = json!({ "quick": profile("m-small"), "strong": profile("m-large") });
    let llm = json!({ "profiles": profiles, "routes": { "main": "quick" }, "efforts": { "main": "low" } });
    world.home.set("llm", llm);
    world
}

/// The model that was asked last.
fn asked(world: &World) -> String {
    let request: Value = serde_json::from_str(&world.last_prompt()).expect("a request");
    request["model"].as_str().unwrap_or_default().to_owned()
}

/// What `selkie trace` says of a task's model.
fn traced(world: &World, task: &str) -> String {
    let (code, out, err) = world.home.run(&["trace", task]);
    assert_eq!(code, 0, "{err}");
    let line = out.lines().find(|line| line.trim_start().starts_with("Model:"));
    line.unwrap_or_else(|| panic!("{out}")).trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_chooses_which_model_answers_and_how_hard_it_thinks() {
    let world = two_models().await;
    let daemon = world.daemon();
    world.ask("good morning").await;
    assert_eq!(asked(&world), "m-small");
    let usual = "Model: the usual one (llm.routes.main), thinks low (llm.efforts.main)";
    assert_eq!(traced(&world, "1"), usual);
    let listed = world.ask("/model").await;
    for part in ["m-small via quick (llm.routes.main), thinks low", "strong: m-large"] {
        assert!(listed.contains(part), "{listed}");
    }
    let refused = world.ask("/model stron").await;
    assert!(refused.contains("Did you mean strong?"), "{refused}");
    // A model's name stands for the only profile that asks it.
    let chosen = world.ask("/model m-large").await;
    assert!(chosen.contains("m-large via strong (/model here)."), "{chosen}");
    let refused = world.ask("/think harder").await;
    assert!(refused.contains("takes none, minimal, low"), "{refused}");
    assert!(world.ask("/think HIGH").await.contains("thinks high (/think here)"));
    world.ask("a hard one").await;
    assert_eq!(asked(&world), "m-large");
    daemon.stop().await;
    let daemon = world.daemon();
    world.ask("another hard one").await;
    assert_eq!(asked(&world), "m-large", "it is kept over a restart");
    let by_command = "Model: strong (/model here), thinks high (/think here)";
    assert_eq!(traced(&world, "3"), by_command);
    let status = world.ask("/status").await;
    assert!(status.contains("m-large via strong (/model here), thinks high"), "{status}");
    let (code, out, err) = world.home.run(&["status"]);
    let main = "m-small via quick (llm.routes.main), thinks low (llm.efforts.main)";
    assert!(code == 0 && out.contains(main), "{out}{err}");
    assert!(world.ask("/reset").await.contains("m-large via strong (/model here)"));
    world.ask("/model default").await;
    assert!(world.ask("/think default").await.contains("m-small via quick (llm.routes.main)"));
    world.ask("good evening").await;
    assert_eq!(asked(&world), "m-small");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_has_a_model_of_its_own_until_an_owner_says_otherwise() {
    let mut world = two_models().await;
    let topic = format!("tg:{}:{}", TOPIC.chat, TOPIC.thread.expect("a topic"));
    let group = format!("tg:{}", GROUP.chat);
    world.home.set(
        "places",
        json!({ topic: { "model": "strong", "effort": "max" }, group: { "model": "strong" } }),
    );
    let _daemon = world.daemon();
    let say = |text: &str| format!("@selkie_demo_bot {text}");
    world.ask_in(GROUP, GRACE, &say("tea?")).await;
    assert_eq!(asked(&world), "m-large");
    world.ask_in(TOPIC, ADA, &say("boats?")).await;
    assert_eq!(asked(&world), "m-large");
    world.ask_in(TOPIC.chat, ADA, &say("anything?")).await;
    assert_eq!(asked(&world), "m-small", "the topic's chat has no entry");
    for command in ["/model quick", "/think high", "/model"] {
        let told = world.ask_in(GROUP, GRACE, command).await;
        assert!(told.contains("Only an owner"), "{told}");
    }
    assert!(world.ask_in(GROUP, ADA, "/model").await.contains("(places in the config)"));
    world.ask_in(GROUP, ADA, "/model quick").await;
    world.ask_in(GROUP, GRACE, &say("more tea?")).await;
    assert_eq!(asked(&world), "m-small");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_question_names_its_own_model() {
    let world = two_models().await;
    let ask = |arguments: &[&str]| {
        let (code, _, err) = world.home.run(&[&["ask", "hello"], arguments].concat());
        (code, err)
    };
    assert_eq!(ask(&["--model", "strong", "--effort", "max"]).0, 0);
    assert_eq!(asked(&world), "m-large");
    let told = "Model: strong (named in the request), thinks max (named in the request)";
    assert_eq!(traced(&world, "1"), told);
    assert_eq!(ask(&[]).0, 0);
    assert_eq!(asked(&world), "m-small");
    let (code, err) = ask(&["--model", "stron"]);
    assert!(code == 2 && err.contains("Did you mean strong?"), "{err}");
    let (code, err) = ask(&["--effort", "harder"]);
    assert!(code == 2 && err.contains("takes none, minimal"), "{err}");
}
