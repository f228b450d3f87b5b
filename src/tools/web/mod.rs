//! Web: asking servers, reading pages, searching. One guarded client serves all three.

mod answer;
mod cache;
pub mod client;
mod page;
mod search;
pub mod settings;
#[cfg(test)]
mod tests;
mod url_fetch;
mod web_fetch;
mod web_search;

pub(super) use url_fetch::UrlFetch;
pub(super) use web_fetch::WebFetch;
pub(super) use web_search::WebSearch;
