//! `selkie todos`: what people want done, at the command line. It reads the files, whether a daemon runs or not.

use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Value, json};

use super::outcome::Outcome;
use super::print;
use crate::daemon::build::{Chosen, plan};
use crate::daemon::{Binary, lifecycle};
use crate::domain::clock::SystemClock;
use crate::guard::visible::one_line;
use crate::people::files::Files;
use crate::people::update::{SeenTodo, SeenTodos, seen};

/// What an empty list says.
const NONE: &str =
    "Nothing is on the list. Say in a chat what is to be done, or write it into TODO.md.\n";

/// The same of what was done.
const NONE_DONE: &str = "Nothing on the list is done yet.\n";

/// `selkie todos`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie todos list
  selkie todos list --done --json
  selkie undo TODO.md                         takes the last change of the list back")]
pub enum Todos {
    /// List what is to be done, of all chats: what comes due first before the newest
    List {
        /// What was done instead (TODO.DONE.md), the newest first
        #[arg(long)]
        done: bool,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

/// Lists what is to be done, or what was done.
pub fn todos(binary: &Binary, chosen: &Chosen, what: &Todos) -> Outcome {
    let Todos::List { done, json } = what;
    let state = plan(binary, chosen)?.folders.state;
    let files = Arc::new(Files::new(state, Arc::new(SystemClock)));
    let whole = seen(&files, String::new(), true);
    let SeenTodos { open, done: ticked, faults } = lifecycle::runtime()?.block_on(whole)?;
    let listed = if *done { ticked } else { open };
    if *json {
        let todos: Vec<Value> = listed.iter().map(value).collect();
        return Ok(print::json(&json!({ "todos": todos, "faults": faults }))?);
    }
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    let unread: String =
        faults.iter().map(|fault| format!("cannot be read: {}\n", one_line(fault))).collect();
    let all = print::table(&rows) + &unread;
    let none = if *done { NONE_DONE } else { NONE };
    Ok(print::out(if all.is_empty() { none } else { &all })?)
}

fn row(todo: &SeenTodo) -> Vec<String> {
    let due = todo.due.map(|at| at.format("%Y-%m-%d %H:%M").to_string());
    let chat = todo.chat.as_deref().map(one_line);
    vec![due.unwrap_or_default(), one_line(&todo.text), chat.unwrap_or_default()]
}

fn value(todo: &SeenTodo) -> Value {
    let people: Vec<Value> =
        todo.people.iter().map(|one| json!({ "name": one.name, "id": one.id })).collect();
    json!({
        "text": todo.text, "due": todo.due.map(|at| at.format("%Y-%m-%d %H:%M").to_string()), "people": people,
        "chat": todo.chat, "created_at": todo.created, "done_at": todo.done,
    })
}
