//! Servers that lie to whoever signs in.

use serde_json::{Value, json};

use super::desk::Desk;
use super::login::log_in;
use super::login_server::LoginServer;

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const SERVER: &str = "/.well-known/oauth-authorization-server";

/// What a login says at a server one of whose documents is otherwise; nothing is kept, and no code is brought anywhere.
async fn lied(path: &'static str, key: &'static str, lie: Value) -> String {
    let twist = move |at: &str, document: &mut Value| {
        if at == path {
            document[key] = lie.clone();
        }
    };
    let server = LoginServer::new(twist).await;
    let desk = Desk::at(&server.web.url).open();
    let error = log_in(&desk, &[]).await.unwrap_err().to_string();
    assert_eq!(server.asked("/token"), 0, "{error}");
    assert!(!desk.state.join("mcp/robin.token.json").exists());
    error.replace(server.web.url.trim_end_matches("/mcp"), "http://here")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_asked_of_whom_a_lie_names() {
    let mut said = Vec::new();
    for (path, key, lie) in [
        (SERVER, "issuer", json!("https://honest.example")),
        (RESOURCE, "resource", json!("https://honest.example/mcp")),
        (RESOURCE, "authorization_servers", json!([])),
        (RESOURCE, "authorization_servers", json!(["http://auth.example"])),
        (RESOURCE, "authorization_servers", json!(["https://10.0.0.1"])),
        (RESOURCE, "moved", json!(RESOURCE)),
        ("challenge", "metadata", json!("file:///etc/passwd")),
        ("challenge", "metadata", json!("https://[fd00::1]/x")),
        (SERVER, "token_endpoint", json!("https://169.254.169.254/latest")),
        (SERVER, "registration_endpoint", json!("https://169.254.169.254/latest")),
        (SERVER, "registration_endpoint", Value::Null),
        (SERVER, "authorization_endpoint", json!("javascript:alert(1)")),
        (SERVER, "code_challenge_methods_supported", json!(["plain"])),
        (SERVER, "code_challenge_methods_supported", Value::Null),
        ("/authorize", "state", json!("of another")),
        ("/authorize", "iss", json!("https://honest.example")),
        ("/authorize", "iss", json!("")),
        ("/authorize", "error", json!("access_denied")),
    ] {
        said.push(lied(path, key, lie).await);
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    the authorization server's metadata names the issuer "https://honest.example", not "http://here": nothing of it is used
    the resource's metadata is that of "https://honest.example/mcp", not of http://here/mcp: nothing of it is used
    the resource's metadata: it names no authorization server
    the authorization server "http://auth.example" is not used: takes https://…, and http:// on this machine alone
    the authorization server "https://10.0.0.1" is not used: private ip/localhost is not allowed by guard: 10.0.0.1 is a private network
    the resource's metadata: it redirects, which is not followed
    the resource's metadata "file:///etc/passwd" is not used: takes https://…, and http:// on this machine alone
    the resource's metadata "https://[fd00::1]/x" is not used: private ip/localhost is not allowed by guard: fd00::1 is a private network
    the token endpoint "https://169.254.169.254/latest" is not used: private ip/localhost is not allowed by guard: 169.254.169.254 is link-local (cloud metadata lives there)
    the registration endpoint "https://169.254.169.254/latest" is not used: private ip/localhost is not allowed by guard: 169.254.169.254 is link-local (cloud metadata lives there)
    the authorization server http://here registers nobody by itself: register selkie there by hand, with the redirect address http://127.0.0.1/callback, and write oauth.client_id into mcp.servers.robin
    the authorization endpoint "javascript:alert(1)" is not used: takes https://…, and http:// on this machine alone
    the authorization server http://here does not offer PKCE with S256: selkie signs in nowhere without it
    the authorization server http://here does not offer PKCE with S256: selkie signs in nowhere without it
    the answer of the browser is not used: it belongs to another question (state)
    the answer of the browser names the issuer "https://honest.example", not "http://here": nothing of it is used
    the answer of the browser names the issuer "", not "http://here": nothing of it is used
    the authorization server refuses: access_denied
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_and_circles_end() {
    for (path, says) in [
        ("/flood", "sent an answer of more than 262144 bytes"),
        ("/loop", "it redirects, which is not followed"),
    ] {
        let twist = move |at: &str, document: &mut Value| {
            let place = document["metadata"].as_str().map(|place| place.replace(RESOURCE, path));
            if at == "challenge" {
                document["metadata"] = json!(place);
            }
        };
        let server = LoginServer::new(twist).await;
        let desk = Desk::at(&server.web.url).open();
        let error = log_in(&desk, &[]).await.unwrap_err().to_string();
        assert!(error.ends_with(says), "{error}");
        assert_eq!(server.asked(path), 1);
    }
}
