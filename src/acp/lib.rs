//! The Agent Client Protocol, version 1, from the side of who asks: lines in, lines out, no I/O.
//!
//! An agent is a program that speaks JSON-RPC over its standard streams, one message a line. It is asked one thing
//! ([`Session`]), tells how far it is, asks for permission ([`Permission`]) and ends with a reason. Files and terminals are
//! not offered to it. Everything that it writes is foreign.

mod error;
mod line;
mod message;
mod permission;
mod session;
mod text;

pub use error::AcpError;
pub use line::{LineReader, MAX_LINE};
pub use permission::{Kind, Permission, Verdict};
pub use session::{Event, Prompt, Session};
pub use text::MAX_TEXT;
