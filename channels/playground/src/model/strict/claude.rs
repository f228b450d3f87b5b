//! Anthropic's models that think, and those whose thoughts are bound to what stood before them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::Family;
use crate::model::owned::{self, NO_THINKING, asks, says};

/// The beta that lets a request say what becomes of thoughts that do not fit.
const CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// A thought in front of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Thought {
    /// Its text.
    pub(crate) thinking: String,
    /// What proves it.
    pub(crate) signature: String,
}

/// Checks a request and makes the thought of its answer; `number` is the request's.
pub(crate) fn check(
    family: Family,
    body: &Value,
    headers: &HeaderMap,
    number: u64,
) -> Result<Thought, String> {
    check_parameters(body)?;
    let drops = drops(body, headers)?;
    let is_bound = family == Family::ClaudeBound;
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let turn = messages.iter().rposition(says).unwrap_or_default();
    let mut prefix = Prefix::new(body);
    let mut last = None;
    let mut is_dropped = false;
    for (at, message) in messages.iter().enumerate() {
        let text = [json!({ "type": "text", "text": message["content"] })];
        let blocks = message["content"].as_array().map_or(&text[..], Vec::as_slice);
        for (number, block) in blocks.iter().enumerate() {
            if block["type"] != "thinking" {
                prefix.take(&message["role"], block);
                continue;
            }
            let place =
                format!("messages.{at}.content.{number}: Invalid `signature` in `thinking` block");
            let signed = SignatureClaims::read(block).filter(|signed| signed.is_bound == is_bound);
            let signed = signed.ok_or_else(|| place.clone())?;
            let is_chained = last.is_none_or(|last| last == signed.last);
            let fits = !is_bound || (signed.prefix == prefix.hash() && is_chained);
            if !fits && !drops {
                return Err(format!(
                    "{place}. The block is bound to a different conversation. Remove the block, or set \
                     `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
                ));
            }
            is_dropped |= !fits;
            last = Some(signed.number);
        }
        let is_begun = blocks.first().is_some_and(|block| block["type"] == "thinking");
        // https://platform.claude.com/docs/en/build-with-claude/thinking#preserving-thinking-blocks: those of earlier
        // turns may be left out, those of the present one not.
        if at > turn && message["role"] == "assistant" && asks(blocks) && !is_begun && !is_dropped {
            return Err(format!("messages.{at}.content.0.type: {NO_THINKING}"));
        }
    }
    let signed =
        SignatureClaims { number, prefix: prefix.hash(), last: last.unwrap_or(0), is_bound };
    Ok(Thought { thinking: signed.thinking(), signature: signed.signature() })
}

/// What these models do not take: <https://platform.claude.com/docs/en/about-claude/models/migration-guide> and
/// <https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking>.
fn check_parameters(body: &Value) -> Result<(), String> {
    let has = |name: &&str| body.get(name).is_some_and(|value| !value.is_null());
    if let Some(name) = ["temperature", "top_p", "top_k"].into_iter().find(has) {
        return Err(format!("`{name}` is deprecated for this model."));
    }
    let thinking = &body["thinking"];
    if thinking["type"] == "enabled" || !thinking["budget_tokens"].is_null() {
        return Err("\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
                    \"output_config.effort\" to control thinking behavior."
            .to_owned());
    }
    if thinking["type"] == "disabled" {
        return Err("\"thinking.type.disabled\" is not supported for this model.".to_owned());
    }
    let choice = body["tool_choice"]["type"].as_str();
    if let Some(choice) = choice.filter(|choice| ["any", "tool"].contains(choice)) {
        return Err(format!(
            "tool_choice: type \"{choice}\" is not supported for this model: thinking may not be enabled when \
             tool_choice forces tool use."
        ));
    }
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    if last.is_some_and(|message| message["role"] == "assistant") {
        return Err("This model does not support assistant message prefill. The conversation must end with a user \
                    message."
            .to_owned());
    }
    Ok(())
}

/// Whether thoughts that do not fit are dropped, which only the beta allows to say:
/// <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation>.
fn drops(body: &Value, headers: &HeaderMap) -> Result<bool, String> {
    let binding = &body["thinking"]["block_binding"];
    if binding.is_null() {
        return Ok(false);
    }
    let betas = headers.get_all("anthropic-beta").into_iter().filter_map(|beta| beta.to_str().ok());
    if !betas.flat_map(|list| list.split(',')).any(|beta| beta.trim() == CONTROLS) {
        return Err("thinking.block_binding: Extra inputs are not permitted".to_owned());
    }
    match binding["prefix_mismatch_behavior"].as_str() {
        Some("drop_block") => Ok(true),
        Some("error") | None => Ok(false),
        Some(_) => Err("thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"
            .to_owned()),
    }
}

/// What stands before a block: <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks>.
/// Marks for the cache do not count, nor do earlier thoughts: each of those knows the one before it.
struct Prefix(DefaultHasher);

impl Prefix {
    fn new(body: &Value) -> Self {
        let mut prefix = Self(DefaultHasher::new());
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let system = match &body["system"] {
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            blocks => list(blocks),
        };
        list(&body["tools"]).iter().for_each(|tool| prefix.take(&json!("tools"), tool));
        system.iter().for_each(|block| prefix.take(&json!("system"), block));
        prefix
    }

    fn take(&mut self, role: &Value, block: &Value) {
        let mut block = block.clone();
        if let Some(fields) = block.as_object_mut() {
            fields.remove("cache_control");
        }
        (role.to_string(), block.to_string()).hash(&mut self.0);
    }

    fn hash(&self) -> u64 {
        self.0.finish()
    }
}

/// What a signature says.
#[derive(PartialEq)]
struct SignatureClaims {
    /// The request whose answer it began.
    number: u64,
    /// What stood before it.
    prefix: u64,
    /// The request of the thought before it; 0 for the first.
    last: u64,
    is_bound: bool,
}

impl SignatureClaims {
    /// Its text: of the bound ones it is kept back, as their default is.
    fn thinking(&self) -> String {
        if self.is_bound { String::new() } else { owned::thoughts(self.number) }
    }

    fn signature(&self) -> String {
        let Self { number, prefix, last, is_bound } = self;
        if !is_bound {
            return owned::signature(*number);
        }
        let mut seal = DefaultHasher::new();
        (number, prefix, last, "sealed").hash(&mut seal);
        format!("c2lnbmVk/{number}/{prefix}/{last}/{}+==", seal.finish())
    }

    /// Reads a block that comes back; `None` for one that is not as it was.
    fn read(block: &Value) -> Option<Self> {
        let text = block["signature"].as_str()?.strip_prefix("c2lnbmVk/")?.strip_suffix("+==")?;
        let mut parts = text.split('/').map_while(|part| part.parse().ok());
        let number = parts.next()?;
        let signed = match (parts.next(), parts.next()) {
            (Some(prefix), Some(last)) => Self { number, prefix, last, is_bound: true },
            _ => Self { number, prefix: 0, last: 0, is_bound: false },
        };
        let whole = json!({
            "type": "thinking", "thinking": signed.thinking(), "signature": signed.signature(),
        });
        let mut block = block.clone();
        block.as_object_mut()?.remove("cache_control");
        (block == whole).then_some(signed)
    }
}
