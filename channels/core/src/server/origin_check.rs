//! Who may ask a listener that is for this machine alone: nobody whom a foreign page sent.
//!
//! A browser on this machine lets every page it shows ask loopback. So a request has to name us as its host
//! (a foreign name means DNS rebinding), come from a page of ours or from no page at all, and, where it
//! wants something done, say so in a type that no page can send elsewhere without asking first.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The types that a page may send to anybody without asking.
const FORMS: [&str; 3] = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What is let through.
#[derive(Clone, Debug, Default)]
pub struct Wall {
    hosts: Vec<String>,
    origins: Vec<HeaderValue>,
    no_forms: bool,
}

/// Why a request stays outside, and what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The answer's status.
    pub status: StatusCode,
    /// What is wrong.
    pub message: &'static str,
}

impl Wall {
    /// Answers to this name, too, besides those of loopback.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        self.hosts.push(name.trim().to_owned());
        self
    }

    /// Lets pages of this origin ask, besides our own. One that cannot stand in a header matches none.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.extend(HeaderValue::from_str(origin.trim()).ok());
        self
    }

    /// Takes no POST that a page could send without asking: what a form sends, or nothing named.
    #[must_use]
    pub fn no_forms(mut self) -> Self {
        self.no_forms = true;
        self
    }

    /// Lists the origins whose pages may ask.
    pub fn pages(&self) -> impl Iterator<Item = &str> {
        self.origins.iter().filter_map(|origin| origin.to_str().ok())
    }

    /// Returns the origin of a request where it is one of those let in.
    pub fn foreign_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        self.origins.iter().find(|allowed| *allowed == origin).cloned()
    }

    /// Returns why a request stays outside; `None` when it may come in.
    pub fn refusal(&self, request: &Request) -> Option<Refusal> {
        let refused = |status, message| Some(Refusal { status, message });
        if !self.names_us(request) {
            return refused(
                StatusCode::FORBIDDEN,
                "this answers on loopback only: ask for it as http://127.0.0.1:<port>",
            );
        }
        if !self.is_ours(request) {
            return refused(StatusCode::FORBIDDEN, "a page of another origin may not ask here");
        }
        if self.no_forms && request.method() == Method::POST && is_form(request.headers()) {
            return refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "say what the body is: content-type application/json, for a file \
                 application/octet-stream",
            );
        }
        None
    }

    /// Whether a request names us as its host, in its one header and in its target where that has one.
    fn names_us(&self, request: &Request) -> bool {
        let mut hosts = request.headers().get_all(HOST).iter();
        let Some(host) = hosts.next() else { return false };
        let None = hosts.next() else { return false };
        let target = request.uri().authority().map(|authority| authority.as_str());
        host.to_str().is_ok_and(|host| self.is_host(host))
            && target.is_none_or(|target| self.is_host(target))
    }

    fn is_host(&self, host: &str) -> bool {
        let name = without_port(host);
        is_loopback(name) || self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// Whether no foreign page sent the request.
    fn is_ours(&self, request: &Request) -> bool {
        let headers = request.headers();
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(_), Some(_)) => false,
            (Some(origin), None) => {
                self.origins.contains(origin) || is_same_origin(origin, headers)
            }
            // Without an origin a browser may still say where the request comes from.
            (None, _) => match headers.get(SITE).map(HeaderValue::as_bytes) {
                None | Some(b"same-origin" | b"none") => true,
                Some(_) => is_visit(request),
            },
        }
    }
}

/// Answers what stays outside with its reason as `{"error": …}`.
pub async fn guard(State(wall): State<Arc<Wall>>, request: Request, next: Next) -> Response {
    match wall.refusal(&request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

/// Whether somebody followed a link: the page is shown to them, and the page that had it sees nothing.
fn is_visit(request: &Request) -> bool {
    let is = |name: &HeaderName, value: &str| {
        request.headers().get(name).is_some_and(|had| had.as_bytes() == value.as_bytes())
    };
    request.method() == Method::GET && is(&MODE, "navigate") && is(&DEST, "document")
}

/// Whether the origin is the one that the request went to.
fn is_same_origin(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let origin = origin.to_str().ok();
    let origin =
        origin.and_then(|o| o.strip_prefix("http://").or_else(|| o.strip_prefix("https://")));
    origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host))
}

fn is_form(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let Some(kind) = kinds.next() else { return true };
    let None = kinds.next() else { return true };
    let Ok(kind) = kind.to_str() else { return true };
    let essence = kind.split(';').next().unwrap_or_default().trim();
    // A list of types is read differently by different readers: none of them is believed.
    !essence.contains('/')
        || kind.contains(',')
        || FORMS.iter().any(|form| form.eq_ignore_ascii_case(essence))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}
