//! Journeys: one story per file. The built binary as a real process, the real store, the playground's servers
//! over real HTTP. Nothing sleeps: every wait is for an event.

#[path = "../support/mod.rs"]
mod support;

mod bad_start;
mod full_disk;
mod kill_at_every_edge;
mod kill_at_random;
mod page;
mod plain_message;
mod poison;
mod secrets;
mod stop;
mod telegram_closed;
mod telegram_faults;
mod telegram_limits;
