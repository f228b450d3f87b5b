//! Slack's envelopes as [`Inbound`](selkie_channel_core::Inbound)s.
//!
//! An envelope is read as plain JSON, field by field: Slack adds fields, kinds and values without notice,
//! and a field of another shape is a field that is not there. Nothing is dropped: what nobody knows is
//! kept raw.

mod attachment;
mod content;
mod envelope;
mod frame;
mod interactive;
mod message;
mod rich;
mod text;

pub use attachment::{Handle, handle, told as told_of_file};
pub use envelope::{Envelope, asks_who_we_are, read, told};
pub use frame::Frame;
pub use interactive::{AnswerAt, TapHandle};
pub use message::earlier;
pub use text::as_read;

#[cfg(test)]
mod tests;
