//! The stand-in's words, made of the tools' real answers.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::files::{self, File};
use super::phrases::PHRASES;
use crate::model::ListedTool;

/// Tells that there is nothing on the list.
pub(super) const EMPTY_LIST: &str = "This chat's list is empty.";

/// Characters of a tool's description that make one line.
const MAX_LINE: usize = 90;
/// More than any platform takes in a hundred messages.
const MAX_ANSWER: usize = 1_000_000;

/// The todo list as `todo_read` tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct List(Vec<Item>);

#[derive(Clone, Debug, PartialEq)]
struct Item {
    title: String,
    status: String,
}

impl List {
    /// Reads `[id] status: title` lines, or JSON. What is neither is no item.
    pub fn read(answer: &str) -> Self {
        let answer = unfenced(answer);
        if let Ok(value) = serde_json::from_str::<Value>(&answer) {
            return Self::read_json(value.get("todos").unwrap_or(&value));
        }
        let mut items: Vec<Item> = Vec::new();
        for line in answer.lines() {
            match (item(line), items.last_mut()) {
                (Some(item), _) => items.push(item),
                (None, Some(last)) => last.title = format!("{}\n{line}", last.title),
                (None, None) => {}
            }
        }
        Self(items)
    }

    fn read_json(items: &Value) -> Self {
        let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
        let item = |v: &Value| Item { title: text(&v["title"]), status: text(&v["status"]) };
        Self(items.as_array().into_iter().flatten().map(item).collect())
    }

    /// Adds an item and says so.
    pub fn add(&mut self, title: &str) -> String {
        self.0.push(Item { title: title.to_owned(), status: "pending".to_owned() });
        format!("Noted: {title} ({}).", self.0.len())
    }

    /// Marks item `number`, from 1, as done and says so; else says which there are.
    pub fn done(&mut self, number: usize) -> Result<String, String> {
        let last = self.0.len();
        match number.checked_sub(1).and_then(|at| self.0.get_mut(at)) {
            Some(item) => {
                "completed".clone_into(&mut item.status);
                Ok(format!("Done: {}.", item.title))
            }
            None if last == 0 => Err(EMPTY_LIST.to_owned()),
            None => Err(format!("There is no {number} on your list: it goes from 1 to {last}.")),
        }
    }

    /// Returns what `todo_write` takes.
    pub fn as_arguments(&self) -> Value {
        let item = |(id, item): (usize, &Item)| json!({ "id": id.to_string(), "title": item.title, "status": item.status });
        json!({ "todos": (1..).zip(&self.0).map(item).collect::<Vec<_>>() })
    }
}

/// Reads `[1] pending: buy milk`.
fn item(line: &str) -> Option<Item> {
    let (_, rest) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (status, title) = rest.split_once(": ")?;
    let known = ["pending", "in_progress", "completed"].contains(&status);
    known.then(|| Item { title: title.to_owned(), status: status.to_owned() })
}

/// Tells the list.
pub(super) fn list(list: &List) -> String {
    if list.0.is_empty() {
        return EMPTY_LIST.to_owned();
    }
    let mut said = "This chat's list:".to_owned();
    for (number, item) in (1..).zip(&list.0) {
        let status = match item.status.as_str() {
            "completed" => " (done)",
            "in_progress" => " (in progress)",
            _ => "",
        };
        // Writing to a String cannot fail.
        let _ = write!(said, "\n{number}. {}{status}", item.title);
    }
    said
}

/// Tells a file, without the line numbers that the tool puts before.
pub(super) fn file(name: &str, answer: &str) -> String {
    let bare = |line: &str| match line.split_once(" | ") {
        Some((number, text)) if number.trim().parse::<u64>().is_ok() => text.to_owned(),
        _ => line.to_owned(),
    };
    let text: Vec<String> = unfenced(answer).lines().map(bare).collect();
    format!("{name}:\n{}", text.join("\n"))
}

/// Compares what agents have read in files.
pub(super) fn compared<'a>(names: &[String], answers: impl Iterator<Item = &'a str>) -> String {
    let said: Vec<String> = answers.map(unfenced).collect();
    let bare = |(name, text): (&String, &String)| {
        text.strip_prefix(&format!("{name}:\n")).unwrap_or(text).to_owned()
    };
    let texts: Vec<String> = names.iter().zip(&said).map(bare).collect();
    let same = texts.windows(2).all(|pair| pair[0] == pair[1]);
    let verdict = if same { "They say the same." } else { "They differ." };
    format!("{}\n{verdict}", said.join("\n"))
}

/// Tells that a file has come, and how to read it and have it back.
pub(super) fn got_file(file: File<'_>) -> String {
    let (path, how) = match file {
        File::Here { path, kind: "photo" } => (path, "send photo"),
        File::Here { path, kind: "voice" } => (path, "send voice"),
        File::Here { path, .. } => (path, "send me"),
        File::Missing(why) => return format!("Your file is not here: {why}"),
    };
    let name = files::name(path);
    let name = match name.contains(char::is_whitespace) {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    };
    let read = if how == "send me" {
        format!("“read {name}” to see what is in it, or ")
    } else {
        String::new()
    };
    format!("I have your file. Write {read}“{how} {name}” to have it back.")
}

/// Tells the files.
pub(super) fn files(answer: &str) -> String {
    format!("Files:\n{}", unfenced(answer))
}

/// Returns an answer without the fence lines that mark text from outside.
pub(super) fn unfenced(answer: &str) -> String {
    let fence = |line: &str| line.starts_with("<<<untrusted") || line.trim() == ">>>";
    answer.lines().filter(|l| !fence(l)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Tells what a person has answered to a question.
pub(super) fn answered(answer: &str) -> String {
    if answer.starts_with("No answer within") {
        answer.to_owned()
    } else {
        format!("You answered: {answer}")
    }
}

/// Repeats what others say.
pub(super) fn repeated(others: &str) -> String {
    match others.is_empty() {
        true => format!("{STAND_IN} Nothing came along with this message."),
        false => others.to_owned(),
    }
}

/// Tells why something did not work, in the tool's own words.
pub(super) fn failed(tool: &str, why: &str) -> String {
    let why = unfenced(why);
    if why.contains(tool) { why } else { format!("{tool} did not work: {why}") }
}

/// Says that a tool may not be called now.
pub(super) fn no_tools(tool: &str) -> String {
    format!("I would call {tool} now, but I was asked for an answer without tools.")
}

/// Answers a message without words.
pub(super) fn nothing_heard() -> String {
    format!("{STAND_IN} I found no words of yours in this message. {ASK_HELP}")
}

/// Answers what is on no list.
pub(super) fn unknown(heard: &str, advice: &str) -> String {
    format!("{STAND_IN} I heard: “{heard}”. {ASK_HELP} {advice}")
}

const STAND_IN: &str =
    "I am selkie's built-in stand-in, not a language model: I know a few phrases.";
const ASK_HELP: &str = "Write “what can you do here?” for the list.";

/// Names the tools of this place and the phrases.
pub(super) fn help(tools: &[ListedTool], advice: &str) -> String {
    let mut said = STAND_IN.to_owned();
    said.push_str(if tools.is_empty() {
        "\n\nThere are no tools here."
    } else {
        "\n\nTools here:"
    });
    for tool in tools {
        let _ = write!(said, "\n- `{}`: {}", tool.name, first_line(&tool.description));
    }
    said.push_str("\n\nPhrases:");
    for phrase in PHRASES {
        let _ = write!(said, "\n- `{}`: {}", phrase.says, phrase.does);
    }
    let _ = write!(said, "\n\n{advice}");
    said
}

/// Returns the first sentence, cut to a line.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    let line = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.');
    match line.char_indices().nth(MAX_LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Returns exactly `length` characters (a million at most) in numbered lines.
pub(super) fn long(length: usize) -> String {
    let length = length.clamp(1, MAX_ANSWER);
    let mut text = String::with_capacity(length + 80);
    for line in 1.. {
        let _ = writeln!(text, "Line {line} of a long answer, which shows where it is split.");
        if text.len() >= length {
            break;
        }
    }
    text.truncate(length);
    // White space at the very end would be trimmed on the way.
    if text.ends_with([' ', '\n']) {
        text.pop();
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_survives_the_round_through_words() {
        let read = List::read("[1] pending: buy milk\n[2] completed: a (b)\nmore\n[x] odd");
        assert_eq!(
            read.as_arguments(),
            json!({ "todos": [
                { "id": "1", "title": "buy milk", "status": "pending" },
                { "id": "2", "title": "a (b)\nmore\n[x] odd", "status": "completed" },
            ]})
        );
        assert_eq!(List::read(&read.as_arguments().to_string()), read);
        assert_eq!(List::read("Todo list is empty."), List::default());
    }

    #[test]
    fn a_long_answer_is_as_long_as_asked() {
        for length in [1, 64, 65, 4_097, 100_000] {
            let text = long(length);
            assert_eq!((text.chars().count(), text.trim().len()), (length, length));
        }
        assert_eq!(long(usize::MAX).len(), MAX_ANSWER);
    }

    #[test]
    fn the_page_of_phrases_lists_them_all() {
        let page = include_str!("../../../../src/docs/offline-phrases.md");
        let rows: String =
            PHRASES.iter().map(|p| format!("| `{}` | {} |\n", p.says, p.does)).collect();
        assert!(page.contains(&rows), "src/docs/offline-phrases.md should hold:\n{rows}");
    }
}
