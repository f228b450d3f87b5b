//! What a conversation knows beyond its history: whom it has met, what is to be done, what it remembers. Others have
//! written most of it: what does not show, or would turn or hide what else is shown, stands there by its number.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::time::timeout;

use super::Console;
use super::answer::Fault;
use super::asked::{ConsoleState, Of, Rows, TIMEOUT, TOTAL, find, limit};
use selkie_channel_core::shorten;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_engine::flow::{ChatItem, KnowledgeResult, KnowledgeView, Unreadable};
use selkie_engine::work::todo_list::ListedTodo;
use selkie_guard::visible::{harmless, one_line};
use selkie_memory::remembered::MemoryEntry;
use selkie_people::update::NamedPerson;
use selkie_people::visibility::VisiblePerson;

/// The header that says how many items were done.
const DONE: &str = "x-done-count";
/// So many of the items that were done are shown, the newest.
const DONE_SHOWN: usize = 5;
/// So many things that cannot be read are named.
const FAULTS: usize = 10;
/// The most characters of one text: people edit the files.
const MAX_LENGTH: usize = 2_000;
/// So many names, ids or people of one entry.
const MAX_NAMES: usize = 20;

/// Returns the routes about what a conversation knows.
pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/v1/conversations/{key}/contacts", get(contacts))
        .route("/v1/conversations/{key}/todos", get(todos))
        .route("/v1/conversations/{key}/memory", get(memory))
}

#[derive(Serialize)]
struct Contacts {
    /// An owner alone reads here: everybody is known.
    sees_all: bool,
    contacts: Vec<Contact>,
    /// What cannot be read, for who sees all.
    faults: Vec<String>,
}

#[derive(Serialize)]
struct Contact {
    /// The first of the names; the id where nobody has said one.
    name: String,
    /// The other names.
    also: Vec<String>,
    ids: Vec<String>,
    last_interaction_at: Option<DateTime<Utc>>,
}

#[derive(Serialize)]
struct Todos {
    sees_all: bool,
    open: Vec<Todo>,
    done: Vec<Todo>,
    /// The chat's own list, which is no part of the files.
    list: Vec<ListItem>,
    faults: Vec<String>,
}

#[derive(Serialize)]
struct ListItem {
    text: String,
    is_done: bool,
}

#[derive(Serialize)]
struct Todo {
    text: String,
    /// `2026-12-24 18:00`, by the clocks of its conversation.
    due: Option<String>,
    people: Vec<NameQuery>,
    /// The chat that it belongs to.
    chat: Option<String>,
    /// What people call that chat.
    chat_name: Option<String>,
    created_at: Option<DateTime<Utc>>,
    done_at: Option<DateTime<Utc>>,
}

#[derive(Serialize)]
struct NameQuery {
    name: String,
    id: String,
}

#[derive(Serialize)]
struct Memory {
    sees_all: bool,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    /// By which `/memory forget` takes it out.
    number: usize,
    path: String,
    line: usize,
    section: String,
    text: String,
    author: Option<String>,
    trust: Trust,
    level: Taint,
    at: Option<String>,
}

/// Whom a conversation may hear of, the latest met first.
async fn contacts(console: ConsoleState, Of(key): Of, rows: Rows) -> Result<Response, Fault> {
    let most = limit(rows)?;
    let of = find(&console, &key).await?;
    let KnowledgeView { is_whole, what } = told(console.knowledge.contacts(&of)).await?;
    let total = what.known.len();
    let contacts = what.known.iter().take(most).map(contact).collect();
    let faults = shown_all(&what.faults, FAULTS);
    let body = Contacts { sees_all: is_whole, contacts, faults };
    Ok(([(TOTAL, total.to_string())], Json(body)).into_response())
}

/// What is to be done, what comes due first before the newest; then what was done last.
async fn todos(console: ConsoleState, Of(key): Of, rows: Rows) -> Result<Response, Fault> {
    let most = limit(rows)?;
    let of = find(&console, &key).await?;
    let KnowledgeView { is_whole, what } = told(console.knowledge.todos(&of)).await?;
    let list = told(console.knowledge.list(&of)).await?.what;
    let counts = [(TOTAL, what.open.len().to_string()), (DONE, what.done.len().to_string())];
    let body = Todos {
        sees_all: is_whole,
        open: what.open.iter().take(most).map(todo).collect(),
        done: what.done.iter().take(most.min(DONE_SHOWN)).map(todo).collect(),
        list: list.iter().take(most).map(list_item).collect(),
        faults: shown_all(&what.faults, FAULTS),
    };
    Ok((AppendHeaders(counts), Json(body)).into_response())
}

/// What is remembered, the last lines by the numbers that `/memory` gives them.
async fn memory(console: ConsoleState, Of(key): Of, rows: Rows) -> Result<Response, Fault> {
    let most = limit(rows)?;
    let of = find(&console, &key).await?;
    let KnowledgeView { is_whole, what } = told(console.knowledge.memory(&of)).await?;
    let total = what.len();
    let lines = (1..).zip(&what).skip(total.saturating_sub(most));
    let lines = lines.map(|(number, one)| line(number, one)).collect();
    let body = Memory { sees_all: is_whole, lines };
    Ok(([(TOTAL, total.to_string())], Json(body)).into_response())
}

/// Waits for an answer as long as for a store that is away.
async fn told<T>(
    asked: impl Future<Output = KnowledgeResult<T>>,
) -> Result<KnowledgeView<T>, Fault> {
    let unavailable = |why| Fault::new(StatusCode::SERVICE_UNAVAILABLE, why);
    match timeout(TIMEOUT, asked).await {
        Ok(told) => told.map_err(|Unreadable(why)| unavailable(why)),
        Err(_) => {
            let seconds = TIMEOUT.as_secs();
            Err(unavailable(format!("the store has not answered for {seconds} s: ask again")))
        }
    }
}

fn contact(known: &VisiblePerson) -> Contact {
    let name = known.names.first().or(known.ids.first()).map_or("", String::as_str);
    Contact {
        name: shown(name),
        also: shown_all(known.names.get(1..).unwrap_or_default(), MAX_NAMES),
        ids: shown_all(&known.ids, MAX_NAMES),
        last_interaction_at: known.last,
    }
}

fn todo(todo: &ListedTodo) -> Todo {
    let named =
        |NamedPerson { name, id }: &NamedPerson| NameQuery { name: shown(name), id: shown(id) };
    Todo {
        text: shown(&todo.text),
        due: todo.due.map(|at| at.format("%Y-%m-%d %H:%M").to_string()),
        people: todo.people.iter().take(MAX_NAMES).map(named).collect(),
        chat: todo.chat.as_deref().map(shown),
        chat_name: todo.chat_name.as_deref().map(shown),
        created_at: todo.created_at,
        done_at: todo.done_at,
    }
}

fn list_item(item: &ChatItem) -> ListItem {
    ListItem { text: shown(&item.text), is_done: item.is_done }
}

fn line(number: usize, one: &MemoryEntry) -> Line {
    Line {
        number,
        path: shown(&one.path),
        line: one.line,
        section: shown(&one.section),
        text: shown(&one.text),
        author: one.author.as_deref().map(shown),
        trust: one.trust,
        level: one.level,
        at: one.at.clone(),
    }
}

fn shown_all(texts: &[String], most: usize) -> Vec<String> {
    texts.iter().take(most).map(|text| shown(text)).collect()
}

/// In one line, with nothing in it that hides or steers.
fn shown(text: &str) -> String {
    harmless(&one_line(&shorten(text, MAX_LENGTH)))
}
