//! The section `telemetry`: where traces go. Part of the config.

use reqwest::Url;
use reqwest::header::HeaderValue;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

/// Where a collector of traces takes them.
const PATH: &str = "/v1/traces";

/// Where what is measured goes by itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// Traces of tasks.
    pub otlp: Otlp,
}

/// A collector of traces by OpenTelemetry's protocol, OTLP over HTTP with JSON. Off while no endpoint is set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Otlp {
    /// Its address, before or with `/v1/traces`.
    pub endpoint: Option<String>,
    /// What it wants to read in the header `Authorization`.
    #[schemars(with = "Option<String>")]
    pub authorization: Option<SecretString>,
}

impl Otlp {
    /// Lists what is wrong: the key inside the section, and what it takes.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut wrong = Vec::new();
        if let Some(Err(message)) = self.endpoint.as_deref().map(address) {
            wrong.push(("endpoint", message));
        }
        if self.authorization.is_some() && self.endpoint.is_none() {
            let message =
                "is set without the endpoint: nothing would be sent. Set both, or neither";
            wrong.push(("authorization", message.to_owned()));
        }
        if self.authorization.is_some() && self.header().is_none() {
            let message = "contains characters that no header has (a line break?)";
            wrong.push(("authorization", message.to_owned()));
        }
        wrong
    }

    /// Returns the address that is posted to; nothing while it is off.
    pub fn url(&self) -> Option<Url> {
        self.endpoint.as_deref().and_then(|text| address(text).ok())
    }

    /// Returns the header, where there is one.
    pub fn header(&self) -> Option<HeaderValue> {
        let mut header =
            HeaderValue::from_str(self.authorization.as_ref()?.expose_secret().trim()).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

fn address(text: &str) -> Result<Url, String> {
    let takes = || format!("takes an address such as http://127.0.0.1:4318, not {text:?}");
    let mut url = Url::parse(text.trim()).map_err(|_| takes())?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(takes());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("takes an address without a user: authorization is for that".to_owned());
    }
    let before = url.path().trim_end_matches('/').trim_end_matches(PATH).to_owned();
    url.set_path(&format!("{before}{PATH}"));
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_with_its_end_or_without() {
        for (written, asked) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://otlp.example/v1/traces", "https://otlp.example/v1/traces"),
            ("https://otlp.example/otlp", "https://otlp.example/otlp/v1/traces"),
        ] {
            assert_eq!(address(written).unwrap().as_str(), asked);
        }
        for bad in ["", "127.0.0.1:4318", "ftp://x", "http://me:pw@x"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_secret_without_an_address_or_with_a_line_break_is_told() {
        let with = |endpoint: Option<&str>, secret: &str| Otlp {
            endpoint: endpoint.map(str::to_owned),
            authorization: Some(SecretString::from(secret)),
        };
        let keys = |otlp: Otlp| otlp.problems().into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(with(None, "Bearer x")), ["authorization"]);
        assert_eq!(keys(with(Some("x"), "a\nb")), ["endpoint", "authorization"]);
        assert_eq!(keys(with(Some("http://x"), "Bearer x\n")), Vec::<&str>::new());
    }
}
