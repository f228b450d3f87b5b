//! The chat completions API, as OpenAI and every compatible server speak it.

mod own;
mod reply;
mod request;

pub(super) use request::Chat;
