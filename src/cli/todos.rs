//! `selkie todos`: what people want done, at the command line.

use chrono::Utc;
use clap::Subcommand;
use serde_json::json;

use super::outcome::Outcome;
use super::print;
use super::request::{ask, mismatched, to_ask};
use super::todos_trust::{TrustRequest, trust};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::people;
use selkie_app::request::{Request, Response};
use selkie_engine::work::todo_list::{ChatLabel, ListedTodo};
use selkie_guard::visible::one_line;
use selkie_schedule::words::moment;

/// What an empty list says.
const NONE: &str = "TODO.md is empty. Tell the bot in a chat what there is to do, or write it into TODO.md. The bot's own notes in a chat are a separate \
list, which only the bot shows.\n";

/// What is said where nobody knows any more whose the items are.
const LOST: &str = "\nThe list was there before selkie, or kept/TODO.md/said is lost or was changed, so nobody knows who wrote these \
items: no task is shown any of them unasked. If they are yours, run selkie todos trust.\n";

/// The same of what was done.
const NONE_DONE: &str = "Nothing on the list is done yet.\n";

/// `selkie todos`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie todos list
  selkie todos list --done --json
  selkie todos trust                        show the items in question, and ask
  selkie todos trust 'milk' --yes           only this item
  selkie todos trust --all-shown            also items that name chats
  selkie undo TODO.md                       undo the last change of the list")]
pub enum Todos {
    /// List the items of all chats: those with a time first, then the newest
    List {
        /// List what is done instead (TODO.DONE.md), the newest first
        #[arg(long)]
        done: bool,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Accept items as your own words, or as those of the chat that they name: shows them, and asks
    #[command(
        long_about = "Accept items of TODO.md and TODO.DONE.md as your own words, or as those of the chat that they name: \
shows them, and asks.\n\n\
Unasked, selkie shows a task only the items that nobody but you can have written. An item that was written from other people's words \
counts as theirs, and so does every copy; so does a line that was added while a command ran without a sandbox, what was there before \
selkie, and everything once kept/TODO.md/said is lost. What you accept is shown to the model as your \
words. An item that somebody else said, or that a task wrote from other people's words, is accepted only when you name it. One that names \
a chat and that selkie has no note of (from another program's list, or a list that was put back) is accepted when you name it, or \
with --all-shown at a terminal: it then counts as that chat's own."
    )]
    Trust {
        /// The one item that says this, or contains these words [default: all that nobody else is known to have said]
        text: Option<String>,
        /// Also items that name a chat and that selkie has no note of
        #[arg(long, conflicts_with_all = ["text", "yes"])]
        all_shown: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Lists what is to be done, or what was done, through the daemon when one runs.
pub fn todos(binary: &Binary, chosen: &ConfigChoice, what: &Todos) -> Outcome {
    let (done, json) = match what {
        Todos::List { done, json } => (done, json),
        Todos::Trust { text, all_shown, yes } => {
            let wanted = TrustRequest { text: text.as_deref(), all_shown: *all_shown, yes: *yes };
            return trust(binary, chosen, &wanted);
        }
    };
    let plan = to_ask(binary, chosen)?;
    let zone = plan.zone;
    let Response::Todos(todos) = ask(plan, Request::Todos)? else { return mismatched() };
    let people::Todos { list, whose_is_lost } = todos;
    let listed = if *done { &list.done } else { &list.open };
    if *json {
        return Ok(print::json(
            &json!({ "todos": listed, "faults": list.faults, "whose_is_lost": whose_is_lost }),
        )?);
    }
    let namesakes = list.namesakes();
    let label = |todo: &ListedTodo| todo.chat_label(&namesakes).map(chat).unwrap_or_default();
    let row = |todo: &ListedTodo| {
        let due = todo.due.map(|at| moment(at.with_timezone(&Utc), zone));
        let said = format!("{}  {}", one_line(&todo.text), label(todo));
        vec![due.unwrap_or_default(), said.trim_end().to_owned()]
    };
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    let unread: String =
        list.faults.iter().map(|fault| format!("cannot be read: {}\n", one_line(fault))).collect();
    let lost = if whose_is_lost { LOST } else { "" };
    let width = print::width();
    let all = print::table(&rows, width) + &print::hanging(&(unread + lost), width);
    let none = if *done { NONE_DONE } else { NONE };
    Ok(print::prose(if all.is_empty() { none } else { &all })?)
}

/// A chat by its name, with its id where that does not tell.
fn chat(label: ChatLabel<'_>) -> String {
    match (label.name, label.id) {
        (Some(name), Some(id)) => format!("{} ({})", one_line(name), one_line(id)),
        (name, id) => one_line(name.or(id).unwrap_or_default()),
    }
}
