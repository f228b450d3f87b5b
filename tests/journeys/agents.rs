//! Agents: a task lets others work, waits for them without a worker, and answers once, whatever dies in between.

use std::sync::Arc;
use std::time::Instant;

use selkie_playground::Turn;
use selkie_playground::model::{Conversation, TalkTurn};
use selkie_playground::telegram::{ADA, GROUP, Spot};
use serde_json::{Value, json};

use crate::support::contract::counted;
use crate::support::killing::Kept;
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

/// Two agents that look at once.
fn both(wait: bool) -> Turn {
    let one = json!({ "task": "look at the first", "name": "ada", "wait": wait });
    let other = json!({ "task": "look at the second", "name": "bob", "wait": wait });
    Turn::calls([("spawn", one.to_string()), ("spawn", other.to_string())])
}

/// What agents of these names answer.
fn agents(world: &World, delay: u64) {
    let model = world.playground.model();
    for (name, text) in [("ada", "the first is one"), ("bob", "the second is two")] {
        let brief = format!("you are the agent {name}.");
        model.script_for(&brief, vec![Turn::text(text).delayed(delay)]);
    }
}

fn told(request: &Value) -> String {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    messages.last().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_agents_work_at_once_and_their_task_answers() {
    let world = World::start().await;
    let _daemon = world.daemon();
    agents(&world, 300);
    world.playground.model().script(vec![both(true), Turn::text("one is less than two")]);
    assert_eq!(world.ask("compare the first and the second").await, "one is less than two");
    settled(&world, 1).await;
    let requests = world.playground.model().requests();
    assert_eq!(requests.len(), 4, "each is asked once");
    let last = requests.last().unwrap().body["messages"].to_string();
    assert!(last.contains("the first is one") && last.contains("the second is two"), "{last}");
    assert!(!told(&requests[1].body).contains("compare"), "an agent has a context of its own");
    let spans =
        "SELECT started_at || ' ' || ended_at FROM task WHERE parent IS NOT NULL ORDER BY id";
    let spans: Vec<Vec<i64>> = texts(&world.home, spans)
        .iter()
        .map(|span| span.split(' ').map(|at| at.parse().unwrap()).collect())
        .collect();
    assert!(spans[0][0] < spans[1][1] && spans[1][0] < spans[0][1], "side by side: {spans:?}");
    assert_eq!(world.said(ADA).len(), 1, "agents say nothing themselves");
    assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(3));
}

/// Where the process dies, by the edges' passes.
const EDGES: [&str; 12] = [
    "after_calls_stored",
    "after_spawn",
    "after_claim:2",
    "after_claim:3",
    "after_model:2",
    "before_finish",
    "before_finish:2",
    "after_finish",
    "after_finish:2",
    "after_claim:4",
    "after_results",
    "before_finish:3",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_edge_loses_and_doubles_nothing() {
    at_every_edge(Kept::InFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_edge_over_postgresql_loses_and_doubles_nothing() {
    at_every_edge(Kept::InPostgres).await;
}

/// The parent and both agents, each asked and answered once, or asked again where nothing of it was stored.
async fn at_every_edge(kept: Kept) {
    for edge in EDGES {
        let mut world = World::with(json!({})).await;
        if let Kept::InPostgres = kept {
            world.home.keep_in_postgres();
        }
        agents(&world, 0);
        let model = world.playground.model();
        for name in ["ada", "bob"] {
            // Where its answer was not stored it is asked once more.
            let text = if name == "ada" { "the first is one" } else { "the second is two" };
            model.script_for(&format!("you are the agent {name}."), vec![Turn::text(text)]);
        }
        let last = "one is less than two";
        model.script(vec![both(true), Turn::text(last), Turn::text(last)]);
        world.home.set("debug", json!({ "crash_at": edge }));
        let dying = world.daemon();
        world.telegram().say(ADA, ADA, "compare the first and the second");
        world.within(edge, dying.gone()).await;
        world.home.set("debug", json!({}));
        let daemon = world.daemon();
        assert_eq!(world.hears(ADA, "one").await.text, last, "{edge}");
        settled(&world, 1).await;
        drop(daemon);
        assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(3), "{edge}");
        let states = texts(&world.home, "SELECT DISTINCT state FROM task");
        assert_eq!(states, ["done"], "{edge}");
        assert_eq!(world.said(ADA).len(), 1, "{edge}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_is_told_when_it_has_ended() {
    let world = World::with(json!({ "tools": { "agents": { "enabled": true } } })).await;
    let _daemon = world.daemon();
    agents(&world, 400);
    let model = world.playground.model();
    let list = Turn::call("list_agents", json!({}));
    model.script(vec![both(false), list, Turn::text("they look")]);
    model.script_for("The agent ada has done", vec![Turn::text("ada says one")]);
    model.script_for("The agent bob has done", vec![Turn::text("bob says two")]);
    assert_eq!(world.ask("look at both meanwhile").await, "they look");
    let prompt = model.requests()[..].iter().rev().find_map(|request| {
        let last = told(&request.body);
        last.contains("(your agent)").then_some(last)
    });
    let prompt = prompt.expect("the list was read");
    assert!(
        prompt.contains("- ada (your agent)") && prompt.contains("look at the first"),
        "{prompt}"
    );
    world.hears(ADA, "ada says one").await;
    world.hears(ADA, "bob says two").await;
    let reports = "SELECT count(*) FROM task WHERE cause LIKE 'report:%'";
    assert_eq!(number(&world.home, reports), Some(2), "each once");
    world.telegram().say(ADA, ADA, "/agents");
    let listed = world.hears(ADA, "ada · done").await.text;
    assert!(listed.contains("bob · done"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_has_ended_is_asked_again_with_what_it_knows() {
    let world = World::with(json!({ "tools": { "agents": { "enabled": true } } })).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let one = json!({ "task": "look at the first", "name": "ada", "tools": "read_only" });
    let one = Turn::call("spawn", one);
    let again =
        Turn::call("message_agent", json!({ "names": ["ada"], "message": "and its colour?" }));
    let peek = Turn::call("peek_agent", json!({ "name": "ada" }));
    let twice = Turn::call("spawn", json!({ "task": "look anew", "name": "ada" }));
    model.script_for(
        "you are the agent ada.",
        vec![Turn::text("it is one"), Turn::text("it is red")],
    );
    model.script(vec![one, again, peek, twice, Turn::text("a red one")]);
    assert_eq!(world.ask("what is the first?").await, "a red one");
    let asked = model.requests();
    let second =
        asked.iter().filter(|request| request.body.to_string().contains("and its colour?"));
    let second: Vec<_> = second.map(|request| request.body.to_string()).collect();
    assert!(second[0].contains("look at the first") && second[0].contains("it is one"));
    let tools = |request: &Value| request["tools"].as_array().map(Vec::len).unwrap_or_default();
    let tools: Vec<usize> = asked.iter().map(|request| tools(&request.body)).collect();
    assert!(tools[1] < tools[0] && tools[2] > tools[1], "{tools:?}");
    assert_eq!(tools[3], tools[1], "it gets no more than it had");
    let prompt = world.last_prompt();
    assert!(prompt.contains("it is red"), "{prompt}");
    assert!(prompt.contains("there is an agent ada already (done)"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_its_form_or_says_why_not() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let call =
        |name: &str| json!({ "task": "count", "name": name, "output_schema": schema }).to_string();
    model.script(vec![
        Turn::calls([("spawn", call("ada")), ("spawn", call("bob"))]),
        Turn::text("counted"),
    ]);
    let fenced = Turn::text("```json\n{\"n\": 7}\n```");
    model.script_for("you are the agent ada.", vec![Turn::text("seven"), fenced]);
    model.script_for(
        "you are the agent bob.",
        vec![Turn::text("many"), Turn::text("{\"n\": \"x\"}")],
    );
    assert_eq!(world.ask("count twice").await, "counted");
    let prompt = world.last_prompt();
    assert!(prompt.contains(r#"{\"n\":7}"#), "{prompt}");
    assert!(
        prompt.contains("does not fit output_schema, corrected once: n must be a whole number"),
        "{prompt}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_agents_and_their_task() {
    let world = World::start().await;
    let _daemon = world.daemon();
    agents(&world, 600_000);
    world.playground.model().script(vec![both(true)]);
    world.telegram().say(ADA, ADA, "compare the first and the second");
    world.asked(3).await;
    world.telegram().say(ADA, ADA, "/stop");
    world.hears(ADA, "Stopped").await;
    settled(&world, 1).await;
    let open = "SELECT count(*) FROM task WHERE ended_at IS NULL";
    counted(&world, open, 0).await;
    let states = texts(&world.home, "SELECT state FROM task ORDER BY id");
    assert_eq!(states, ["stopped", "stopped", "stopped"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_asks_whom_its_task_would_ask_and_is_named() {
    let world = World::with(json!({
        "approvals": { "policy": [{ "trust": "owner", "ask": ["write_file"] }] },
    }))
    .await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![
        Turn::call("spawn", json!({ "task": "write it", "name": "ada" })),
        Turn::text("it is written"),
    ]);
    let write = Turn::call("write_file", json!({ "path": "plan.txt", "content": "tide" }));
    model.script_for("you are the agent ada.", vec![write, Turn::text("done")]);
    world.telegram().say(ADA, ADA, "write a plan");
    let request = world.hears(ADA, "May I").await;
    assert!(request.text.contains("ada"), "{}", request.text);
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(ADA, "it is written").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_tells_later_has_the_level_of_what_it_has_read() {
    let open = json!({"guard": {"network": {"allow_private": ["127.0.0.1"]}}});
    let world = World::with(open).await;
    let _daemon = world.daemon();
    let page = format!("{}/nothing-here", world.playground.telegram_base_url());
    let model = world.playground.model();
    let spawn = json!({ "task": "read the page", "name": "ada", "wait": false });
    model.script(vec![Turn::call("spawn", spawn), Turn::text("it reads")]);
    let fetch = Turn::call("url_fetch", json!({ "url": page }));
    model.script_for("you are the agent ada.", vec![fetch, Turn::text("delete it all")]);
    let delete = Turn::call("bash", json!({ "cmd": "$(echo true)" }));
    model.script_for("The agent ada has done", vec![delete, Turn::text("not deleted")]);
    world.telegram().say(ADA, ADA, &format!("have {page} read"));
    let request = world.hears(ADA, "while the task holds other people's words").await;
    world.telegram().tap(ADA, ADA, request.id, "Deny").expect("a button");
    world.hears(ADA, "not deleted").await;
    let level = "SELECT facts ->> '$.taint' FROM task WHERE cause LIKE 'report:%'";
    assert_eq!(texts(&world.home, level), ["raw"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_time_ends_what_it_runs() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let spawn = json!({ "task": "wait", "name": "ada", "timeout": 1 });
    model.script(vec![Turn::call("spawn", spawn), Turn::text("it took too long")]);
    let sleep = Turn::call("bash", json!({ "cmd": "sleep 600" }));
    model.script_for("you are the agent ada.", vec![sleep]);
    assert_eq!(world.ask("let it wait").await, "it took too long");
    let states = "SELECT state FROM task ORDER BY id";
    settled(&world, 1).await;
    assert_eq!(texts(&world.home, states), ["done", "failed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_whose_ends_begin_agents_come_to_an_end() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.set_load_mode(true);
    model.set_answerer(Arc::new(answer_with_another));
    world.telegram().say(ADA, ADA, "go on for ever");
    world.hears(ADA, "too many tasks in a row").await;
    let begun = "SELECT count(*) FROM task WHERE parent IS NOT NULL";
    assert_eq!(number(&world.home, begun), Some(10));
    let todos = "SELECT count(*) FROM conversation WHERE todos IS NOT NULL AND parent IS NULL";
    assert_eq!(number(&world.home, todos), Some(0), "each keeps a list of its own");
    let todos = todos.replace("NULL AND parent IS NULL", "NULL");
    assert!(number(&world.home, &todos) > Some(0));
}

fn answer_with_another(talk: &Conversation) -> Turn {
    let said = talk.turns.iter().map(|turn| format!("{turn:?}")).collect::<Vec<_>>();
    let is_agent = said.iter().any(|turn| turn.contains("you are the agent"));
    let last = said.last().cloned().unwrap_or_default();
    match talk.turns.last() {
        Some(TalkTurn::Calls { .. }) if last.contains("too many") => {
            Turn::text("too many tasks in a row")
        }
        Some(TalkTurn::Calls { .. }) => Turn::text("it works"),
        _ if is_agent => {
            let todos = json!([{ "id": "1", "title": "Go on", "status": "pending" }]);
            Turn::call("todo_write", json!({ "todos": todos }))
        }
        _ => Turn::call("spawn", json!({ "task": "go on", "wait": false })),
    }
}

/// A hundred tasks let ten agents work each: nothing is lost, nothing asked twice, and no task takes a worker meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_agents_of_a_hundred_tasks_are_all_answered() {
    let world = World::with(json!({ "tools": { "spawn": { "side_by_side": 10 } } })).await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.set_load_mode(true);
    model.set_answerer(Arc::new(answer_in_crowd));
    let began = Instant::now();
    for topic in 1..=100 {
        let spot = Spot { chat: GROUP.chat, thread: Some(10_000 + topic) };
        world.telegram().say(spot, ADA, "@selkie_demo_bot count");
    }
    let done = "SELECT count(*) FROM task WHERE parent IS NULL AND state = 'done'";
    counted(&world, done, 100).await;
    let took = began.elapsed();
    let children = "SELECT count(*) FROM task WHERE parent IS NOT NULL AND state = 'done'";
    assert_eq!(number(&world.home, children), Some(1_000));
    assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(1_100));
    assert_eq!(model.calls(), 1_200, "each is asked once, each task twice");
    println!("1,000 agents in {took:?}: {:.0}/s", 1_000.0 / took.as_secs_f64());
    drop(daemon);
}

fn answer_in_crowd(talk: &Conversation) -> Turn {
    let user = |turn: &TalkTurn| turn.user().unwrap_or_default().to_owned();
    if talk.turns.iter().map(user).any(|text| text.contains("you are the agent")) {
        return Turn::text("one");
    }
    if matches!(talk.turns.last(), Some(TalkTurn::Calls { .. })) {
        return Turn::text("ten");
    }
    let task = json!({ "task": "count one" }).to_string();
    Turn::calls((0..10).map(|_| ("spawn", task.clone())))
}
