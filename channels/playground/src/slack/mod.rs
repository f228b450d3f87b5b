//! The emulated Slack: Web API, file host and Socket Mode, and the handle that plays its people.

mod blocks;
mod chat;
mod files;
mod handle;
mod history;
mod http;
mod limits;
mod lines;
mod methods;
mod params;
mod press;
mod reactions;
mod refusal;
mod respond;
mod server;
mod sockets;
mod streams;
mod world;

pub use handle::Slack;
pub(crate) use http::routes;
pub use press::Button;
pub(crate) use server::Server;
pub use world::{
    ADA, APP_TOKEN, BOT, BOT_TOKEN, CHANNEL, DM, GRACE, LINUS, SlackMessage, Stream, TEAM, Whisper,
};

#[cfg(test)]
mod tests;
