//! Cuts what a call was asked with, as a model reads it again (the call itself is long made), and texts for small windows.

use serde_json::{Map, Value, json};

use selkie_domain::transcript::Call;

/// Arguments up to so many bytes are sent back whole.
const MAX: usize = 32 * 1024;
/// What is kept of each text in longer ones.
const KEPT: usize = 2 * 1024;

/// Returns a call whose arguments are no longer than anybody needs.
pub fn call(call: &Call) -> Call {
    Call { arguments: arguments(&call.arguments), id: call.id.clone(), name: call.name.clone() }
}

/// Stands where a text was cut for a small window.
const CUT: &str = "\n[the rest was left out: the model's window is small]";

/// Cuts a text to about so many bytes, with a mark.
pub fn text(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most.saturating_sub(CUT.len())));
        text.push_str(CUT);
    }
}

fn arguments(whole: &Value) -> Value {
    if size(whole) <= MAX {
        return whole.clone();
    }
    let cut = cut(whole);
    if size(&cut) <= MAX {
        return cut;
    }
    // Thousands of short pieces: their beginning says what they were.
    let text = cut.to_string();
    json!({ "cut": beginning(&text) })
}

fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(beginning(text)),
        Value::Array(items) => items.iter().map(cut).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(key, v)| (key.clone(), cut(v))).collect::<Map<_, _>>(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(KEPT);
    match text.len() - end {
        0 => text.to_owned(),
        left => format!("{}… [{left} more bytes are not repeated here]", &text[..end]),
    }
}

/// Bytes of the JSON, roughly.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 3,
        Value::Array(items) => items.iter().map(|v| size(v) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, v)| key.len() + 4 + size(v)).sum::<usize>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_cut_and_short_ones_are_not() {
        let short = json!({ "path": "a", "content": "x".repeat(20_000) });
        assert_eq!(arguments(&short), short);
        let long = json!({ "path": "a", "content": "é".repeat(1_000_000), "n": 1 });
        let cut = arguments(&long);
        assert_eq!((&cut["path"], &cut["n"]), (&json!("a"), &json!(1)));
        let content = cut["content"].as_str().unwrap();
        assert!(
            content.starts_with("éé")
                && content.ends_with("1997952 more bytes are not repeated here]")
        );
        let many = json!({ "edits": vec!["a piece"; 100_000] });
        let cut = arguments(&many);
        assert!(cut.is_object() && size(&cut) <= MAX, "{cut}");
    }
}
