//! Pages and results, for any bytes.

use reqwest::Url;

use super::page::{Format, cut, readable};
use super::search::{Engine, hits};

#[test]
fn fuzz_pages() {
    let url = Url::parse("https://example.com/a/").unwrap();
    selkie_fuzz::text("page", |html| {
        for format in [Format::Markdown, Format::Text, Format::Html] {
            cut(&readable(html, &url, format));
        }
    });
}

#[test]
fn fuzz_results() {
    selkie_fuzz::text("results", |body| {
        for engine in [Engine::Duckduckgo, Engine::Brave] {
            let _ = hits(engine, body);
        }
    });
}
