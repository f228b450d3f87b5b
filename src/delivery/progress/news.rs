//! What the tools of a task have told last.

use crate::domain::plan::Plan;

/// What the tools tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    pub(super) plan: Option<Plan>,
    /// What the tool at work does.
    pub(super) tool: Option<String>,
    /// Its newest line, without secrets.
    pub(super) line: String,
    /// The model's answer takes long.
    pub(super) waiting: bool,
}
