//! Keeps our secrets out of what a model wrote, before it is stored, said or carried out.

use selkie_channel_core::Redactor;
use serde_json::Value;

use crate::llm::Reply;

/// Hides our secrets in what a model wrote: it may have read them where nobody thought of it.
pub fn reply(redactor: &Redactor, mut reply: Reply) -> Reply {
    reply.text = redactor.clean(&reply.text);
    reply.calls.iter_mut().for_each(|call| hide(redactor, &mut call.arguments));
    reply
}

fn hide(redactor: &Redactor, value: &mut Value) {
    match value {
        Value::String(text) => *text = redactor.clean(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(redactor, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide(redactor, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_at_any_depth() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let mut value = json!({"a": ["x hunter2hunter2", {"b": "hunter2hunter2"}], "n": 1});
        hide(&redactor, &mut value);
        assert_eq!(value, json!({"a": ["x [redacted]", {"b": "[redacted]"}], "n": 1}));
    }
}
