//! Web: asking servers, reading pages, searching. One guarded client serves all three.

mod answer;
mod cache;
pub mod client;
mod documents;
mod download;
mod failure;
#[cfg(test)]
mod fuzz;
pub(crate) mod page;
mod pass;
pub(crate) mod search;
#[cfg(test)]
mod tests;
pub(crate) mod url_fetch;
mod web_fetch;
pub(crate) mod web_search;

pub(super) use url_fetch::UrlFetch;
pub(super) use web_fetch::WebFetch;
pub(super) use web_search::WebSearch;

pub use url_fetch::ProfileFetch;
pub use web_search::SearchProvider;
