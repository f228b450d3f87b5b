//! The second step of shaping: (shape, window) → which of the tools a model reads, and in how many words. What it does not
//! read can be called all the same: a call is looked up in the shape.

use std::sync::Arc;

use serde_json::Value;

use selkie_domain::share::Share;
use selkie_domain::tokens;
use selkie_domain::tool::{ToolBlock, ToolList, ToolSpec};

/// THE table: which tools leave first where there is no room for all. A small local model answers, reminds and keeps
/// lists; it seldom edits notebooks.
pub const LEAVING: &[&str] = &[
    "notebook_edit",
    "acp_spawn",
    "apply_patch",
    "patch",
    "persona_write",
    "powershell",
    "read_schema",
    "git_status",
    "peek_agent",
    "stop_agent",
    "message_agent",
    "list_agents",
    "sessions_status",
    "sessions_send",
    "sessions_history",
    "sessions_list",
    "navigate",
    "load_skill",
    "contacts_send",
    "url_fetch",
    "process",
    "plan_create",
    "plan_enter",
    "plan_exit",
    "think",
    "spawn",
    OTHERS,
    "image_generate",
    "use_tool",
    "tool_search",
    "grep",
    "glob",
    "todo_write",
    "todo_read",
    "ask_user",
    "edit_file",
    "recall",
    "memory_get",
    "list_files",
    "web_fetch",
    "web_search",
    "write_file",
    "read_file",
    "memory_search",
    "memory_write",
    "todo_update",
    "cron",
    "bash",
    "message",
];

/// What finds tools that are not listed, and calls them.
const SEARCH: [&str; 2] = ["tool_search", "use_tool"];
/// Other servers' tools are listed as long as they take no more than this part of a window: 2 %.
const FOREIGN_PART: u64 = 50;

/// Stands for every tool that the table does not name: channels' own, and those from outside.
const OTHERS: &str = "*";

/// Fits the tools of a shape into their share of a window: whole, with their first sentence alone, or fewer. A function
/// of both alone: the same bytes for every task, made once and kept with the block.
pub fn fit(block: &Arc<ToolBlock>, window: u64) -> Arc<ToolList> {
    let room = tokens::bytes(Share::of(window).tools);
    let foreign = block.specs().iter().filter(|spec| is_of_a_server(spec));
    let foreign: usize = foreign.map(|spec| spec.size()).sum();
    let has_search = block.specs().iter().any(|spec| is_search(spec));
    let is_searched = has_search && foreign > tokens::bytes(window / FOREIGN_PART);
    if block.size() <= room && !has_search {
        return Arc::new(ToolList::whole(block));
    }
    block.listing(window, |specs| {
        // Where other servers' tools are listed, nothing has to be searched for.
        let leaves = if is_searched { is_of_a_server } else { is_search };
        let (left, kept): (Vec<_>, Vec<_>) = specs.iter().cloned().partition(|spec| leaves(spec));
        let left: Vec<&str> =
            left.iter().filter(|spec| !is_search(spec)).map(|spec| spec.name).collect();
        let size: usize = kept.iter().map(|spec| spec.size()).sum();
        if size <= room {
            return ToolList { block: Arc::new(ToolBlock::new(kept)), left, is_short: false };
        }
        let fewer = fewer(&kept, room);
        ToolList { left: left.into_iter().chain(fewer.left).collect(), ..fewer }
    })
}

fn is_of_a_server(spec: &ToolSpec) -> bool {
    spec.foreign.as_ref().is_some_and(|foreign| foreign.server.is_some())
}

fn is_search(spec: &ToolSpec) -> bool {
    SEARCH.contains(&spec.name)
}

/// Says what the window does to a tool; nothing where it leaves it as it is.
pub fn reason(block: &Arc<ToolBlock>, window: u64, model: &str, name: &str) -> Option<String> {
    let listing = fit(block, window);
    let window = selkie_domain::count::grouped(window);
    if listing.left.contains(&name) {
        return Some(format!(
            "not listed for lack of room: the window of {model} has {window} tokens; it can be called all the same"
        ));
    }
    let is_there = block.specs().iter().any(|spec| spec.name == name);
    (listing.is_short && is_there).then(|| {
        format!("told in one sentence for lack of room: the window of {model} has {window} tokens")
    })
}

fn fewer(specs: &[Arc<ToolSpec>], room: usize) -> ToolList {
    let mut kept: Vec<Arc<ToolSpec>> = specs.iter().map(|spec| Arc::new(short(spec))).collect();
    let mut size: usize = kept.iter().map(|spec| spec.size()).sum();
    let mut left = Vec::new();
    while size > room
        && let Some(at) = next(&kept)
    {
        let spec = kept.remove(at);
        size -= spec.size();
        left.push(spec.name);
    }
    ToolList { block: Arc::new(ToolBlock::new(kept)), left, is_short: true }
}

/// Which of them leaves next: the first of the table, of equals the last of the list.
fn next(kept: &[Arc<ToolSpec>]) -> Option<usize> {
    let place = |name: &str| LEAVING.iter().position(|known| *known == name);
    let others = place(OTHERS);
    let rank = |spec: &ToolSpec| place(spec.name).or(others);
    (0..kept.len()).rev().min_by_key(|at| rank(&kept[*at]))
}

/// A tool in its first sentence, its parameters without words.
fn short(spec: &ToolSpec) -> ToolSpec {
    let text = &spec.description;
    let description = text.find(". ").map_or(text.as_str(), |end| &text[..=end]).to_owned();
    ToolSpec { description, parameters: wordless(&spec.parameters, false), ..spec.clone() }
}

/// A schema without descriptions and what only the check of a call needs. Names of parameters are no keywords.
fn wordless(schema: &Value, names: bool) -> Value {
    match schema {
        Value::Object(map) => {
            let says_nothing = |key: &str, value: &Value| match key {
                "description" => value.is_string(),
                "additionalProperties" => *value == Value::Bool(false),
                "minLength" => *value == 0,
                _ => false,
            };
            let kept = map.iter().filter(|(key, value)| names || !says_nothing(key, value));
            kept.map(|(key, value)| (key.clone(), wordless(value, !names && key == "properties")))
                .collect()
        }
        Value::Array(items) => items.iter().map(|item| wordless(item, false)).collect(),
        other => other.clone(),
    }
}
