//! Setting selkie up: what is asked, how each answer is tried, and how the config is written, whole or not at all.

mod answers;
mod channels;
pub mod earlier;
mod model;
mod owner;
mod prompt;
mod readers;
mod render;
mod server;
mod trial;
mod wizard;
mod written;

pub use answers::Answers;
pub use prompt::{PromptClosed, Prompter};
pub use render::render;
pub use trial::{Trial, TrialResult};
pub use wizard::ask;
pub use written::{Target, WrittenFiles};
