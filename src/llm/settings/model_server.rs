//! What the sections of servers of one model have in common: their keys, their addresses, and what can be wrong with them.

use reqwest::Url;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::Problem;

use super::check::read_endpoint;
use selkie_domain::span::Span;

/// The keys that every such section has.
pub(super) struct ServerKeys<'a> {
    pub endpoint: Option<Result<Url, String>>,
    pub model: Option<&'a str>,
    pub api_key: Option<&'a SecretString>,
    /// How long one try may take, where config says that.
    pub timeout: Option<Span>,
}

impl ServerKeys<'_> {
    /// Lists everything that is wrong with them.
    pub fn problems(self) -> Vec<Problem> {
        let Self { endpoint, model, api_key, timeout } = self;
        let mut out = Vec::new();
        let mut wrong = |key: &str, message: &str| out.push(problem(key, message));
        match endpoint {
            Some(Err(message)) => wrong("endpoint", &message),
            Some(Ok(_)) if named(model).is_none() => {
                wrong("model", "is missing: name the model to ask the endpoint for");
            }
            Some(Ok(_)) => {}
            None => {
                let set = [("model", model.is_some()), ("api_key", api_key.is_some())];
                for (key, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
                    wrong(
                        key,
                        "is set without the endpoint: nobody would be asked. Set both, or neither",
                    );
                }
            }
        }
        let is_key = |key: &SecretString| HeaderValue::from_str(key.expose_secret().trim()).is_ok();
        if api_key.is_some_and(|key| !is_key(key)) {
            wrong("api_key", "contains characters that no key has (a line break?)");
        }
        if timeout.is_some_and(|timeout| timeout.0.is_zero()) {
            wrong("timeout", "takes a length of time above 0");
        }
        out
    }
}

/// Says what is wrong with a program that takes a server's place, if anything.
pub(super) fn command_problem(command: &[String], has_endpoint: bool) -> Option<Problem> {
    let message = match command.first()?.trim() {
        "" => "takes a program and its arguments",
        _ if has_endpoint => "and endpoint are both set: keep one of them",
        _ => return None,
    };
    Some(problem("command", message))
}

/// Something that is wrong with a key of the section.
pub(super) fn problem(key: &str, message: impl Into<String>) -> Problem {
    Problem { key: key.to_owned(), message: message.into() }
}

/// Returns a model's name, where one is written.
pub(super) fn named(model: Option<&str>) -> Option<&str> {
    model.map(str::trim).filter(|name| !name.is_empty())
}

/// Reads an address that may be written with the first of these ends or without; with another one it stays.
pub(super) fn address(text: &str, ends: &[&str]) -> Result<Url, String> {
    let mut url = read_endpoint(text)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let is_whole = ends.iter().any(|end| path.ends_with(end));
    let end = ends.first().filter(|_| !is_whole).copied().unwrap_or_default();
    url.set_path(&format!("{path}{end}"));
    Ok(url)
}
