//! Shell: running programs, and those left running.

pub(crate) mod bash;
mod envelope;
mod environment;
mod held;
mod launch;
mod limits;
mod live;
mod own;
pub(crate) mod powershell;
mod process;
mod processes;
mod state;
mod supervise;
mod supervisor;
mod survivors;
mod tape;
#[cfg(test)]
mod tests;

pub(super) use bash::Bash;
pub(super) use powershell::PowerShell;
pub(super) use process::Process;

pub use environment::is_name as is_variable;
pub use held::Launcher;
pub use processes::{Listed, Processes};
pub use supervisor::{SUPERVISE, supervised};
