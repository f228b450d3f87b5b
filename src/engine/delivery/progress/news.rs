//! What the tools of a task have told last.

use std::collections::BTreeMap;

use selkie_domain::plan::Plan;

/// What the tools tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    pub(super) plan: Option<Plan>,
    /// What the tool at work does.
    pub(super) tool: Option<String>,
    /// Its newest line, without secrets.
    pub(super) line: String,
    /// The newest step of each agent that works.
    pub(super) agents: BTreeMap<String, String>,
    /// The model's answer takes long.
    pub(super) waiting: bool,
    /// Somebody is, or was, asked to approve a call.
    pub(super) approval: Option<ApprovalLine>,
}

/// A line about the approval of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ApprovalLine {
    /// It was asked for.
    Sought(String),
    /// Somebody has decided, or nobody has in time.
    Settled(String),
}

/// How soon news are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Haste {
    /// Now.
    Now,
    /// When the task has taken long.
    InTime,
    /// Only in place of what stands already.
    InPlace,
}

impl News {
    pub(super) fn haste(&self) -> Haste {
        match &self.approval {
            Some(ApprovalLine::Sought(_)) => Haste::Now,
            Some(ApprovalLine::Settled(_)) => Haste::InPlace,
            None => Haste::InTime,
        }
    }
}
