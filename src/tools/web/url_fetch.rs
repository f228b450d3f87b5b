//! `url_fetch`: the API client: asks a server and gives what it answers, or downloads it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use schemars::JsonSchema;
use selkie_documents::may_be_document;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Got;
use super::client::{Ask, GuardedClient, points_to};
use super::documents;
use super::download::{download, place};
use super::page::{content_type, is_text, text_of};
use super::pass;
use crate::address::address;
use crate::args::typed;
use crate::auth::{AuthProfile, AuthProfiles, Verb};
use crate::basis::Target;
use crate::files::DocumentReader;
use crate::isolate::Isolate;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, Tool, ToolError, spec};
use selkie_domain::facts::{Facts, Mode};
use selkie_domain::span::Span;
use selkie_domain::tool::{AbsentParameter, Also, Class, Recovery, ToolSpec};

const NAME: &str = "url_fetch";
/// The headers that a call may set.
const HEADERS: [&str; 7] = [
    "accept",
    "accept-language",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "range",
    "user-agent",
];
/// The longest a request may take, in seconds.
const MAX_TIME: f64 = 600.0;

/// Other harnesses' words for it.
const ALSO: Also = Also {
    names: &[],
    parameters: &[],
    absent: &[AbsentParameter {
        called: pass::PARAMETER,
        why: "auth_profile is not available here: this task may use no auth profile. Leave it out, and fetch only what \
              needs no credentials",
    }],
};

/// `tools.url_fetch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "UrlFetch")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a request may take when the call does not say.
    pub timeout: Span,
    /// Bytes of an answer that the model reads.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
    /// Bytes of a downloaded file.
    #[schemars(range(min = 1))]
    pub max_bytes_download: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Span::seconds(30),
            max_bytes: 512 * 1024,
            max_bytes_download: 100 * 1024 * 1024,
        }
    }
}

/// The tool.
#[derive(Clone)]
pub(crate) struct UrlFetch {
    settings: Settings,
    client: Arc<GuardedClient>,
    documents: DocumentReader,
    /// The credentials that its task may use.
    profiles: Vec<Arc<AuthProfile>>,
}

/// The tool as tasks have it that may use credentials.
pub struct ProfileFetch {
    pub(crate) fetch: UrlFetch,
    pub(crate) profiles: Arc<AuthProfiles>,
}

impl ProfileFetch {
    /// Returns which credentials a task may use, one bit each.
    pub fn usable(&self, facts: &Facts) -> u64 {
        self.profiles.usable(facts)
    }

    /// Returns the tool with these; nothing where there is none.
    pub fn tool(&self, mask: u64) -> Option<Arc<Tool>> {
        let profiles = self.profiles.of(mask);
        (!profiles.is_empty()).then(|| Tool::new(UrlFetch { profiles, ..self.fetch.clone() }))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    url: String,
    method: Option<Verb>,
    /// Accept, Accept-Language, Content-Type, If-Modified-Since, If-None-Match, Range, User-Agent.
    headers: Option<BTreeMap<String, String>>,
    /// Text as it is, anything else as JSON.
    body: Option<Value>,
    /// A file in the cache folder.
    download_path: Option<String>,
    #[schemars(range(min = 1, max = 600))]
    timeout_seconds: Option<f64>,
    #[schemars(range(min = 1))]
    max_bytes: Option<u64>,
    /// Listed where there is one.
    #[schemars(skip)]
    auth_profile: Option<String>,
}

impl UrlFetch {
    pub(crate) fn new(
        settings: &Settings,
        client: &Arc<GuardedClient>,
        isolate: &Arc<dyn Isolate>,
    ) -> Self {
        let documents = DocumentReader { isolate: Arc::clone(isolate) };
        let client = Arc::clone(client);
        Self { settings: settings.clone(), client, documents, profiles: Vec::new() }
    }

    /// What the body of an answer says.
    async fn body(&self, got: &Got, scope: &Scope) -> Result<String, ToolError> {
        match documents::read(&self.documents, got, &scope.roots.own).await {
            Some(Ok(text)) => {
                let most = usize::try_from(self.settings.max_bytes).unwrap_or(usize::MAX);
                let end = text.floor_char_boundary(most);
                let rest = match text.len() - end {
                    0 => String::new(),
                    left => format!(
                        "\n[{left} bytes more: save it with download_path, then use read_file]"
                    ),
                };
                Ok(format!("{}{rest}", &text[..end]))
            }
            Some(Err(ToolError::Tell(why))) => Ok(format!("[{why}]")),
            Some(Err(other)) => Err(other),
            None if is_text(&content_type(&got.headers), &got.body) => {
                Ok(text_of(&got.headers, &got.body))
            }
            None if got.body.is_empty() => Ok(String::new()),
            None => Ok(format!(
                "[{} bytes that are not text: fetch them with download_path{}]",
                got.body.len(),
                if got.truncated && may_be_document(&got.body, "") {
                    ", then use read_file"
                } else {
                    ""
                }
            )),
        }
    }

    /// Finds the credential that a call asks for, where it is for the request.
    async fn profile(
        &self,
        scope: &Scope,
        args: &Args,
    ) -> Result<Option<Arc<AuthProfile>>, ToolError> {
        let Some(id) = &args.auth_profile else { return Ok(None) };
        let method = args.method.unwrap_or(Verb::Get).method();
        pass::judged(&self.profiles, id, &method, args.url.trim(), scope).await.map(Some)
    }

    fn ask(&self, scope: &Scope, args: &Args) -> Result<Ask, ToolError> {
        let verb = args.method.unwrap_or(Verb::Get);
        let mut headers = headers(args.headers.as_ref())?;
        if args.body.is_some() && matches!(verb, Verb::Get) {
            return Err(ToolError::tell("body needs a method: POST, PUT, PATCH or DELETE"));
        }
        let body = args.body.as_ref().map(|body| {
            let (kind, bytes) = written(body);
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(kind));
            bytes
        });
        let most = match args.download_path {
            Some(_) => self.settings.max_bytes_download,
            None => self.settings.max_bytes,
        };
        Ok(Ask {
            method: verb.method(),
            url: args.url.trim().to_owned(),
            headers,
            body,
            limit: args.timeout_seconds.map_or(self.settings.timeout.0, Duration::from_secs_f64),
            max_bytes: args.max_bytes.map_or(most, |asked| asked.min(most)),
            stays: stays(scope),
            profile: None,
        })
    }
}

#[async_trait]
impl Handler for UrlFetch {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec {
            description:
                "Make an HTTP request to the public internet: the answer as it is, or saved with \
                          download_path. For web pages use web_fetch."
                    .to_owned(),
            group: "web",
            sources: &["S3"],
            doing: "reading a web page",
            also: ALSO,
            max_output: usize::try_from(self.settings.max_bytes)
                .unwrap_or(usize::MAX)
                .saturating_add(4096),
            longest: Some(Duration::from_secs_f64(MAX_TIME + 10.0)),
            ..spec::<Args>(NAME, Class::Network, Recovery::Unknown)
        };
        if !self.profiles.is_empty() {
            spec.parameters["properties"][pass::PARAMETER] = pass::parameter(&self.profiles);
        }
        spec
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let mut ask = self.ask(scope, &args)?;
        let method = ask.method.clone();
        if scope.mode == Mode::Plan && (method != Method::GET || args.download_path.is_some()) {
            return Err(ToolError::tell(
                "only GET without download_path is available here: in plan mode nothing changes until a person \
                 approves the plan",
            ));
        }
        let most = ask.max_bytes;
        let target =
            args.download_path.as_deref().map(|path| place(NAME, scope, path)).transpose()?;
        let profile = self.profile(scope, &args).await?;
        if let Some(profile) = &profile {
            let loaded = profile.header().await;
            let id = &profile.id;
            loaded.map_err(|why| ToolError::tell(format!("auth_profile {id}: {why}")))?;
        }
        ask.profile.clone_from(&profile);
        let names: Vec<&str> = ask.headers.keys().map(HeaderName::as_str).collect();
        tracing::debug!(url = without_query(&ask.url), %method, ?names, "url_fetch asks");
        let mut opened = self.client.open(ask).await?;
        if let Some(profile) = &profile
            && opened.status == StatusCode::UNAUTHORIZED
        {
            profile.forget().await;
        }
        match target {
            Some(target) if opened.status.is_success() => {
                let search = profile.map(|profile| profile.redactor().search());
                download(&method, opened, target, most, search).await
            }
            _ => {
                // What a server says instead of a file is read like any answer.
                opened.at_most(self.settings.max_bytes);
                let got = opened.whole().await?;
                let mut body = self.body(&got, scope).await?;
                if let Some(profile) = profile.filter(|_| got.truncated) {
                    // A credential may have begun where it was cut.
                    body.truncate(profile.redactor().settled(&body));
                }
                Ok(told(&method, &got, &body))
            }
        }
    }

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        self.profile(scope, &typed(args.clone())?).await?;
        Ok(Target::default())
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let text = |key: &str| args.get(key).and_then(Value::as_str);
        let method = text("method").unwrap_or("GET");
        let url = address(text("url").unwrap_or_default());
        let body = args.get("body").filter(|body| !body.is_null());
        let shows = &["url", "method", "headers", "body", "download_path", pass::PARAMETER];
        let profile = text(pass::PARAMETER);
        let with = profile.map(|id| format!(" with the credential {id}")).unwrap_or_default();
        let mut said = Preview::of(format!("send a {method} request to {url}{with}"), shows);
        for (name, value) in args.get("headers").and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            said = said.noting(format!("header {name}"), value);
        }
        if let Some(path) = text("download_path") {
            said = said.noting("saved as", path);
        }
        Some(match body {
            Some(body) => said.with(String::from_utf8_lossy(&written(body).1)),
            None => said,
        })
    }
}

/// Whether a call is for one server alone: it was allowed as it stands, or others may have chosen where to.
pub(super) fn stays(scope: &Scope) -> bool {
    scope.approved.is_some() || scope.taint.is_any()
}

/// Why a redirect was not followed.
pub(super) const NOT_FOLLOWED: &str =
    "it was not followed, because nothing but the address that was named is asked here.";

/// Judges the headers of a call.
fn headers(asked: Option<&BTreeMap<String, String>>) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, value) in asked.into_iter().flatten() {
        let lower = name.trim().to_ascii_lowercase();
        if is_secret(&lower) {
            return Err(ToolError::tell(format!(
                "header {name} is not allowed: credentials and routing are not the model's to set"
            )));
        }
        if !HEADERS.contains(&lower.as_str()) {
            return Err(ToolError::tell(format!(
                "header {name} is not allowed (takes {})",
                HEADERS.join(", ")
            )));
        }
        let good = HeaderName::try_from(lower.as_str()).ok().zip(HeaderValue::from_str(value).ok());
        let Some((name, value)) = good else {
            return Err(ToolError::tell(format!(
                "header {name} contains characters that no header has"
            )));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

fn is_secret(lower: &str) -> bool {
    let words =
        ["authorization", "cookie", "api-key", "apikey", "api_key", "token", "secret", "password"];
    words.iter().any(|word| lower.contains(word))
        || lower == "host"
        || lower.starts_with("proxy-")
        || lower.starts_with("x-forwarded-")
}

/// What a body is and how it is sent.
fn written(body: &Value) -> (&'static str, Vec<u8>) {
    match body {
        Value::String(text) => {
            let holds_json = text.trim_start().starts_with(['{', '['])
                && serde_json::from_str::<Value>(text).is_ok();
            let kind = if holds_json { "application/json" } else { "text/plain; charset=utf-8" };
            (kind, text.clone().into_bytes())
        }
        other => ("application/json", other.to_string().into_bytes()),
    }
}

fn told(method: &Method, got: &Got, body: &str) -> Output {
    let kind = content_type(&got.headers);
    let status = got.status.as_u16();
    let mut text = String::new();
    if !got.status.is_success() {
        text.push_str(&format!("non-2xx status: {status}\n"));
    }
    text.push_str(&format!(
        "url: {}\nmethod: {method}\nstatus: {status}\ncontent_type: {kind}\ntruncated: {}\n\n",
        got.url, got.truncated
    ));
    if let Some(to) = points_to(got.status, &got.headers, &got.url) {
        text.push_str(&format!("The server points to {to}: {NOT_FOLLOWED}\n\n"));
    }
    text.push_str(body);
    Output { text, is_error: !got.status.is_success(), untrusted: true, ..Output::default() }
}

/// For logs: a query may hold what nobody should read there.
fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
