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

use schemars::JsonSchema;

use crate::spec;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Describes a tool that looks.
fn looking<Args: JsonSchema>(name: &'static str, description: &str) -> ToolSpec {
    ToolSpec {
        description: description.to_owned(),
        group: "sessions",
        sources: &["S4"],
        doing: "looking at conversations",
        ..spec::<Args>(name, Class::Read, Recovery::CallAgain)
    }
}

/// How many of something are wanted: a number of 0 is one.
fn most(wanted: Option<u32>, usual: u32, most: u32) -> usize {
    wanted.unwrap_or(usual).clamp(1, most) as usize
}
