//! The newest tasks in short, so that one finds what to trace: number, when, who, where, first words, what came of it.

use serde_json::{Value, json};

use super::origin::person;
use super::text::{short, when, word};
use crate::schedule::zone::Zone;

/// How much of what was asked a line shows, in characters.
const SHOWN: usize = 60;

/// Writes a task as one row of a table. Nothing is cut but what was asked: each number names one task.
pub(super) fn row(task: &Value, zone: Zone) -> Vec<String> {
    let why = match short(&word(&task["why"])) {
        none if none.is_empty() => none,
        why => format!(" ({why})"),
    };
    vec![
        word(&task["id"]),
        when(&task["created_at"], zone),
        format!("{}{}", word(&task["state"]), if why.chars().count() > SHOWN { "" } else { &why }),
        person(&task["who"]["name"], &task["who"]["id"]),
        place(task),
        asked(&word(&task["asked"])),
    ]
}

/// The same for programs.
pub(super) fn entry(task: &Value) -> Value {
    let mut entry = json!({});
    for field in [
        "id",
        "created_at",
        "ended_at",
        "state",
        "why",
        "who",
        "title",
        "conversation",
        "asked",
        "usage",
    ] {
        entry[field] = task[field].clone();
    }
    entry
}

/// Where: the title that people know, and the id that no other place has.
fn place(task: &Value) -> String {
    let full = word(&task["conversation"]);
    let key = short(full.split_once('|').map_or(full.as_str(), |(_, key)| key));
    match short(&word(&task["title"])) {
        none if none.is_empty() => key,
        title => format!("{title} ({key})"),
    }
}

fn asked(text: &str) -> String {
    let text = short(text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None if text.is_empty() => "(no words are kept)".to_owned(),
        None => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_asked_what_where_and_what_came_of_it() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let task = json!({
            "id": 7, "created_at": "2026-11-23T07:00:05Z", "state": "failed", "why": "no key",
            "who": { "id": "tg:2", "name": "Grace" }, "title": "Tea\nroom",
            "conversation": "tg:8|tg:-100", "asked": format!("tea\nTask 9 {}", "x".repeat(90)),
            "attempts": 1, "usage": { "calls": 1 },
        });
        let asked = format!("\"tea Task 9 {}…\"", "x".repeat(49));
        assert_eq!(
            row(&task, zone),
            [
                "7",
                "2026-11-23 08:00:05 Europe/Berlin",
                "failed (no key)",
                "Grace (tg:2)",
                "Tea room (tg:-100)",
                &asked
            ]
        );
        let none = json!({ "id": 8, "state": "done", "conversation": "tg:8|tg:2" });
        assert_eq!(row(&none, zone)[2..], ["done", "nobody", "tg:2", "(no words are kept)"]);
        assert_eq!(entry(&task)["usage"]["calls"], 1);
        assert_eq!(entry(&task).get("attempts"), None);
    }
}
