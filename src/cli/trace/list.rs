//! The newest tasks in short, so that one finds what to trace: number, when, what came of it, who, where, first words.

use serde_json::{Value, json};

use super::origin::{person, schedule};
use super::text::{clock, short, word};
use crate::print;
use selkie_channel_core::shorten;
use selkie_schedule::zone::Zone;

/// How much of what was asked a line shows, in characters.
const SHOWN: usize = 60;

/// Writes tasks as a table with a head. Nothing is cut but what was asked: each number names one task.
pub(super) fn table(tasks: &[Value], zone: Zone, width: usize) -> String {
    let when = format!("WHEN ({zone})");
    let head = ["TASK", &when, "STATE", "WHO", "WHERE", "MESSAGE"].map(str::to_owned);
    let mut rows = vec![head.into()];
    for task in tasks {
        rows.push(vec![
            word(&task["id"]),
            clock(&task["created_at"], zone),
            state(task),
            who(task),
            place(task),
            asked(&word(&task["asked"])),
        ]);
    }
    print::table(&rows, width)
}

/// Whose words it answers: a schedule's are nobody's.
fn who(task: &Value) -> String {
    match task["schedule"].is_null() {
        true => person(&task["who"]["name"], &task["who"]["id"]),
        false => schedule(&task["schedule"]),
    }
}

fn state(task: &Value) -> String {
    let why = short(&word(&task["why"]));
    match why.is_empty() || why.chars().count() > SHOWN {
        true => word(&task["state"]),
        false => format!("{} ({why})", word(&task["state"])),
    }
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
    if !task["schedule"].is_null() {
        entry["schedule"] = task["schedule"].clone();
    }
    entry
}

/// Where: the title that people know, and the id that no other place has. A private chat is named like its person.
fn place(task: &Value) -> String {
    let full = word(&task["conversation"]);
    let key = short(full.split_once('|').map_or(full.as_str(), |(_, key)| key));
    if key == word(&task["who"]["id"]) {
        return "in private".to_owned();
    }
    match short(&word(&task["title"])) {
        // What the key ends with needs no saying again: a folder at the command line.
        title if key.ends_with(&title) => key,
        title => format!("{title} ({key})"),
    }
}

fn asked(text: &str) -> String {
    match shorten(&short(text), SHOWN) {
        text if text.is_empty() => "(the words are not kept)".to_owned(),
        text => format!("\"{text}\""),
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
        let none = json!({ "id": 8, "state": "done", "conversation": "tg:8|tg:2", "asked": "hi",
            "created_at": "2026-11-23T07:00:00Z", "who": { "id": "tg:2", "name": "Grace" } });
        let mut again = none.clone();
        again["id"] = 6.into();
        again["asked"] = "".into();
        insta::assert_snapshot!(table(&[none, again, task.clone()], zone, 200), @r#"
        TASK  WHEN (Europe/Berlin)  STATE            WHO           WHERE               MESSAGE
        8     2026-11-23 08:00:00   done             Grace (tg:2)  in private          "hi"
        6     2026-11-23 08:00:00   done             Grace (tg:2)  in private          (the words are not kept)
        7     2026-11-23 08:00:05   failed (no key)  Grace (tg:2)  Tea room (tg:-100)  "tea Task 9 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
        "#);
        assert_eq!(entry(&task)["usage"]["calls"], 1);
        assert_eq!(entry(&task).get("attempts"), None);
    }
}
