//! `web_fetch`: pages in three forms, remembered.

use serde_json::json;

use crate::desk::Desk;
use crate::server::{Server, answer};

#[test]
fn a_page_is_read_once_and_in_the_form_that_is_asked_for() {
    let server = Server::new(|line| {
        Some(match line {
            l if l.contains("/none") => answer("410 Gone", "text/plain", "gone"),
            l if l.contains("/image") => answer("200 OK", "image/png", b"\x89PNG"),
            l if l.contains("/empty") => answer("200 OK", "text/html", "<html></html>"),
            _ => answer(
                "200 OK",
                "text/html; charset=iso-8859-1",
                b"<title>Caf\xe9</title><script>x()</script><p>Open <b>daily</b></p>",
            ),
        })
    });
    let desk = Desk::with("");
    let url = |path: &str| format!("{}{path}", server.address);
    let answers = desk.calls(&[
        ("web_fetch", json!({"url": url("/page")})),
        ("web_fetch", json!({"url": url("/page")})),
        ("web_fetch", json!({"url": url("/page"), "format": "text"})),
        ("web_fetch", json!({"url": url("/page"), "format": "html"})),
        ("web_fetch", json!({"url": url("/none")})),
        ("web_fetch", json!({"url": url("/image")})),
        ("web_fetch", json!({"url": url("/empty")})),
        ("web_fetch", json!({"url": "http://10.0.0.1/"})),
        ("web_fetch", json!({"url": url("/page"), "format": "pdf"})),
    ]);
    let holds = [
        "Open **daily**",
        "Open **daily**",
        "Open daily",
        "<b>daily</b>",
        "non-2xx status: 410",
        "is not a page: image/png",
        "(the page has no text)",
        "not allowed by guard",
        "invalid format: pdf",
    ];
    for (answer, part) in answers.iter().zip(holds) {
        assert!(answer.text.contains(part), "{part} is not in {}", answer.text);
    }
    assert!(answers[0].text.starts_with("# Café"), "{}", answers[0].text);
    let pages = server.asked().iter().filter(|r| r.starts_with("GET /page")).count();
    assert_eq!(pages, 3, "the same page in the same form is asked for once");
    assert!(server.asked()[0].contains("user-agent: selkie/"), "{}", server.asked()[0]);
}
