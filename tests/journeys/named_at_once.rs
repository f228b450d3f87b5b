//! Whoever has just written for the first time can be named by the very next task, whichever tool it uses.

use selkie_playground::Turn;
use serde_json::{Value, json};

use crate::support::world::World;

const IDA: i64 = 5001;
const JAN: i64 = 5002;
const KIM: i64 = 5003;
const LEA: i64 = 5004;

/// Somebody writes for the first time; then Ada asks for one call, and its answer is given.
async fn at_once(world: &World, person: i64, name: &str, call: Turn) -> String {
    world.telegram().add_person(person, name);
    world.ask_in(person, person, "good morning").await;
    let (asked, model) = (format!("please do it for {name}"), world.playground.model());
    model.script_for(&asked, vec![call, Turn::text("done")]);
    world.ask(&asked).await;
    model.requests().last().expect("a request").body.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_knows_who_has_just_written() {
    let world = World::with_allowed(json!([IDA, JAN, KIM, LEA])).await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let send = |tool: &str, args: Value| Turn::call(tool, args);
    let message = send("message", json!({ "to": "Ida", "content": "tea is ready" }));
    at_once(&world, IDA, "Ida", message).await;
    world.hears(IDA, "tea is ready").await;
    let letter = json!({ "contact_id": format!("tg:{JAN}"), "message_text": "cake is ready" });
    at_once(&world, JAN, "Jan", send("contacts_send", letter)).await;
    world.hears(JAN, "cake is ready").await;
    let item = json!({ "action": "add", "content": "Call Kim", "people": ["Kim"] });
    let told = at_once(&world, KIM, "Kim", send("todo_update", item)).await;
    assert!(told.contains(&format!("tg:{KIM}")), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_reads_who_is_meant_by_the_name_of_a_newcomer() {
    let world = World::with_allowed(json!([LEA])).await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let told = at_once(&world, LEA, "Lea", Turn::text("I will")).await;
    assert!(told.contains(&format!("tg:{LEA}")), "{told}");
}
