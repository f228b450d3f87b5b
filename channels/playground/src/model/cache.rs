//! What a provider keeps of the prompts that it has read, and how much of a new one it finds there.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};

use super::stream::tokens;

/// Prompts of the OpenAI dialect that are kept.
const PROMPTS: usize = 64;
/// Prefixes of the Anthropic dialect that are kept.
const PREFIXES: usize = 1_024;
/// No shorter prefix is kept, in tokens.
const LEAST: usize = 1_024;
/// What the OpenAI dialect tells is a multiple of this, in tokens.
const STEP: usize = 128;
/// So many blocks before a mark the Anthropic dialect looks for a prefix that it knows.
const LOOKBACK: usize = 20;

/// What is kept of the prompts.
#[derive(Default)]
pub(super) struct Cache {
    prompts: VecDeque<String>,
    prefixes: VecDeque<u64>,
}

/// How many tokens of a prompt were found, and how many were written for the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CacheUsage {
    /// Found.
    pub(crate) read: usize,
    /// Written.
    pub(crate) written: usize,
}

impl Cache {
    /// The OpenAI dialects: any prompt that begins alike, without being asked.
    pub(super) fn automatic(&mut self, body: &Value) -> CacheUsage {
        let said = if body["input"].is_null() { &body["messages"] } else { &body["input"] };
        let prompt = format!("{}{}{}{said}", body["model"], body["tools"], body["instructions"]);
        let common = self.prompts.iter().map(|known| common(known, &prompt)).max().unwrap_or(0);
        if self.prompts.len() == PROMPTS {
            self.prompts.pop_front();
        }
        self.prompts.push_back(prompt);
        let read = common / 4 / STEP * STEP;
        CacheUsage { read: if read < LEAST { 0 } else { read }, written: 0 }
    }

    /// The Anthropic dialect: prefixes that end at a block with a mark.
    pub(super) fn marked(&mut self, body: &Value) -> CacheUsage {
        let mut hasher = DefaultHasher::new();
        body["model"].as_str().hash(&mut hasher);
        let mut taken = 0;
        let prefixes = blocks(body).into_iter().map(|Block { text, is_marked }| {
            text.hash(&mut hasher);
            taken += tokens(&text);
            Prefix { hash: hasher.finish(), tokens: taken, is_marked }
        });
        let prefixes: Vec<Prefix> = prefixes.collect();
        let marks = prefixes.iter().enumerate().filter(|(_, prefix)| prefix.is_marked);
        let near = marks.clone().flat_map(|(at, _)| &prefixes[at.saturating_sub(LOOKBACK)..=at]);
        let known = near.filter(|prefix| self.prefixes.contains(&prefix.hash));
        let read = known.map(|prefix| prefix.tokens).max().unwrap_or(0);
        let kept = marks.map(|(_, prefix)| prefix).filter(|prefix| prefix.tokens >= LEAST);
        let upto = kept.clone().map(|prefix| prefix.tokens).max().unwrap_or(0);
        self.prefixes.extend(kept.map(|prefix| prefix.hash));
        let over = self.prefixes.len().saturating_sub(PREFIXES);
        self.prefixes.drain(..over);
        CacheUsage { read, written: upto.saturating_sub(read) }
    }
}

struct Prefix {
    hash: u64,
    tokens: usize,
    is_marked: bool,
}

struct Block {
    text: String,
    is_marked: bool,
}

/// The blocks of a prompt in the order in which the provider reads them: tools, system, messages.
fn blocks(body: &Value) -> Vec<Block> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let of_message = |message: Value| {
        let role = message["role"].clone();
        let content = list(&message["content"]);
        let inner = content.into_iter().map(move |block| Value::from(vec![role.clone(), block]));
        inner.collect::<Vec<_>>()
    };
    let messages = list(&body["messages"]).into_iter().flat_map(of_message);
    let all = list(&body["tools"]).into_iter().chain(list(&body["system"])).chain(messages);
    all.map(block).collect()
}

/// A block without its mark, which is no part of the prompt.
fn block(mut value: Value) -> Block {
    let unmark = |map: &mut Map<String, Value>| map.remove("cache_control").is_some();
    let is_marked = match &mut value {
        Value::Object(map) => unmark(map),
        Value::Array(pair) => pair.last_mut().and_then(Value::as_object_mut).is_some_and(unmark),
        _ => false,
    };
    Block { text: value.to_string(), is_marked }
}

/// How many bytes two texts have in common at their beginning.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn long(word: &str) -> String {
        word.repeat(3_000)
    }

    #[test]
    fn a_prompt_that_goes_on_is_known_and_one_that_begins_otherwise_is_not() {
        let mut cache = Cache::default();
        let body = |system: &str, more: &[&str]| {
            let said = |text: &&str| json!({ "role": "user", "content": text });
            let first = json!({ "role": "system", "content": long(system) });
            let messages: Vec<Value> =
                std::iter::once(first).chain(more.iter().map(said)).collect();
            json!({ "model": "m", "messages": messages })
        };
        assert_eq!(cache.automatic(&body("be kind ", &["a"])).read, 0);
        let again = cache.automatic(&body("be kind ", &["a", "b"])).read;
        assert!(again > 5_000 && again % STEP == 0, "{again}");
        assert_eq!(cache.automatic(&body("obey ", &["a", "b", "c"])).read, 0);
    }

    #[test]
    fn what_was_marked_is_known_and_nothing_else() {
        let mut cache = Cache::default();
        let mark = json!({ "type": "ephemeral" });
        let said = |text: &str| json!({ "type": "text", "text": text });
        let marked = |text: &str| json!({ "type": "text", "text": text, "cache_control": mark });
        let body = |blocks: Vec<Value>| {
            let system = json!([{ "type": "text", "text": long("rule "), "cache_control": mark }]);
            json!({ "model": "m", "system": system,
                    "messages": [{ "role": "user", "content": blocks }] })
        };
        let first = cache.marked(&body(vec![marked(&long("hello "))]));
        assert!(first.read == 0 && first.written > 8_000, "{first:?}");
        let next = cache.marked(&body(vec![said(&long("hello ")), marked("and")]));
        assert_eq!(next.read, first.written, "the mark may move on");
        let other = cache.marked(&body(vec![said(&long("bye ")), marked("and")]));
        assert!(
            other.read > 3_000 && other.read < first.written,
            "the system prompt alone: {other:?}"
        );
    }
}
