//! A model's server before it is asked anything: whether it is there, and which models it lists.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use selkie_llm::{Api, Provider};

/// Somebody sits before the screen.
const LIMIT: Duration = Duration::from_secs(4);
/// No list is longer, bytes.
const MAX_LENGTH: usize = 4 * 1024 * 1024;
/// Parts of the names of models that hold no conversation.
const SILENT: [&str; 9] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "rerank",
    "transcribe",
    "gpt-image",
    "realtime",
];
/// What may stand behind an endpoint where somebody has copied more than that.
const ENDINGS: [&str; 3] = ["/chat/completions", "/messages", "/models"];

/// Where a model is looked for.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Who serves it.
    pub provider: Provider,
    /// The address before `/models`.
    pub endpoint: &'a str,
    /// The key, where it is known.
    pub key: Option<&'a SecretString>,
}

/// What is there.
#[derive(Debug, PartialEq, Eq)]
pub enum Reachability {
    /// A server that lists these models.
    Lists(Vec<String>),
    /// A server that keeps its models to itself.
    Answers,
    /// A server that has its models at another address.
    Moved(String),
    /// Nobody; why, and what to do.
    Nobody(String),
}

/// Asks for the list of models, there and below `/v1`.
pub async fn look(client: &Client, at: At<'_>) -> Reachability {
    let response = match get(client, at, at.endpoint).await {
        Ok(response) => response,
        Err(why) => return Reachability::Nobody(why),
    };
    if response.status().as_u16() == 404 && !at.endpoint.ends_with("/v1") {
        let below = format!("{}/v1", at.endpoint.trim_end_matches('/'));
        let found = get(client, at, &below).await.is_ok_and(|other| other.status() != 404);
        return if found { Reachability::Moved(below) } else { Reachability::Answers };
    }
    if !response.status().is_success() {
        return Reachability::Answers;
    }
    models(response).await.map_or(Reachability::Answers, Reachability::Lists)
}

/// Makes an address of what somebody types: with a scheme, and without what is asked for there.
pub fn tidy(typed: &str) -> String {
    let typed = typed.trim().trim_end_matches('/');
    let bare = ENDINGS.iter().find_map(|end| typed.strip_suffix(end)).unwrap_or(typed);
    if bare.contains("://") || bare.is_empty() {
        return bare.to_owned();
    }
    let host = bare.split(['/', ':']).next().unwrap_or_default();
    let is_near = !host.contains('.') || host.parse::<std::net::IpAddr>().is_ok();
    // A key that leaves the house is not sent in the clear.
    format!("{}://{bare}", if is_near { "http" } else { "https" })
}

async fn get(client: &Client, at: At<'_>, endpoint: &str) -> Result<Response, String> {
    let unreadable = || "takes an address like http://127.0.0.1:11434/v1".to_owned();
    let mut url = Url::parse(endpoint).map_err(|_| unreadable())?;
    let path = format!("{}/models", url.path().trim_end_matches('/'));
    url.set_path(&path);
    let host = url.authority().rsplit('@').next().unwrap_or_default().to_owned();
    let mut request = client.get(url).timeout(LIMIT);
    let key = at.key.map(|key| key.expose_secret().trim());
    request = match (at.provider.api(), key) {
        (Some(Api::Messages), Some(key)) => request.header("x-api-key", key),
        (_, Some(key)) => request.bearer_auth(key),
        (_, None) => request,
    };
    if at.provider.api() == Some(Api::Messages) {
        request = request.header("anthropic-version", "2023-06-01");
    }
    request.send().await.map_err(|error| missing(&error, &host, at.provider))
}

fn missing(error: &reqwest::Error, host: &str, provider: Provider) -> String {
    let mut cause = error.source();
    let mut refused = false;
    while let Some(inner) = cause {
        let kind = inner.downcast_ref::<io::Error>().map(io::Error::kind);
        refused |= kind == Some(io::ErrorKind::ConnectionRefused);
        cause = inner.source();
    }
    match (refused, provider.start()) {
        (true, "") => format!("nothing listens at {host}: is the server running?"),
        (true, start) => {
            format!(
                "nothing listens at {host}: is {} running? Start it with: {start}",
                provider.name()
            )
        }
        _ if error.is_timeout() => format!("{host} does not answer within {} s", LIMIT.as_secs()),
        _ => format!("{host} cannot be reached: check the address and this machine's network"),
    }
}

/// Reads a list of models, without those that are none to talk to.
async fn models(mut response: Response) -> Option<Vec<String>> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > MAX_LENGTH {
            return None;
        }
    }
    let list: Value = serde_json::from_slice(&body).ok()?;
    let names = list["data"].as_array()?.iter().filter_map(|model| model["id"].as_str());
    let shown =
        |name: &&str| !name.is_empty() && name.len() <= 200 && !name.contains(char::is_control);
    let talks = |name: &&str| !SILENT.iter().any(|part| name.to_lowercase().contains(part));
    let names = names.map(|name| name.strip_prefix("models/").unwrap_or(name));
    Some(names.filter(shown).filter(talks).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;
    use tokio::net::TcpListener;
    use tokio_util::task::TaskTracker;

    use super::*;

    #[test]
    fn what_is_typed_becomes_an_address() {
        for (typed, address) in [
            ("127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("localhost:1234", "http://localhost:1234"),
            ("box/v1/", "http://box/v1"),
            ("api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
            ("https://a.example/v1/chat/completions", "https://a.example/v1"),
            (" http://a.example/ ", "http://a.example"),
        ] {
            assert_eq!(tidy(typed), address, "{typed}");
        }
    }

    #[tokio::test]
    async fn a_server_tells_its_models_and_where_they_are() {
        let list = json!({ "data": [
            { "id": "models/a" }, { "id": "nomic-embed-text" }, { "id": "b:7b" }, { "no": 1 },
        ]});
        let models = get(move || async move { Json(list) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap();
        let served = axum::serve(listener, Router::new().route("/v1/models", models));
        let server = TaskTracker::new().spawn(served.into_future());
        let client = selkie_app::http::client(&selkie_app::http::tls().unwrap()).unwrap();
        let seen = async |endpoint: String| {
            let at = At { provider: Provider::Ollama, endpoint: &endpoint, key: None };
            look(&client, at).await
        };
        let names = Reachability::Lists(vec!["a".to_owned(), "b:7b".to_owned()]);
        assert_eq!(seen(format!("http://{host}/v1")).await, names);
        let at = format!("http://{host}/v1");
        assert_eq!(seen(format!("http://{host}")).await, Reachability::Moved(at));
        assert_eq!(seen(format!("http://{host}/else")).await, Reachability::Answers);
        server.abort();
        drop(server.await);
        let why =
            format!("nothing listens at {host}: is ollama running? Start it with: ollama serve");
        assert_eq!(seen(format!("http://{host}/v1")).await, Reachability::Nobody(why));
    }
}
