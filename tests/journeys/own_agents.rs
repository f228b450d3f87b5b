//! Agents of one's own: who answers by which model with which tools, who may choose them, and what is theirs alone.

use std::fs;
use std::path::PathBuf;

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, TOKEN, TOPIC};
use serde_json::{Value, json};

use crate::reload::{reload, up};
use crate::support::world::World;

const REMEMBERED: &str = "the tide comes at six";

/// An agent that reads, and one that has a folder and a memory of its own.
fn agents(world: &World) -> Value {
    json!({
        "researcher": {
            "about": "reads the web and sums it up", "persona": "You find things out.",
            "model": "strong", "tools": ["read", "network", "think"],
        },
        "coder": { "persona": "persona/coder.md", "workspace": folder(world), "memory": "own" },
    })
}

/// The folder of the second one.
fn folder(world: &World) -> PathBuf {
    world.home.folder().join("code")
}

async fn world() -> World {
    let mut world = World::start().await;
    let profile = |model: &str| {
        json!({
            "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": model,
            "api_key": "sk-playground-key-1234567890",
        })
    };
    let profiles = json!({ "quick": profile("m-small"), "strong": profile("m-large") });
    let telegram = json!({
        "bot_token": TOKEN,
        "base_url": world.playground.telegram_base_url(),
        "allowed_chat_ids": [TOPIC.chat],
        "pace": "lifted",
    });
    let agents = agents(&world);
    world.home.set("llm", json!({ "profiles": profiles, "routes": { "main": "quick" } }));
    world.home.set("telegram", telegram);
    world.home.set("agents", agents);
    let persona = world.home.state().join("persona");
    fs::create_dir_all(&persona).expect("a folder");
    fs::write(persona.join("coder.md"), "You write code.").expect("a file");
    world
}

/// What the model was asked last: its name, who it is, and the tools that it has.
struct LastRequest {
    model: String,
    system: String,
    tools: Vec<String>,
}

fn last(world: &World) -> LastRequest {
    let request: Value = serde_json::from_str(&world.last_prompt()).expect("a request");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = request["tools"].as_array().into_iter().flatten();
    LastRequest {
        model: text(&request["model"]),
        system: request["messages"][0]["content"].to_string(),
        tools: tools.map(|tool| text(&tool["function"]["name"])).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn persona_model_and_tools_follow_the_agent_that_an_owner_chooses() {
    let world = world().await;
    let daemon = world.daemon();
    let listed = world.ask("/agent").await;
    assert!(listed.starts_with("No agent answers here"), "{listed}");
    assert!(listed.contains("researcher: reads the web and sums it up"), "{listed}");
    let refused = world.ask("/agent reseacher").await;
    assert!(refused.contains("Did you mean researcher?"), "{refused}");
    let chosen = world.ask("/agent researcher").await;
    let whole = "researcher (/agent here), m-large via strong (agents.researcher)";
    assert!(chosen.contains(whole), "{chosen}");
    let bash = Turn::call("bash", json!({ "cmd": "echo tide" }));
    world.playground.model().script(vec![bash, Turn::text("refused")]);
    world.ask("look it up with $bash").await;
    let LastRequest { model, system, tools } = last(&world);
    assert_eq!(model, "m-large");
    assert!(system.contains("You find things out."), "{system}");
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    assert!(has(&tools, "read_file") && has(&tools, "web_fetch"), "{tools:?}");
    assert!(!has(&tools, "bash") && !has(&tools, "write_file"), "{tools:?}");
    let refused = world.last_prompt();
    assert!(
        refused.contains("hidden by the agent researcher: only network, read, think"),
        "{refused}"
    );
    let why = world.ask("/tools why bash").await;
    assert!(why.contains("hidden by the agent researcher"), "{why}");
    assert!(world.ask("/status").await.contains(whole));
    let (code, out, err) = world.home.run(&["trace", "1"]);
    assert!(code == 0 && out.contains("Agent: researcher (/agent here)"), "{out}{err}");
    world.ask("/model quick").await;
    daemon.stop().await;
    let daemon = world.daemon();
    world.ask("another one").await;
    let LastRequest { model, system, .. } = last(&world);
    assert!(model == "m-small" && system.contains("find things out"), "/model wins: {system}");
    let off = world.ask("/agent off").await;
    assert!(!off.contains("researcher"), "{off}");
    world.ask("good evening").await;
    let LastRequest { system, tools, .. } = last(&world);
    assert!(has(&tools, "bash") && !system.contains("find things out"), "{tools:?}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_has_for_itself_is_for_its_places_and_goes_with_them() {
    let mut world = world().await;
    let topic = format!("tg:{}:{}", TOPIC.chat, TOPIC.thread.expect("a topic"));
    world.home.set("places", json!({ topic: { "agent": "coder" } }));
    world.telegram().add_person(GRACE, "Grace");
    fs::create_dir_all(folder(&world)).expect("a folder");
    fs::write(folder(&world).join("notes.txt"), "the harbour is deep").expect("a file");
    let _daemon = world.daemon();
    let say = |text: &str| format!("@selkie_demo_bot {text}");
    for command in ["/agent coder", "/agent researcher", "/agent"] {
        let told = world.ask_in(TOPIC.chat, GRACE, command).await;
        assert!(told.contains("Only an owner"), "{told}");
    }
    let read = || Turn::call("read_file", json!({ "path": "notes.txt" }));
    let model = world.playground.model();
    model.script(vec![read(), Turn::text("not there")]);
    world.ask_in(TOPIC.chat, GRACE, &say("what do the notes say?")).await;
    assert!(!world.last_prompt().contains("the harbour is deep"), "{}", world.last_prompt());
    let write = Turn::call("memory_write", json!({ "text": REMEMBERED }));
    model.script(vec![read(), write, Turn::text("read it")]);
    world.ask_in(TOPIC, GRACE, &say("what do the notes say?")).await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("the harbour is deep") && prompt.contains("Remembered ("), "{prompt}");
    assert!(last(&world).system.contains("You write code."));
    let own = world.home.state().join(format!("memory/tg.{}@coder/MEMORY.md", TOPIC.chat));
    assert!(fs::read_to_string(&own).expect("its memory").contains(REMEMBERED));
    let works = world.ask_in(TOPIC, ADA, "/workspace").await;
    assert!(works.contains("The agent coder works in"), "{works}");
    // A fresh start leaves the memory alone to tell of it.
    world.ask_in(TOPIC, ADA, "/reset").await;
    world.ask_in(TOPIC, GRACE, &say("and the tide?")).await;
    assert!(world.last_prompt().contains(REMEMBERED), "{}", world.last_prompt());
    world.ask_in(TOPIC.chat, GRACE, &say("and here?")).await;
    assert!(!world.last_prompt().contains(REMEMBERED), "{}", world.last_prompt());
    let listed = world.ask_in(TOPIC.chat, ADA, "/memory").await;
    assert!(listed.contains(REMEMBERED), "people see what is remembered of them: {listed}");
    world.ask_in(TOPIC.chat, ADA, "/forget yes").await;
    assert!(!own.exists(), "{}", own.display());
    world.ask_in(TOPIC, GRACE, &say("and now?")).await;
    assert!(!world.last_prompt().contains(REMEMBERED), "{}", world.last_prompt());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_keeps_its_agent_and_the_next_goes_by_the_new_config() {
    let mut world = world().await;
    let _daemon = up(&world).await;
    world.ask("/agent researcher").await;
    let think = Turn::call("think", json!({ "thought": "hm" })).delayed(1_000);
    world.playground.model().script(vec![think, Turn::text("done")]);
    let first = world.telegram().say(ADA, ADA, "take your time");
    world.asked(1).await;
    let mut agents = agents(&world);
    agents["researcher"] = json!({ "persona": "You count things." });
    world.home.set("agents", agents.clone());
    assert!(reload(&world).contains("agents.researcher"), "the agents are others");
    assert_eq!(world.answer(ADA, first).await, "done");
    let LastRequest { model, system, tools } = last(&world);
    assert!(model == "m-large" && system.contains("You find things out."), "{model} {system}");
    assert!(!tools.iter().any(|tool| tool == "write_file"), "{tools:?}");
    world.ask("and now?").await;
    let LastRequest { model, system, tools } = last(&world);
    assert!(model == "m-small" && system.contains("You count things."), "{model} {system}");
    assert!(tools.iter().any(|tool| tool == "write_file"), "{tools:?}");
    agents.as_object_mut().expect("a map").remove("researcher");
    world.home.set("agents", agents);
    reload(&world);
    world.ask("who are you?").await;
    assert!(!last(&world).system.contains("You count things."));
    assert!(world.home.log().contains("the agent is not in the config any more"));
    let listed = world.ask("/agent").await;
    assert!(
        listed.starts_with("No agent answers here") && !listed.contains("researcher"),
        "{listed}"
    );
}

#[test]
fn the_command_line_says_what_an_agent_may_use() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let world = runtime.block_on(world());
    let run = |arguments: &[&str]| world.home.run(arguments);
    let (code, out, err) = run(&["tools", "why", "bash", "--agent", "researcher"]);
    assert!(code == 0 && out.contains("hidden by the agent researcher"), "{out}{err}");
    let (code, out, err) =
        run(&["tools", "list", "--in", "telegram:private", "--agent", "researcher"]);
    let there = out.split("not here").next().unwrap_or_default();
    assert!(
        code == 0 && there.contains("read_file") && !there.contains("write_file"),
        "{out}{err}"
    );
    let (code, _, err) = run(&["tools", "list", "--agent", "reseacher"]);
    assert!(code == 2 && err.contains("Did you mean researcher?"), "{err}");
    fs::remove_file(world.home.state().join("persona/coder.md")).expect("a file");
    let (code, _, err) = run(&["config", "check"]);
    assert!(code != 0 && err.contains("persona/coder.md, which does not exist"), "{err}");
}
