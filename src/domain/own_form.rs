//! An answer of a model in its provider's own form: what only that provider can read goes back as it came.

use std::fmt;
use std::sync::Arc;

/// What a provider keeps to itself in one answer: thoughts with their signatures, encrypted ones, marks on calls. Its
/// words are shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnForm {
    /// Names the address and the model that wrote it, and no other may read it.
    pub origin: Arc<str>,
    /// JSON, in the words of the provider's API.
    pub json: Arc<str>,
}

impl OwnForm {
    /// All that is kept of one task, in bytes.
    pub const MAX: usize = 1024 * 1024;
}

impl fmt::Debug for OwnForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnForm({} bytes of {})", self.json.len(), self.origin)
    }
}
