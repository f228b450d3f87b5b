//! Around one call: who waits for it, and until when.

use std::sync::Arc;

use selkie_tools::ports::Progress;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Around one call.
#[derive(Clone)]
pub struct CallContext {
    /// Whom to tell how far it is.
    pub progress: Arc<dyn Progress>,
    /// Says that nobody wants it any more: the server is told so.
    pub cancel: CancellationToken,
    /// Not after this moment, whatever the server's own limit is.
    pub deadline: Instant,
    /// The schema of the tool's arguments, as it was listed: some servers at an address want arguments as headers, too.
    pub schema: Option<Arc<Value>>,
    /// What was answered to what the same call asked before: [`Inquiry::answers`](crate::Inquiry::answers).
    pub answers: Map<String, Value>,
}
