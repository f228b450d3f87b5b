//! Writes a Messages request: roles alternate, all answers of one turn stand in one message, and what
//! stays the same is marked for the provider's cache.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::reply::PartialReply;
use crate::Request;
use crate::adapter::Dialect;
use crate::dialect::{self, Ids, Look, Replay};
use crate::habits::{Habits, Part};
use crate::profile::Profile;
use crate::schema::{self, Form};
use selkie_domain::effort::Effort;
use selkie_domain::tool::ToolSpec;
use selkie_domain::transcript::Turn;

/// Said where the API wants the person's side and there is none.
const EARLIER: &str = "(earlier conversation)";
const GO_ON: &str = "(go on)";
/// An empty text block is refused.
const NOTHING: &str = "(empty)";

/// A request's body.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    messages: Vec<Value>,
    stream: bool,
}

/// Messages.
pub(crate) struct Messages;

impl Dialect for Messages {
    type Body<'a> = Body<'a>;
    type ReplyReader = PartialReply;
    const PATH: &'static str = "/messages";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Body<'a>> {
        let system = &*request.system;
        let system = json!([{ "type": "text", "text": system, "cache_control": cached() }]);
        let (tools, tool_choice) = tools(request)?;
        let effort = habits.effort(profile.effort(request), tools.is_some());
        let level = effort.filter(|effort| *effort != Effort::None);
        Ok(Body {
            model: &profile.model,
            max_tokens: profile.most(request),
            system: (!request.system.trim().is_empty()).then_some(system),
            tools,
            tool_choice: tool_choice.filter(|_| habits.has(Part::ToolChoice)),
            thinking: thinking(effort, habits),
            output_config: level.map(|effort| json!({ "effort": effort })),
            messages: messages(request, habits, profile),
            stream: habits.has(Part::Stream),
        })
    }

    fn beta(habits: Habits) -> Option<&'static str> {
        habits.drops_bound.then_some("thinking-binding-controls-2026-08-01")
    }
}

/// Whether it thinks; nothing leaves that to the provider. Only a model that thinks has thoughts to drop.
fn thinking(effort: Option<Effort>, habits: Habits) -> Option<Value> {
    if habits.drops_bound {
        let drop = json!({ "prefix_mismatch_behavior": "drop_block" });
        return Some(json!({ "type": "adaptive", "block_binding": drop }));
    }
    let effort = effort.filter(|_| habits.has(Part::Thinking))?;
    let kind = if effort == Effort::None { "disabled" } else { "adaptive" };
    Some(json!({ "type": kind }))
}

fn cached() -> Value {
    json!({ "type": "ephemeral" })
}

/// The block; where it is empty and the history has calls, stand-ins for their names, because calls
/// without a list of tools are refused, and the word that none may be used.
fn tools(request: &Request) -> serde_json::Result<(Option<Arc<RawValue>>, Option<Value>)> {
    if !request.tools.specs().is_empty() {
        let choice = (!request.may_call).then(|| json!({ "type": "none" }));
        return Ok((Some(request.tools.serialized("anthropic", listed)?), choice));
    }
    let names = dialect::called_names(&request.turns);
    if names.is_empty() {
        return Ok((None, None));
    }
    let stand_in = |name: &String| {
        json!({ "name": name, "description": "Not available now.",
                "input_schema": { "type": "object" }})
    };
    let list: Vec<Value> = names.iter().map(stand_in).collect();
    Ok((Some(to_raw_value(&list)?.into()), Some(json!({ "type": "none" }))))
}

fn listed(specs: &[Arc<ToolSpec>]) -> Value {
    let tool = |spec: &Arc<ToolSpec>| {
        json!({
            "name": spec.name,
            "description": spec.description,
            "input_schema": schema::parameters(&spec.parameters, Form::Full),
        })
    };
    let mut list: Vec<Value> = specs.iter().map(tool).collect();
    if let Some(last) = list.last_mut() {
        last["cache_control"] = cached();
    }
    list.into()
}

fn messages(request: &Request, habits: Habits, profile: &Profile) -> Vec<Value> {
    let sees = habits.sees(profile);
    let turns = &request.turns;
    let mut writer = Writer::default();
    let mut ids = Ids::default();
    if turns.first().and_then(Turn::user).is_none() {
        writer.say("user", EARLIER);
    }
    for turn in turns {
        match turn {
            Turn::User(text) => writer.say("user", text),
            Turn::Shown { text, pictures } => {
                let (words, looks) = dialect::shown(text, pictures, request, sees);
                looks.iter().for_each(|look| writer.block("user", picture(look)));
                writer.say("user", &words);
            }
            Turn::Assistant(text) => writer.say("assistant", text),
            Turn::Calls { text, calls, own } => {
                let replays = ids.replay(calls);
                let own = profile.read_own(own.as_ref()).and_then(|own| as_it_came(own, &replays));
                match own {
                    Some(blocks) => {
                        blocks.into_iter().for_each(|block| writer.block("assistant", block));
                    }
                    None => writer.asked(text, &replays),
                }
                writer.answers(&replays, request, sees);
            }
        }
    }
    if matches!(turns.last(), Some(Turn::Assistant(_))) {
        writer.say("user", GO_ON);
    }
    writer.finish()
}

fn picture(look: &Look<'_>) -> Value {
    json!({ "type": "image", "source":
            { "type": "base64", "media_type": look.mime, "data": look.base64 }})
}

/// Words and pictures of one answer.
fn shown(words: &str, looks: &[Look<'_>]) -> Value {
    let words = json!({ "type": "text", "text": words });
    std::iter::once(words).chain(looks.iter().map(picture)).collect()
}

fn tool_use(Replay { id, call, .. }: &Replay<'_>) -> Value {
    let name = dialect::safe_name(&call.name);
    let input = dialect::replayed(&call.arguments);
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

/// The blocks of an answer as the provider has written them, with the calls under the ids of this request.
fn as_it_came(own: Value, replays: &[Replay<'_>]) -> Option<Vec<Value>> {
    dialect::as_it_came(own, "tool_use", replays, |block, replay| {
        if let Value::Object(fields) = tool_use(replay) {
            fields.into_iter().for_each(|(field, value)| block[field] = value);
        }
    })
}

/// Joins blocks of one role into one message.
#[derive(Default)]
struct Writer {
    messages: Vec<(&'static str, Vec<Value>)>,
}

impl Writer {
    fn block(&mut self, role: &'static str, block: Value) {
        match self.messages.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => self.messages.push((role, vec![block])),
        }
    }

    fn say(&mut self, role: &'static str, text: &str) {
        let text = if text.trim().is_empty() { NOTHING } else { text };
        self.block(role, json!({ "type": "text", "text": text }));
    }

    fn asked(&mut self, text: &str, replays: &[Replay<'_>]) {
        if !text.trim().is_empty() {
            self.say("assistant", text);
        }
        replays.iter().for_each(|replay| self.block("assistant", tool_use(replay)));
    }

    fn answers(&mut self, replays: &[Replay<'_>], request: &Request, sees: bool) {
        for Replay { id, answer, .. } in replays {
            let (words, looks) = dialect::answered(answer, request, sees);
            let words = if words.trim().is_empty() { NOTHING } else { &*words };
            let content = if looks.is_empty() { json!(words) } else { shown(words, &looks) };
            let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            if answer.is_error {
                block["is_error"] = json!(true);
            }
            self.block("user", block);
        }
    }

    /// Marks the last block: the next step of the same task reads everything before it from the cache.
    fn finish(mut self) -> Vec<Value> {
        if let Some(block) = self.messages.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
            block["cache_control"] = cached();
        }
        self.messages
            .into_iter()
            .map(|(role, blocks)| json!({ "role": role, "content": blocks }))
            .collect()
    }
}
