//! Where a schema leads: its references and its choices.

use serde_json::Value;

use super::effort::{Effort, EffortExhausted};

/// Follows references; one that leads nowhere says nothing of a value.
pub(super) fn resolve<'a>(
    root: &'a Value,
    mut schema: &'a Value,
    effort: &Effort,
) -> Result<&'a Value, EffortExhausted> {
    while let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        effort.copy(reference.len())?;
        let Some(next) = reference.strip_prefix('#').and_then(|p| root.pointer(p)) else { break };
        schema = next;
    }
    Ok(schema)
}

pub(super) fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}
