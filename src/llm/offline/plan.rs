//! Decides the stand-in's next step: walks through the wishes, hands each the answers that are its own,
//! and calls where answers end.

use std::sync::Arc;

use serde_json::{Value, json};

use super::heard::own_words;
use super::parse::{Wish, wishes};
use super::words;
use crate::domain::tool::ToolSpec;
use crate::domain::transcript::{Answer, Call, Turn};

/// What the stand-in does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Calls a tool.
    Call {
        /// Which.
        name: String,
        /// An object.
        arguments: Value,
    },
    /// Has the last word.
    Say(String),
}

type Answers<'a> = dyn Iterator<Item = &'a (Call, Answer)> + 'a;

/// Returns the next step. What belongs to the present task: everything after the last assistant turn.
pub(super) fn next(turns: &[Turn], tools: &[Arc<ToolSpec>]) -> Step {
    let begin = turns.iter().rposition(|t| matches!(t, Turn::Assistant(_))).map_or(0, |at| at + 1);
    let now = &turns[begin..];
    let heard = now.iter().filter_map(|t| match t {
        Turn::User(text) => Some(own_words(text)),
        _ => None,
    });
    let wishes: Vec<Wish> = heard.flat_map(|text| self::wishes(&text)).collect();
    let mut answers = now.iter().flat_map(|t| match t {
        Turn::Calls { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let mut said = Vec::new();
    for wish in &wishes {
        match fulfil(wish, &mut answers, tools) {
            Step::Say(text) => said.push(text),
            // Asked for words alone: a call would not be answered.
            Step::Call { name, .. } if tools.is_empty() => said.push(words::no_tools(&name)),
            call @ Step::Call { .. } => return call,
        }
    }
    if said.is_empty() {
        said.push(words::nothing_heard());
    }
    Step::Say(said.join("\n"))
}

fn fulfil(wish: &Wish, answers: &mut Answers<'_>, tools: &[Arc<ToolSpec>]) -> Step {
    match wish {
        Wish::Note(text) => change_list(answers, |list| Ok(list.add(text))),
        Wish::Done(number) => change_list(answers, |list| list.done(*number)),
        Wish::List => call("todo_read", json!({}), answers, |a| words::list(&words::List::read(a))),
        Wish::React(emoji) => call("message_react", json!({ "emoji": emoji }), answers, |_| {
            format!("Reacted with {emoji}.")
        }),
        Wish::Write { name, text } => {
            let arguments = json!({ "path": name, "content": text });
            call("write_file", arguments, answers, |_| format!("Written: {name}."))
        }
        Wish::Read(name) => {
            call("read_file", json!({ "path": name }), answers, |a| words::file(name, a))
        }
        Wish::Files => call("list_files", json!({}), answers, words::files),
        Wish::Send { tool, name } => {
            let found = tools.iter().find(|t| t.name.ends_with(tool)).map(|t| t.name);
            let found = found.unwrap_or_else(|| tool.trim_start_matches('_'));
            call(found, json!({ "path": name }), answers, |_| format!("Sent: {name}."))
        }
        Wish::Think(about) => call("think", json!({ "thought": about }), answers, |_| {
            format!("Thought about {about}.")
        }),
        Wish::Call { tool, arguments } => call(tool, arguments.clone(), answers, |answer| {
            format!("{tool} answered:\n{}", words::unfenced(answer))
        }),
        Wish::Help => Step::Say(words::help(tools)),
        Wish::Long(length) => Step::Say(words::long(*length)),
        Wish::Unknown(heard) => Step::Say(words::unknown(heard)),
    }
}

/// Calls a tool, or says what its answer means; an error is told as it is.
fn call(
    name: &str,
    arguments: Value,
    answers: &mut Answers<'_>,
    good: impl FnOnce(&str) -> String,
) -> Step {
    match answers.next() {
        None => Step::Call { name: name.to_owned(), arguments },
        Some((_, answer)) if answer.is_error => Step::Say(words::failed(name, &answer.text)),
        Some((_, answer)) => Step::Say(good(&answer.text)),
    }
}

/// Reads the list, changes it, writes it whole. `change` gives the words for both outcomes.
fn change_list(
    answers: &mut Answers<'_>,
    change: impl FnOnce(&mut words::List) -> Result<String, String>,
) -> Step {
    let mut list = match answers.next() {
        None => return Step::Call { name: "todo_read".to_owned(), arguments: json!({}) },
        Some((_, answer)) if answer.is_error => {
            return Step::Say(words::failed("todo_read", &answer.text));
        }
        Some((_, answer)) => words::List::read(&answer.text),
    };
    match change(&mut list) {
        Ok(said) => call("todo_write", list.as_arguments(), answers, |_| said),
        Err(said) => Step::Say(said),
    }
}
