//! Who we are to an authorization server: the client of the config, one that describes itself, or one registered now.

use serde::Deserialize;
use serde_json::json;

use super::discovery::ServerDocument;
use super::error::LoginError;
use super::oauth_client::{ClientProof, OAuthClient};
use super::wire::Wire;
use crate::settings::OAuthSettings;

const WHAT: &str = "the registration endpoint";

#[derive(Deserialize)]
struct ClientDocument {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Returns the client of the config; else the one that describes itself, where that is taken; else registers one.
pub(crate) async fn client(
    wire: &Wire,
    at: &ServerDocument,
    server: &str,
    settings: &OAuthSettings,
    redirect: &str,
    scopes: &[String],
) -> Result<OAuthClient, LoginError> {
    let OAuthSettings { client_id, client_secret, client_metadata_url, .. } = settings;
    if let Some(id) = client_id {
        let proof = proof(at, client_secret.is_some());
        return Ok(OAuthClient { id: id.clone(), secret: None, proof });
    }
    let described = client_metadata_url.as_ref();
    if let Some(url) = described.filter(|_| at.client_id_metadata_document_supported) {
        let proof = ClientProof::Nothing;
        return Ok(OAuthClient { id: url.clone(), secret: None, proof });
    }
    let endpoint = at.registration_endpoint.as_ref().ok_or_else(|| {
        LoginError::Unusable(format!(
            "the authorization server {} registers nobody by itself: register selkie there by hand, with the redirect \
             address http://127.0.0.1/callback, and write oauth.client_id into mcp.servers.{server}",
            at.issuer
        ))
    })?;
    let mut body = json!({
        "client_name": "selkie",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": proof(at, false),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.join(" ").into();
    }
    let url = wire.address(WHAT, endpoint)?;
    let answer = wire.post(WHAT, url, |request| request.json(&body)).await?;
    let none = |error: serde_json::Error| LoginError::Answer { what: WHAT, why: error.to_string() };
    let client: ClientDocument = serde_json::from_slice(&answer).map_err(none)?;
    let given = client.token_endpoint_auth_method.as_deref().and_then(proof_named);
    let proof = match client.client_secret {
        Some(_) => given.unwrap_or(proof(at, true)),
        None => ClientProof::Nothing,
    };
    Ok(OAuthClient { id: client.client_id, secret: client.client_secret, proof })
}

/// Chooses how we prove who we are: of what the server takes, what it names first.
fn proof(at: &ServerDocument, has_secret: bool) -> ClientProof {
    let usual = if has_secret { ClientProof::Basic } else { ClientProof::Nothing };
    let Some(all) = &at.token_endpoint_auth_methods_supported else { return usual };
    if !has_secret && all.iter().any(|word| word == "none") {
        return ClientProof::Nothing;
    }
    let known = |word: &String| proof_named(word).filter(|proof| *proof != ClientProof::Nothing);
    all.iter().find_map(known).unwrap_or(usual)
}

fn proof_named(word: &str) -> Option<ClientProof> {
    serde_json::from_value(word.into()).ok()
}
