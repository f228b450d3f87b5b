//! Other people's tools: a client of the Model Context Protocol, in both of its eras, over programs and over HTTP.
//!
//! Nothing starts before the first call. A server is shared by all conversations; what it writes is hostile: every line,
//! list, text and wait is bounded, and nothing of it is judged here but its form.

mod ask;
mod asking;
mod call;
mod connection;
mod connections;
mod deps;
mod error;
mod event_stream;
mod handshake;
mod http_link;
mod line;
mod link;
mod listing;
mod message;
mod news;
mod open_calls;
mod outcome;
mod param_headers;
mod progress;
mod sequence;
mod server;
mod settings;
mod start;
mod stdio_link;
#[cfg(test)]
mod tests;
mod text;
mod traits;

pub use call::{Answer, CallContext, ElicitationAnswers};
pub use connections::Connections;
pub use deps::ConnectionDeps;
pub use error::McpError;
pub use listing::{ListedTool, ServerList, UnlistedTool};
pub use outcome::{CallOutcome, CallResult, Elicitation, ElicitationQuestion, ResultPicture};
pub use settings::ServerSettings;
pub use traits::ListWatcher;
