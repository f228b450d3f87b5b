//! `selkie mcp login`: from a server that wants somebody to sign in to tokens that are kept.

use std::collections::BTreeSet;

use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use selkie_domain::chance::Chance;

use super::authorization::AuthorizationRequest;
use super::challenge::{Challenge, scopes_in};
use super::discovery::{self, ResourceDocument, ServerDocument};
use super::error::LoginError;
use super::grant::Grant;
use super::redirect::RedirectListener;
use super::registration;
use super::token_endpoint;
use super::wire::Wire;
use crate::error::McpError;
use crate::handshake::shake;
use crate::news::ListBell;
use crate::settings::OAuthSettings;
use crate::start::Start;

/// The scope of OpenID for refresh tokens.
const OFFLINE: &str = "offline_access";

/// A login that waits for somebody to sign in.
pub struct Login<'a> {
    listener: RedirectListener,
    question: LoginQuestion<'a>,
}

/// What was asked, and of whom.
struct LoginQuestion<'a> {
    start: &'a Start,
    wire: Wire,
    settings: OAuthSettings,
    /// What is to be granted; it has no tokens yet.
    grant: Grant,
    redirect: String,
    request: AuthorizationRequest,
    address: Url,
}

/// Where somebody signs in for a server, and for what.
struct LoginPlace {
    wire: Wire,
    url: Url,
    settings: OAuthSettings,
    challenge: Challenge,
    resource: ResourceDocument,
    at: ServerDocument,
    endpoint: Url,
}

/// What a login has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSummary {
    /// Who has granted it.
    pub issuer: String,
    /// What it covers, as far as that was said.
    pub scopes: Vec<String>,
    /// It can be renewed without anybody.
    pub is_renewable: bool,
}

impl<'a> Login<'a> {
    /// Asks a server where to sign in, and makes ready for it. These scopes are asked for besides those that were.
    pub(crate) async fn begin(
        start: &'a Start,
        more: &[String],
        chance: &dyn Chance,
    ) -> Result<Self, McpError> {
        let odd = more.iter().find(|more| {
            scopes_in(more).len() != more.split_ascii_whitespace().count() || more.trim().is_empty()
        });
        if let Some(odd) = odd {
            let why = format!("--scope takes scopes such as files:write, not {odd:?}");
            return Err(LoginError::Unusable(why).into());
        }
        let place = LoginPlace::find(start).await?;
        let tokens = &start.deps.tokens;
        let before =
            tokens.read(&start.name).ok().flatten().filter(|grant| grant.is_for(&place.url));
        let scopes = place.scopes(before.map_or(Vec::new(), |grant| grant.scopes), more);
        let listener = RedirectListener::new().await?;
        let redirect = listener.address.clone();
        let LoginPlace { wire, url, settings, resource, at, endpoint, .. } = place;
        let client =
            registration::client(&wire, &at, &start.name, &settings, &redirect, &scopes).await?;
        client.secret.iter().for_each(|secret| tokens.redactor.learn(secret));
        let request = AuthorizationRequest::new(&at, chance);
        tokens.redactor.learn(&request.verifier);
        let grant = Grant {
            url: url.into(),
            issuer: at.issuer,
            resource: resource.resource,
            token_endpoint: at.token_endpoint,
            client,
            scopes,
            access_token: String::new(),
            refresh_token: None,
            ends: None,
        };
        let address = request.address(&endpoint, &redirect, &grant);
        let question = LoginQuestion { start, wire, settings, grant, redirect, request, address };
        Ok(Self { listener, question })
    }

    /// Returns the address that somebody opens in a browser.
    pub fn address(&self) -> &str {
        self.question.address.as_str()
    }

    /// Returns the address at which the browser is waited for.
    pub fn redirect(&self) -> &str {
        &self.question.redirect
    }

    /// Waits until somebody has signed in, and keeps what was granted.
    pub async fn wait(self) -> Result<LoginSummary, McpError> {
        let query = self.listener.query().await?;
        self.question.finish(&query).await
    }

    /// Takes the address that a browser elsewhere has ended at, and keeps what was granted.
    pub async fn take(self, pasted: &str) -> Result<LoginSummary, McpError> {
        let query = pasted.trim().split_once('?').map_or("", |(_, query)| query);
        self.question.finish(query.split('#').next().unwrap_or_default()).await
    }
}

impl LoginPlace {
    /// Asks the server, then whom it names; every address is judged before somebody is sent to any.
    async fn find(start: &Start) -> Result<Self, McpError> {
        let url = start.address()?.ok_or_else(|| {
            let why = "it is a program: only servers at an address take a login";
            McpError::Settings(why.to_owned())
        })?;
        let wire = Wire::to(&start.deps.network, &url)?;
        wire.address("the server's url", url.as_str())?;
        let settings = start.settings.oauth.clone().unwrap_or_default();
        let challenge = challenge(start, &url).await?;
        let resource = discovery::resource(&wire, &url, &challenge).await?;
        let at = discovery::server(&wire, &issuer(&resource, &settings)?).await?;
        wire.address("the token endpoint", &at.token_endpoint)?;
        let endpoint = wire.address("the authorization endpoint", &at.authorization_endpoint)?;
        Ok(Self { wire, url, settings, challenge, resource, at, endpoint })
    }

    /// Chooses what to ask for: what the server wants now, else what the config says, else all that the server knows. Who
    /// wants more keeps what was granted before.
    fn scopes(&self, before: Vec<String>, more: &[String]) -> Vec<String> {
        let wanted = &self.challenge.scopes;
        let known = self.resource.scopes_supported.iter().flatten();
        let known = scopes_in(&known.cloned().collect::<Vec<_>>().join(" "));
        let all = [wanted.clone(), self.settings.scopes.clone(), known];
        let usual = all.into_iter().find(|scopes| !scopes.is_empty()).unwrap_or_default();
        let mut scopes = match more.is_empty() {
            true => usual,
            false => [before, wanted.clone(), scopes_in(&more.join(" "))].concat(),
        };
        // For this one OpenID providers give refresh tokens.
        let offers = self.at.scopes_supported.iter().flatten().any(|scope| scope == OFFLINE);
        if offers && !scopes.is_empty() {
            scopes.push(OFFLINE.to_owned());
        }
        let mut seen = BTreeSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        scopes
    }
}

impl LoginQuestion<'_> {
    async fn finish(self, query: &str) -> Result<LoginSummary, McpError> {
        let Self { start, wire, settings, mut grant, redirect, request, .. } = self;
        let code = request.code(query)?;
        let tokens = &start.deps.tokens;
        tokens.redactor.learn(&code);
        let _lock = tokens.lock(&start.name).await?;
        let words = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &redirect),
            ("code_verifier", &request.verifier),
        ];
        token_endpoint::ask(&mut grant, &wire, &settings, &words, &start.deps.clock).await?;
        tokens.write(&start.name, &grant)?;
        let Grant { issuer, scopes, refresh_token, .. } = grant;
        Ok(LoginSummary { issuer, scopes, is_renewable: refresh_token.is_some() })
    }
}

/// Asks the server without a token: what it says then is how to sign in.
async fn challenge(start: &Start, url: &Url) -> Result<Challenge, McpError> {
    let headers = start.headers(url).await?;
    if start.settings.auth.is_some() || headers.contains_key(AUTHORIZATION) {
        let why =
            "its headers_file or auth says already who asks; to sign in instead, take that out";
        return Err(McpError::Settings(why.to_owned()));
    }
    let link = start.http_link(url.clone(), headers, None, &ListBell::default())?;
    let met = shake(&link, false).await;
    link.end().await;
    match met {
        Err(McpError::SignIn { challenge, .. }) => Ok(Challenge::read(&challenge)),
        // Some let anybody shake hands.
        Ok(_) => Ok(Challenge::default()),
        Err(error) => Err(error),
    }
}

/// Chooses the authorization server: the one that the config names, else the first that the resource does.
fn issuer(resource: &ResourceDocument, settings: &OAuthSettings) -> Result<String, LoginError> {
    const WHAT: &str = "the resource's metadata";
    let named = &resource.authorization_servers;
    match &settings.issuer {
        Some(ours) if named.contains(ours) => Ok(ours.clone()),
        Some(ours) => Err(LoginError::issuer(WHAT, &named.join(" "), ours)),
        None => named.first().cloned().ok_or_else(|| LoginError::Answer {
            what: WHAT,
            why: "it names no authorization server".to_owned(),
        }),
    }
}
