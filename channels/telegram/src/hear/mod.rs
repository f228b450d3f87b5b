//! Telegram's updates as [`Inbound`](selkie_channel_core::Inbound)s.
//!
//! An update is read as plain JSON, field by field, and not into teloxide's types: Telegram adds fields,
//! kinds and values without notice, and one value that a typed message does not know would cost the
//! whole message (in teloxide 0.17 an explicit `null` or an unknown enum value is enough). Here a field
//! of another shape is a field that is not there, and only an update without a number is unreadable.

mod attachment;
mod field;
mod message;
mod quote;
mod rich;
mod text;
mod things;
mod update;

pub use attachment::file_id;
pub use message::Frame;
pub use update::{read, update_id};

/// Who the bot is, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    /// The bot's user id.
    pub id: i64,
    /// Its username without the `@`.
    pub username: Option<String>,
}

#[cfg(test)]
mod tests;
