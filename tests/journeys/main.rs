//! Journeys: one story per file. The built binary as a real process, the real store, the playground's servers
//! over real HTTP. Nothing sleeps: every wait is for an event.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod command_line;
mod commands;
mod edits;
mod files_in;
mod groups;
mod groups_more;
mod isolation;
mod long_text;
mod model_trouble;
mod order;
mod page;
mod plain_message;
mod strangers;
mod syncs;
mod tools;
