//! A schedule keeps to what it was given: its own model, so much of the history, so much a day.

use serde_json::{Value, json};

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;

use crate::support::rows;
use crate::support::world::World;

const FIRED: &str = "SELECT count(*) FROM occurrence";
const PASSED_OVER: &str = "SELECT count(*) FROM occurrence WHERE why IS NOT NULL";

fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(&[&["schedules"], args].concat());
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn its_own_model_answers_and_reads_so_much_of_the_history() {
    let mut world = World::start().await;
    let endpoint = world.playground.model_endpoint();
    let profile =
        |model| json!({ "endpoint": endpoint, "api_key": "sk-playground-1", "model": model });
    let profiles = json!({ "large": profile("big-one"), "cheap": profile("small-one") });
    world.home.set("llm", json!({ "profiles": profiles, "routes": { "main": ["large"] } }));
    let daemon = world.daemon();
    for word in ["apples", "pears", "plums"] {
        world.ask(word).await;
    }
    let (_, _, err) =
        world.home.run(&["schedules", "add", "--every", "1h", "--prompt", "x", "--model", "chep"]);
    assert!(err.contains("Did you mean cheap?"), "{err}");
    let add = ["add", "--every", "1h", "--prompt", "what is new?", "--model", "cheap"];
    let made = run(&world, &[&add[..], &["--history", "2", "--budget-usd", "0.5"]].concat());
    assert!(made.contains("about 720 model calls"), "{made}");
    assert!(made.contains("no price is known for its model"), "{made}");
    let asks = "asks cheap, which reads 2 earlier tasks; at most 500 model calls and $0.50 a day";
    assert!(made.contains(asks) && run(&world, &["show", "1"]).contains(asks), "{made}");
    run(&world, &["run", "1"]);
    world.hears(ADA, "what is new?").await;
    let asked = world.playground.model().requests().last().expect("a request").body.clone();
    assert_eq!(asked["model"], "small-one", "{asked}");
    let asked = asked.to_string();
    assert!(
        asked.contains("pears") && asked.contains("plums") && !asked.contains("apples"),
        "{asked}"
    );
    rows::delivered(&world, FIRED, 1).await;
    assert!(daemon.stop().await.success());
    // The profile leaves the config.
    world.home.set("llm", json!({ "profiles": { "large": profile("big-one") } }));
    let _daemon = world.daemon();
    world.ask("hello again").await;
    run(&world, &["run", "1"]);
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(
        told.contains("\"cheap\" is not a model profile of the config (takes large)"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn over_its_budget_a_task_ends_and_the_schedule_waits_for_its_next_day() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    run(&world, &["add", "--every", "1h", "--prompt", "write todos", "--budget-calls", "2"]);
    let turn =
        |n: u32| Turn::call("todo_write", json!({ "todos": [{ "content": n.to_string() }] }));
    world.playground.model().script(vec![turn(1), turn(2)]);
    run(&world, &["run", "1"]);
    let ended = world.hears(ADA, "I stopped here").await.text;
    let why = "its budget of 2 model calls a day is used up";
    assert!(ended.contains("schedule 1 (write todos)") && ended.contains(why), "{ended}");
    let asked = world.playground.model().calls();
    let passed = run(&world, &["run", "1"]);
    assert!(passed.contains(why), "{passed}");
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(told.contains(why) && told.contains("It continues at"), "{told}");
    rows::delivered(&world, PASSED_OVER, 1).await;
    assert_eq!(world.playground.model().calls(), asked, "no model was asked");
    let (_, list, _) = world.home.run(&["schedules", "list", "--json"]);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!((&list[0]["state"], &list[0]["why"]), (&json!("active"), &json!(why)));
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let resumed = run(&world, &["resume", "1"]);
    assert!(!resumed.contains(why), "{resumed}");
    run(&world, &["run", "1"]);
    world.hears(ADA, "write todos").await;
    let texts = world.texts(ADA);
    assert_eq!(texts.iter().filter(|text| text.contains("I paused")).count(), 1, "{texts:?}");
}
