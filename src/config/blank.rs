//! Lists of words in which one says nothing: an empty path or pattern holds for everything, or for nothing, and nobody means it.

use serde_json::Value;

use crate::problem::Wrong;

/// The lists, by the last part of their keys, with what they take.
const LISTS: [(&str, &str); 3] = [
    ("deny_paths", "a path (~/.ssh)"),
    ("deny_tokens", "a word that no command may contain (shutdown)"),
    ("approval_patterns", "a pattern of commands that ask first (git push *)"),
];

/// Finds empty entries in the lists of the tools.
pub fn problems(config: &Value) -> Vec<Wrong> {
    let tools = config.get("tools").and_then(Value::as_object).into_iter().flatten();
    let lists = tools.flat_map(|(tool, section)| {
        LISTS.iter().filter_map(move |(key, takes)| {
            Some((tool, *key, *takes, section.get(*key)?.as_array()?))
        })
    });
    let mut wrong = Vec::new();
    for (tool, key, takes, words) in lists {
        for (index, word) in words.iter().enumerate() {
            if let Some(word) = word.as_str().filter(|word| word.trim().is_empty()) {
                let path = ["tools", tool, key, &index.to_string()].map(str::to_owned).to_vec();
                wrong.push((path, format!("takes {takes}, not {word:?}")));
            }
        }
    }
    wrong
}
