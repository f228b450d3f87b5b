//! What the sections of servers of one model have in common: their keys, their addresses, and what can be wrong with them.

use reqwest::Url;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::Problem;

use super::check::read_endpoint;
use selkie_domain::span::Span;

/// The section of a server of one model.
pub(crate) trait ServerSection {
    /// Returns the keys that every such section has.
    fn server(&self) -> ServerKeys<'_>;

    /// Lists what is wrong with the others.
    fn own_problems(&self) -> Vec<Problem>;

    /// Lists everything that is wrong. Keys are inside the section.
    fn problems(&self) -> Vec<Problem> {
        let mut all = self.server().problems();
        all.extend(self.own_problems());
        all
    }
}

/// The keys that every such section has.
pub(crate) struct ServerKeys<'a> {
    pub endpoint: Option<&'a str>,
    /// The ends of the address that is asked: the first is put behind an endpoint that has none of them.
    pub ends: &'static [&'static str],
    pub model: Option<&'a str>,
    /// Sent as a bearer token.
    pub api_key: Option<&'a SecretString>,
    /// How long one try may take.
    pub timeout: Span,
}

impl ServerKeys<'_> {
    /// Returns the address that is asked; nothing where no server is.
    pub fn url(&self) -> Option<Url> {
        self.address()?.ok()
    }

    /// Returns the model's name, where one is written.
    pub fn model(&self) -> Option<&str> {
        self.model.map(str::trim).filter(|name| !name.is_empty())
    }

    fn address(&self) -> Option<Result<Url, String>> {
        self.endpoint.map(|text| address(text, self.ends))
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        let mut wrong = |key: &str, message: &str| out.push(problem(key, message));
        match self.address() {
            Some(Err(message)) => wrong("endpoint", &message),
            Some(Ok(_)) if self.model().is_none() => {
                wrong("model", "is missing: name the model to ask the endpoint for");
            }
            Some(Ok(_)) => {}
            None => {
                let set = [("model", self.model.is_some()), ("api_key", self.api_key.is_some())];
                for (key, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
                    wrong(
                        key,
                        "is set without the endpoint: nobody would be asked. Set both, or neither",
                    );
                }
            }
        }
        let is_key = |key: &SecretString| HeaderValue::from_str(key.expose_secret().trim()).is_ok();
        if self.api_key.is_some_and(|key| !is_key(key)) {
            wrong("api_key", "contains characters that no key has (a line break?)");
        }
        if self.timeout.0.is_zero() {
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

/// Reads an address that may be written with the first of these ends or without; with another one it stays.
fn address(text: &str, ends: &[&str]) -> Result<Url, String> {
    let mut url = read_endpoint(text)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let is_whole = ends.iter().any(|end| path.ends_with(end));
    let end = ends.first().filter(|_| !is_whole).copied().unwrap_or_default();
    url.set_path(&format!("{path}{end}"));
    Ok(url)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes down everything that is wrong with a section.
    pub fn faults<Section: ServerSection + serde::de::DeserializeOwned>(yaml: &str) -> String {
        let section: Section = serde_saphyr::from_str(yaml).expect("settings");
        let lines = section.problems().into_iter().map(|p| format!("{}: {}", p.key, p.message));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_address_is_taken_with_its_end_or_without() {
        const ENDS: [&str; 2] = ["/embeddings", "/inference"];
        for (written, asked) in [
            ("https://api.example/v1", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings?v=2", "https://api.example/v1/embeddings?v=2"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/embeddings"),
            ("http://127.0.0.1:8080/inference", "http://127.0.0.1:8080/inference"),
        ] {
            assert_eq!(address(written, &ENDS).expect("an address").as_str(), asked);
        }
    }
}
