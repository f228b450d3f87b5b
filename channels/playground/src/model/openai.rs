//! `/chat/completions` in OpenAI's dialect, streamed or whole.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::openai_check::Complaint;
use super::owned::{self, OwnForm};
use super::stream::{
    after_delays, broken_stream, dripped_stream, paced_stream, pieces, tokens, whole_stream,
};
use super::turn::{ScriptedCall, Turn, units};
use super::{Dialect, Family, Model, ModelRequest, Prompt, conversation, fresh, strict};
use crate::line::Line;

/// `GET /models`.
pub(crate) async fn models() -> Json<Value> {
    let model =
        json!({ "id": "playground", "object": "model", "created": 0, "owned_by": "selkie" });
    Json(json!({ "object": "list", "data": [model] }))
}

/// Refuses a request whose key is not the one that is taken.
pub(super) fn unknown_key(model: &Model, headers: &HeaderMap) -> Option<Response> {
    let key = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let is_known = model.takes_key(key.and_then(|value| value.strip_prefix("Bearer ")));
    let complaint = Complaint::new("Incorrect API key provided.").with_code("invalid_api_key");
    (!is_known).then(|| error(401, &complaint))
}

/// `POST /chat/completions`.
pub(crate) async fn chat(
    State(model): State<Model>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let mut body: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let family = model.family();
    let owned = |()| model.owned().check_openai(&body["messages"]).map_err(Complaint::new);
    let checked = strict::check_chat(family, &body).and_then(owned);
    let sent = body.clone();
    let is_cut = family == Some(Family::Local) && checked.is_ok();
    let cut = if is_cut { strict::fit(&mut body) } else { 0 };
    let number = model.record(|_| ModelRequest {
        dialect: Dialect::OpenAi,
        body: sent,
        refused: checked.as_ref().err().map(|complaint| complaint.message.clone()),
        cut,
    });
    if let Err(complaint) = checked {
        return refusal(family, 400, &complaint);
    }
    let text = if is_cut { body.to_string().into() } else { String::from_utf8_lossy(&raw) };
    let talk = || conversation::of_chat(&body);
    let heard = Prompt { raw: &text, fresh: fresh(&body["messages"]), talk: &talk };
    let turn = after_delays(model.next_turn(&heard)).await;
    let writer = Writer {
        number,
        created: model.unix_now(),
        model: body["model"].as_str().unwrap_or_default(),
        stream: body["stream"] == true,
        usage: body["stream_options"]["include_usage"] == true,
        asked: if is_cut { strict::size(&body) } else { tokens(&text) },
        cached: model.cached(Dialect::OpenAi, &body).read,
        pace: model.pace(),
        owned: model.owned(),
        family,
    };
    writer.answer(turn, &line)
}

/// An error in OpenAI's shape.
pub(super) fn error(status: u16, complaint: &Complaint) -> Response {
    refusal(None, status, complaint)
}

/// An error in the shape of a family.
fn refusal(family: Option<Family>, status: u16, complaint: &Complaint) -> Response {
    let kind = match status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let body = json!({ "error": {
        "message": complaint.message, "type": kind, "param": complaint.param, "code": complaint.code,
    }});
    let body = strict::error_body(family, status, body);
    (StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), Json(body)).into_response()
}

struct Writer<'a> {
    number: u64,
    created: i64,
    model: &'a str,
    stream: bool,
    usage: bool,
    asked: usize,
    cached: usize,
    pace: Arc<Semaphore>,
    owned: OwnForm,
    family: Option<Family>,
}

impl Writer<'_> {
    fn answer(&self, turn: Turn, line: &Line) -> Response {
        match turn {
            Turn::Text { text } => self.say(&text, &[]),
            Turn::Drawn { text, pictures } => self.draw(&text, &pictures),
            Turn::Calls { text, calls } => self.say(&text, &calls),
            Turn::Dripped { text: Some(text), ms } if self.stream => {
                let mut events: Vec<String> =
                    pieces(&text).iter().map(|p| self.delta(&json!({ "content": p }))).collect();
                events.push(self.events("", &[]));
                dripped_stream(events, Duration::from_millis(ms))
            }
            Turn::Dripped { text: Some(text), .. } => self.say(&text, &[]),
            // The script gives every turn its words.
            Turn::Empty | Turn::Usual | Turn::Dripped { .. } => self.say("", &[]),
            Turn::Refuse { status, message, code, retry_after } => {
                let complaint = Complaint { message, param: None, code };
                let mut response = refusal(self.family, status, &complaint);
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Turn::OkError { message } => {
                let body = json!({ "error": { "message": message, "type": "server_error" } });
                Json(body).into_response()
            }
            Turn::CutStream { text } if self.stream => {
                broken_stream(self.delta(&json!({ "role": "assistant", "content": text })))
            }
            Turn::Torn { text } if self.stream => whole_stream(self.torn(&text)),
            Turn::Torn { text } => self.say(&text, &[]),
            Turn::Paced { pieces, calls, breaks } if self.stream => {
                let delta = |piece: &String| self.delta(&json!({ "content": piece }));
                let ends = (!breaks).then(|| self.events("", &calls));
                paced_stream(pieces.iter().map(delta).collect(), ends, Arc::clone(&self.pace))
            }
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
            whole_stream(self.events(text, calls))
        } else {
            self.whole(text, calls, &Value::Null)
        }
    }

    /// Pictures stand beside the content, as OpenRouter has them.
    fn draw(&self, text: &str, pictures: &[String]) -> Response {
        let part = |url: &String| json!({ "type": "image_url", "image_url": { "url": url } });
        let images: Value = pictures.iter().map(part).collect();
        if !self.stream {
            return self.whole(text, &[], &images);
        }
        whole_stream(
            self.delta(&json!({ "content": "", "images": images })) + &self.events(text, &[]),
        )
    }

    fn whole(&self, text: &str, calls: &[ScriptedCall], images: &Value) -> Response {
        let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
        if !calls.is_empty() {
            let calls: Vec<Value> =
                calls.iter().enumerate().map(|(at, call)| self.call(at, call)).collect();
            message["tool_calls"] = json!(calls);
            if text.is_empty() {
                message["content"] = Value::Null;
            }
        }
        if !images.is_null() {
            message["images"] = images.clone();
        }
        if self.thinks(calls) {
            message["reasoning_content"] = json!(owned::thoughts(self.number));
        }
        let choice = json!({
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish(calls),
        });
        Json(json!({
            "id": self.id(), "object": "chat.completion", "created": self.created,
            "model": self.model, "choices": [choice], "usage": self.usage_of(text, calls),
        }))
        .into_response()
    }

    /// Whether there are thoughts beside the answer: of a family that thinks beside every one.
    fn thinks(&self, calls: &[ScriptedCall]) -> bool {
        self.owned == OwnForm::Thoughts && (self.family.is_some() || !calls.is_empty())
    }

    fn call(&self, at: usize, call: &ScriptedCall) -> Value {
        self.marked(
            at,
            json!({
                "id": self.call_id(at), "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            }),
        )
    }

    fn marked(&self, at: usize, mut call: Value) -> Value {
        if self.owned == OwnForm::Marks && at == 0 {
            call["extra_content"] = owned::mark(self.number);
        }
        call
    }

    fn events(&self, text: &str, calls: &[ScriptedCall]) -> String {
        let mut out = self.delta(&json!({ "role": "assistant", "content": "" }));
        if self.thinks(calls) {
            for piece in pieces(&owned::thoughts(self.number)) {
                out += &self.delta(&json!({ "reasoning_content": piece }));
            }
        }
        for piece in pieces(text) {
            out += &self.delta(&json!({ "content": piece }));
        }
        for (at, call) in calls.iter().enumerate() {
            let head = self.marked(
                at,
                json!({
                    "index": at, "id": self.call_id(at), "type": "function",
                    "function": { "name": call.name, "arguments": "" },
                }),
            );
            out += &self.delta(&json!({ "tool_calls": [head] }));
            for piece in pieces(&call.arguments) {
                let part = json!({ "index": at, "function": { "arguments": piece } });
                out += &self.delta(&json!({ "tool_calls": [part] }));
            }
        }
        let last = json!([{ "index": 0, "delta": {}, "finish_reason": finish(calls) }]);
        out += &self.event(&last, None);
        if self.usage {
            out += &self.event(&json!([]), Some(self.usage_of(text, calls)));
        }
        out + "data: [DONE]\n\n"
    }

    /// No JSON library writes halves of a pair: they take the place of a word.
    fn torn(&self, text: &str) -> String {
        let event = self.delta(&json!({ "content": "@unit@" }));
        let out: String = units(text).map(|unit| event.replace("\"@unit@\"", &unit)).collect();
        out + &self.events("", &[])
    }

    fn delta(&self, delta: &Value) -> String {
        self.event(&json!([{ "index": 0, "delta": delta, "finish_reason": null }]), None)
    }

    fn event(&self, choices: &Value, usage: Option<Value>) -> String {
        let mut chunk = json!({
            "id": self.id(), "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices,
        });
        if self.usage {
            chunk["usage"] = usage.unwrap_or_default();
        }
        format!("data: {chunk}\n\n")
    }

    fn usage_of(&self, text: &str, calls: &[ScriptedCall]) -> Value {
        let said: usize = calls.iter().map(|call| tokens(&call.arguments)).sum();
        let said = said + tokens(text);
        json!({
            "prompt_tokens": self.asked, "completion_tokens": said,
            "total_tokens": self.asked + said, "prompt_tokens_details": { "cached_tokens": self.cached },
        })
    }

    fn id(&self) -> String {
        format!("chatcmpl-{}", self.number)
    }

    fn call_id(&self, at: usize) -> String {
        format!("call_{}_{at}", self.number)
    }
}

fn finish(calls: &[ScriptedCall]) -> &'static str {
    if calls.is_empty() { "stop" } else { "tool_calls" }
}
