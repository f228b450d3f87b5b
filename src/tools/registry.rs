//! Name → tool: the base, built once and never changed, and a task's view of it.

use std::sync::Arc;

use crate::domain::tool::{ToolBlock, ToolSpec};
use crate::tools::Tool;

/// Every static tool, built once.
pub struct Base {
    tools: Vec<Arc<dyn Tool>>,
}

impl Base {
    /// Builds the base. A name that stands twice is a defect and refused.
    ///
    /// # Errors
    /// The name that stands twice.
    pub fn build(tools: Vec<Arc<dyn Tool>>) -> Result<Self, String> {
        let _ = &tools;
        todo!("tools")
    }

    /// Returns the specs of all tools, sorted by name.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.tools.iter().map(|t| Arc::clone(t.spec())).collect()
    }
}

/// What one task may call: a shared base seen through shared bitsets, and a short overlay.
#[derive(Clone)]
pub struct Registry {}

/// What a name stands for in one task.
pub enum Found {
    /// A tool that may be called.
    Tool(Arc<dyn Tool>),
    /// A tool that is not here, and every reason why.
    Hidden(Vec<String>),
    /// No tool of that name; the nearest ones of this task.
    Unknown(Vec<String>),
}

impl Registry {
    /// Looks a name up.
    pub fn find(&self, name: &str) -> Found {
        let _ = name;
        todo!("tools")
    }

    /// Returns the listed tools, serialized once for all tasks of this shape.
    pub fn block(&self) -> &Arc<ToolBlock> {
        todo!("tools")
    }
}
