//! Whom the bot knows and what is to be done: contacts and todos, in files that people edit by hand at any time.

pub mod addressees;
pub mod book;
pub mod contact_files;
pub mod contacts;
pub mod directory;
pub mod due;
mod fault;
pub mod files;
mod forgotten;
pub mod forms;
mod front;
#[cfg(test)]
mod fuzz;
pub mod mentions;
pub mod merging;
pub mod named;
pub mod observed;
mod regions;
mod text;
pub mod todo;
pub mod undone;
pub mod update;
pub mod visibility;

pub use fault::Fault;
pub use text::{MAX_BYTES, Unreadable, decode};
