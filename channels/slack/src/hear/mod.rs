//! Slack's envelopes as [`Inbound`](selkie_channel_core::Inbound)s.
//!
//! An envelope is read as plain JSON, field by field: Slack adds fields, kinds and values without notice,
//! and a field of another shape is a field that is not there. Nothing is dropped: what nobody knows is
//! kept raw.

mod attachment;
mod envelope;
mod field;
mod interactive;
mod message;
mod words;

pub use attachment::{Handle, handle};
pub use envelope::{Envelope, Frame, asks_who_we_are, read, told};
pub use interactive::{AnswerAt, TapHandle};
pub use message::earlier;

#[cfg(test)]
mod tests;
