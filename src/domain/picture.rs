//! Pictures that people send and tools show.

use serde::{Deserialize, Serialize};

/// A picture as it was when it was sent or a tool showed it: a file of the conversation's own cache folder, named by the
/// hash of its bytes and never changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Picture {
    /// Where it lies, absolute.
    pub path: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`: what every model that sees takes.
    pub mime: String,
}
