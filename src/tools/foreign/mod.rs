//! Tools that are not selkie's own: what an operator says of them, and programs of the operator's as tools.

mod command_tool;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use command_tool::command_tools;
pub use settings::{CommandSettings, Commands, Who, foreign_class};
