//! What the bot remembers beyond a conversation's history: files by place that people edit, too, and the index over them.

mod backoff;
mod book;
mod context;
mod found;
#[cfg(test)]
mod fuzz;
mod index;
mod line;
mod mark;
mod marked_lines;
mod met;
mod of_agents;
mod page;
mod pieces;
mod reading;
pub mod remembered;
mod score;
mod settings;
mod subject;
mod summarized;
pub mod summary;
#[cfg(test)]
mod tests;
mod vectors;
mod words;

pub use book::{MemoryBook, MemoryParts, Places};
pub use line::{MAX_AN_HOUR, MAX_BYTES, MAX_LINE};
pub use met::meet;
pub use settings::{Settings, SummarySettings};
pub use subject::{FOLDER, Subject};
pub use summarized::NewSummary;
pub use vectors::Vectors;
