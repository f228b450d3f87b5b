//! The emulated Telegram Bot API server and the handle that plays its people.

mod chat;
mod commands;
mod demo;
mod entities;
mod handle;
pub(crate) mod html;
mod http;
mod keyboard;
mod log;
mod media;
mod methods;
mod pace;
mod params;
mod polling;
mod post;
mod reactions;
mod refusal;
mod render;
mod rich;
mod send;
mod server;
mod shown;
mod taps;
mod target;
mod updates;
mod view;
mod watch;
mod world;

pub use chat::{BotMessage, FileKind, Spot};
pub use demo::{ADA, BOT_ID, FIRST_PERSON, GRACE, GROUP, HERS, LINUS, PRIVATE, TOKEN, TOPIC};
pub use handle::{FileDraft, Telegram};
pub(crate) use http::routes;
pub use log::{Call, Outcome};
pub use pace::Pace;
pub(crate) use render::mime;
pub(crate) use server::Server;
pub use view::{Author, Event, EventKind, FileView, MessageView, ReactionView};
pub use watch::AnswerCounts;

#[cfg(test)]
mod tests;
