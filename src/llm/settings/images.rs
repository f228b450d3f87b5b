//! The section of a server that makes pictures: any that speaks OpenAI's `/images`.

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::model_server::{ServerKeys, ServerSection, problem};
use selkie_domain::span::Span;

/// What is asked for a new picture; it may be written behind the address or left out.
const MAKE: &str = "/images/generations";
/// What is asked for a changed one.
const CHANGE: &str = "/images/edits";
/// How long a server may take for one: it is paid for a try, and asked once.
const LIMIT: Span = Span::seconds(180);

/// How pictures are made from words. Off while no endpoint is set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImageSettings {
    /// The server's address, before or with `/images/generations`.
    pub endpoint: Option<String>,
    /// The model's name at its server.
    pub model: Option<String>,
    /// The key, where the server asks for one.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Width and height in pixels where none are asked for (1024x1024). Default: the server decides.
    pub size: Option<String>,
    /// How many pictures are made for one person in a day (UTC); 0: no limit. Owners have none.
    pub per_day: u32,
    /// What one picture costs, in US dollars: it counts to the cost of its task, and to the limits of cost.
    #[schemars(range(min = 0))]
    pub cost_usd: f64,
}

impl Default for ImageSettings {
    fn default() -> Self {
        Self { endpoint: None, model: None, api_key: None, size: None, per_day: 20, cost_usd: 0.0 }
    }
}

impl ServerSection for ImageSettings {
    fn server(&self) -> ServerKeys<'_> {
        ServerKeys {
            endpoint: self.endpoint.as_deref(),
            ends: &[MAKE],
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: LIMIT,
        }
    }

    fn own_problems(&self) -> Vec<Problem> {
        let size = self.size.as_deref().and_then(size_fault);
        let cost = (!self.cost_usd.is_finite() || self.cost_usd < 0.0)
            .then(|| format!("takes US dollars, 0 or more, not {}", self.cost_usd));
        let wrong = [("size", size), ("cost_usd", cost)];
        wrong.into_iter().filter_map(|(key, why)| Some(problem(key, why?))).collect()
    }
}

impl ImageSettings {
    /// Whether pictures can be made.
    pub fn is_on(&self) -> bool {
        self.server().url().is_some()
    }

    /// Returns what one costs, in millionths of a US dollar.
    pub fn micro_usd(&self) -> u64 {
        (self.cost_usd * 1e6) as u64
    }
}

/// Returns the address beside the one that makes a picture: that changes one, and that lists the server's models.
pub(crate) fn beside(url: &Url, end: &str) -> Url {
    let mut other = url.clone();
    other.set_path(&format!("{}{end}", url.path().trim_end_matches(MAKE)));
    other
}

/// Returns the address that changes a picture.
pub(crate) fn changing(url: &Url) -> Url {
    beside(url, CHANGE)
}

/// Says why something is no size of a picture, if so.
pub fn size_fault(size: &str) -> Option<String> {
    let is_side = |side: &str| matches!(side.parse::<u32>(), Ok(16..=16_384));
    let is_size = size == "auto"
        || size.split_once('x').is_some_and(|(width, height)| is_side(width) && is_side(height));
    let takes = "takes width and height in pixels (1024x1024), or auto, not";
    (!is_size).then(|| format!("{takes} {:?}", size.chars().take(32).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::super::model_server::tests::faults;
    use super::*;

    fn read(yaml: &str) -> ImageSettings {
        serde_saphyr::from_str(yaml).expect("settings")
    }

    #[test]
    fn one_address_makes_and_changes() {
        for written in ["http://h/v1", "http://h/v1/", "http://h/v1/images/generations"] {
            let settings = read(&format!("{{endpoint: '{written}', model: m}}"));
            let url = settings.server().url().expect("one");
            assert_eq!(url.as_str(), "http://h/v1/images/generations");
            assert_eq!(changing(&url).as_str(), "http://h/v1/images/edits");
            assert_eq!(beside(&url, "/models").as_str(), "http://h/v1/models");
        }
    }

    #[test]
    fn everything_wrong_is_said() {
        let said = faults::<ImageSettings>;
        assert_eq!(
            said("{endpoint: 'http://h/v1', model: m, size: 1024x1536, cost_usd: 0.04}"),
            ""
        );
        assert_eq!(read("{cost_usd: 0.04}").micro_usd(), 40_000);
        insta::assert_snapshot!(said("{endpoint: gopher, size: big, cost_usd: -1}"), @r#"
        endpoint: takes an address like https://api.openai.com/v1, not "gopher"
        size: takes width and height in pixels (1024x1024), or auto, not "big"
        cost_usd: takes US dollars, 0 or more, not -1
        "#);
        assert!(said("{model: m}").starts_with("model: is set without the endpoint"));
    }
}
