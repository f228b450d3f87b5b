//! The strict families: one story for all, in which no request breaks a rule of its provider; and what the provider
//! says when one does.

mod changed;
mod demo;
mod doctor;
mod story;
mod window;

use selkie_playground::Family;

/// A family, and how it is asked.
pub(crate) struct Row {
    pub(crate) family: Family,
    /// What the profile says besides; JSON.
    pub(crate) profile: &'static str,
}

const fn plain(family: Family) -> Row {
    Row { family, profile: "{}" }
}

pub(crate) const ROWS: [Row; 6] = [
    Row { profile: r#"{ "api": "responses" }"#, ..plain(Family::OpenAi) },
    plain(Family::Claude),
    plain(Family::ClaudeBound),
    plain(Family::Gemini),
    plain(Family::DeepSeek),
    Row { profile: r#"{ "context": 4096 }"#, ..plain(Family::Local) },
];
