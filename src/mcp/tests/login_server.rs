//! A server that wants a sign-in, and an authorization server that takes nothing but what the standards say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use selkie_channel_core::locked;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::desk::network;
use super::web::{Web, WebRequest, status, typed};

/// A document before it is sent: by its path, to be made into a lie.
type Twist = dyn Fn(&str, &mut Value) + Send + Sync;

/// Both servers, at one address.
pub(super) struct LoginServer {
    pub(super) web: Web,
    pub(super) desk: Arc<FrontDesk>,
}

/// What the authorization server remembers.
pub(super) struct FrontDesk {
    twist: Box<Twist>,
    pub(super) clients: Mutex<BTreeMap<String, Value>>,
    codes: Mutex<BTreeMap<String, Vec<(String, String)>>>,
    /// Tokens that count.
    pub(super) access: Mutex<BTreeSet<String>>,
    refresh: Mutex<BTreeSet<String>>,
    count: Mutex<u32>,
}

impl LoginServer {
    pub(super) async fn new(twist: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        let desk = Arc::new(FrontDesk {
            twist: Box::new(twist),
            clients: Mutex::default(),
            codes: Mutex::default(),
            access: Mutex::default(),
            refresh: Mutex::default(),
            count: Mutex::default(),
        });
        let at = Arc::clone(&desk);
        Self { web: Web::new(move |heard| at.answer(heard)).await, desk }
    }

    /// Goes where a login sends a browser, and says where that ends.
    pub(super) async fn browse(address: &str) -> String {
        let url = Url::parse(address).unwrap();
        let client = network().to_host(url.host_str().unwrap()).unwrap();
        let answer = client.get(url).send().await.unwrap();
        let status = answer.status();
        let to = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        let said = answer.text().await.unwrap();
        to.unwrap_or_else(|| panic!("{status}: {said}"))
    }

    /// Goes there, and on to where it ends: the page that is shown at last.
    pub(super) async fn sign_in(address: &str) -> String {
        let back = Self::browse(address).await;
        let client = network().to_host("127.0.0.1").unwrap();
        client.get(back).send().await.unwrap().text().await.unwrap()
    }

    /// How often a path was asked for.
    pub(super) fn asked(&self, path: &str) -> usize {
        self.web.heard().iter().filter(|heard| heard.path == path).count()
    }

    /// The last that was asked for there.
    pub(super) fn last(&self, path: &str) -> WebRequest {
        let heard = self.web.heard().into_iter().rfind(|heard| heard.path == path);
        heard.unwrap_or_else(|| panic!("nobody asked for {path}"))
    }

    /// Every token ends now.
    pub(super) fn revoke(&self) {
        locked(&self.desk.access).clear();
    }

    /// No token is renewed any more.
    pub(super) fn end(&self) {
        locked(&self.desk.refresh).clear();
    }
}

impl FrontDesk {
    fn answer(&self, heard: &WebRequest) -> Response<Body> {
        let base = format!("http://{}", heard.header("host"));
        match heard.path.as_str() {
            "/mcp" => self.mcp(heard, &base),
            "/.well-known/oauth-protected-resource/mcp" => self.document(
                heard,
                json!({
                    "resource": format!("{base}/mcp"),
                    "authorization_servers": [base],
                    "scopes_supported": ["read", "list"],
                }),
            ),
            "/.well-known/oauth-authorization-server" => self.document(
                heard,
                json!({
                    "issuer": base,
                    "authorization_endpoint": format!("{base}/authorize?tenant=1"),
                    "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": format!("{base}/register"),
                    "code_challenge_methods_supported": ["plain", "S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                    "authorization_response_iss_parameter_supported": true,
                }),
            ),
            "/register" => self.register(heard),
            "/authorize" => self.authorize(heard, &base),
            "/token" => self.token(heard),
            "/loop" => moved("/loop"),
            "/flood" => typed("application/json", "[".repeat(50 * 1024 * 1024)),
            _ => status(404),
        }
    }

    fn document(&self, heard: &WebRequest, mut document: Value) -> Response<Body> {
        (self.twist)(&heard.path, &mut document);
        match document["moved"].as_str() {
            Some(to) => moved(to),
            None => typed("application/json", document.to_string()),
        }
    }

    fn mcp(&self, heard: &WebRequest, base: &str) -> Response<Body> {
        let token = heard.header("authorization").trim_start_matches("Bearer ");
        let mut challenge = json!({
            "metadata": format!("{base}/.well-known/oauth-protected-resource/mcp"), "scope": "read",
        });
        (self.twist)("challenge", &mut challenge);
        let part = |key: &str, value: &Value| match value.as_str() {
            Some(value) => format!(", {key}=\"{value}\""),
            None => String::new(),
        };
        let metadata = part("resource_metadata", &challenge["metadata"]);
        let scope = part("scope", &challenge["scope"]);
        if !locked(&self.access).contains(token) {
            return challenged(401, &format!("Bearer realm=\"x\"{metadata}{scope}"));
        }
        match heard.method() {
            "server/discover" => heard.discovered(),
            "tools/call" if heard.body["params"]["name"] == "write" => {
                challenged(403, "Bearer error=\"insufficient_scope\", scope=\"write list\"")
            }
            _ => heard.text(&format!("done with {token}")),
        }
    }

    fn next(&self, kind: &str) -> String {
        let mut count = locked(&self.count);
        *count += 1;
        format!("{kind}-0a1B2c3D4e5F-{count}")
    }

    fn register(&self, heard: &WebRequest) -> Response<Body> {
        let id = self.next("client");
        locked(&self.clients).insert(id.clone(), heard.body.clone());
        let mut client = json!({ "client_id": id });
        (self.twist)("/register", &mut client);
        typed("application/json", client.to_string())
    }

    fn authorize(&self, heard: &WebRequest, base: &str) -> Response<Body> {
        let clients = locked(&self.clients);
        let Some(client) = clients.get(heard.word("client_id")) else { return no("who") };
        let redirect = heard.word("redirect_uri");
        if client["redirect_uris"] != json!([redirect]) || heard.word("tenant") != "1" {
            return no("where");
        }
        let is_asked_well = heard.word("response_type") == "code"
            && heard.word("code_challenge_method") == "S256"
            && heard.word("code_challenge").len() == 43
            && heard.word("resource") == format!("{base}/mcp");
        if !is_asked_well {
            return no("how");
        }
        let code = self.next("code");
        locked(&self.codes).insert(code.clone(), heard.form.clone());
        let mut back = json!({ "code": code, "state": heard.word("state"), "iss": base });
        (self.twist)("/authorize", &mut back);
        let mut url = Url::parse(redirect).unwrap();
        for (key, value) in back.as_object().unwrap() {
            url.query_pairs_mut().append_pair(key, value.as_str().unwrap());
        }
        moved(url.as_str())
    }

    fn token(&self, heard: &WebRequest) -> Response<Body> {
        let is_new = match heard.word("grant_type") {
            "authorization_code" => self.is_earned(heard),
            "refresh_token" => locked(&self.refresh).remove(heard.word("refresh_token")),
            _ => false,
        };
        if !is_new {
            let said = json!({ "error": "invalid_grant", "error_description": "no \u{1b}[2J way" });
            let mut answer = typed("application/json", said.to_string());
            *answer.status_mut() = axum::http::StatusCode::BAD_REQUEST;
            return answer;
        }
        let access = self.next("access");
        let refresh = self.next("refresh");
        locked(&self.access).insert(access.clone());
        locked(&self.refresh).insert(refresh.clone());
        let mut answer = json!({
            "access_token": access, "token_type": "bearer", "expires_in": 3600, "refresh_token": refresh,
        });
        (self.twist)(heard.word("grant_type"), &mut answer);
        typed("application/json", answer.to_string())
    }

    /// Whether a code is known, and whoever brings it asked for it.
    fn is_earned(&self, heard: &WebRequest) -> bool {
        let Some(asked) = locked(&self.codes).remove(heard.word("code")) else { return false };
        let asked = |key: &str| {
            let found = asked.iter().find(|(name, _)| name == key);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(heard.word("code_verifier")));
        let same = ["client_id", "redirect_uri", "resource"];
        let is_known = heard.header("authorization").starts_with("Basic ");
        challenge == asked("code_challenge")
            && heard.header("content-type") == "application/x-www-form-urlencoded"
            && same
                .into_iter()
                .all(|key| heard.word(key) == asked(key) || (key == "client_id" && is_known))
    }
}

fn moved(to: &str) -> Response<Body> {
    let mut answer = status(302);
    answer.headers_mut().insert("location", to.parse().unwrap());
    answer
}

fn challenged(code: u16, challenge: &str) -> Response<Body> {
    let mut answer = status(code);
    answer.headers_mut().insert("www-authenticate", challenge.parse().unwrap());
    answer
}

fn no(why: &'static str) -> Response<Body> {
    let mut answer = typed("text/plain", why);
    *answer.status_mut() = axum::http::StatusCode::BAD_REQUEST;
    answer
}
