//! `/messages` in Anthropic's dialect, streamed or whole.

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use super::cache::CacheUsage;
use super::owned::{self, OwnForm};
use super::stream::{after_delays, broken_stream, pieces, tokens, whole_stream};
use super::strict::{self, Thought};
use super::turn::{ScriptedCall, Turn, units};
use super::{Dialect, Model, ModelRequest, Prompt, anthropic_check, conversation, fresh};
use crate::line::Line;

/// `POST /messages`.
pub(crate) async fn messages(
    State(model): State<Model>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    if let Err((status, words)) = check_headers(&model, &headers) {
        return error(status, None, words);
    }
    let body: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let family = model.family().filter(|family| family.is_anthropic());
    let mut checked = anthropic_check::check(&body).map(|()| None);
    let number = model.record(|number| {
        if checked.is_ok() {
            let owned = model.owned().check_anthropic(&body["messages"]).map_err(str::to_owned);
            let thought = || family.map(|it| strict::check_messages(it, &body, &headers, number));
            checked = owned.and_then(|()| thought().transpose());
        }
        ModelRequest {
            dialect: Dialect::Anthropic,
            body: body.clone(),
            refused: checked.as_ref().err().cloned(),
            cut: 0,
        }
    });
    let thought = match checked {
        Ok(thought) => thought,
        Err(words) => return error(400, None, &words),
    };
    let text = String::from_utf8_lossy(&raw);
    let talk = || conversation::of_messages(&body);
    let heard = Prompt { raw: &text, fresh: fresh(&body["messages"]), talk: &talk };
    let turn = after_delays(model.next_turn(&heard)).await;
    let writer = Writer {
        number,
        model: body["model"].as_str().unwrap_or_default(),
        stream: body["stream"] == true,
        asked: tokens(&text),
        cached: model.cached(Dialect::Anthropic, &body),
        owned: model.owned(),
        thought,
    };
    writer.answer(turn, &line)
}

fn check_headers(model: &Model, headers: &HeaderMap) -> Result<(), (u16, &'static str)> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    let key = text("x-api-key").or(bearer);
    if key.is_none() {
        return Err((401, "x-api-key header is required"));
    }
    if !model.takes_key(key) {
        return Err((401, "invalid x-api-key"));
    }
    if text("anthropic-version").is_none() {
        return Err((400, "anthropic-version: header is required"));
    }
    Ok(())
}

/// An error in Anthropic's shape.
fn error(status: u16, kind: Option<&str>, words: &str) -> Response {
    let kind = kind.unwrap_or(match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    });
    let body = json!({ "type": "error", "error": { "type": kind, "message": words } });
    (StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), Json(body)).into_response()
}

struct Writer<'a> {
    number: u64,
    model: &'a str,
    stream: bool,
    asked: usize,
    cached: CacheUsage,
    owned: OwnForm,
    /// What the answer of a family begins with.
    thought: Option<Thought>,
}

impl Writer<'_> {
    fn answer(&self, turn: Turn, line: &Line) -> Response {
        match turn {
            Turn::Text { text }
            | Turn::Drawn { text, .. }
            | Turn::Dripped { text: Some(text), .. } => self.say(&text, &[]),
            Turn::Calls { text, calls } => self.say(&text, &calls),
            Turn::Empty | Turn::Usual | Turn::Dripped { .. } => self.say("", &[]),
            Turn::Refuse { status, message, code, retry_after } => {
                let mut response = error(status, code.as_deref(), &message);
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Turn::OkError { message } => error(200, Some("api_error"), &message),
            Turn::CutStream { text } if self.stream => broken_stream(
                self.start() + &block(0, &json!({ "type": "text", "text": "" }), "text", &text),
            ),
            Turn::Torn { text } if self.stream => whole_stream(self.torn(&text)),
            Turn::Torn { text } => self.say(&text, &[]),
            Turn::Paced { pieces, calls, .. } => self.say(&pieces.concat(), &calls),
            Turn::CutStream { .. } | Turn::HangUp => {
                line.cut();
                StatusCode::BAD_GATEWAY.into_response()
            }
            Turn::Delay { then, .. } => self.answer(*then, line),
        }
    }

    fn say(&self, text: &str, calls: &[ScriptedCall]) -> Response {
        if self.stream {
            return whole_stream(self.events(text, calls));
        }
        let mut content = self.own_blocks(calls);
        if !text.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        for (at, call) in calls.iter().enumerate() {
            // A whole answer is JSON, so arguments that are none come as a text.
            let input = serde_json::from_str(&call.arguments)
                .unwrap_or_else(|_| Value::String(call.arguments.clone()));
            content.push(self.tool_use(at, call, input));
        }
        let mut message = self.message();
        message["content"] = json!(content);
        message["stop_reason"] = json!(stop_reason(calls));
        message["usage"]["output_tokens"] = json!(said(text, calls));
        Json(message).into_response()
    }

    /// No JSON library writes halves of a pair: they take the place of a word.
    fn torn(&self, text: &str) -> String {
        let head = json!({ "type": "text", "text": "" });
        let delta = json!({ "type": "text_delta", "text": "@unit@" });
        let delta = json!({ "type": "content_block_delta", "index": 0, "delta": delta });
        let begin = json!({ "type": "content_block_start", "index": 0, "content_block": head });
        let mut out = self.start() + &event(&begin);
        let delta = event(&delta);
        out.extend(units(text).map(|unit| delta.replace("\"@unit@\"", &unit)));
        out + &stop(0)
            + &event(&json!({
                "type": "message_delta",
                "delta": { "stop_reason": "end_turn", "stop_sequence": null },
                "usage": { "output_tokens": tokens(text) },
            }))
            + &event(&json!({ "type": "message_stop" }))
    }

    fn events(&self, text: &str, calls: &[ScriptedCall]) -> String {
        let mut out = self.start();
        let own = self.own_blocks(calls);
        out.extend(own.iter().enumerate().map(|(index, own)| own_events(index, own)));
        let mut index = own.len();
        if !text.is_empty() {
            out += &block(index, &json!({ "type": "text", "text": "" }), "text", text);
            out += &stop(index);
            index += 1;
        }
        for (at, call) in calls.iter().enumerate() {
            let head = self.tool_use(at, call, json!({}));
            out += &block(index, &head, "partial_json", &call.arguments);
            out += &stop(index);
            index += 1;
        }
        out += &event(&json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason(calls), "stop_sequence": null },
            "usage": { "output_tokens": said(text, calls) },
        }));
        out + &event(&json!({ "type": "message_stop" }))
    }

    /// What stands before words and calls, and is the provider's own.
    fn own_blocks(&self, calls: &[ScriptedCall]) -> Vec<Value> {
        let thinking = |Thought { thinking, signature }| json!({ "type": "thinking", "thinking": thinking, "signature": signature });
        if let Some(thought) = self.thought.clone() {
            return vec![thinking(thought)];
        }
        if self.owned != OwnForm::Thoughts || calls.is_empty() {
            return Vec::new();
        }
        let text = owned::thoughts(self.number);
        let thought = Thought { thinking: text, signature: owned::signature(self.number) };
        vec![thinking(thought), owned::hidden(self.number)]
    }

    fn start(&self) -> String {
        event(&json!({ "type": "message_start", "message": self.message() }))
    }

    fn message(&self) -> Value {
        let CacheUsage { read, written } = self.cached;
        json!({
            "id": format!("msg_{}", self.number), "type": "message", "role": "assistant",
            "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": self.asked.saturating_sub(read + written),
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": read, "output_tokens": 1,
            },
        })
    }

    fn tool_use(&self, at: usize, call: &ScriptedCall, input: Value) -> Value {
        let id = format!("toolu_{}_{at}", self.number);
        json!({ "type": "tool_use", "id": id, "name": call.name, "input": input })
    }
}

/// The events of a block of the provider's own: of a thought its text comes in pieces, and then its signature.
fn own_events(index: usize, own: &Value) -> String {
    if own["type"] != "thinking" {
        let start = json!({ "type": "content_block_start", "index": index, "content_block": own });
        return event(&start) + &stop(index);
    }
    let head = json!({ "type": "thinking", "thinking": "", "signature": "" });
    let signed = json!({ "type": "signature_delta", "signature": own["signature"] });
    let signed = json!({ "type": "content_block_delta", "index": index, "delta": signed });
    let text = own["thinking"].as_str().unwrap_or_default();
    block(index, &head, "thinking", text) + &event(&signed) + &stop(index)
}

/// A content block's start and deltas; `field` is `text`, `thinking` or `partial_json`.
fn block(index: usize, head: &Value, field: &str, text: &str) -> String {
    let start = json!({ "type": "content_block_start", "index": index, "content_block": head });
    let kind = match field {
        "text" => "text_delta",
        "thinking" => "thinking_delta",
        _ => "input_json_delta",
    };
    let mut out = event(&start);
    for piece in pieces(text) {
        let delta = json!({ "type": kind, field: piece });
        out += &event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }
    out
}

fn stop(index: usize) -> String {
    event(&json!({ "type": "content_block_stop", "index": index }))
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn stop_reason(calls: &[ScriptedCall]) -> &'static str {
    if calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn said(text: &str, calls: &[ScriptedCall]) -> usize {
    tokens(text) + calls.iter().map(|call| tokens(&call.arguments)).sum::<usize>()
}
