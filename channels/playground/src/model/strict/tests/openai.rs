//! OpenAI's two doors.

use super::*;

#[tokio::test]
async fn openai_has_its_tools_at_its_own_door() {
    let server = Server::of(Family::OpenAi).await;
    let tool = json!({ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } });
    let body = json!({ "model": "gpt-5.6", "messages": [user("hi")] });
    assert!(server.chat(&body).await.is_ok());
    let tools = with(&body, "tools", json!([tool]));
    says(
        &server.chat(&tools).await,
        "Function tools with reasoning_effort are not supported for gpt-5.6",
    );
    assert!(server.chat(&with(&tools, "reasoning_effort", json!("none"))).await.is_ok());
    says(
        &server.chat(&with(&body, "max_tokens", json!(9))).await,
        "'max_completion_tokens' instead",
    );
    let newest = with(&body, "model", json!("gpt-6.2-sol"));
    says(
        &server.chat(&with(&newest, "reasoning_effort", json!("none"))).await,
        "does not support 'none'",
    );
}

/// A request to `/responses` with one tool.
fn asking(input: Value) -> Value {
    json!({
        "model": "gpt-5.6", "store": false, "include": ["reasoning.encrypted_content"], "input": input,
        "tools": [{ "type": "function", "name": "look", "parameters": { "type": "object" } }],
    })
}

#[tokio::test]
async fn openai_wants_its_reasoning_back_right_before_its_calls() {
    let server = Server::of(Family::OpenAi).await;
    server.calls();
    let first = server.responses(&asking(json!([user("hi")]))).await.unwrap();
    let output = first["output"].as_array().unwrap().clone();
    let [reasoning, call] = &output[..] else { panic!("{output:?}") };
    let told = json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "x" });
    let good = json!([user("hi"), reasoning, call, told]);
    assert!(server.responses(&asking(good)).await.is_ok());
    let other = with(reasoning, "encrypted_content", json!("gAAAAA"));
    let unnamed = with(call, "id", Value::Null);
    let table = [
        (json!([user("hi"), call, told]), "without its required 'reasoning' item: 'rs_1'."),
        (json!([user("hi"), unnamed, told]), "without its required 'reasoning' item."),
        (json!([user("hi"), other, call, told]), "could not be verified"),
        (json!([user("hi"), call, told, user("and?")]), "without its required 'reasoning' item"),
        (json!([user("hi"), reasoning, user("and?")]), "without its required following item"),
        (json!([user("hi"), reasoning, call]), "No tool output found for function call call_1_0"),
        (json!([user("hi"), told]), "No tool call found for function call output"),
        (
            json!([with(&user("hi"), "content", json!([{ "type": "text", "text": "x" }]))]),
            "Invalid value: 'text'",
        ),
        (json!([{ "type": "picture" }]), "Invalid value: 'picture'"),
    ];
    for (input, words) in table {
        says(&server.responses(&asking(input)).await, words);
    }
    // Earlier turns go without, where nothing names them.
    let earlier = json!([user("hi"), with(call, "id", Value::Null), told, user("and?")]);
    assert!(server.responses(&asking(earlier)).await.is_ok());
    let nested = json!([{ "type": "function", "function": { "name": "look" } }]);
    let body = asking(json!("hi"));
    says(&server.responses(&with(&body, "tools", nested)).await, "'tools[0].name'");
    says(
        &server.responses(&with(&body, "max_tokens", json!(9))).await,
        "Unknown parameter: 'max_tokens'",
    );
}

#[tokio::test]
async fn openai_streams_its_events_in_their_order() {
    let server = Server::of(Family::OpenAi).await;
    server.calls();
    let body = with(&asking(json!("hi")), "stream", json!(true));
    let url = format!("{}/model/v1/responses", server.0.url());
    let text = client().post(url).json(&body).send().await.unwrap().text().await.unwrap();
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|e| e["type"].as_str().unwrap().trim_start_matches("response."))
        .collect();
    let call = "function_call_arguments";
    assert_eq!(
        kinds,
        [
            "created",
            "in_progress",
            "output_item.added",
            "output_item.done",
            "output_item.added",
            &format!("{call}.delta"),
            &format!("{call}.delta"),
            &format!("{call}.done"),
            "output_item.done",
            "completed",
        ]
    );
    assert!((0..).zip(&events).all(|(number, event)| event["sequence_number"] == json!(number)));
    assert_ne!(events[2]["item"], events[3]["item"], "what is added is not complete");
}
