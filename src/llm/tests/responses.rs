//! The Responses API: what is sent, what is read, what goes back as it came.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::adapters::{adapter, full};
use super::scripted::request;
use super::server::{Answer, Server};
use crate::{AskError, Model, ModelError, Reply, Request, StopReason};
use selkie_domain::own_form::OwnForm;
use selkie_domain::transcript::{Answer as Answered, Turn};
use selkie_domain::written::TextProgress;

fn model(server: &Server) -> Arc<dyn Model> {
    let endpoint = &server.endpoint;
    adapter(&format!("{{ api: responses, endpoint: '{endpoint}', api_key: k-k-k-k, model: m }}"))
}

/// What is answered to one request, and what was heard of it.
async fn told(answer: Answer, request: Request) -> (Result<Reply, AskError>, String) {
    let server = Server::playing(vec![answer]).await;
    let heard = Mutex::new(String::new());
    let hear = |written: TextProgress<'_>| {
        if let TextProgress::More(text) = written {
            heard.lock().unwrap().push_str(text);
        }
    };
    let reply = model(&server).ask(&request, &hear).await;
    (reply, heard.into_inner().unwrap())
}

fn events(all: &[Value]) -> Answer {
    let text: String = all
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    Answer::stream(&text, 11)
}

fn delta(number: u64, text: &str) -> Value {
    json!({ "type": "response.output_text.delta", "output_index": 1, "sequence_number": number, "delta": text })
}

fn done(place: u64, item: &Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": place, "item": item })
}

fn message(text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "phase": "commentary", "content": content })
}

fn thoughts(content: &str) -> Value {
    json!({ "id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": content })
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": "fc_1", "type": "function_call", "status": "completed", "call_id": id,
            "name": name, "arguments": arguments })
}

fn end(kind: &str, more: Value) -> Value {
    let mut response = json!({ "id": "resp_1", "object": "response", "status": kind, "error": null,
        "usage": { "input_tokens": 100, "input_tokens_details": { "cached_tokens": 64 },
                   "output_tokens": 30, "output_tokens_details": { "reasoning_tokens": 20 } } });
    for (key, value) in more.as_object().unwrap() {
        response[key] = value.clone();
    }
    json!({ "type": format!("response.{kind}"), "response": response })
}

/// A stream in which events come twice, out of order and of kinds that nobody knows.
fn shuffled() -> Answer {
    let announced = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "ZWFybHk=" });
    events(&[
        json!({ "type": "response.created", "response": { "status": "in_progress" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": announced }),
        json!({ "type": "response.from_the_future", "delta": "nobody reads this" }),
        done(2, &call("x7", "read_file", r#"{"path": "a"}"#)),
        delta(4, "Loo"),
        delta(4, "Loo"),
        delta(5, "king."),
        delta(3, "Late."),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{" }),
        done(1, &message("Looking.")),
        done(0, &thoughts("c2ln/+==")),
        done(2, &call("x7", "read_file", r#"{"path": "a"}"#)),
        end("completed", json!({ "output": [] })),
        end("completed", json!({ "output": [] })),
    ])
}

#[tokio::test]
async fn a_request_is_a_list_of_items_and_nothing_is_kept_at_the_server() {
    let server =
        Server::playing(vec![events(&[done(0, &message("ok")), end("completed", json!({}))])])
            .await;
    model(&server).ask(&full(), &|_| {}).await.expect("a reply");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/responses "), "{}", asked.head);
    insta::assert_json_snapshot!(asked.body, @r#"
    {
      "model": "m",
      "instructions": "be brief",
      "input": [
        {
          "type": "message",
          "role": "user",
          "content": [
            {
              "type": "input_text",
              "text": "one"
            }
          ]
        },
        {
          "type": "message",
          "role": "assistant",
          "content": [
            {
              "type": "output_text",
              "text": "yes"
            }
          ],
          "phase": "final_answer"
        },
        {
          "type": "message",
          "role": "user",
          "content": [
            {
              "type": "input_text",
              "text": "two"
            }
          ]
        },
        {
          "type": "function_call",
          "call_id": "call_0",
          "name": "read_file",
          "arguments": "{\"path\":\"a\"}"
        },
        {
          "type": "function_call",
          "call_id": "call_1",
          "name": "gone_tool",
          "arguments": "{}"
        },
        {
          "type": "function_call_output",
          "call_id": "call_0",
          "output": "text"
        },
        {
          "type": "function_call_output",
          "call_id": "call_1",
          "output": ""
        },
        {
          "type": "message",
          "role": "user",
          "content": [
            {
              "type": "input_text",
              "text": "three"
            }
          ]
        }
      ],
      "tools": [
        {
          "type": "function",
          "name": "read_file",
          "description": "Does read_file.",
          "parameters": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "required": [
              "path"
            ]
          },
          "strict": false
        },
        {
          "type": "function",
          "name": "write_file",
          "description": "Does write_file.",
          "parameters": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "required": [
              "path"
            ]
          },
          "strict": false
        }
      ],
      "max_output_tokens": 256,
      "include": [
        "reasoning.encrypted_content"
      ],
      "store": false,
      "stream": true,
      "prompt_cache_key": "tg:1"
    }
    "#);
}

#[tokio::test]
async fn what_counts_are_completed_items_however_they_are_told_of() {
    let (reply, heard) = told(shuffled(), full()).await;
    let reply = reply.expect("a reply");
    assert_eq!((reply.text.as_str(), heard.as_str()), ("Looking.", "Looking."));
    let calls: Vec<_> =
        reply.calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), &c.arguments)).collect();
    assert_eq!(calls, [("x7", "read_file", &json!({ "path": "a" }))]);
    let usage = reply.usage;
    assert_eq!((usage.input, usage.cached, usage.output, usage.thoughts), (100, 64, 30, 20));
    assert_eq!((reply.stopped, reply.by.as_str()), (None, "default/m"));
    let own = reply.own.expect("an own form").json;
    assert!(own.contains("c2ln") && !own.contains("ZWFybHk"), "{own}");

    let whole = end("completed", json!({ "output": [thoughts("x"), message("Whole.")] }));
    let (reply, heard) = told(Answer::json(200, &whole["response"].to_string()), full()).await;
    assert_eq!((reply.expect("a reply").text.as_str(), heard.as_str()), ("Whole.", "Whole."));
}

#[tokio::test]
async fn an_end_before_the_end_is_told_by_its_kind() {
    let ended = |reason: &str| {
        let details =
            json!({ "incomplete_details": { "reason": reason }, "output": [message("Half")] });
        events(&[end("incomplete", details)])
    };
    let refusal =
        json!({ "type": "message", "content": [{ "type": "refusal", "refusal": "I will not" }] });
    let refused = events(&[end("completed", json!({ "output": [refusal] }))]);
    let cases = [
        (ended("max_output_tokens"), "Half", StopReason::Room),
        (ended("content_filter"), "Half", StopReason::Filter),
        (refused, "I will not", StopReason::Refusal),
    ];
    for (answer, text, stopped) in cases {
        let reply = told(answer, full()).await.0.expect(text);
        assert_eq!((reply.text.as_str(), reply.stopped), (text, Some(stopped)));
    }
}

#[tokio::test]
async fn trouble_is_transient_and_an_empty_end_is_one_only_after_calls() {
    let failed = json!({ "type": "response.failed", "response": { "status": "failed",
        "error": { "code": "server_error", "message": "boom" } } });
    let empty = || events(&[done(0, &thoughts("x")), end("completed", json!({}))]);
    let many: Vec<Value> = (0..200).map(|n| call(&format!("x{n}"), "read_file", "{}")).collect();
    let cases = [
        events(&[delta(1, "half")]),
        events(&[delta(1, "half")]).cut(),
        events(&[failed]),
        events(&[json!({ "type": "error", "code": "server_error", "message": "boom" })]),
        events(&[end("cancelled", json!({}))]),
        events(&[end("completed", json!({ "output": many }))]),
        empty(),
    ];
    for answer in cases {
        let label =
            String::from_utf8_lossy(&answer.pieces.concat()).chars().take(200).collect::<String>();
        let got = told(answer, full()).await.0.map_err(|failed| failed.error);
        assert!(matches!(got, Err(ModelError::Transient { .. })), "{label}: {got:?}");
    }
    let ended = told(empty(), Request { may_end: true, ..full() }).await.0.expect("an end");
    assert_eq!((ended.text.as_str(), ended.calls.len()), ("", 0));
}

/// The items of the second request behind its first message, where the first was answered by `answer`.
async fn sent_back(
    answer: Answer,
    model_name: &str,
    own: impl FnOnce(Reply) -> Option<OwnForm>,
) -> Vec<Value> {
    let server = Server::playing(vec![answer.clone(), answer]).await;
    let reply = model(&server).ask(&request(20), &|_| {}).await.expect("a reply");
    let text = reply.text.clone();
    let answered =
        |call: &selkie_domain::transcript::Call| (call.clone(), Answered::words(&call.id, "ok"));
    let calls = reply.calls.iter().map(answered).collect();
    let turns = vec![Turn::User("hi".to_owned()), Turn::Calls { text, calls, own: own(reply) }];
    let endpoint = &server.endpoint;
    let again = adapter(&format!(
        "{{ api: responses, endpoint: '{endpoint}', api_key: k-k-k-k, model: {model_name} }}"
    ));
    again.ask(&Request { turns, ..request(20) }, &|_| {}).await.expect("a reply");
    server.asked()[1].body["input"].as_array().expect("items")[1..].to_vec()
}

#[tokio::test]
async fn items_go_back_as_they_came_to_whoever_wrote_them() {
    let mut words = message("Looking.");
    words.as_object_mut().unwrap().shift_remove("id");
    let mut asked = call("call_0", "read_file", r#"{"path": "a"}"#);
    asked.as_object_mut().unwrap().shift_remove("id");
    let output = json!({ "type": "function_call_output", "call_id": "call_0", "output": "ok" });
    let sent = sent_back(shuffled(), "m", |reply| reply.own).await;
    let bytes: Vec<String> = sent.iter().map(Value::to_string).collect();
    let expected = [thoughts("c2ln/+=="), words, asked, output].map(|item| item.to_string());
    assert_eq!(bytes, expected);

    let elsewhere =
        |reply: Reply| reply.own.map(|own| OwnForm { origin: "elsewhere".into(), ..own });
    let others = [
        sent_back(shuffled(), "other", |reply| reply.own).await,
        sent_back(shuffled(), "m", elsewhere).await,
        sent_back(shuffled(), "m", |_| None).await,
    ];
    for sent in others {
        let kinds: Vec<_> = sent.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["message", "function_call", "function_call_output"]);
        assert_eq!(
            (&sent[0]["phase"], &sent[1]["call_id"]),
            (&json!("commentary"), &json!("call_0"))
        );
    }
}

#[tokio::test]
async fn thoughts_that_only_the_server_holds_do_not_go_back() {
    let name = json!({ "id": "rs_1", "type": "reasoning", "summary": [] });
    let answer =
        events(&[done(0, &name), done(1, &call("x", "a", "{}")), end("completed", json!({}))]);
    let reply = told(answer, full()).await.0.expect("a reply");
    assert_eq!((reply.calls.len(), reply.own), (1, None));
}

#[tokio::test]
async fn parts_that_a_server_refuses_are_left_out_from_then_on() {
    let no = |what: &str| Answer::json(400, &json!({ "error": { "message": what } }).to_string());
    let good = || events(&[done(0, &message("ok")), end("completed", json!({}))]);
    let answers = vec![
        no("Unknown parameter: 'prompt_cache_key'."),
        no("Encrypted content is not supported with this model."),
        no("Unknown parameter: 'input[1].phase'."),
        no("tool_choice 'none' is not supported"),
        good(),
        good(),
    ];
    let server = Server::playing(answers).await;
    let model = model(&server);
    let last = Request { may_call: false, ..full() };
    for _ in 0..2 {
        model.ask(&last, &|_| {}).await.expect("a reply");
    }
    let bodies: Vec<Value> = server.asked().into_iter().map(|asked| asked.body).collect();
    let has = |key: &str| bodies.iter().map(|body| !body[key].is_null()).collect::<Vec<_>>();
    assert_eq!(has("prompt_cache_key"), [true, false, false, false, false, false]);
    assert_eq!(has("include"), [true, true, false, false, false, false]);
    assert_eq!(has("tool_choice"), [true, true, true, true, false, false]);
    let phases: Vec<_> = bodies.iter().map(|body| body["input"][1]["phase"].is_null()).collect();
    assert_eq!(phases, [false, false, false, true, true, true]);
    assert!(bodies.iter().all(|body| body["store"] == false && body["tools"].is_array()));
}
