//! Tools that are not selkie's own: what an operator says of them, and programs of the operator's as tools.

mod command_tool;
mod schema;
mod settings;
#[cfg(test)]
mod tests;
mod tool_search;
mod use_tool;

pub(crate) use command_tool::command_tools;
pub use schema::foreign_schema;
pub use settings::{CommandSettings, Commands, Who, foreign_class};
pub(crate) use tool_search::search_tools;
pub(crate) use use_tool::meant;
