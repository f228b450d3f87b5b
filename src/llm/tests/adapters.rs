//! The adapters against a real local server: what they send, what they read, what they make of trouble.

use std::sync::{Arc, Mutex};

use selkie_channel_core::{Redactor, tls};
use serde_json::{Value, json};

use super::scripted::request;
use super::server::{Answer, Server};
use crate::build::Builder;
use crate::{Model, ModelError, Reason, Reply, Request, Settings, StandIn, StopReason, build};
use selkie_domain::chance::{Chance, FixedChance};
use selkie_domain::clock::{SharedClock, SystemClock};
use selkie_domain::tool::{Class, Recovery, ToolBlock, ToolSpec};
use selkie_domain::transcript::{Answer as Answered, Call, Turn};
use selkie_domain::written::TextProgress;

const KEY: &str = "sk-very-secret-key-4711";

#[expect(clippy::disallowed_methods, reason = "the daemon's client is not there in a unit test")]
pub(super) fn client() -> Result<reqwest::Client, String> {
    let tls = tls::client_config(rustls::RootCertStore::empty).map_err(|e| e.to_string())?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(Arc::unwrap_or_clone(tls))
        .no_proxy()
        .build()
        .map_err(|e| e.to_string())
}

/// The adapter alone: no retries hide its first error.
pub(super) fn adapter(yaml: &str) -> Arc<dyn Model> {
    let settings: Settings = serde_saphyr::from_str(yaml).expect("settings");
    assert_eq!(settings.problems(), []);
    let (clock, chance) = surroundings();
    Builder::new(&settings, StandIn::absent(), &client, &Redactor::default(), &clock, &chance)
        .only_adapter()
}

pub(super) fn surroundings() -> (SharedClock, Arc<dyn Chance>) {
    (Arc::new(SystemClock), Arc::new(FixedChance(0.0)))
}

pub(super) fn model(provider: &str, server: &Server) -> Arc<dyn Model> {
    let endpoint = &server.endpoint;
    adapter(&format!(
        "{{ provider: {provider}, endpoint: '{endpoint}', api_key: {KEY}, model: m }}"
    ))
}

pub(super) async fn once(provider: &str, answer: Answer) -> Result<Reply, ModelError> {
    let server = Server::playing(vec![answer]).await;
    let got = model(provider, &server).ask(&request(60), &|_| {}).await;
    assert_eq!(server.asked().len(), 1);
    got.map_err(|failed| failed.error)
}

pub(super) fn tools() -> Arc<ToolBlock> {
    let spec = |name, class| {
        let parameters = json!({ "$schema": "x", "title": "T", "type": "object",
            "properties": { "path": { "type": "string" } }, "required": ["path"] });
        Arc::new(ToolSpec {
            description: format!("Does {name}."),
            ..ToolSpec::new(name, class, Recovery::CallAgain, parameters)
        })
    };
    Arc::new(ToolBlock::new(vec![spec("read_file", Class::Read), spec("write_file", Class::Write)]))
}

/// A history with two calls of one turn, one with malformed arguments and a made-up name.
pub(super) fn full() -> Request {
    let answer =
        |call: &str, text: &str, is_error| Answered { is_error, ..Answered::words(call, text) };
    let call = |id: &str, name: &str, arguments| Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    };
    let calls = vec![
        (call("c1.0", "read_file", json!({ "path": "a" })), answer("c1.0", "text", false)),
        (call("c1.1", "gone.tool", json!("{\"pa")), answer("c1.1", "", true)),
    ];
    Request {
        turns: vec![
            Turn::User("one".to_owned()),
            Turn::Assistant("yes".to_owned()),
            Turn::User("two".to_owned()),
            Turn::Calls { text: String::new(), calls, own: None },
            Turn::User("three".to_owned()),
        ],
        tools: tools(),
        ..request(20)
    }
}

const OPENAI_STREAM: &str = r#": keep-alive

data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hé"}}]}

data: {"choices":[{"delta":{"content":"llo","reasoning_content":"hm"}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":""}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}},{"index":1,"id":"b","function":{"name":"write_file","arguments":"oops"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"x\"}"}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}

data: [DONE]

"#;

#[tokio::test]
async fn an_openai_stream_is_the_same_wherever_it_is_cut_into_pieces() {
    for size in [1, 2, 7, 64, 100_000] {
        let server = Server::playing(vec![Answer::stream(OPENAI_STREAM, size)]).await;
        let heard = Mutex::new(String::new());
        let hear = |written: TextProgress<'_>| {
            let mut heard = heard.lock().expect("lock");
            match written {
                TextProgress::Begun => heard.clear(),
                TextProgress::More(text) => heard.push_str(text),
            }
        };
        let reply = model("openai", &server).ask(&full(), &hear).await.expect("a reply");
        assert_eq!((reply.text.as_str(), heard.lock().expect("lock").as_str()), ("Héllo", "Héllo"));
        let calls: Vec<_> = reply.calls.iter().map(|c| (c.name.as_str(), &c.arguments)).collect();
        assert_eq!(calls, [("read_file", &json!({"path": "x"})), ("write_file", &json!("oops"))]);
        assert_eq!((reply.usage.input, reply.usage.cached, reply.usage.output), (100, 64, 7));
        assert_eq!((reply.stopped, reply.by.as_str()), (None, "default/m"));
    }
}

#[tokio::test]
async fn an_openai_request_answers_every_call_and_replays_malformed_ones_as_nothing() {
    let server = Server::playing(vec![Answer::stream(OPENAI_STREAM, 99)]).await;
    model("openai", &server).ask(&full(), &|_| {}).await.expect("a reply");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/chat/completions "), "{}", asked.head);
    assert!(asked.head.contains(&format!("authorization: Bearer {KEY}")), "{}", asked.head);
    insta::assert_json_snapshot!(asked.body, @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "system",
          "content": "be brief"
        },
        {
          "role": "user",
          "content": "one"
        },
        {
          "role": "assistant",
          "content": "yes"
        },
        {
          "role": "user",
          "content": "two"
        },
        {
          "role": "assistant",
          "content": null,
          "tool_calls": [
            {
              "id": "call_0",
              "type": "function",
              "function": {
                "name": "read_file",
                "arguments": "{\"path\":\"a\"}"
              }
            },
            {
              "id": "call_1",
              "type": "function",
              "function": {
                "name": "gone_tool",
                "arguments": "{}"
              }
            }
          ]
        },
        {
          "role": "tool",
          "tool_call_id": "call_0",
          "content": "text"
        },
        {
          "role": "tool",
          "tool_call_id": "call_1",
          "content": ""
        },
        {
          "role": "user",
          "content": "three"
        }
      ],
      "tools": [
        {
          "type": "function",
          "function": {
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
            }
          }
        },
        {
          "type": "function",
          "function": {
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
            }
          }
        }
      ],
      "max_tokens": 256,
      "stream": true,
      "stream_options": {
        "include_usage": true
      }
    }
    "#);
}

#[tokio::test]
async fn an_anthropic_request_alternates_and_puts_all_answers_into_one_message() {
    let server = Server::playing(vec![Answer::stream(ANTHROPIC_STREAM, 99)]).await;
    model("anthropic", &server).ask(&full(), &|_| {}).await.expect("a reply");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/messages "), "{}", asked.head);
    assert!(asked.head.contains("anthropic-version: 2023-06-01"), "{}", asked.head);
    assert!(asked.head.contains(&format!("x-api-key: {KEY}")), "{}", asked.head);
    insta::assert_json_snapshot!(asked.body, @r#"
    {
      "model": "m",
      "max_tokens": 256,
      "system": [
        {
          "type": "text",
          "text": "be brief",
          "cache_control": {
            "type": "ephemeral"
          }
        }
      ],
      "tools": [
        {
          "name": "read_file",
          "description": "Does read_file.",
          "input_schema": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "required": [
              "path"
            ]
          }
        },
        {
          "name": "write_file",
          "description": "Does write_file.",
          "input_schema": {
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
          "cache_control": {
            "type": "ephemeral"
          }
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "one"
            }
          ]
        },
        {
          "role": "assistant",
          "content": [
            {
              "type": "text",
              "text": "yes"
            }
          ]
        },
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "two"
            }
          ]
        },
        {
          "role": "assistant",
          "content": [
            {
              "type": "tool_use",
              "id": "call_0",
              "name": "read_file",
              "input": {
                "path": "a"
              }
            },
            {
              "type": "tool_use",
              "id": "call_1",
              "name": "gone_tool",
              "input": {}
            }
          ]
        },
        {
          "role": "user",
          "content": [
            {
              "type": "tool_result",
              "tool_use_id": "call_0",
              "content": "text"
            },
            {
              "type": "tool_result",
              "tool_use_id": "call_1",
              "content": "(empty)",
              "is_error": true
            },
            {
              "type": "text",
              "text": "three",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ]
        }
      ],
      "stream": true
    }
    "#);
}

const ANTHROPIC_STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hé"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"llo"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"list_files","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

"#;

#[tokio::test]
async fn an_anthropic_stream_is_the_same_wherever_it_is_cut_into_pieces() {
    for size in [1, 3, 100_000] {
        let server = Server::playing(vec![Answer::stream(ANTHROPIC_STREAM, size)]).await;
        let heard = Mutex::new(String::new());
        let hear = |written: TextProgress<'_>| {
            let mut heard = heard.lock().expect("lock");
            match written {
                TextProgress::Begun => heard.clear(),
                TextProgress::More(text) => heard.push_str(text),
            }
        };
        let reply = model("anthropic", &server).ask(&full(), &hear).await.expect("a reply");
        assert_eq!((reply.text.as_str(), heard.lock().expect("lock").as_str()), ("Héllo", "Héllo"));
        let calls: Vec<_> = reply.calls.iter().map(|c| (c.name.as_str(), &c.arguments)).collect();
        assert_eq!(calls, [("read_file", &json!({"path": "x"})), ("list_files", &json!({}))]);
        assert_eq!((reply.usage.input, reply.usage.cached, reply.usage.output), (95, 80, 42));
        assert_eq!(reply.stopped, Some(StopReason::Room));
    }
}

#[tokio::test]
async fn an_anthropic_request_without_tools_still_names_those_of_its_history() {
    let body = r#"{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let server = Server::playing(vec![Answer::json(200, body)]).await;
    let asked = Request { tools: Arc::new(ToolBlock::new(vec![])), ..full() };
    let reply = model("anthropic", &server).ask(&asked, &|_| {}).await.expect("a reply");
    assert_eq!(reply.text, "ok");
    let body = &server.asked()[0].body;
    let names: Vec<&Value> =
        body["tools"].as_array().expect("tools").iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["read_file", "gone_tool"]);
    assert_eq!(body["tool_choice"], json!({ "type": "none" }));
}

#[tokio::test]
async fn one_connection_serves_one_stream_after_the_other() {
    for (provider, stream) in [("openai", OPENAI_STREAM), ("anthropic", ANTHROPIC_STREAM)] {
        let server = Server::playing(vec![Answer::stream(stream, 99); 3]).await;
        let model = model(provider, &server);
        for _ in 0..3 {
            model.ask(&full(), &|_| {}).await.expect("a reply");
        }
        assert_eq!((server.asked().len(), server.connections()), (3, 1), "{provider}");
    }
}

pub(super) fn says(text: &str) -> String {
    json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }]}).to_string()
}

#[tokio::test]
async fn odd_but_good_answers_are_read() {
    let refusal = r#"{"choices":[{"message":{"content":null,"refusal":"I will not"},"finish_reason":"stop"}]}"#;
    let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#;
    let unfinished = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]";
    let undone =
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"length\"}]}\n\n";
    let mislabelled = Answer { headers: vec![], ..Answer::stream(undone, 9) };
    let cases = [
        (Answer::json(200, &says("whole")), "whole", None),
        (Answer::json(200, refusal), "I will not", Some(StopReason::Refusal)),
        (Answer::json(200, parts), "ab", None),
        (Answer::stream(unfinished, 5), "x", None),
        (Answer::stream(undone, 5), "x", Some(StopReason::Room)),
        (mislabelled, "x", Some(StopReason::Room)),
    ];
    for (answer, text, stopped) in cases {
        let reply = once("openai", answer).await.expect(text);
        assert_eq!((reply.text.as_str(), reply.stopped, reply.usage.calls), (text, stopped, 1));
    }
}

#[tokio::test]
async fn trouble_is_transient() {
    let open = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let cases = [
        ("openai", Answer::stream(open, 9)),
        ("openai", Answer::stream(open, 9).cut()),
        ("openai", Answer::json(200, &says("whole")).cut()),
        ("openai", Answer::json(200, &says(" "))),
        ("openai", Answer::json(200, "{}")),
        ("openai", Answer::json(200, "<html>hello</html>")),
        ("openai", Answer::json(200, r#"{"error":{"message":"upstream","code":400}}"#)),
        ("openai", Answer::stream("data: {\"error\":{\"message\":\"boom\"}}\n\n", 9)),
        ("openai", Answer::json(503, "<html>down</html>")),
        ("anthropic", Answer::stream(&ANTHROPIC_STREAM[..1_200], 99)),
        (
            "anthropic",
            Answer::json(
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
        ),
        (
            "anthropic",
            Answer::stream(
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
                9,
            ),
        ),
        (
            "anthropic",
            Answer::json(200, r#"{"type":"message","content":[],"stop_reason":"end_turn"}"#),
        ),
    ];
    for (provider, answer) in cases {
        let label = String::from_utf8_lossy(&answer.pieces.concat()).into_owned();
        let got = once(provider, answer).await;
        assert!(matches!(got, Err(ModelError::Transient { .. })), "{label}: {got:?}");
    }
}

#[tokio::test]
async fn a_wait_that_the_provider_asks_for_is_told() {
    let answer =
        Answer::json(429, r#"{"error":{"message":"slow down"}}"#).with("retry-after", "17");
    let got = once("openai", answer).await;
    let Err(ModelError::Transient { why, reason: Reason::Busy, retry_after }) = got else {
        panic!("{got:?}")
    };
    assert_eq!(why, "the provider answered 429: slow down");
    assert_eq!(retry_after.map(|d| d.as_secs()), Some(17));
}

#[tokio::test]
async fn a_server_that_refuses_a_habit_is_asked_without_it_from_then_on() {
    let no = |what: &str| {
        Answer::json(
            400,
            &json!({ "error": { "message": format!("unknown field {what}") }}).to_string(),
        )
    };
    let answers = vec![
        no("`stream_options`"),
        no("max_tokens, use max_completion_tokens"),
        no("stream"),
        Answer::json(200, &says("one")),
        Answer::json(200, &says("two")),
    ];
    let server = Server::playing(answers).await;
    let model = model("openai", &server);
    for text in ["one", "two"] {
        assert_eq!(model.ask(&request(20), &|_| {}).await.expect(text).text, text);
    }
    let bodies: Vec<Value> = server.asked().into_iter().map(|a| a.body).collect();
    let has = |key: &str| bodies.iter().map(|b| !b[key].is_null()).collect::<Vec<_>>();
    assert_eq!(has("stream_options"), [true, false, false, false, false]);
    assert_eq!(has("max_completion_tokens"), [false, false, true, true, true]);
    let streams: Vec<_> = bodies.iter().map(|b| b["stream"] == true).collect();
    assert_eq!(streams, [true, true, true, false, false]);
}

#[tokio::test]
async fn no_error_shows_a_secret_or_an_address_with_one() {
    let said = json!({ "error": { "message": format!("bad key {KEY} and pass-w0rd-of-4711 and t0ken-t0ken-4711") }});
    let said = said.to_string();
    for provider in ["openai", "anthropic"] {
        for status in [200, 400, 401, 404, 413, 429, 500] {
            let server = Server::playing(vec![Answer::json(status, &said)]).await;
            let error = ask_secretly(provider, &server.endpoint).await;
            assert!(error.contains("[redacted]"), "{status}: {error}");
        }
    }
    let server = Server::playing(vec![]).await;
    ask_secretly("openai", &server.endpoint).await;
    ask_secretly("openai", "http://127.0.0.1:1/v1").await;
}

/// Asks with a key, a password in the address and a secret header; returns every form of the error.
async fn ask_secretly(provider: &str, endpoint: &str) -> String {
    let endpoint = endpoint.replace("http://", "http://user:pass-w0rd-of-4711@");
    let yaml = format!(
        "{{ provider: {provider}, endpoint: '{endpoint}', api_key: {KEY}, \
         headers: {{ x-auth: 'Bearer t0ken-t0ken-4711' }} }}"
    );
    let error = adapter(&yaml).ask(&request(60), &|_| {}).await.expect_err("an error");
    let all = format!("{error} {error:?}");
    for secret in [KEY, "pass-w0rd-of-4711", "t0ken-t0ken-4711", "user:", "http://"] {
        assert!(!all.contains(secret), "{all}");
    }
    all
}

#[tokio::test]
async fn a_route_falls_back_and_counts_the_price_of_who_answered() {
    let bad = Server::playing(vec![Answer::json(401, "no")]).await;
    let body = json!({ "choices": [{ "message": { "content": "hi" } }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 10 }});
    let good = Server::playing(vec![Answer::json(200, &body.to_string())]).await;
    let yaml = format!(
        "
         profiles:
           first: {{ endpoint: '{}', model: a }}
           second: {{ endpoint: '{}', model: b }}
         routes: {{ main: [first, second], small: offline }}
         prices: {{ b: {{ input: 2, output: 8 }} }}",
        bad.endpoint, good.endpoint
    );
    let settings: Settings = serde_saphyr::from_str(&yaml).expect("settings");
    let (clock, chance) = surroundings();
    let routes =
        build(&settings, StandIn::absent(), &client, &Redactor::default(), &clock, &chance)
            .expect("routes");
    let reply = routes.main.ask(&request(20), &|_| {}).await.expect("a reply");
    assert_eq!((reply.by.as_str(), reply.usage.micro_usd), ("second/b", 2_080));
    assert_eq!(routes.small.card().name, "built-in stand-in");
    assert_eq!(routes.decision.card(), routes.main.card());
}
