//! `url_fetch`: requests, downloads, refusals.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;
use crate::server::{Server, answer};

#[test]
fn a_server_is_asked_and_a_file_is_saved() {
    let server = Server::new(|line| {
        Some(match line {
            l if l.contains("/circle") => {
                b"HTTP/1.1 302 Found\r\nlocation: /circle\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec()
            }
            l if l.contains("/inner") => {
                b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec()
            }
            l if l.contains("/none") => answer("404 Not Found", "text/plain", "not here"),
            l if l.contains("/image") => answer("200 OK", "image/png", b"\x89PNG\0"),
            l if l.contains("/liar") => answer("200 OK", "text/plain", b"\0\x01\x02"),
            _ => answer("200 OK", "application/json", "{\"ok\": true}"),
        })
    });
    let desk = Desk::with("");
    let url = |path: &str| format!("{}{path}", server.address);
    let said = desk.said(&[
        // First: what has read somebody else's words follows nobody to another server.
        ("url_fetch", json!({"url": url("/inner")})),
        ("url_fetch", json!({"url": url("/api")})),
        ("url_fetch", json!({"url": url("/api"), "method": "POST", "body": {"a": 1}})),
        ("url_fetch", json!({"url": url("/none")})),
        ("url_fetch", json!({"url": url("/image")})),
        ("url_fetch", json!({"url": url("/liar")})),
        ("url_fetch", json!({"url": url("/circle")})),
        ("url_fetch", json!({"url": url("/api"), "headers": {"Authorization": "Bearer x"}})),
        ("url_fetch", json!({"url": url("/api"), "headers": {"X-Odd": "x"}})),
        ("url_fetch", json!({"url": url("/api"), "auth_profile": "jira"})),
        ("url_fetch", json!({"url": "http://[::ffff:127.0.0.1]/"})),
        ("url_fetch", json!({"url": "http://[64:ff9b::7f00:1]/"})),
        ("url_fetch", json!({"url": url("/api"), "method": "TRACE"})),
        ("url_fetch", json!({"url": "file:///etc/passwd"})),
    ]);
    assert_snapshot!(said.replace(&server.address, "http://here"), @r##"
✗ private ip/localhost is not allowed by guard: 169.254.169.254 is link-local (cloud metadata lives there)
--
url: http://here/api
method: GET
status: 200
content_type: application/json
truncated: false

{"ok": true}
--
url: http://here/api
method: POST
status: 200
content_type: application/json
truncated: false

{"ok": true}
--
✗ non-2xx status: 404
url: http://here/none
method: GET
status: 404
content_type: text/plain
truncated: false

not here
--
url: http://here/image
method: GET
status: 200
content_type: image/png
truncated: false

[5 bytes that are not text: fetch them with download_path]
--
url: http://here/liar
method: GET
status: 200
content_type: text/plain
truncated: false

[3 bytes that are not text: fetch them with download_path]
--
✗ the server redirects more than 5 times, last to http://here/circle
--
✗ header Authorization is not allowed: credentials and routing are not the model's to set
--
✗ header X-Odd is not allowed (takes accept, accept-language, content-type, if-modified-since, if-none-match, range, user-agent)
--
✗ auth_profile is not available here: this task may use no auth profile. Leave it out, and fetch only what needs no credentials
--
✗ private ip/localhost is not allowed by guard: ::ffff:7f00:1 is an IPv4 address in disguise
--
✗ private ip/localhost is not allowed by guard: 64:ff9b::7f00:1 is a NAT64 address: an IPv4 address in disguise
--
✗ invalid method: TRACE (takes GET, POST, PUT, PATCH, DELETE)
--
✗ only http and https are accepted, not file
"##);
    let post = server.asked().into_iter().find(|r| r.starts_with("POST")).unwrap();
    assert!(
        post.contains("content-type: application/json") && post.ends_with("{\"a\":1}"),
        "{post}"
    );
    let saved = desk.call("url_fetch", json!({"url": url("/image"), "download_path": "a/b.png"}));
    assert!(saved.contains("\"path\": \"file_cache_dir/a/b.png\""), "{saved}");
    assert_eq!(std::fs::read(desk.cached("a/b.png")).unwrap(), b"\x89PNG\0");
}
