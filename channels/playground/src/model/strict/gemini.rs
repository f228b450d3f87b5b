//! Gemini 3 over OpenAI's door.

use serde_json::Value;

use crate::model::openai_check::Complaint;
use crate::model::owned::{is_marked, since_user};

/// The fields that are known: <https://ai.google.dev/gemini-api/docs/openai>. Another one is refused, not ignored.
const KNOWN: &str = "\
    model messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens stream \
    stream_options temperature top_p n stop response_format reasoning_effort extra_body seed";

/// Words of JSON Schema that Google's own form of a schema does not have:
/// <https://ai.google.dev/api/caching#Schema>. `additionalProperties` is taken by now.
const NO_SCHEMA_WORDS: [&str; 6] =
    ["$schema", "exclusiveMinimum", "exclusiveMaximum", "const", "patternProperties", "examples"];

/// Checks the fields of a request and the schemas of its tools.
pub(super) fn check_fields(body: &Value) -> Result<(), Complaint> {
    let fields = body.as_object().into_iter().flatten();
    if let Some((name, _)) =
        fields.into_iter().find(|(name, _)| !KNOWN.split(' ').any(|known| known == *name))
    {
        return Err(unknown(name, ""));
    }
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, tool) in tools.iter().enumerate() {
        if let Some(word) = unknown_word(&tool["function"]["parameters"]) {
            return Err(unknown(word, &format!(" at 'tools[0].function_declarations[{at}]'")));
        }
    }
    Ok(())
}

fn unknown(name: &str, place: &str) -> Complaint {
    Complaint::new(format!(
        "Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field."
    ))
}

/// The first word of a schema that nobody knows there. What stands below `properties` are names of the tool's own.
fn unknown_word(schema: &Value) -> Option<&'static str> {
    let map = schema.as_object()?;
    let found = NO_SCHEMA_WORDS.into_iter().find(|word| map.contains_key(*word));
    let inner = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("properties", Value::Object(named)) => named.values().find_map(unknown_word),
        ("items" | "additionalProperties", inner) => unknown_word(inner),
        ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => list.iter().find_map(unknown_word),
        _ => None,
    };
    found.or_else(|| map.iter().find_map(inner))
}

/// Checks the signatures: <https://ai.google.dev/gemini-api/docs/thought-signatures>. Each step of the current turn
/// has one, on its first call; those of earlier turns are not looked at.
pub(super) fn check_marks(messages: &Value) -> Result<(), Complaint> {
    for (at, message) in since_user(messages, |m| m["role"] == "user").enumerate() {
        let Some(first) = message["tool_calls"].as_array().and_then(|calls| calls.first()) else {
            continue;
        };
        let name = first["function"]["name"].as_str().unwrap_or_default();
        if first["extra_content"]["google"]["thought_signature"].is_null() {
            return Err(Complaint::new(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to \
                 work correctly, and missing thought_signature may lead to degraded model performance. Additional \
                 data, function call `default_api:{name}` , position {}. Please refer to \
                 https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
                at + 1
            )));
        }
        if !is_marked(first) {
            return Err(Complaint::new("Corrupted thought signature."));
        }
    }
    Ok(())
}
