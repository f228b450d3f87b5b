//! HTTP as every channel has it: one kind of client, one kind of fault, bodies and times bounded.

mod body;
mod client;
mod fault;
mod fetch;
mod pour;
mod progress;
mod reply;

pub use body::{MAX_ANSWER, beginning, read};
pub use client::{Client, Opener, Request};
pub use fault::{Fault, Refusal, chain, never_left, words};
pub use fetch::{Source, Trouble, good};
pub use progress::Progress;
pub use reply::{PlatformReply, Reply, retry_after};
