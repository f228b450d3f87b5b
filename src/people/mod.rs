//! Whom the bot knows and what is to be done: contacts and todos, in files that people edit by hand at any time.

pub mod contacts;
pub mod due;
mod fault;
pub mod files;
pub mod forms;
mod front;
#[cfg(test)]
mod fuzz;
mod regions;
mod text;
pub mod todo;
pub mod update;

pub use fault::Fault;
pub use text::{MOST_BYTES, Unreadable, decode};
