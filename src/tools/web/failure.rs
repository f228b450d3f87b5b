//! Why a request failed, in words for the model.

use std::error::Error;
use std::time::Duration;

use crate::ToolError;

/// The guard's own refusal where there is one, else the innermost reason.
pub(super) fn in_words(error: &reqwest::Error) -> String {
    let mut inner: &dyn Error = error;
    while let Some(source) = inner.source() {
        if let Some(refused) = source.downcast_ref::<RequestRefusal>() {
            return refused.0.clone();
        }
        inner = source;
    }
    let what = if error.is_connect() { "cannot connect" } else { "the request failed" };
    format!("{what}: {inner}")
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct RequestRefusal(pub(super) String);

/// Says that a server took too long.
pub(super) fn late(limit: Duration) -> ToolError {
    ToolError::tell(format!("the server did not answer within {} s", limit.as_secs_f64()))
}
