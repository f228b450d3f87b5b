//! The conversations that there are: listed, read, and spoken into by a task of another one.

mod history;
mod list;
mod send;
mod status;

pub(crate) use history::SessionsHistory;
pub(crate) use list::SessionsList;
pub(crate) use send::SessionsSend;
pub(crate) use status::SessionsStatus;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::Output;
use crate::ports::Told;

/// Describes a tool that looks.
fn looking(name: &'static str, description: &str, parameters: serde_json::Value) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name,
        description: description.to_owned(),
        parameters,
        class: Class::Read,
        group: "sessions",
        sources: &["S4"],
        doing: "looking at conversations",
        also: Also::default(),
        recovery: Recovery::CallAgain,
    })
}

/// Answers with what is told, at its level.
fn told(told: Told) -> Output {
    Output { level: told.level, ..Output::ok(told.text) }
}

/// How many of something are wanted: a number of 0 is one.
fn most(wanted: Option<u32>, usual: u32, most: u32) -> usize {
    wanted.unwrap_or(usual).clamp(1, most) as usize
}
