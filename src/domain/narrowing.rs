//! Who leaves a task fewer tools than its setting gives, and which.

use serde::{Deserialize, Serialize};

/// Stands behind who says so where a child has it from its parent.
const OF_PARENT: &str = " (its parent's)";

/// A list of tools beyond which a task gets none. It takes away and never gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Narrowing {
    /// Who says so, as people and models read it: `the agent researcher`, `spawn's tools`.
    pub by: String,
    /// Names of tools and classes that remain, in our words.
    pub tools: Vec<String>,
}

impl Narrowing {
    /// The same as a child has it from its parent: what the child's own agent leaves does not take its place.
    #[must_use]
    pub fn of_parent(&self) -> Self {
        Self { by: format!("{}{OF_PARENT}", self.by), tools: self.tools.clone() }
    }

    /// Whether a child has it from its parent.
    pub fn is_of_parent(&self) -> bool {
        self.by.ends_with(OF_PARENT)
    }

    /// Says why a tool is not there that it does not name.
    pub fn reason(&self) -> String {
        match self.tools.as_slice() {
            [] => format!("hidden by {}: no tool may be used", self.by),
            tools => format!("hidden by {}: only {} may be used", self.by, tools.join(", ")),
        }
    }
}
