//! Writes a chat completions request.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::own;
use crate::domain::tool::ToolSpec;
use crate::domain::transcript::Turn;
use crate::llm::Request;
use crate::llm::dialect::{self, Ids, Look};
use crate::llm::profile::Profile;
use crate::llm::refusal::{Refused, What};
use crate::llm::schema::{self, Form};

/// Parts of a request that some servers refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Habits {
    stream: bool,
    stream_options: bool,
    cache_key: bool,
    limit: Limit,
    schemas: Form,
    /// Pictures go along where the profile says that its model sees.
    pub pictures: bool,
    /// The limit's name was changed once; twice would be for ever.
    renamed: bool,
}

/// What a server names when it refuses a keyword of a schema.
const SCHEMA_WORDS: [&str; 9] = [
    "additionalProperties",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "anyOf",
    "oneOf",
    "function_declarations",
    "json_schema",
    "pattern",
    "minLength",
];

/// What the limit of written tokens is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// `max_tokens`, which compatible servers know.
    Old,
    /// `max_completion_tokens`, which OpenAI's newer models demand.
    New,
}

impl Habits {
    /// Begins with what the server should take. `native`: it is OpenAI's own.
    pub const fn new(stream: bool, native: bool) -> Self {
        let limit = if native { Limit::New } else { Limit::Old };
        Self {
            stream,
            stream_options: true,
            cache_key: native,
            limit,
            schemas: Form::Full,
            pictures: true,
            renamed: false,
        }
    }

    /// Returns fewer habits when `refused` is about one of them.
    pub fn without(self, refused: &Refused) -> Option<Self> {
        if self.stream && self.stream_options && refused.names("stream_options") {
            return Some(Self { stream_options: false, ..self });
        }
        if self.cache_key && refused.names("prompt_cache_key") {
            return Some(Self { cache_key: false, ..self });
        }
        if self.pictures && is_about_pictures(refused) {
            return Some(Self { pictures: false, ..self });
        }
        let name = refused.names("max_completion_tokens") && !is_about_size(refused);
        if !self.renamed && self.limit == Limit::Old && name {
            return Some(Self { limit: Limit::New, renamed: true, ..self });
        }
        if !self.renamed && self.limit == Limit::New && name {
            return Some(Self { limit: Limit::Old, renamed: true, ..self });
        }
        if self.schemas == Form::Full && SCHEMA_WORDS.iter().any(|word| refused.names(word)) {
            return Some(Self { schemas: Form::Plain, ..self });
        }
        if self.stream && refused.names("stream") {
            return Some(Self { stream: false, ..self });
        }
        None
    }
}

/// Whether a number is too large, and not its name unknown.
fn is_about_size(refused: &Refused) -> bool {
    let says = refused.says.to_lowercase();
    ["too large", "at most", "maximum", "less than", "exceed"].iter().any(|w| says.contains(w))
}

/// Whether pictures are refused, and not one of them.
fn is_about_pictures(refused: &Refused) -> bool {
    const REFUSAL: [&str; 7] = [
        "support",
        "unknown variant",
        "not a multimodal",
        "not enabled",
        "at most 0",
        "missing",
        "cannot see",
    ];
    const ONE: [&str; 4] = ["format", "media type", "mime", "decode"];
    let says = refused.says.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| says.contains(word));
    matches!(refused.what, What::Status(400 | 404 | 415 | 422 | 500 | 501))
        && has(&["image", "vision", "multimodal"])
        && has(&REFUSAL)
        && !has(&ONE)
}

/// A request's body. The tools are the shape's own bytes: nothing is written twice.
#[derive(Serialize)]
pub(super) struct Body<'a> {
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
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

/// Writes the body; `most` tokens of answer.
///
/// # Errors
/// When a tool's schema cannot be written.
pub(super) fn body<'a>(
    profile: &'a Profile,
    request: &'a Request,
    habits: Habits,
    most: u32,
) -> serde_json::Result<Body<'a>> {
    let tools = match request.tools.specs() {
        [] => None,
        _ => Some(match habits.schemas {
            Form::Full => request.tools.serialized("openai", |s| tools(s, Form::Full))?,
            Form::Plain => request.tools.serialized("openai plain", |s| tools(s, Form::Plain))?,
        }),
    };
    Ok(Body {
        model: &profile.model,
        messages: messages(request, profile, profile.card.sees_images && habits.pictures),
        tool_choice: (tools.is_some() && !request.may_call).then_some("none"),
        tools,
        max_tokens: (habits.limit == Limit::Old).then_some(most),
        max_completion_tokens: (habits.limit == Limit::New).then_some(most),
        stream: habits.stream,
        stream_options: (habits.stream && habits.stream_options)
            .then(|| json!({ "include_usage": true })),
        prompt_cache_key: habits.cache_key.then_some(request.cache_key.as_str()),
    })
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
    let words = format!("[The picture that {id} answered with]");
    [json!({ "type": "text", "text": words }), picture(look)]
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

fn messages(request: &Request, profile: &Profile, sees: bool) -> Vec<Value> {
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
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::usage::Usage;
    use crate::llm::tests::scripted::request;

    #[test]
    fn openai_itself_gets_its_own_words_and_others_the_common_ones() {
        let card = crate::llm::Card { name: "m".to_owned(), context: 1, sees_images: true };
        let (name, at, model) = ("p".to_owned(), "llm".to_owned(), "m".to_owned());
        let origin = Arc::default();
        let profile = Profile { card, name, at, model, origin, max_output: None, stream: true };
        let keys = |native| {
            let asked = request(1);
            let body = body(&profile, &asked, Habits::new(true, native), 9).expect("a body");
            let body = serde_json::to_value(body).expect("JSON");
            body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            keys(true),
            "model messages max_completion_tokens stream stream_options prompt_cache_key"
        );
        assert_eq!(keys(false), "model messages max_tokens stream stream_options");
    }

    #[test]
    fn no_habit_is_given_up_for_words_that_only_sound_like_it() {
        let refused = |says: &str| {
            let (what, says) = (What::Status(400), says.to_owned());
            Refused { what, says, retry_after: None, usage: Usage::default() }
        };
        let habits = Habits::new(true, true);
        assert_eq!(habits.without(&refused("the upstream is down")), None);
        let large = "max_completion_tokens is too large: 32768. This model supports at most 16384";
        assert_eq!(habits.without(&refused(large)), None);
        assert!(habits.without(&refused("`stream` is not supported")).is_some());
    }

    #[test]
    fn a_server_that_sees_nothing_gets_no_pictures() {
        let pictures = |says: &str| {
            let (what, says) = (What::Status(400), says.to_owned());
            let refused = Refused { what, says, retry_after: None, usage: Usage::default() };
            Habits::new(true, false).without(&refused).is_none_or(|fewer| fewer.pictures)
        };
        for says in [
            "image input is not supported - hint: provide the mmproj",
            "unknown variant `image_url`, expected `text`",
            "m is not a multimodal model",
            "At most 0 image(s) may be provided in one prompt.",
            "No endpoints found that support image input",
        ] {
            assert!(!pictures(says), "{says}");
        }
        for says in [
            "Unsupported image format: TIFF",
            "could not decode image",
            "image exceeds 5 MB maximum",
            "upstream error",
        ] {
            assert!(pictures(says), "{says}");
        }
    }
}
