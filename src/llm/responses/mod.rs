//! OpenAI's Responses API, without anything kept at its server.

mod reply;
mod request;

pub(super) use request::Responses;
