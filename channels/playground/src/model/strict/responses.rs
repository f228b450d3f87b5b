//! `/responses`, OpenAI's own door, streamed or whole.

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{Family, reasoning, responses_check};
use crate::line::Line;
use crate::model::conversation;
use crate::model::openai::{error, unknown_key};
use crate::model::openai_check::Complaint;
use crate::model::stream::{after_delays, broken_stream, pieces, tokens, whole_stream};
use crate::model::turn::{ScriptedCall, Turn};
use crate::model::{Dialect, Model, ModelRequest, Prompt, fresh};

/// `POST /responses`. Only OpenAI's own servers have it here.
pub(crate) async fn responses(
    State(model): State<Model>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    if model.family() != Some(Family::OpenAi) {
        return error(404, &Complaint::new("Invalid URL (POST /v1/responses)"));
    }
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let body: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let checked = responses_check::check(&body);
    let number = model.record(|_| ModelRequest {
        dialect: Dialect::Responses,
        body: body.clone(),
        refused: checked.as_ref().err().map(|complaint| complaint.message.clone()),
        cut: 0,
    });
    if let Err(complaint) = checked {
        return error(400, &complaint);
    }
    let text = String::from_utf8_lossy(&raw);
    let talk = || conversation::of_responses(&body);
    let messages = conversation::chat_of_input(&body["input"]).into();
    let heard = Prompt { raw: &text, fresh: fresh(&messages), talk: &talk };
    let turn = after_delays(model.next_turn(&heard)).await;
    let includes = body["include"].as_array().map(Vec::as_slice).unwrap_or_default();
    let writer = Writer {
        number,
        created: model.unix_now(),
        model: body["model"].as_str().unwrap_or_default(),
        stream: body["stream"] == true,
        asked: tokens(&text),
        cached: model.cached(Dialect::Responses, &body).read,
        thinks: body["reasoning"]["effort"] != "none",
        encrypted: includes.iter().any(|one| one == "reasoning.encrypted_content"),
    };
    writer.answer(turn, &line)
}

struct Writer<'a> {
    number: u64,
    created: i64,
    model: &'a str,
    stream: bool,
    asked: usize,
    cached: usize,
    thinks: bool,
    encrypted: bool,
}

impl Writer<'_> {
    fn answer(&self, turn: Turn, line: &Line) -> Response {
        match turn {
            Turn::Text { text } | Turn::Torn { text } | Turn::Dripped { text: Some(text), .. } => {
                self.say(&text, &[], &[])
            }
            Turn::Drawn { text, pictures } => self.say(&text, &[], &pictures),
            Turn::Calls { text, calls } => self.say(&text, &calls, &[]),
            Turn::Paced { pieces, calls, .. } => self.say(&pieces.concat(), &calls, &[]),
            // The script gives every turn its words.
            Turn::Empty | Turn::Usual | Turn::Dripped { .. } => self.say("", &[], &[]),
            Turn::Refuse { status, message, code, retry_after } => {
                let mut response = error(status, &Complaint { message, param: None, code });
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Turn::OkError { message } => {
                let error = json!({ "code": "server_error", "message": message });
                let mut failed = self.response("failed", &[], 0);
                failed["error"] = error;
                Json(failed).into_response()
            }
            Turn::CutStream { text } if self.stream => {
                let mut events = Events::default();
                self.begin(&mut events);
                self.message(&mut events, &text, false);
                broken_stream(events.text)
            }
            Turn::CutStream { .. } | Turn::HangUp => {
                line.cut();
                StatusCode::BAD_GATEWAY.into_response()
            }
            Turn::Delay { then, .. } => self.answer(*then, line),
        }
    }

    fn say(&self, text: &str, calls: &[ScriptedCall], pictures: &[String]) -> Response {
        let mut events = Events::default();
        self.begin(&mut events);
        if self.thinks {
            self.think(&mut events);
        }
        for (at, picture) in pictures.iter().enumerate() {
            let result = picture.split_once(',').map_or("", |(_, data)| data);
            let id = format!("ig_{}_{at}", self.number);
            let kind = "image_generation_call";
            events.done(json!({ "id": id, "type": kind, "status": "completed", "result": result }));
        }
        if !text.is_empty() {
            self.message(&mut events, text, calls.is_empty());
        }
        for (at, call) in calls.iter().enumerate() {
            self.call(&mut events, at, call);
        }
        let said: usize = calls.iter().map(|call| tokens(&call.arguments)).sum();
        let whole = self.response("completed", &events.output, said + tokens(text));
        if !self.stream {
            return Json(whole).into_response();
        }
        events.push("response.completed", json!({ "response": whole }));
        whole_stream(events.text)
    }

    fn begin(&self, events: &mut Events) {
        let response = self.response("in_progress", &[], 0);
        events.push("response.created", json!({ "response": response }));
        events.push("response.in_progress", json!({ "response": response }));
    }

    /// The reasoning: what stands in the event that adds it is not complete.
    fn think(&self, events: &mut Events) {
        let mut whole = reasoning::item(self.number);
        let mut begun = whole.clone();
        begun["encrypted_content"] = json!("gAAAAA");
        if !self.encrypted {
            whole["encrypted_content"] = Value::Null;
            begun["encrypted_content"] = Value::Null;
        }
        events.add(&begun);
        events.done(whole);
    }

    fn message(&self, events: &mut Events, text: &str, is_last: bool) {
        let id = format!("msg_{}", self.number);
        let phase = if is_last { "final_answer" } else { "commentary" };
        let item = |status: &str, content: Value| {
            json!({
                "id": id, "type": "message", "status": status, "role": "assistant", "phase": phase,
                "content": content,
            })
        };
        let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
        let at = json!({ "item_id": id, "output_index": events.output.len(), "content_index": 0 });
        let with = |field: &str, value: Value| {
            let mut data = at.clone();
            data[field] = value;
            data
        };
        events.add(&item("in_progress", json!([])));
        events.push("response.content_part.added", with("part", part("")));
        for piece in pieces(text) {
            events.push("response.output_text.delta", with("delta", json!(piece)));
        }
        events.push("response.output_text.done", with("text", json!(text)));
        events.push("response.content_part.done", with("part", part(text)));
        events.done(item("completed", json!([part(text)])));
    }

    fn call(&self, events: &mut Events, at: usize, call: &ScriptedCall) {
        let id = format!("fc_{}_{at}", self.number);
        let call_id = format!("call_{}_{at}", self.number);
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "call_id": call_id,
                "name": call.name, "arguments": arguments,
            })
        };
        let place = json!({ "item_id": id, "output_index": events.output.len() });
        let with = |field: &str, value: &str| {
            let mut data = place.clone();
            data[field] = json!(value);
            data
        };
        events.add(&item("in_progress", ""));
        for piece in pieces(&call.arguments) {
            events.push("response.function_call_arguments.delta", with("delta", piece));
        }
        let done = with("arguments", &call.arguments);
        events.push("response.function_call_arguments.done", done);
        events.done(item("completed", &call.arguments));
    }

    fn response(&self, status: &str, output: &[Value], said: usize) -> Value {
        let thought = if self.thinks { 64 } else { 0 };
        let usage = json!({
            "input_tokens": self.asked, "input_tokens_details": { "cached_tokens": self.cached },
            "output_tokens": said + thought, "output_tokens_details": { "reasoning_tokens": thought },
            "total_tokens": self.asked + said + thought,
        });
        let has_ended = status == "completed";
        json!({
            "id": format!("resp_{}", self.number), "object": "response", "created_at": self.created,
            "status": status, "error": null, "incomplete_details": null, "model": self.model,
            "output": output, "store": false, "usage": has_ended.then_some(usage),
        })
    }
}

/// The events of a stream, in their order, and the items that they complete.
#[derive(Default)]
struct Events {
    text: String,
    count: u64,
    output: Vec<Value>,
}

impl Events {
    fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.count);
        self.count += 1;
        self.text += &format!("event: {kind}\ndata: {data}\n\n");
    }

    fn add(&mut self, item: &Value) {
        let data = json!({ "output_index": self.output.len(), "item": item });
        self.push("response.output_item.added", data);
    }

    fn done(&mut self, item: Value) {
        let data = json!({ "output_index": self.output.len(), "item": item });
        self.push("response.output_item.done", data);
        self.output.push(item);
    }
}
