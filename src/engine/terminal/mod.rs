//! The command line as a channel: what is asked there, answered there, and taken back when nobody sits there any more.

pub mod agent;
pub mod ask;
pub mod channel;
pub mod typed;
pub mod unheard;

pub use ask::{Ask, AskEvent, Reply};
