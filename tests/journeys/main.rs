//! Journeys: one story per file. The built binary as a real process, the real store, the playground's servers
//! over real HTTP. Nothing sleeps: every wait is for an event.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod bad_start;
mod bot_loop;
mod command_line;
mod commands;
mod console;
mod debounce;
mod edits;
mod files_in;
mod full_disk;
mod gate_fails;
mod gate_overtaken;
mod gate_smart;
mod gate_strict;
mod gate_talkative;
mod groups;
mod groups_more;
mod interrupt;
mod isolation;
mod keyboards;
mod kill_at_every_edge;
mod kill_at_random;
mod line;
mod long_text;
mod migrate;
mod model_trouble;
mod order;
mod page;
mod plain_message;
mod poison;
mod progress;
mod removed;
mod restart;
mod secrets;
mod shell;
mod slack;
mod steer;
mod stop;
mod stop_in_group;
mod strangers;
mod summoned;
mod syncs;
mod telegram_closed;
mod telegram_faults;
mod telegram_limits;
mod tools;
mod web;
mod workspace;
mod x;
