//! `web_search`: results, none, and a captcha, which is not none.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;
use crate::server::{Server, answer, results};

#[test]
fn results_are_told_from_none_and_from_a_captcha() {
    let server = Server::new(|line| {
        Some(match line {
            l if l.contains("q=captcha") => {
                answer("202 Accepted", "text/html", "<form id='challenge-form'></form>")
            }
            l if l.contains("q=none") => answer(
                "200 OK",
                "text/html",
                "<div id='links'><div class='no-results'>No</div></div>",
            ),
            l if l.contains("q=odd") => answer("200 OK", "text/html", "<p>hello</p>"),
            _ => results(),
        })
    });
    let config =
        format!("tools: {{web_search: {{duckduckgo: {{base_url: {}/html/}}}}}}\n", server.address);
    let desk = Desk::with(&config);
    assert_snapshot!(desk.said(&[
        ("web_search", json!({"query": "tea", "count": 2})),
        ("web_search", json!({"q": "none"})),
        ("web_search", json!({"q": "captcha"})),
        ("web_search", json!({"q": "odd"})),
        ("web_search", json!({"q": "tea", "max_results": 99})),
        ("web_search", json!({})),
    ]), @r##"
Search results for "tea":

1. Title 1
   URL: https://example.org/1
   Words 1

2. Title 2
   URL: https://example.org/2
   Words 2

[Found 2 results]
--
No results found.
--
✗ DuckDuckGo asks for a captcha instead of answering: try later, or set a Brave key (tools.web_search.brave.api_key)
--
✗ DuckDuckGo answered with a page without a result list
--
Search results for "tea":

1. Title 1
   URL: https://example.org/1
   Words 1

2. Title 2
   URL: https://example.org/2
   Words 2

3. Title 3
   URL: https://example.org/3
   Words 3

[Found 3 results]
[max_results 99 was brought to its limit, 20.]
--
✗ q is required
"##);
}
