//! The stand-in as the model of the group gate: decides by the words of a line, the same way every time.

use serde_json::{Value, json};

use super::parse::find;
use super::words::after;
use crate::model::TalkTurn;

/// Returns the decision when this is a question of the gate.
pub(super) fn answer(turns: &[TalkTurn]) -> Option<String> {
    let asked = turns.first()?.user()?;
    let asked: Value = serde_json::from_str(asked).ok()?;
    let lines = asked.get("current_messages")?.as_array()?;
    let texts = lines.iter().map(|line| line["text"].as_str().unwrap_or_default());
    let decisions = (1..).zip(texts).filter_map(|(number, text)| decide(number, text));
    Some(decisions.last().unwrap_or_else(|| decision(false, false, "", 1)))
}

/// Decides about a line; `None` for one that asks for nothing.
fn decide(number: usize, text: &str) -> Option<String> {
    if let Some(said) = after(text, "the gate says ") {
        return Some(said.to_owned());
    }
    let meant = find(text, "selkie").is_some();
    let asks = after(text, "does anybody know ").is_some();
    (meant || asks).then(|| decision(meant, asks, text, number))
}

fn decision(meant: bool, asks: bool, text: &str, line: usize) -> String {
    let share = |yes: bool| if yes { 0.9 } else { 0.1 };
    let impulse = if text.trim_end().ends_with('!') { 0.9 } else { 0.5 };
    json!({
        "addressed": meant, "confidence": share(meant),
        "wanna_interject": asks, "interject": share(asks),
        "impulse": impulse, "is_lightweight": false, "about": line,
        "reason": "the built-in stand-in knows these words",
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stand_in::phrases::Phrase;

    /// What makes it speak in a group that nobody made it speak in.
    const DECISIONS: &[Phrase] = &[
        Phrase { says: "selkie, <anything>", does: "is meant for it (confidence 0.9)" },
        Phrase {
            says: "does anybody know <anything>",
            does: "is a question it would answer (interject 0.9)",
        },
        Phrase { says: "the gate says <json>", does: "is decided by this answer, whatever it is" },
        Phrase { says: "<anything>!", does: "makes the impulse 0.9 instead of 0.5" },
    ];

    fn decided(texts: &[&str]) -> Value {
        let lines: Vec<_> = texts.iter().map(|text| json!({ "text": text })).collect();
        let asked = json!({ "current_messages": lines }).to_string();
        serde_json::from_str(&answer(&[TalkTurn::User(asked)]).unwrap()).unwrap()
    }

    #[test]
    fn the_last_line_that_asks_for_something_decides() {
        let both = decided(&["Selkie, tea?", "good morning"]);
        assert_eq!((both["addressed"].as_bool(), both["about"].as_u64()), (Some(true), Some(1)));
        assert_eq!(decided(&["selkie?", "does anybody know Bo!"])["interject"], 0.9);
        assert_eq!(decided(&["nothing"])["addressed"], false);
        assert_eq!(decided(&["the gate says {\"odd\": 1}"]), json!({ "odd": 1 }));
        assert_eq!(answer(&[TalkTurn::User("selkie, hi".to_owned())]), None);
    }

    #[test]
    fn the_page_of_phrases_lists_them_all() {
        let page = include_str!("../../../../src/docs/offline-phrases.md");
        let rows: String =
            DECISIONS.iter().map(|p| format!("| `{}` | {} |\n", p.says, p.does)).collect();
        assert!(page.contains(&rows), "src/docs/offline-phrases.md should hold:\n{rows}");
    }
}
