//! The stand-in as whoever is asked about a todo list: by the words of the items, the same way every time.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::messages::unfenced;
use crate::model::TalkTurn;

/// Answers such a question; `None` when the turns are none.
pub(super) fn answer(turns: &[TalkTurn]) -> Option<String> {
    let [TalkTurn::User(asked)] = turns else { return None };
    let asked: Value = serde_json::from_str(asked).ok()?;
    let answer = match asked.get("contract")?.as_str()? {
        "reference_resolve" => resolved(&asked),
        "semantic_match" => matched(&asked),
        "semantic_dedup" => kept(&asked),
        _ => return None,
    };
    Some(answer.to_string())
}

/// Says what has become of the list, in the words of what its tool answers.
pub(super) fn told(answer: &str) -> String {
    let answer = unfenced(answer);
    let Ok(outcome) = serde_json::from_str::<Value>(&answer) else { return answer };
    let content = names(text(&outcome["entry"]["content"]));
    let is_done = outcome["action"] == "complete";
    let mut told = format!("{}: {content}.", if is_done { "Done" } else { "Added" });
    if let Some(reminder) = outcome["reminder"].as_str() {
        told.push_str(&format!(" Reminder: {reminder}."));
    }
    let open = outcome["updated_counts"]["open_count"].as_u64().unwrap_or_default();
    let warned = outcome["warnings"].as_array().into_iter().flatten().map(text);
    // What it is called stands before what it says.
    let warned = warned.map(|said| said.split_once(": ").map_or(said, |(_, said)| said));
    let warned: String = warned.map(|said| format!("\n({said})")).collect();
    format!(
        "{told} {}.{warned}",
        format_args!("{open} open item{}", if open == 1 { "" } else { "s" })
    )
}

/// Says why the list is as it was, as somebody reads it who knows of no tool and no file.
pub(super) fn failed(why: &str) -> String {
    let why = unfenced(why);
    if why.contains("no matching todo item") {
        return "Nothing on the list fits that: /todos shows what is on it.".to_owned();
    }
    let why = why.trim_start_matches("todo_update").trim_start_matches([':', ' ']);
    let why =
        why.replace("TODO.DONE.md", "the list of what is done").replace("TODO.md", "the list");
    format!("The list is as it was: {why}")
}

/// A content with people by their names alone: `[Name](id)` as `Name`.
fn names(content: &str) -> String {
    let mut said = String::new();
    let mut rest = content;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((_, behind)) = after.split_once(')') else { break };
        let start = before.rfind('[').unwrap_or(before.len());
        said.push_str(&before[..start]);
        said.push_str(before[start..].trim_start_matches('['));
        rest = behind;
    }
    said + rest
}

/// Names those whose id stands in what the person wrote.
fn resolved(asked: &Value) -> Value {
    let content = text(&asked["input"]["content"]);
    let people = list(&asked["input"]["people"]);
    let raw = text(&asked["input_raw"]);
    let ids: Vec<&str> = list(&asked["allowed_ids"]).iter().map(text).collect();
    let named: Vec<&str> = ids.into_iter().filter(|id| raw.contains(id)).collect();
    match (named.as_slice(), people) {
        ([id], [name]) => {
            let name = text(name);
            let rewritten = content.replacen(name, &format!("[{name}]({id})"), 1);
            json!({ "status": "ok", "rewritten_content": rewritten, "warnings": [] })
        }
        _ => json!({ "status": "missing_reference_id", "missing": people }),
    }
}

/// Finds the entry with the most words of the query, and most of them: one word in common is no likeness.
fn matched(asked: &Value) -> Value {
    let query = telling(text(&asked["query"]));
    let entries = list(&asked["entries"]);
    let common = |entry: &Value| telling(text(&entry["content"])).intersection(&query).count();
    let most = entries.iter().map(common).max().unwrap_or(0);
    let best: Vec<usize> =
        (0..).zip(entries).filter(|(_, entry)| common(entry) == most).map(|(at, _)| at).collect();
    match best.as_slice() {
        _ if most * 2 <= query.len() => json!({ "status": "no_match" }),
        [one] => json!({ "status": "matched", "index": one }),
        several => json!({ "status": "ambiguous", "candidate_indices": several }),
    }
}

/// Keeps all but those with the very words of the first.
fn kept(asked: &Value) -> Value {
    let entries = list(&asked["entries"]);
    let of = |entry: &Value| words(text(&entry["content"]));
    let first = entries.first().map(of).unwrap_or_default();
    let keeps = (0_usize..).zip(entries).filter(|(at, entry)| *at == 0 || of(entry) != first);
    json!({ "keep_indices": keeps.map(|(at, _)| at).collect::<Vec<_>>() })
}

/// Words that stand in every sentence.
const EVERYWHERE: [&str; 14] = [
    "the", "and", "for", "with", "from", "that", "this", "you", "your", "about", "into", "our",
    "his", "her",
];

/// Words that tell one item from another.
fn telling(text: &str) -> BTreeSet<String> {
    let mut words = words(text);
    words.retain(|word| !EVERYWHERE.contains(&word.as_str()));
    words
}

fn words(text: &str) -> BTreeSet<String> {
    let telling = |word: &&str| word.chars().count() > 2;
    let folded = text.to_lowercase();
    folded.split(|c: char| !c.is_alphanumeric()).filter(telling).map(str::to_owned).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(asked: Value) -> Value {
        serde_json::from_str(&answer(&[TalkTurn::User(asked.to_string())]).unwrap()).unwrap()
    }

    #[test]
    fn the_contracts_are_answered_by_words() {
        let entries = json!([{ "content": "Buy milk" }, { "content": "Call Bo about milk" }, { "content": "Milk, buy!" }]);
        let matched = |query: &str| {
            answered(json!({ "contract": "semantic_match", "query": query, "entries": entries }))
        };
        assert_eq!(matched("the call to Bo"), json!({ "status": "matched", "index": 1 }));
        assert_eq!(
            matched("milk"),
            json!({ "status": "ambiguous", "candidate_indices": [0, 1, 2] })
        );
        for none in ["tax", "pay Bo back", "about the tax", "the", "buy a boat"] {
            assert_eq!(matched(none), json!({ "status": "no_match" }), "{none}");
        }
        assert_eq!(
            answered(json!({ "contract": "semantic_dedup", "entries": entries })),
            json!({ "keep_indices": [0, 1] })
        );
        let resolved = |raw: &str| {
            answered(
                json!({ "contract": "reference_resolve", "input_raw": raw, "allowed_ids": ["b:1", "b:2"],
                             "input": { "content": "Ask Mei", "people": ["Mei"] } }),
            )
        };
        assert_eq!(resolved("Mei, I mean b:2")["rewritten_content"], "Ask [Mei](b:2)");
        assert_eq!(resolved("ask Mei")["status"], "missing_reference_id");
        assert_eq!(answer(&[TalkTurn::User("hello".to_owned())]), None);
    }

    #[test]
    fn what_became_of_the_list_is_told_in_words() {
        let outcome = json!({ "ok": true, "action": "add", "updated_counts": { "open_count": 1, "done_count": 0 },
            "entry": { "content": "Remind [Mei](b:1) and [Bo](b:2) to sail" }, "reminder": "set for noon" });
        assert_eq!(
            told(&outcome.to_string()),
            "Added: Remind Mei and Bo to sail. Reminder: set for noon. 1 open item."
        );
        let done = json!({ "action": "complete", "updated_counts": { "open_count": 2 }, "entry": { "content": "a [b" } });
        assert_eq!(told(&done.to_string()), "Done: a [b. 2 open items.");
        assert_eq!(told("no matching todo item"), "no matching todo item");
        let none = "Nothing on the list fits that: /todos shows what is on it.";
        assert_eq!(failed("no matching todo item in TODO.md"), none);
        assert_eq!(
            failed("todo_update: TODO.md is full"),
            "The list is as it was: the list is full"
        );
    }
}
