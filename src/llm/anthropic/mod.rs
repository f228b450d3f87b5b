//! Anthropic's Messages API.

mod reply;
mod request;

pub(super) use request::Messages;
