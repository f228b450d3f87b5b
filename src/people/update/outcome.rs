//! What a call answers: the reference's keys.

use chrono::{NaiveDateTime, Utc};
use serde::Serialize;

use crate::todo::Entry;
use selkie_domain::taint::Taint;
use selkie_tools::ToolError;
use selkie_tools::ports::TodoReport;

/// What became of a call.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub ok: bool,
    pub action: &'static str,
    pub updated_counts: Counts,
    pub changed: Changes,
    pub entry: ShownItem,
    /// What becomes of an item that has a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How many items there are now, as far as the task sees them.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    pub open_count: usize,
    pub done_count: usize,
}

/// How many came and went.
#[derive(Debug, Default, Serialize)]
pub(super) struct Changes {
    pub wip_added: usize,
    pub wip_removed: usize,
    pub done_added: usize,
}

/// The item itself.
#[derive(Debug, Serialize)]
pub(super) struct ShownItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_id: Option<String>,
    content: String,
}

impl ShownItem {
    pub fn of(entry: &Entry) -> Self {
        let Entry { created, done, chat, content, .. } = entry.clone();
        Self { created_at: created.map(stamp), done_at: done.map(stamp), chat_id: chat, content }
    }
}

impl Outcome {
    /// Answers with it; `level`: of the words that it shows and the task did not bring.
    pub fn told(&self, level: Taint) -> Result<TodoReport, ToolError> {
        let text =
            serde_json::to_string(self).map_err(|error| ToolError::tell(error.to_string()))?;
        Ok(TodoReport { text, level })
    }
}

fn stamp(at: NaiveDateTime) -> String {
    at.and_local_timezone(Utc)
        .single()
        .map_or_else(String::new, |at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}
