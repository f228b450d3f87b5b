//! What one tool never touches, and the finder that holds it to that.

use std::sync::Arc;

use crate::paths::{Finder, Roots};

/// Names and paths that a tool never touches.
#[derive(Clone, Default)]
pub struct DenyList(Arc<[String]>);

impl DenyList {
    /// Takes the list.
    pub fn new(list: Vec<String>) -> Self {
        Self(list.into())
    }

    /// Returns a finder for one call.
    pub(super) fn finder<'a>(&'a self, tool: &'static str, roots: &'a Roots) -> Finder<'a> {
        Finder { tool, roots, deny: &self.0 }
    }
}
