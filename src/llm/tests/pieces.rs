//! Answers in odd pieces: nothing of them goes missing, and what cannot be read is an error.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::adapters::{model, once};
use super::scripted::request;
use super::server::{Answer, Server};
use crate::{AskError, ModelError, Reason, Reply, Request, StopReason};
use selkie_domain::written::TextProgress;

/// A stream of these events.
fn events(all: &[&str]) -> Answer {
    let text: String = all.iter().map(|event| format!("data: {event}\n\n")).collect();
    Answer::stream(&text, 10_000)
}

/// A chat completions stream that says these texts, each written as JSON.
fn openai(texts: &[&str]) -> Answer {
    let chunk = |t: &&str| format!(r#"{{"choices":[{{"delta":{{"content":{t}}}}}]}}"#);
    let mut all: Vec<String> = texts.iter().map(chunk).collect();
    all.push("[DONE]".to_owned());
    events(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A Messages stream with these deltas of one block.
fn anthropic(block: &str, deltas: &[&str]) -> Answer {
    let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#);
    let mut all = vec![start];
    all.extend(
        deltas
            .iter()
            .map(|delta| format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)),
    );
    all.push(r#"{"type":"message_stop"}"#.to_owned());
    events(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

#[tokio::test]
async fn text_that_is_cut_between_the_halves_of_a_pair_arrives_whole() {
    let halves = [r#""Yes. Keep it, do \ud83d""#, r#""\ude00 NOT delete it""#, r#"" now.""#];
    let deltas = halves.map(|text| format!(r#"{{"type":"text_delta","text":{text}}}"#));
    let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
    let text = r#"{"type":"text","text":""}"#;
    for (provider, answer) in [("openai", openai(&halves)), ("anthropic", anthropic(text, &deltas))]
    {
        let server = Server::playing(vec![answer]).await;
        let told = Mutex::new(String::new());
        let hear = |written: TextProgress<'_>| match written {
            TextProgress::Begun => told.lock().expect("lock").clear(),
            TextProgress::More(text) => told.lock().expect("lock").push_str(text),
        };
        let reply = model(provider, &server).ask(&request(60), &hear).await.expect(provider);
        assert_eq!(reply.text, "Yes. Keep it, do 😀 NOT delete it now.", "{provider}");
        assert_eq!(*told.lock().expect("lock"), reply.text, "{provider}");
    }
}

#[tokio::test]
async fn arguments_and_thoughts_that_are_cut_so_arrive_whole_too() {
    let call = |text: &str| {
        let function = format!(r#"{{"name":"t","arguments":{text}}}"#);
        format!(
            r#"{{"choices":[{{"delta":{{"reasoning_content":"\ud83d","tool_calls":[{{"index":0,"id":"a","function":{function}}}]}}}}]}}"#
        )
    };
    let (first, second) = (call(r#""{\"x\":\"a\ud83d""#), call(r#""\ude00b\"}""#));
    let tool = r#"{"type":"tool_use","id":"t","name":"t","input":{}}"#;
    let deltas = [
        r#"{"type":"input_json_delta","partial_json":"{\"x\":\"a\ud83d"}"#,
        r#"{"type":"input_json_delta","partial_json":"\ude00b\"}"}"#,
    ];
    for (provider, answer) in
        [("openai", events(&[&first, &second, "[DONE]"])), ("anthropic", anthropic(tool, &deltas))]
    {
        let reply = once(provider, answer).await.expect(provider);
        assert_eq!(reply.calls[0].arguments, json!({ "x": "a😀b" }), "{provider}");
    }
}

#[tokio::test]
async fn a_half_in_a_whole_document_costs_one_character() {
    let body = r#"{"choices":[{"message":{"content":"a\ud83d!","tool_calls":[{"id":"a",
        "function":{"name":"t","arguments":"{\"x\":\"\\ud83d\"}"}}]},"finish_reason":"stop"}]}"#;
    let reply = once("openai", Answer::json(200, body)).await.expect("a reply");
    assert_eq!(reply.text, "a\u{fffd}!");
    assert_eq!(reply.calls[0].arguments, json!({ "x": "\u{fffd}" }));
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_an_error_and_no_gap() {
    let good = r#"{"choices":[{"delta":{"content":"Do not "}}]}"#;
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    for bad in [r#"{"choices":[{"delta":{"cont"#, "hello", "7", "null", &deep] {
        for provider in ["openai", "anthropic"] {
            let got = once(provider, events(&[good, bad, "[DONE]"])).await;
            let Err(error @ ModelError::Transient { reason: Reason::Garbled, .. }) = got else {
                panic!("{provider} {bad:.20}: {got:?}");
            };
            assert!(error.to_string().contains("an event that cannot be read"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_event_of_any_size_and_any_number_of_calls_are_refused() {
    let large = format!("data: \"{}", "x".repeat(17 * 1024 * 1024));
    let call = |n: usize| format!(r#"{{"index":{n},"id":"{n}","function":{{"name":"t"}}}}"#);
    let calls: Vec<String> = (0..200).map(call).collect();
    let calls = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, calls.join(","));
    for (answer, told) in [
        (Answer::stream(&large, 100_000), "an event is larger than 16 MiB"),
        (events(&[&calls, "[DONE]"]), "more than 128 calls"),
    ] {
        let error = once("openai", answer).await.expect_err(told);
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(error.reason() == Reason::TooMuch, told.contains("calls"));
    }
}

#[tokio::test]
async fn a_providers_words_steer_no_screen() {
    let words = r#"{"error":{"message":"\u001b]0;pwned\u0007\u001b[2J no\u202eon\u200b"}}"#;
    for provider in ["openai", "anthropic"] {
        let error = once(provider, Answer::json(400, words)).await.expect_err("it refuses");
        let says = error.to_string();
        assert!(says.contains("⟨U+001B⟩[2J no⟨U+202E⟩on⟨U+200B⟩"), "{says:?}");
        assert!(!says.contains(selkie_domain::screen::steers), "{says:?}");
    }
}

#[tokio::test]
async fn keep_alives_are_no_errors() {
    let reply = once(
        "openai",
        events(&["", r#"{"type":"ping"}"#, r#"{"choices":[{"delta":{"content":"x"}}]}"#, "[DONE]"]),
    )
    .await;
    assert_eq!(reply.expect("a reply").text, "x");
}

#[tokio::test]
async fn odd_calls_are_told_apart() {
    let whole = |c: &str| {
        let message = format!(r#"{{"message":{{"tool_calls":[{c}]}},"finish_reason":"stop"}}"#);
        Answer::json(200, &format!(r#"{{"choices":[{message}]}}"#))
    };
    let stream = |all: &[&str]| {
        let chunk = |c: &&str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{c}]}}}}]}}"#);
        let all: Vec<String> = all.iter().map(chunk).chain(["[DONE]".to_owned()]).collect();
        events(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let cases = [
        // No index, no id, an object instead of text.
        (
            whole(r#"{"function":{"name":"a","arguments":{"x":1}}},{"function":{"name":"b"}}"#),
            json!([["a", {"x": 1}], ["b", {}]]),
        ),
        // The same index for all, other ids.
        (
            whole(
                r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"a","arguments":"{}"}}"#,
            ),
            json!([["a", {}], ["a", {}]]),
        ),
        // The same id for two.
        (
            whole(
                r#"{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"1","function":{"name":"b","arguments":"{}"}}"#,
            ),
            json!([["a", {}], ["b", {}]]),
        ),
        (
            stream(&[
                r#"{"id":"1","function":{"name":"a","arguments":"{}"}}"#,
                r#"{"id":"1","function":{"name":"b","arguments":"{\"x\":1}"}}"#,
            ]),
            json!([["a", {}], ["b", {"x": 1}]]),
        ),
        // The same id again in every chunk of one call.
        (
            stream(&[
                r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#,
                r#"{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}"#,
                r#"{"index":0,"id":"1","function":{"name":"a","arguments":""}}"#,
            ]),
            json!([["a", {"x": 1}]]),
        ),
    ];
    for (answer, expected) in cases {
        let reply = once("openai", answer).await.expect("calls");
        let got: Value = reply.calls.iter().map(|c| json!([c.name, c.arguments])).collect();
        assert_eq!(got, expected);
    }
    let older = r#"{"choices":[{"message":{"function_call":{"name":"a","arguments":"{}"}}}]}"#;
    let reply = once("openai", Answer::json(200, older)).await.expect("a call");
    assert_eq!(reply.calls[0].name, "a");
}

/// A reply without thoughts, or the reason for none.
async fn said(provider: &str, answer: Answer) -> Result<Reply, Reason> {
    once(provider, answer).await.map_err(|error| error.reason())
}

#[tokio::test]
async fn what_ends_an_answer_early_is_told_apart() {
    let openai = |text: &str, finish: &str| {
        let message = json!({ "message": { "content": text }, "finish_reason": finish });
        ("openai", Answer::json(200, &json!({ "choices": [message] }).to_string()))
    };
    let anthropic = |text: &str, stop: &str| {
        let content = json!([{ "type": "text", "text": text }]);
        let body = json!({ "type": "message", "content": content, "stop_reason": stop });
        ("anthropic", Answer::json(200, &body.to_string()))
    };
    let cases = [
        (openai("half", "content_filter"), Ok(Some(StopReason::Filter))),
        (openai("", "content_filter"), Err(Reason::Withheld)),
        (openai("", "length"), Err(Reason::NoRoom)),
        (openai("<think>hm hm", "length"), Err(Reason::NoRoom)),
        (openai("<think>hm</think>", "stop"), Err(Reason::Empty)),
        (openai("<think>hm</think>x", "stop"), Ok(None)),
        (anthropic("half", "refusal"), Ok(Some(StopReason::Refusal))),
        (anthropic("", "refusal"), Err(Reason::Withheld)),
        (anthropic("", "max_tokens"), Err(Reason::NoRoom)),
        (anthropic("half", "max_tokens"), Ok(Some(StopReason::Room))),
    ];
    for ((provider, answer), expected) in cases {
        let label = String::from_utf8_lossy(&answer.pieces.concat()).into_owned();
        let got = said(provider, answer).await.map(|reply| reply.stopped);
        assert_eq!(got, expected, "{label}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_end_where_it_may_be_one() {
    let openai = |finish: &str| {
        let message = json!({ "message": { "content": "" }, "finish_reason": finish });
        ("openai", Answer::json(200, &json!({ "choices": [message] }).to_string()))
    };
    let anthropic = |stop: &str| {
        let body = json!({ "type": "message", "content": [], "stop_reason": stop });
        ("anthropic", Answer::json(200, &body.to_string()))
    };
    let cases = [
        (openai("stop"), None),
        (anthropic("end_turn"), None),
        (openai("tool_calls"), Some(Reason::Empty)),
        (anthropic("tool_use"), Some(Reason::Empty)),
        (openai("length"), Some(Reason::NoRoom)),
        (anthropic("refusal"), Some(Reason::Withheld)),
    ];
    for ((provider, answer), expected) in cases {
        let label = String::from_utf8_lossy(&answer.pieces.concat()).into_owned();
        let server = Server::playing(vec![answer]).await;
        let asked = Request { may_end: true, ..request(20) };
        let got = model(provider, &server).ask(&asked, &|_| {}).await;
        assert_eq!(got.err().map(|failed| failed.error.reason()), expected, "{label}");
    }
}

#[tokio::test]
async fn what_is_no_text_is_named() {
    let parts = r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[]},
        {"type":"text","text":"See: "},{"type":"image_url","image_url":{}}]}}]}"#;
    let reply = once("openai", Answer::json(200, parts)).await.expect("a reply");
    assert_eq!(reply.text, "See:\n\n[a picture from the model, which cannot be shown]");
}

#[tokio::test]
async fn what_a_broken_or_empty_answer_cost_is_counted() {
    let broken = r#"{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":30,"completion_tokens":4}}"#;
    let begun =
        r#"{"type":"message_start","message":{"usage":{"input_tokens":30,"output_tokens":4}}}"#;
    let empty = r#"{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":30,"completion_tokens":4}}"#;
    for (provider, answer) in [
        ("openai", events(&[broken])),
        ("openai", events(&[broken, "no JSON"])),
        ("openai", Answer::json(200, empty)),
        ("anthropic", events(&[begun]).cut()),
    ] {
        let server = Server::playing(vec![answer]).await;
        let asked = model(provider, &server).ask(&request(60), &|_| {}).await;
        let AskError { error, usage } = asked.expect_err("no answer");
        assert_eq!((usage.calls, usage.input, usage.output), (1, 30, 4), "{error}");
    }
}

#[tokio::test]
async fn no_connection_is_told_in_words() {
    let server = Server::playing(vec![]).await;
    let error = model("openai", &server).ask(&request(60), &|_| {}).await.expect_err("nobody");
    let told = error.to_string();
    assert!(told.starts_with("the provider cannot be reached: "), "{told}");
    assert_eq!(error.error.reason(), Reason::Unreachable);
}

#[tokio::test]
async fn an_anthropic_server_that_refuses_to_stream_is_asked_without_from_then_on() {
    let no =
        json!({ "error": { "type": "invalid_request_error", "message": "`stream`: not here" } });
    let good =
        r#"{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}"#;
    let (no, good) = (Answer::json(400, &no.to_string()), Answer::json(200, good));
    let server = Server::playing(vec![no, good.clone(), good]).await;
    let model = model("anthropic", &server);
    for _ in 0..2 {
        assert_eq!(model.ask(&request(60), &|_| {}).await.expect("a reply").text, "ok");
    }
    let streams: Vec<bool> = server.asked().iter().map(|a| a.body["stream"] == true).collect();
    assert_eq!(streams, [true, false, false]);
}
