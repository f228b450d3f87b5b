//! Journeys: one story per file. The built binary as a real process, the real store, the playground's servers
//! over real HTTP. Nothing sleeps: every wait is for an event.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod bad_start;
mod command_line;
mod commands;
mod console;
mod edits;
mod files_in;
mod full_disk;
mod groups;
mod groups_more;
mod isolation;
mod keyboards;
mod kill_at_every_edge;
mod kill_at_random;
mod line;
mod line_held;
mod line_kill;
mod line_unsend;
mod long_text;
mod migrate;
mod model_trouble;
mod order;
mod page;
mod plain_message;
mod poison;
mod progress;
mod questions;
mod removed;
mod restart;
mod secrets;
mod shell;
mod slack;
mod slack_commands;
mod slack_edits;
mod slack_files;
mod slack_sockets;
mod slack_taps;
mod slack_threads;
mod stop;
mod strangers;
mod syncs;
mod telegram_closed;
mod telegram_faults;
mod telegram_limits;
mod tools;
mod web;
mod workspace;
mod x;
