//! What the bot remembers beyond a conversation's history: files by place that people edit, too, and the index over them.

mod book;
mod context;

mod found;
#[cfg(test)]
mod fuzz;
mod index;
mod line;
mod mark;
mod page;
mod pieces;
mod reading;
pub mod remembered;
mod score;
mod subject;
#[cfg(test)]
mod tests;
mod words;

pub use book::{MemoryBook, Places};
pub use line::{LONGEST_LINE, MOST_AN_HOUR, MOST_BYTES};
pub use subject::Subject;
