//! Other programs' agents.

mod acp_spawn;
mod acp_work;
mod settings;
#[cfg(test)]
mod tests;
mod wishes;

pub(crate) use acp_spawn::AcpSpawn;
pub use settings::{AgentProgram, Settings};
