//! Journeys: one story per file. The built binary as a real process, the real store, the playground's servers
//! over real HTTP. Nothing sleeps: every wait is for an event.

#[path = "../support/mod.rs"]
mod support;

mod bad_start;
mod console;
mod full_disk;
mod kill_at_every_edge;
mod kill_at_random;
mod migrate;
mod page;
mod plain_message;
mod poison;
mod removed;
mod restart;
mod secrets;
mod stop;
mod telegram_closed;
mod telegram_faults;
mod telegram_limits;
