//! The strict families: one story for all, in which no request breaks a rule of its provider; and what the provider
//! says when one does.

mod changed;
mod demo;
mod owed;
mod story;

use selkie_playground::Family;

/// A family, and what of its rules is not kept yet.
pub(crate) struct Row {
    pub(crate) family: Family,
    /// What the profile says besides; JSON.
    pub(crate) profile: &'static str,
    /// The words by which the server refuses, or says that it cuts.
    pub(crate) owes: Option<&'static str>,
}

const fn kept(family: Family) -> Row {
    Row { family, profile: "{}", owes: None }
}

/// A row that owes nothing goes through the whole story.
pub(crate) const ROWS: [Row; 6] = [
    // It is asked at the chat door.
    Row {
        owes: Some("Function tools with reasoning_effort are not supported for gpt-5.6"),
        ..kept(Family::OpenAi)
    },
    kept(Family::Claude),
    kept(Family::ClaudeBound),
    kept(Family::Gemini),
    // What belongs to calls goes with their task, and the next task sends the calls without it.
    Row {
        owes: Some("The `reasoning_content` in the thinking mode must be passed back to the API."),
        ..kept(Family::DeepSeek)
    },
    // Nobody fits tools and prompt into a window that only the server knows.
    Row { owes: Some("tokens of the prompt were cut off"), ..kept(Family::Local) },
];

/// The rows that keep every rule.
pub(crate) fn kept_rows() -> impl Iterator<Item = Row> {
    ROWS.into_iter().filter(|row| row.owes.is_none())
}
