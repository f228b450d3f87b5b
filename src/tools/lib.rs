//! What the agent may use: the trait, the registry, the scope of a call, dispatch, and one file per tool.

#[cfg(any(test, feature = "testing"))]
pub mod absent;
pub mod acp;
mod address;
pub mod agents;
pub mod aliases;
pub mod args;
pub mod asked;
pub mod auth;
pub mod base;
pub mod basis;
pub mod bits;
pub mod conversation;
pub mod dispatch;
mod error;
mod files;
pub mod foreign;
pub mod halts;
pub mod identity;
pub mod isolate;
pub mod memory;
pub mod paths;
pub mod ports;
pub mod preview;
pub mod refusals;
pub mod registry;
pub mod resolve;
pub mod scope;
mod sessions;
pub mod settings;
pub mod shell;
pub mod shown;
pub mod skills;
#[cfg(any(test, feature = "testing"))]
pub mod songs;
pub mod speak;
#[cfg(test)]
pub(crate) mod testkit;
pub mod web;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::ConversationId;
use serde_json::Value;

use crate::basis::{Basis, Target};
use crate::paths::{Location, Roots};
use crate::ports::TodoReport;
use crate::scope::Scope;
use crate::shown::Preview;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Class, Recovery, ToolSpec};
use selkie_domain::transcript::Picture;

pub use error::{CallQuestion, ToolError};
pub use files::{
    DocumentFile, DocumentReader, PICTURES, PictureKeeper, Schemas, folder_of_documents,
    keep_picture, pattern_fault,
};
pub use settings::Settings;

/// A tool: what is known of it, and what carries its calls out.
pub struct Tool {
    spec: Arc<ToolSpec>,
    /// Carries its calls out.
    pub handler: Box<dyn Handler>,
}

impl Tool {
    /// Makes a tool of what carries its calls out.
    pub fn new(handler: impl Handler + 'static) -> Arc<Self> {
        Arc::new(Self { spec: Arc::new(handler.spec()), handler: Box::new(handler) })
    }

    /// Returns its name, words, schema and class.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }
}

/// What carries a tool's calls out. Holds no state of any task; what a call may touch is its [`Scope`].
#[async_trait]
pub trait Handler: Send + Sync {
    /// Says what is known of its tool; asked once, when the registry is built.
    fn spec(&self) -> ToolSpec;

    /// Does it. `args` have passed the schema: required are there, types fit.
    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError>;

    /// Says what the call would do, for a person who is asked to allow it: see [`preview::preview`].
    /// `None` for what changes nothing. Reads files beneath the roots and does nothing else. Without words of
    /// its own a tool that may change something shows the call as it is.
    fn preview(&self, _roots: &Roots, _args: &Value) -> Option<Preview> {
        let ToolSpec { name, class, .. } = self.spec();
        let only_looks = matches!(class, Class::Read | Class::Network);
        (!only_looks).then(|| Preview::of(format!("use {name}"), &[]))
    }

    /// Returns what the call works with besides its arguments and the files it would change: approval of it
    /// covers that, too. Looks and does nothing else.
    fn basis(&self, _scope: &Scope, _args: &Value) -> Basis {
        Basis::default()
    }

    /// Finds where the call puts text that somebody will read, now or later, with everything that can be refused
    /// beforehand refused; the class of its tool may say more.
    async fn target(&self, _scope: &Scope, _args: &Value) -> Result<Target, ToolError> {
        Ok(Target::default())
    }

    /// Returns the files that the call would change, with everything that can be refused beforehand refused.
    /// Every tool of class write has them.
    fn changes(&self, _roots: &Roots, _args: &Value) -> Result<Vec<Location>, ToolError> {
        Ok(Vec::new())
    }

    /// Says why this very call needs somebody's approval, when its arguments do: `asks first: …`.
    fn asks(&self, _roots: &Roots, _args: &Value) -> Option<String> {
        None
    }

    /// Whether the call changes what an owner keeps, so that it asks while words of others are in play: they may have
    /// asked for it.
    fn changes_the_owners(&self, _scope: &Scope, _args: &Value) -> bool {
        false
    }

    /// Says why a call would be refused whoever allowed it: nobody is asked about that.
    fn refuses(&self, _scope: &Scope, _args: &Value) -> Option<String> {
        None
    }

    /// Says what a preview of the call cannot show.
    fn unseen(&self, _args: &Value) -> Vec<String> {
        Vec::new()
    }
}

/// Begins the spec of a tool that takes these arguments.
fn spec<Args: JsonSchema>(name: &'static str, class: Class, recovery: Recovery) -> ToolSpec {
    ToolSpec::new(name, class, recovery, args::parameters::<Args>())
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For the model. Capped by dispatch.
    pub text: String,
    /// It did not do what was asked; the text says why.
    pub is_error: bool,
    /// The text comes from outside (a file, a page): it lowers what the task may do.
    pub untrusted: bool,
    /// Pictures that belong to the text.
    pub pictures: Vec<Picture>,
    /// Names of pictures in [`PICTURES`] that are shown behind the task's last words.
    pub drawn: Vec<String>,
    /// What a person typed to answer the call.
    pub typed: Vec<String>,
    /// The level of what was stored before and stands in the text.
    pub level: Taint,
    /// The other conversation whose words the text is.
    pub of: Option<ConversationId>,
}

impl Output {
    /// Answers with our own words.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Answers with words of a level.
    pub(crate) fn told(TodoReport { text, level }: TodoReport) -> Self {
        Self { level, ..Self::ok(text) }
    }

    /// Answers with words from outside.
    pub fn outside(text: impl Into<String>) -> Self {
        Self { untrusted: true, ..Self::ok(text) }
    }
}
