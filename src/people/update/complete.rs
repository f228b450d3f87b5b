//! Completes an item: found by its words, by a model only where they do not tell; candidates rather than a wrong one.

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::json;

use super::add::chat_of;
use super::contract::MATCH;
use super::likeness::Words;
use super::outcome::{Changes, Counts, Outcome, ShownItem};
use super::task::Task;
use crate::files::{Edit, OwnedTodos};
use crate::todo::{Entry, List};
use selkie_tools::ToolError;
use selkie_tools::ports::TodoReport;

/// So many entries are shown to a model.
const MAX_ASKED: usize = 250;
/// So many candidates are told.
const MAX_TOLD: usize = 8;
/// What was completed so lately may be completed again: the call was made twice.
const AGAIN: TimeDelta = TimeDelta::minutes(10);

/// What words come to.
enum ItemMatch<'e> {
    /// One entry.
    One(&'e Entry),
    /// Several.
    Several(Vec<&'e Entry>),
    /// None.
    None,
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Answer {
    Matched {
        index: Option<usize>,
    },
    NoMatch,
    Ambiguous {
        #[serde(default)]
        candidate_indices: Vec<usize>,
    },
}

/// Completes an item.
pub(super) async fn complete(
    task: &Task<'_>,
    words: &str,
    chat: Option<String>,
) -> Result<TodoReport, ToolError> {
    let words = Entry::content(words).map_err(|why| ToolError::tell(why.to_string()))?;
    let only = match &chat {
        Some(_) => Some(chat_of(&task.view, task.forms, chat)?),
        None => None,
    };
    let listed = task.todos(List::Open).await?;
    let todos = &listed.todos;
    let meant = Words::of(&words);
    let fits = |entry: &&Entry| {
        only.as_ref().is_none_or(|only| entry.chat == *only)
            && !meant.name_another_than(&Words::of(&entry.content))
    };
    let open: Vec<&Entry> = task.view.entries(todos).into_iter().filter(fits).collect();
    let entry = match by_words(&meant, &open) {
        ItemMatch::One(entry) => entry.clone(),
        ItemMatch::Several(candidates) => by_model(task, &words, &candidates, &listed).await?,
        ItemMatch::None => {
            if let Some(done) = just_done(task, &meant).await? {
                return told(task, &done, Changes::default(), vec!["already_done".to_owned()])
                    .await;
            }
            // What signs alone mean, no model can tell.
            if open.is_empty() || meant.are_signs() {
                return Err(nothing());
            }
            by_model(task, &words, &open, &listed).await?
        }
    };
    let ticked = entry.ticked(task.minute().naive_utc());
    let held = task.reminding.hold().await;
    let done = task
        .edit(vec![
            Edit::Todos { list: List::Done, take: Vec::new(), put: vec![ticked.clone()] },
            Edit::Todos { list: List::Open, take: vec![entry.clone()], put: Vec::new() },
        ])
        .await?;
    task.reminding.take(&[entry]).await;
    drop(held);
    let mut warnings = task.view.faults(List::Open, todos);
    if done.taken == 0 {
        warnings.push("somebody has taken it out of TODO.md meanwhile".to_owned());
    }
    let changes = Changes { wip_added: 0, wip_removed: done.taken, done_added: done.ticked };
    let done = told(task, &ticked, changes, warnings).await?;
    Ok(TodoReport { level: task.level([&ticked], &listed), ..done })
}

async fn told(
    task: &Task<'_>,
    entry: &Entry,
    changed: Changes,
    warnings: Vec<String>,
) -> Result<TodoReport, ToolError> {
    let open = task.todos(List::Open).await?;
    let done = task.todos(List::Done).await?;
    let updated_counts = Counts {
        open_count: task.view.count(&open.todos),
        done_count: task.view.count(&done.todos),
    };
    let shown = ShownItem::of(entry);
    let level = task.level([entry], &done);
    Outcome {
        ok: true,
        action: "complete",
        updated_counts,
        changed,
        entry: shown,
        reminder: None,
        warnings,
    }
    .told(level)
}

/// Finds what words say to the letter, or what alone holds all of them.
fn by_words<'e>(words: &Words, open: &[&'e Entry]) -> ItemMatch<'e> {
    let read: Vec<Words> = open.iter().map(|entry| Words::of(&entry.content)).collect();
    let those = |fits: &dyn Fn(&Words) -> bool| -> Vec<&'e Entry> {
        open.iter().zip(&read).filter(|(_, own)| fits(own)).map(|(entry, _)| *entry).collect()
    };
    let same = those(&|own| own.is_same(words));
    let found = if same.is_empty() { those(&|own| own.hold(words)) } else { same };
    match found.as_slice() {
        [] => ItemMatch::None,
        [one] => ItemMatch::One(one),
        _ => ItemMatch::Several(found),
    }
}

/// `listed`: where they stand.
async fn by_model(
    task: &Task<'_>,
    words: &str,
    among: &[&Entry],
    listed: &OwnedTodos,
) -> Result<Entry, ToolError> {
    let among = &among[..among.len().min(MAX_ASKED)];
    let entry = |(index, entry): (usize, &&Entry)| json!({ "index": index, "created_at": entry.created.map(|at| at.to_string()), "content": entry.content });
    let entries: Vec<_> = among.iter().enumerate().map(entry).collect();
    let within = |index: usize| match among.get(index) {
        Some(_) => Ok(()),
        None => Err(format!("semantic match index out of range: {index}")),
    };
    let is_valid = |answer: &Answer| match answer {
        Answer::Matched { index: None } => Err("semantic match missing index".to_owned()),
        Answer::Matched { index: Some(index) } => within(*index),
        Answer::Ambiguous { candidate_indices } => {
            candidate_indices.iter().try_for_each(|index| within(*index))
        }
        Answer::NoMatch => Ok(()),
    };
    let asked = json!({ "query": words, "entries": entries });
    match MATCH.ask(task, &asked, is_valid).await? {
        Answer::Matched { index } => index
            .and_then(|index| among.get(index))
            .map(|entry| (*entry).clone())
            .ok_or_else(nothing),
        Answer::NoMatch => Err(nothing()),
        Answer::Ambiguous { candidate_indices } => {
            let named: Vec<&Entry> =
                candidate_indices.iter().filter_map(|at| among.get(*at).copied()).collect();
            let candidates = if named.is_empty() { among } else { &named };
            let level = task.level(candidates.iter().copied(), listed);
            Err(ToolError::Quote { text: ambiguous(candidates), level })
        }
    }
}

/// Finds what was completed a moment ago with these very words.
async fn just_done(task: &Task<'_>, words: &Words) -> Result<Option<Entry>, ToolError> {
    let OwnedTodos { todos, .. } = task.todos(List::Done).await?;
    let since = task.minute().naive_utc() - AGAIN;
    let says = |own: Words| own.is_same(words) || own.hold(words);
    let is_it = |entry: &&&Entry| {
        entry.done.is_some_and(|done| done >= since) && says(Words::of(&entry.content))
    };
    Ok(task.view.entries(&todos).iter().find(is_it).map(|entry| (*entry).clone()))
}

fn nothing() -> ToolError {
    ToolError::tell("no matching todo item in TODO.md")
}

/// Tells which it may be, and how to say it.
fn ambiguous(candidates: &[&Entry]) -> String {
    let lines = candidates.iter().take(MAX_TOLD).map(|entry| format!("\n- {}", entry.content));
    let lines: String = lines.collect();
    let more = candidates.len().saturating_sub(MAX_TOLD);
    let more = if more > 0 { format!("\n(and {more} more)") } else { String::new() };
    format!(
        "ambiguous todo item match: several items fit. Use all the words of one of these:{lines}{more}"
    )
}
