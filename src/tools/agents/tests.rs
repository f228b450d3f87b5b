use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::base::ToolDeps;
use crate::ports::{Agents, KnownAgent, Role, TodoReport, Visitor};
use crate::registry::{Base, NameLookup, Overlay, Registry};
use crate::scope::Scope;
use crate::testkit::Folders;
use crate::{Settings, ToolError, base};
use async_trait::async_trait;
use selkie_channel_core::Redactor;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::span::Span;
use selkie_domain::transcript::Call;
use serde_json::Value;

/// One agent works, one has ended.
struct Two;

#[async_trait]
impl Agents for Two {
    async fn list(&self, _: &Visitor) -> Result<Vec<KnownAgent>, ToolError> {
        let agent = |name: &str, role, is_open, status: &str| KnownAgent {
            name: name.to_owned(),
            role,
            is_open,
            status: status.to_owned(),
            task: "look".to_owned(),
            age: Span::seconds(90),
            choice: Choice::default(),
            narrowed: vec![Narrowing {
                by: "spawn's tools".to_owned(),
                tools: vec!["read".to_owned()],
            }],
        };
        Ok(vec![
            agent("main", Role::Own, true, "running"),
            agent("ada", Role::Child, true, "running"),
            agent("bob", Role::Child, false, "done"),
            agent("cli:/srv", Role::Peer, true, "running"),
        ])
    }

    fn own(&self, _: &Visitor, name: &str) -> Result<(), ToolError> {
        match name {
            "researcher" => Ok(()),
            _ => Err(ToolError::tell("invalid agent")),
        }
    }

    async fn peek(&self, _: &Visitor, _: &str) -> Result<TodoReport, ToolError> {
        Ok(TodoReport::default())
    }

    async fn stop(&self, _: &Visitor, _: &str) -> Result<String, ToolError> {
        Ok("stopped".to_owned())
    }
}

fn registry() -> Registry {
    let mut settings = Settings::default();
    settings.agents.enabled = true;
    let means = ToolDeps::default();
    let base: Arc<Base> = Arc::new(base::build(&settings, &means).unwrap());
    let there = base::runtime(&settings, &means).into_iter().map(|entry| entry.tool).collect();
    Registry::view(base, Vec::new(), Overlay { there, ..Overlay::default() })
}

async fn ask(name: &str, arguments: Value) -> Result<String, ToolError> {
    let registry = registry();
    let scope = Folders::new().scope();
    let scope = Scope { agents: Arc::new(Two), tools: Arc::clone(registry.block()), ..scope };
    let call = Call { id: "c1.0".into(), name: name.into(), arguments };
    let call = registry.canonical(call);
    assert!(matches!(registry.find(&call.name), NameLookup::Tool(_)), "{name}");
    let done = crate::dispatch::dispatch(&registry, &call, &scope, &Redactor::default()).await?;
    Ok(done.answer.text)
}

async fn orders(name: &str, arguments: Value) -> Vec<ChildOrder> {
    match ask(name, arguments).await {
        Err(ToolError::Spawn(orders)) => orders,
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test]
async fn every_harness_has_its_own_words_for_an_agent() {
    let all = [
        ("spawn", json!({"task": "Look at a.txt now, please"})),
        ("spawn_agent", json!({"task": "look", "name": "Deep Look"})),
        ("spawn_agent", json!({"task": "look", "wait": true})),
        ("task", json!({"prompt": "look", "description": "read the file"})),
        ("sessions_spawn", json!({"prompt": "look"})),
        ("spawn", json!({"task": "look", "tools": ["read", "ls"], "timeout": 5, "effort": "low"})),
    ];
    let mut said = Vec::new();
    for (name, arguments) in all {
        let [order] = &orders(name, arguments).await[..] else { panic!("{name}") };
        let tools: Vec<&str> =
            order.narrowed.iter().flat_map(|n| &n.tools).map(String::as_str).collect();
        let seconds = order.timeout.as_secs();
        said.push(format!("{} · {} · {seconds} · {tools:?}", order.name, order.awaited));
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    look-at-a-txt-now · true · 1800 · []
    deep-look · false · 1800 · []
    look · true · 1800 · []
    read-the-file · true · 1800 · []
    look · true · 1800 · ["glob", "grep", "list_files", "memory_get", "memory_search", "read_file"]
    look · true · 5 · ["list_files", "read_file"]
    "#);
}

#[tokio::test]
async fn what_cannot_be_begun_says_why() {
    let mut said = Vec::new();
    for (name, arguments) in [
        ("spawn", json!({})),
        ("task", json!({"prompt": "look"})),
        ("task", json!({"description": "look"})),
        ("spawn", json!({"task": "look", "name": "ada"})),
        ("spawn", json!({"task": "look", "name": "main"})),
        ("spawn", json!({"task": "look", "name": "?!"})),
        ("spawn", json!({"task": "look", "agent": "nobody"})),
        ("spawn", json!({"task": "look", "tools": "all"})),
        ("spawn", json!({"task": "look", "tools": ["fly"]})),
        ("spawn", json!({"task": "look", "model": "gpt-99"})),
        ("spawn", json!({"task": "look", "effort": "very"})),
        ("spawn", json!({"task": "look", "output_schema": "text"})),
        ("message_agent", json!({"names": ["eve"], "message": "hi"})),
        ("message_agent", json!({"names": ["main"], "message": "hi"})),
        ("message_agent", json!({"names": ["cli:/srv"], "message": "hi"})),
        ("message_agent", json!({"names": "ada"})),
    ] {
        let text = ask(name, arguments).await.unwrap();
        said.push(text.split(" (takes inherit, read_only, or names of").next().unwrap().to_owned());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    task is required
    description is required: 3 to 5 words that name the agent (name, in calls of spawn)
    task is required
    there is an agent ada already (running): message_agent asks it again; for a new one take another name
    invalid name: main (takes letters, digits and dashes, and not main)
    invalid name: ?! (takes letters, digits and dashes, and not main)
    invalid agent
    invalid tools: all
    invalid tools: fly
    invalid model: gpt-99 (takes no other)
    invalid effort: very (takes none, minimal, low, medium, high, xhigh, max)
    output_schema must be an object
    there is no agent eve (your agents: ada, bob)
    main is you
    cli:/srv is a task of another conversation: sessions_send sends words there
    names must be an array of strings
    message is required
    ");
}

#[tokio::test]
async fn agents_are_told_and_asked_again() {
    let told =
        orders("message_agent", json!({"names": ["ada", "bob", "ada"], "message": "go"})).await;
    let told: Vec<_> =
        told.iter().map(|order| (&*order.name, order.awaited, order.start)).collect();
    assert_eq!(told, [("ada", false, Start::Joins), ("bob", true, Start::GoesOn)]);
    let listed = ask("agents_list", json!({})).await.unwrap();
    insta::assert_snapshot!(listed, @r"
    - main (you), running for 90 seconds: look
    - ada (your agent), running for 90 seconds: look
    - bob (your agent), done 90 seconds ago: look
    - cli:/srv (a peer), running for 90 seconds: look
    ");
    assert_eq!(ask("subagents", json!({})).await.unwrap(), listed);
    assert_eq!(ask("stop_agent", json!({"name": "ada"})).await.unwrap(), "stopped");
}
