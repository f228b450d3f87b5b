//! The guarded client: the only way from a tool to the network.
//!
//! An address is judged three times: as it is written, when its name has been resolved (the connection is
//! made to the judged address, so that a second answer of the DNS cannot change it), and at every redirect.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap, LOCATION, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use super::answer::{Got, Limit, OpenResponse};
use super::failure::{RequestError, RequestRefusal};
use crate::auth::{AuthProfile, BoundHeader};
use selkie_guard::network;

/// A server may send us on so often.
const REDIRECTS: usize = 5;
/// A connection must stand after this.
const CONNECT: Duration = Duration::from_secs(10);

/// Starts a client with the house's TLS and user agent; called once, at the first request.
pub type Factory = dyn Fn() -> Result<ClientBuilder, String> + Send + Sync;

/// The client.
pub struct GuardedClient {
    rules: Arc<network::Settings>,
    factory: Box<Factory>,
    client: OnceLock<Result<Client, String>>,
}

/// A request.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    /// Not longer than this, redirects and the body included.
    pub(super) limit: Duration,
    /// More bytes of body than this are not read. They count unpacked: a packed bomb ends here, too.
    pub(super) max_bytes: u64,
    /// No other server is asked than the one that is named: a redirect to another is an answer like any.
    pub(super) stays: bool,
    /// The credential that it carries: added at each address anew, once that was judged.
    pub(super) profile: Option<Arc<AuthProfile>>,
}

/// A file that was fetched.
#[derive(Debug)]
pub struct Download {
    /// Where it came from, after redirects.
    pub url: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Default for GuardedClient {
    /// Reaches nothing: for tables and tests without a network.
    fn default() -> Self {
        Self::new(
            network::Settings::default(),
            Box::new(|| Err("there is no network here".to_owned())),
        )
    }
}

impl GuardedClient {
    /// Guards what a factory makes.
    pub fn new(rules: network::Settings, factory: Box<Factory>) -> Self {
        Self { rules: Arc::new(rules), factory, client: OnceLock::new() }
    }

    /// Builds a client for a server that the config names, wherever its host lies: who writes the config may name a private
    /// one. Every other name is judged, and redirects are answers like any.
    ///
    /// # Errors
    /// There is no network here.
    pub fn to_host(&self, host: &str) -> Result<Client, String> {
        let mut rules = network::Settings::clone(&self.rules);
        rules.allow_private.push(host.to_owned());
        self.build(Arc::new(rules))
    }

    /// Judges an address that a server of the config has named: that server's own host may be private, every other is judged
    /// as always. Names are judged again by their addresses in what [`GuardedClient::to_host`] returns.
    ///
    /// # Errors
    /// Why it must not be reached.
    pub fn judge_beside(&self, host: &str, url: &Url) -> Result<(), String> {
        match url.host_str() {
            Some(named) if named == host => Ok(()),
            Some(named) => self.rules.host(named),
            None => Err("it names no host".to_owned()),
        }
    }

    /// Fetches a file over HTTPS, of at most so many bytes; returns it with the address that it came from.
    ///
    /// # Errors
    /// Why it was not fetched, for people.
    pub async fn download(
        &self,
        url: &str,
        max_bytes: u64,
        limit: Duration,
    ) -> Result<Download, String> {
        let secure = |url: &Url| url.scheme() == "https";
        let parsed = Url::parse(url).map_err(|why| format!("{url:?} is no address: {why}"))?;
        if !secure(&parsed) {
            return Err("takes an address that begins with https://".to_owned());
        }
        let ask = Ask {
            method: Method::GET,
            url: url.to_owned(),
            headers: HeaderMap::new(),
            body: None,
            limit,
            max_bytes,
            stays: false,
            profile: None,
        };
        let got = self.ask(ask).await.map_err(|why| why.to_string())?;
        if !secure(&got.url) {
            return Err(format!("is redirected to {}, which is not encrypted", got.url));
        }
        if !got.status.is_success() {
            return Err(format!("the server answers {}", got.status));
        }
        if got.truncated {
            return Err(format!("has more than {} MiB", max_bytes / 1024 / 1024));
        }
        Ok(Download { url: got.url.to_string(), bytes: got.body })
    }

    /// Asks, follows redirects and reads the body.
    ///
    /// # Errors
    /// Why it was not made, or came to nothing.
    pub(super) async fn ask(&self, ask: Ask) -> Result<Got, RequestError> {
        self.open(ask).await?.whole().await
    }

    /// Asks and follows redirects; the body is left to the caller.
    ///
    /// # Errors
    /// Why it was not made, or came to nothing.
    pub(super) async fn open(&self, ask: Ask) -> Result<OpenResponse, RequestError> {
        let limit =
            Limit { until: Instant::now() + ask.limit, span: ask.limit, bytes: ask.max_bytes };
        let (response, url) = match timeout_at(limit.until, self.follow(ask)).await {
            Ok(done) => done?,
            Err(_) => return Err(RequestError::Late(limit.span)),
        };
        Ok(OpenResponse::new(response, url, limit))
    }

    async fn follow(&self, mut ask: Ask) -> Result<(Response, Url), RequestError> {
        let mut url =
            self.judged(Url::parse(&ask.url).map_err(|e| RequestError::invalid(&ask.url, &e))?)?;
        for _ in 0..=REDIRECTS {
            let response = self.once(&ask, &url).await?;
            let Some(next) = redirect(&response, &url) else {
                return Ok((response, url));
            };
            let next = next?;
            if ask.stays && !is_same_server(&url, &next) {
                return Ok((response, url));
            }
            let next = self.judged(next)?;
            let elsewhere = next.origin() != url.origin();
            turn(&mut ask, response.status(), elsewhere)?;
            if ask.profile.as_ref().is_some_and(|one| !one.follows(&url, &ask.method, &next)) {
                return Ok((response, url));
            }
            url = next;
        }
        Err(RequestError::Redirects { times: REDIRECTS, last: url })
    }

    async fn once(&self, ask: &Ask, url: &Url) -> Result<Response, RequestError> {
        let client = self.client.get_or_init(|| self.build(Arc::clone(&self.rules)));
        let client = client.as_ref().map_err(|why| RequestError::Failed(why.clone()))?;
        let mut headers = ask.headers.clone();
        if let Some(profile) = &ask.profile {
            profile.judge(&ask.method, url)?;
            let BoundHeader { name, value } = profile.header().await?;
            headers.insert(name, value);
        }
        let mut request = client.request(ask.method.clone(), url.clone()).headers(headers);
        if let Some(body) = &ask.body {
            request = request.body(body.clone());
        }
        Ok(request.send().await?)
    }

    fn build(&self, rules: Arc<network::Settings>) -> Result<Client, String> {
        (self.factory)()?
            .dns_resolver(Resolver(rules))
            .redirect(Policy::none())
            // A proxy would resolve names itself, behind the guard's back.
            .no_proxy()
            .connect_timeout(CONNECT)
            .build()
            .map_err(|e| format!("the HTTP client cannot be built: {e}"))
    }

    /// Judges an address before anything is asked of it.
    fn judged(&self, url: Url) -> Result<Url, RequestError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RequestError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RequestError::Credentials);
        }
        let host = url.host_str().ok_or(RequestError::NoHost)?;
        self.rules.host(host).map_err(RequestError::Guarded)?;
        Ok(url)
    }
}

/// Whether an address leads to the server of another one: a name is no other with `www.`, nor by encryption.
fn is_same_server(from: &Url, to: &Url) -> bool {
    let host =
        |url: &Url| url.host_str().map(|host| host.strip_prefix("www.").unwrap_or(host).to_owned());
    let weaker = from.scheme() == "https" && to.scheme() != "https";
    host(from) == host(to) && from.port() == to.port() && !weaker
}

/// Returns where an answer points that was not followed.
pub(super) fn points_to(status: StatusCode, headers: &HeaderMap, from: &Url) -> Option<String> {
    let location = headers.get(LOCATION).filter(|_| status.is_redirection())?;
    let location = String::from_utf8_lossy(location.as_bytes());
    Some(from.join(&location).map_or_else(|_| location.into_owned(), |to| to.to_string()))
}

/// What a redirect changes about a request, as browsers do it; nothing of the caller's goes elsewhere.
fn turn(ask: &mut Ask, status: StatusCode, elsewhere: bool) -> Result<(), RequestError> {
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let reads = matches!(ask.method, Method::GET | Method::HEAD);
    if !keeps && !reads {
        ask.method = Method::GET;
        ask.body = None;
    }
    if keeps && !reads && elsewhere {
        return Err(RequestError::Redirected);
    }
    if elsewhere {
        let kept = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];
        let kept = kept
            .into_iter()
            .filter_map(|name| Some((name.clone(), ask.headers.get(name)?.clone())));
        ask.headers = kept.collect();
    }
    Ok(())
}

fn redirect(response: &Response, from: &Url) -> Option<Result<Url, RequestError>> {
    let status = response.status();
    let followed = [301, 302, 303, 307, 308].contains(&status.as_u16());
    let location = response.headers().get(LOCATION).filter(|_| followed)?;
    let location = String::from_utf8_lossy(location.as_bytes());
    Some(from.join(&location).map_err(|e| RequestError::invalid(&location, &e)))
}

/// Resolves names and lets judged addresses through.
struct Resolver(Arc<network::Settings>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut open = Vec::<SocketAddr>::new();
            let mut refused = None;
            for address in found {
                match rules.address(name.as_str(), address.ip()) {
                    Ok(()) => open.push(address),
                    Err(why) => refused = Some(why),
                }
            }
            match refused {
                // A name that leads inside and outside is a trick more often than not.
                Some(why) => Err(RequestRefusal(why).into()),
                None => Ok(Box::new(open.into_iter()) as Addrs),
            }
        })
    }
}
