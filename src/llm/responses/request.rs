//! Writes a Responses request: a list of items, each answer as the items it came in.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reply::PartialReply;
use crate::Request;
use crate::adapter::Dialect;
use crate::dialect::{self, Ids, Look, Replay};
use crate::habits::{Habits, Part};
use crate::profile::Profile;
use crate::refusal::ProviderRefusal;
use crate::schema::{self, Form};
use selkie_domain::tool::ToolSpec;
use selkie_domain::transcript::Turn;

/// A request's body.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    store: bool,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

/// Responses.
pub(crate) struct Responses;

impl Dialect for Responses {
    type Body<'a> = Body<'a>;
    type ReplyReader = PartialReply;
    const PATH: &'static str = "/responses";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Body<'a>> {
        let tools = match request.tools.specs() {
            [] => None,
            _ => Some(match habits.schemas {
                Form::Full => request.tools.serialized("responses", |s| tools(s, Form::Full))?,
                Form::Plain => {
                    request.tools.serialized("responses plain", |s| tools(s, Form::Plain))?
                }
            }),
        };
        let effort = habits.effort(profile.effort(request), tools.is_some());
        let says_none = tools.is_some() && !request.may_call && habits.has(Part::ToolChoice);
        let cache_key = Some(request.cache_key.as_str()).filter(|key| !key.is_empty());
        Ok(Body {
            model: &profile.model,
            instructions: &request.system,
            input: input(request, habits, profile),
            tool_choice: says_none.then_some("none"),
            tools,
            max_output_tokens: profile.most(request),
            reasoning: effort.map(|effort| json!({ "effort": effort })),
            include: habits.has(Part::Include).then_some(["reasoning.encrypted_content"]),
            store: false,
            stream: habits.has(Part::Stream),
            prompt_cache_key: cache_key.filter(|_| habits.has(Part::CacheKey)),
        })
    }

    fn leads_elsewhere(refused: &ProviderRefusal) -> bool {
        refused.is_nowhere() || refused.leads_to("chat/completions", "chat completions")
    }
}

fn tools(specs: &[Arc<ToolSpec>], form: Form) -> Value {
    let tool = |spec: &Arc<ToolSpec>| {
        json!({
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": schema::parameters(&spec.parameters, form),
            "strict": false,
        })
    };
    specs.iter().map(tool).collect()
}

fn input(request: &Request, habits: Habits, profile: &Profile) -> Vec<Value> {
    let sees = habits.sees(profile);
    let phase = habits.has(Part::Phase);
    let mut ids = Ids::default();
    let mut items = Vec::new();
    for turn in &request.turns {
        match turn {
            Turn::User(text) => items.push(message(text, &[])),
            Turn::Shown { text, pictures } => {
                let (words, looks) = dialect::shown(text, pictures, request, sees);
                items.push(message(&words, &looks));
            }
            Turn::Assistant(text) => items.push(said(text, phase.then_some("final_answer"))),
            Turn::Calls { text, calls, own } => {
                let replays = ids.replay(calls);
                let own = profile.read_own(own.as_ref());
                match own.and_then(|own| as_it_came(own, &replays)) {
                    Some(own) => items.extend(own),
                    None => {
                        let words = Some(text).filter(|text| !text.trim().is_empty());
                        items.extend(words.map(|text| said(text, phase.then_some("commentary"))));
                        items.extend(replays.iter().map(call));
                    }
                }
                items.extend(answers(&replays, request, sees));
            }
        }
    }
    items
}

/// What calls were answered. Pictures follow in the person's name: not every server takes them inside an answer.
fn answers(replays: &[Replay<'_>], request: &Request, sees: bool) -> Vec<Value> {
    let mut items = Vec::new();
    let mut seen = Vec::new();
    for Replay { id, answer, .. } in replays {
        let (words, looks) = dialect::answered(answer, request, sees);
        items.push(json!({ "type": "function_call_output", "call_id": id, "output": words }));
        for look in &looks {
            seen.extend([text(&dialect::picture_of(id)), picture(look)]);
        }
    }
    if !seen.is_empty() {
        items.push(json!({ "type": "message", "role": "user", "content": seen }));
    }
    items
}

fn text(words: &str) -> Value {
    json!({ "type": "input_text", "text": words })
}

fn picture(look: &Look<'_>) -> Value {
    let url = format!("data:{};base64,{}", look.mime, look.base64);
    json!({ "type": "input_image", "image_url": url, "detail": "high" })
}

/// A person's message with its pictures.
fn message(words: &str, looks: &[Look<'_>]) -> Value {
    let content: Vec<Value> =
        std::iter::once(text(words)).chain(looks.iter().map(picture)).collect();
    json!({ "type": "message", "role": "user", "content": content })
}

/// The model's own words.
fn said(words: &str, phase: Option<&str>) -> Value {
    let content = json!([{ "type": "output_text", "text": words }]);
    let mut item = json!({ "type": "message", "role": "assistant", "content": content });
    if let Some(phase) = phase {
        item["phase"] = phase.into();
    }
    item
}

fn call(Replay { id, call, .. }: &Replay<'_>) -> Value {
    let name = dialect::safe_name(&call.name);
    let arguments = dialect::replayed(&call.arguments).to_string();
    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
}

/// The items of an answer as they came, with the calls under the ids of this request.
fn as_it_came(own: Value, replays: &[Replay<'_>]) -> Option<Vec<Value>> {
    dialect::as_it_came(own, "function_call", replays, |item, replay| {
        item["call_id"] = replay.id.as_str().into();
        item["name"] = dialect::safe_name(&replay.call.name).into();
    })
}
