//! Search engines: how each is asked, and its results in one form.

use reqwest::Url;
use selkie_documents::html;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// DuckDuckGo, by its page without scripts.
    Duckduckgo,
    /// Brave, by its API.
    Brave,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) description: String,
}

/// Reads what an engine answered.
///
/// # Errors
/// What is no answer of it.
pub(crate) fn hits(engine: Engine, body: &str) -> Result<Vec<Hit>, String> {
    match engine {
        Engine::Duckduckgo => duckduckgo(body),
        Engine::Brave => brave(body),
    }
}

/// Reads DuckDuckGo's page without scripts.
///
/// # Errors
/// A page that is no result page: a captcha, or a form we do not know.
fn duckduckgo(html: &str) -> Result<Vec<Hit>, String> {
    let page = html::parse(html)
        .ok_or_else(|| "DuckDuckGo answered with a page that is not read".to_owned())?;
    let captcha = page.select("#challenge-form, .anomaly-modal__modal, form[action*='anomaly']");
    if captcha.exists() {
        return Err(
            "DuckDuckGo asks for a captcha instead of answering: try later, or set a Brave key \
                    (tools.web_search.brave.api_key)"
                .to_owned(),
        );
    }
    let mut hits = Vec::new();
    for result in page.select(".result:not(.result--ad):not(.result--no-result)").iter() {
        let link = result.select("a.result__a");
        let Some(url) = link.attr("href").and_then(|href| target(&href)) else { continue };
        hits.push(Hit {
            title: tidy(&link.text()),
            url,
            description: tidy(&result.select(".result__snippet").text()),
        });
    }
    let says_none = page.select(".no-results, .result--no-result").exists();
    if hits.is_empty() && !says_none && !page.select("#links").exists() {
        return Err("DuckDuckGo answered with a page without a result list".to_owned());
    }
    Ok(hits)
}

/// Reads the answer of Brave's API.
///
/// # Errors
/// What is no answer of it.
fn brave(body: &str) -> Result<Vec<Hit>, String> {
    let answer: Value =
        serde_json::from_str(body).map_err(|e| format!("Brave answered no JSON: {e}"))?;
    let results = answer.pointer("/web/results").and_then(Value::as_array);
    let text = |hit: &Value, key: &str| {
        let html = hit.get(key).and_then(Value::as_str).unwrap_or_default();
        html::parse(html).map(|page| tidy(&page.text())).unwrap_or_default()
    };
    let hit = |hit: &Value| Hit {
        title: text(hit, "title"),
        url: hit.get("url").and_then(Value::as_str).unwrap_or_default().to_owned(),
        description: text(hit, "description"),
    };
    Ok(results.into_iter().flatten().map(hit).filter(|hit| !hit.url.is_empty()).collect())
}

/// Prints results in the form of the reference document.
pub(super) fn printed(query: &str, hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "No results found.".to_owned();
    }
    let mut text = format!("Search results for \"{query}\":\n");
    for (index, hit) in hits.iter().enumerate() {
        text.push_str(&format!("\n{}. {}\n   URL: {}\n", index + 1, hit.title, hit.url));
        if !hit.description.is_empty() {
            text.push_str(&format!("   {}\n", hit.description));
        }
    }
    text.push_str(&format!("\n[Found {} results]", hits.len()));
    text
}

/// Where a result leads: links go through `/l/?uddg=…`, advertisements through `/y.js`.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    let own =
        url.host_str().is_some_and(|h| h == "duckduckgo.com" || h.ends_with(".duckduckgo.com"));
    if own && url.path() == "/y.js" {
        return None;
    }
    let inner =
        url.query_pairs().find(|(key, _)| key == "uddg").map(|(_, value)| value.into_owned());
    let target = inner.filter(|_| own && url.path() == "/l/").unwrap_or_else(|| url.to_string());
    (target.starts_with("http://") || target.starts_with("https://")).then_some(target)
}

fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
