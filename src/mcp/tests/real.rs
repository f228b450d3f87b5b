//! Servers of other people, for who asks for them: `cargo test -p selkie-mcp real -- --ignored --nocapture WHAT`, where
//! `WHAT`, the last word, is an address or a program. Each of the server's tools is called once with made-up arguments,
//! which is what the client scenarios of the official conformance suite want.

use std::sync::Arc;

use selkie_domain::span::Span;
use selkie_sandbox::Launcher;
use serde_json::{Map, Value, json};

use super::desk::Desk;
use crate::pins::PinnedTool;
use crate::{CallContext, CallOutcome, Demand};

#[tokio::test]
#[ignore = "needs a server: cargo test -p selkie-mcp real -- --ignored --nocapture URL"]
async fn real() {
    let what = std::env::args().next_back().unwrap();
    let desk = match what.contains("://") {
        true => Desk::at(&what),
        false => Desk::running(&what),
    };
    let mut desk = desk;
    desk.launcher = launcher();
    let desk = desk.within(Span::seconds(30)).open();
    let list = desk.connections().list("robin").await;
    println!("{list:#?}");
    let tools = list.map(|list| list.offer.tools).unwrap_or_default();
    for tool in &tools {
        let began = tokio::time::Instant::now();
        // A tool that wants a schema gets that of the first one.
        let first = json!({ "schema": tools[0].schema });
        let wants = !tool.schema["properties"]["schema"].is_null();
        let outcome = match (wants, wanted(&tool.name)) {
            (true, _) => call(&desk, tool, first).await,
            (false, Some(arguments)) => call(&desk, tool, arguments).await,
            (false, None) => call(&desk, tool, made_up(&tool.schema)).await,
        };
        println!("{} in {:?}: {outcome:#?}", tool.name, began.elapsed());
    }
    desk.connections().end().await;
}

/// `SELKIE_BINARY` starts programs, in the sandbox, where that is set.
#[expect(clippy::disallowed_methods, reason = "who asks for it says so")]
fn launcher() -> Launcher {
    let binary = std::env::var_os("SELKIE_BINARY");
    binary.map_or(Launcher::Direct, |binary| Launcher::Supervised(binary.into()))
}

/// What the conformance suite wants a tool to be called with.
#[expect(clippy::disallowed_methods, reason = "the suite says it so")]
fn wanted(tool: &str) -> Option<Value> {
    let context: Value =
        serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?).ok()?;
    let calls = context["toolCalls"].as_array()?;
    Some(calls.iter().find(|call| call["name"] == tool)?["arguments"].clone())
}

async fn call(
    desk: &Desk,
    tool: &PinnedTool,
    arguments: Value,
) -> Result<CallOutcome, crate::McpError> {
    let schema = Arc::new(tool.schema.clone());
    let mut of = CallContext { schema: Some(schema), ..desk.context() };
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    loop {
        let call = desk.connections().call("robin", &tool.name, &arguments, of.clone());
        let asks = match call.await? {
            CallOutcome::Asks(asks) => asks,
            done => return Ok(done),
        };
        println!("{asks:#?}");
        let answer = |question: &crate::ElicitationQuestion| {
            let made_up = match &question.wanted {
                Demand::Values(schema) => made_up(schema),
                Demand::Page { .. } => Value::Null,
            };
            let answer = match made_up.is_object() {
                true => json!({ "action": "accept", "content": made_up }),
                false => json!({ "action": "decline" }),
            };
            (question.key.clone(), answer)
        };
        let answers = asks.questions.iter().map(answer).collect::<Map<_, _>>();
        let answers = ("inputResponses".to_owned(), answers.into());
        let state = asks.request_state.map(|state| ("requestState".to_owned(), json!(state)));
        of.answers = [answers].into_iter().chain(state).collect();
    }
}

/// A value that fits a schema, as far as that is plain.
fn made_up(schema: &Value) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    let is_zone = |text: &Value| text.as_str().is_some_and(|text| text.contains("IANA"));
    match schema["type"].as_str() {
        Some("string") if is_zone(&schema["description"]) => json!("Europe/Berlin"),
        Some("string") => json!("12:30"),
        Some("integer" | "number") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        _ => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            properties.iter().map(|(name, of)| (name.clone(), made_up(of))).collect()
        }
    }
}
