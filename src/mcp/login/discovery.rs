//! Finds out where somebody signs in: the resource's metadata (RFC 9728), then the authorization server's (RFC 8414, OpenID
//! Connect Discovery).

use reqwest::Url;
use serde::Deserialize;

use super::challenge::Challenge;
use super::error::LoginError;
use super::wire::Wire;
use crate::text::short;

const RESOURCE: &str = "the resource's metadata";
const SERVER: &str = "the authorization server's metadata";

/// What a server says of itself as something that is protected.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ResourceDocument {
    pub(crate) resource: String,
    /// Who signs in for it.
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes_supported: Option<Vec<String>>,
}

/// What an authorization server says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ServerDocument {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    pub(crate) registration_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(crate) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
    /// A client may be called by the address of a document that describes it.
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
}

/// Reads what a server says of itself.
pub(crate) async fn resource(
    wire: &Wire,
    url: &Url,
    challenge: &Challenge,
) -> Result<ResourceDocument, LoginError> {
    let places = match &challenge.metadata {
        Some(named) => vec![wire.address(RESOURCE, named)?],
        None => well_known(url, "oauth-protected-resource"),
    };
    let document: ResourceDocument = first(wire, RESOURCE, &places).await?;
    match covers(&document.resource, url) {
        true => Ok(document),
        false => Err(LoginError::Unusable(format!(
            "the resource's metadata is that of {:?}, not of {url}: nothing of it is used",
            short(&document.resource, 200)
        ))),
    }
}

/// Reads what an authorization server says of itself: it must speak for itself, and offer PKCE.
pub(crate) async fn server(wire: &Wire, issuer: &str) -> Result<ServerDocument, LoginError> {
    let url = wire.address("the authorization server", issuer)?;
    let path = url.path().trim_end_matches('/');
    let mut places = vec![
        at_path(&url, &format!("/.well-known/oauth-authorization-server{path}")),
        at_path(&url, &format!("/.well-known/openid-configuration{path}")),
        at_path(&url, &format!("{path}/.well-known/openid-configuration")),
    ];
    // Without a path, the last is the one before it.
    places.dedup();
    let document: ServerDocument = first(wire, SERVER, &places).await?;
    if document.issuer != issuer {
        return Err(LoginError::issuer(SERVER, &document.issuer, issuer));
    }
    let methods = document.code_challenge_methods_supported.iter().flatten();
    match methods.into_iter().any(|method| method == "S256") {
        true => Ok(document),
        false => Err(LoginError::Unusable(format!(
            "the authorization server {issuer} does not offer PKCE with S256: selkie signs in nowhere without it"
        ))),
    }
}

async fn first<T: serde::de::DeserializeOwned>(
    wire: &Wire,
    what: &'static str,
    places: &[Url],
) -> Result<T, LoginError> {
    let mut failed = Vec::new();
    for place in places {
        match wire.document(what, place).await {
            Ok(document) => return Ok(document),
            Err(LoginError::Answer { why, .. }) => failed.push(why),
            Err(error) => return Err(error),
        }
    }
    Err(LoginError::Answer { what, why: failed.join("; ") })
}

/// Returns the places of a document about an address: for its path, then for its host.
fn well_known(url: &Url, kind: &str) -> Vec<Url> {
    let root = format!("/.well-known/{kind}");
    let path = url.path().trim_end_matches('/');
    let mut places = vec![at_path(url, &format!("{root}{path}"))];
    if !path.is_empty() {
        places.push(at_path(url, &root));
    }
    places
}

fn at_path(url: &Url, path: &str) -> Url {
    let mut at = url.clone();
    at.set_path(path);
    at.set_query(None);
    at.set_fragment(None);
    at
}

/// Whether a resource is this address, or the beginning of its path: a host often has one name for all that is below it.
fn covers(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let path = resource.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(path);
    resource.origin() == url.origin()
        && resource.fragment().is_none()
        && resource.query().is_none_or(|query| url.query() == Some(query))
        && resource.username().is_empty()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_what_lies_below_it() {
        let url = Url::parse("https://a.example/team/mcp").unwrap();
        for resource in [
            "https://a.example/team/mcp",
            "https://a.example/team/mcp/",
            "https://A.example",
            "https://a.example:443/team",
        ] {
            assert!(covers(resource, &url), "{resource}");
        }
        for resource in [
            "",
            "team",
            "http://a.example/team/mcp",
            "https://b.example/team/mcp",
            "https://a.example:8443",
            "https://a.example/te",
            "https://a.example/team/mcp/more",
            "https://a.example/team?x=1",
            "https://x@a.example",
        ] {
            assert!(!covers(resource, &url), "{resource}");
        }
    }

    #[test]
    fn the_path_comes_behind_the_well_known_part() {
        let places = |text: &str| {
            let places = well_known(&Url::parse(text).unwrap(), "x").into_iter();
            places.map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(
            places("https://a.example/t/?q"),
            ["https://a.example/.well-known/x/t", "https://a.example/.well-known/x"]
        );
        assert_eq!(places("https://a.example"), ["https://a.example/.well-known/x"]);
    }
}
