//! Reads webhook events. Tolerant: an event of a shape nobody knows is kept raw and costs its neighbours
//! nothing.

mod event;
mod field;
mod frame;
mod message;
mod text;

pub use event::{learn, quoted, read};
pub use frame::Frame;
pub use message::{Content, content};
