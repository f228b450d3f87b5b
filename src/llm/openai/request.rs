//! Writes a chat completions request.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::own;
use super::reply::PartialReply;
use crate::Request;
use crate::adapter::Dialect;
use crate::dialect::{self, Ids, Look};
use crate::habits::{Habits, Limit, Part};
use crate::profile::Profile;
use crate::refusal::ProviderRefusal;
use crate::schema::{self, Form};
use selkie_domain::effort::Effort;
use selkie_domain::tool::ToolSpec;
use selkie_domain::transcript::Turn;

/// A request's body. The tools are the shape's own bytes: nothing is written twice.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<Effort>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

/// Chat completions.
pub(crate) struct Chat;

impl Dialect for Chat {
    type Body<'a> = Body<'a>;
    type ReplyReader = PartialReply;
    const PATH: &'static str = "/chat/completions";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Body<'a>> {
        let tools = match request.tools.specs() {
            [] => None,
            _ => Some(match habits.schemas {
                Form::Full => request.tools.serialized("openai", |s| tools(s, Form::Full))?,
                Form::Plain => {
                    request.tools.serialized("openai plain", |s| tools(s, Form::Plain))?
                }
            }),
        };
        let most = profile.most(request);
        let says_none = tools.is_some() && !request.may_call && habits.has(Part::ToolChoice);
        Ok(Body {
            model: &profile.model,
            messages: messages(request, habits, profile),
            tool_choice: says_none.then_some("none"),
            reasoning_effort: habits.effort(profile.effort(request), tools.is_some()),
            tools,
            max_tokens: (habits.limit == Limit::Old).then_some(most),
            max_completion_tokens: (habits.limit == Limit::New).then_some(most),
            stream: habits.has(Part::Stream),
            stream_options: (habits.has(Part::Stream) && habits.has(Part::StreamOptions))
                .then(|| json!({ "include_usage": true })),
            prompt_cache_key: habits.has(Part::CacheKey).then_some(request.cache_key.as_str()),
        })
    }

    fn leads_elsewhere(refused: &ProviderRefusal) -> bool {
        refused.leads_to("/responses", "responses api")
    }
}

fn tools(specs: &[Arc<ToolSpec>], form: Form) -> Value {
    let tool = |spec: &Arc<ToolSpec>| {
        json!({ "type": "function", "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": schema::parameters(&spec.parameters, form),
        }})
    };
    specs.iter().map(tool).collect()
}

fn picture(look: &Look<'_>) -> Value {
    let url = format!("data:{};base64,{}", look.mime, look.base64);
    // Left to itself, a model may look at a photo for five times as many tokens.
    json!({ "type": "image_url", "image_url": { "url": url, "detail": "high" } })
}

/// A picture, named by the call it belongs to.
fn shown(id: &str, look: &Look<'_>) -> [Value; 2] {
    [json!({ "type": "text", "text": dialect::picture_of(id) }), picture(look)]
}

/// A person's message with its pictures.
fn message(words: &str, looks: &[Look<'_>]) -> Value {
    if looks.is_empty() {
        return json!({ "role": "user", "content": words });
    }
    let words = json!({ "type": "text", "text": words });
    let content: Vec<Value> = std::iter::once(words).chain(looks.iter().map(picture)).collect();
    json!({ "role": "user", "content": content })
}

fn messages(request: &Request, habits: Habits, profile: &Profile) -> Vec<Value> {
    let sees = habits.sees(profile);
    let mut ids = Ids::default();
    let mut messages = vec![json!({ "role": "system", "content": &*request.system })];
    for turn in &request.turns {
        match turn {
            Turn::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Turn::Shown { text, pictures } => {
                let (words, looks) = dialect::shown(text, pictures, request, sees);
                messages.push(message(&words, &looks));
            }
            Turn::Assistant(text) => messages.push(json!({ "role": "assistant", "content": text })),
            Turn::Calls { text, calls, own } => {
                let replays = ids.replay(calls);
                let asked: Vec<Value> = replays
                    .iter()
                    .map(|r| {
                        let arguments = dialect::replayed(&r.call.arguments).to_string();
                        let name = dialect::safe_name(&r.call.name);
                        json!({ "id": r.id, "type": "function",
                                "function": { "name": name, "arguments": arguments }})
                    })
                    .collect();
                let content = if text.is_empty() { Value::Null } else { json!(text) };
                let mut message =
                    json!({ "role": "assistant", "content": content, "tool_calls": asked });
                if let Some(own) = profile.read_own(own.as_ref()) {
                    own::put_back(&mut message, own);
                }
                messages.push(message);
                let mut seen = Vec::new();
                for replay in &replays {
                    let (words, looks) = dialect::answered(replay.answer, request, sees);
                    messages.push(
                        json!({ "role": "tool", "tool_call_id": replay.id, "content": words }),
                    );
                    seen.extend(looks.iter().flat_map(|look| shown(&replay.id, look)));
                }
                // Answers of calls hold words alone here: pictures follow in the person's name.
                if !seen.is_empty() {
                    messages.push(json!({ "role": "user", "content": seen }));
                }
            }
        }
    }
    own::fill(&mut messages, habits);
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::request;

    #[test]
    fn openai_itself_gets_its_own_words_and_others_the_common_ones() {
        let card = crate::Card { name: "m".to_owned(), context: 1, sees_images: true };
        let (name, at, model) = ("p".to_owned(), "llm".to_owned(), "m".to_owned());
        let origin = Arc::default();
        let profile = Profile { card, name, at, model, origin, effort: None, max_output: None };
        let keys = |native| {
            let asked = request(1);
            let body = Chat::body(&profile, &asked, Habits::chat(true, native)).expect("a body");
            let body = serde_json::to_value(body).expect("JSON");
            body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            keys(true),
            "model messages max_completion_tokens stream stream_options prompt_cache_key"
        );
        assert_eq!(keys(false), "model messages max_tokens stream stream_options");
    }
}
