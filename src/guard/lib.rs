//! Rules without I/O: what a command may say, which addresses may be reached, what needs approval.

mod awk;
pub mod command;
pub mod deny;
mod evaluated;
mod expanded;
mod handed;
mod inner;
pub mod network;
mod options;
pub mod outward;
pub mod plain;
pub mod policy;
mod reading;
mod runs;
mod sed;
mod shell_words;
pub mod unseen;
pub mod visible;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The section `guard:`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What tools may reach.
    pub network: network::Settings,
}
