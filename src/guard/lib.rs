//! Rules without I/O: what a command may say, which addresses may be reached, what needs approval.

pub mod deny;
pub mod network;
pub mod outward;
pub mod plain;
pub mod policy;
pub mod programs;
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
