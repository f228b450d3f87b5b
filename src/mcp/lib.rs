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
mod elicitation;
mod error;
mod event_stream;
mod form;
mod handshake;
mod http_answer;
mod http_link;
mod inquiry;
mod link;
mod listing;
mod login;
mod mcp_tool;
mod message;
mod names;
mod news;
mod open_calls;
mod outcome;
mod param_headers;
mod pinned_tools;
pub mod pins;
mod private_file;
pub mod review;
mod sequence;
mod server;
mod servers;
mod settings;
mod start;
mod stdio_link;
#[cfg(test)]
mod tests;
mod text;

pub use call::CallContext;
pub use connections::Connections;
pub use deps::{ConnectionDeps, ListWatcher};
pub use elicitation::{Demand, Elicitation, ElicitationQuestion};
pub use error::McpError;
pub use inquiry::Inquiry;
pub use listing::{ServerList, UnlistedTool};
pub use login::{Login, LoginError, LoginSummary, TokenFolder};
pub use names::tool_name;
pub use outcome::{CallOutcome, CallResult, ResultPicture};
pub use pinned_tools::PinnedTools;
pub use servers::{ListNews, OwnerTeller, Servers};
pub use settings::{OAuthSettings, OFF, ServerSettings, Settings};
