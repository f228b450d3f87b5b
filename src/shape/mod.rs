//! The shaping function: (base registry, facts) → what one task may do, and why. The only place where any
//! task's tool set is decided.

use std::sync::Arc;

use selkie_channel_core::SpeakingTool;
use serde::Serialize;

use crate::domain::facts::Facts;
use crate::tools::registry::{Base, Registry};

/// The base and everything precomputed from it; built once.
pub struct Shaper {}

impl Shaper {
    /// Prepares the rules over a base and the channels' speaking tools.
    ///
    /// # Errors
    /// A name that stands twice.
    pub fn new(base: Arc<Base>, speaking: &[&'static SpeakingTool]) -> Result<Self, String> {
        let _ = (base, speaking);
        todo!("shape")
    }

    /// Shapes the base for one task. Pure; ≤ 2 µs whatever the size of the base.
    pub fn shape(&self, facts: &Facts) -> Shape {
        let _ = facts;
        todo!("shape")
    }
}

/// What one task may do, and why.
#[derive(Clone)]
pub struct Shape {
    /// What it may call.
    pub registry: Registry,
    /// The setting in words: `telegram:group · allowed · asked · normal`.
    pub setting: String,
    /// The state folder is closed: only the conversation's own cache folder is open.
    pub own_folder_only: bool,
    /// Files elsewhere on this machine may be read.
    pub reads_elsewhere: bool,
}

/// A shape for people: what is there, what is not, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// `telegram:group · allowed · asked · normal`.
    pub setting: String,
    /// Listed tools: name, class, group, and whether it is a runtime tool of this shape.
    pub there: Vec<ToolLine>,
    /// Hidden tools with every reason.
    pub hidden: Vec<HiddenLine>,
}

/// A listed tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolLine {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Its group.
    pub group: String,
    /// Injected for this shape, not of the base.
    pub runtime: bool,
    /// The first line of its description.
    pub summary: String,
}

/// A hidden tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenLine {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Every rule that hides it, in words.
    pub reasons: Vec<String>,
}

impl Shape {
    /// Explains the whole shape.
    pub fn explain(&self) -> Explained {
        todo!("shape")
    }

    /// Says why a tool is there or not: one line per rule, never empty.
    pub fn why(&self, name: &str) -> Vec<String> {
        let _ = name;
        todo!("shape")
    }
}
