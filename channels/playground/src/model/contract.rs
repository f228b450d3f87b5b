//! What the model servers answer to a question that wants one JSON object, without a script.

use serde_json::{Value, json};

/// Answers a question of a contract; `None` when the text is none.
pub(super) fn answer(asked: &str) -> Option<String> {
    let asked: Value = serde_json::from_str(asked).ok()?;
    match asked.get("contract")?.as_str()? {
        "conversation_summary" => {
            let talk = asked["talk"].as_array().map_or(0, Vec::len);
            Some(json!({ "lines": [format!("{talk} things were said")] }).to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_how_much_there_was() {
        let asked = json!({ "contract": "conversation_summary", "talk": [1, 2] }).to_string();
        assert_eq!(answer(&asked).unwrap(), "{\"lines\":[\"2 things were said\"]}");
        assert_eq!(answer("hello"), None);
        assert_eq!(answer("{\"contract\": \"another\"}"), None);
    }
}
