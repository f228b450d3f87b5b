//! Reads webhook events. Tolerant: an event of a shape nobody knows is kept raw and costs its neighbours
//! nothing.

mod event;
mod field;
mod message;
mod words;

pub use event::{Frame, learn, quoted, read};
pub use message::content;
