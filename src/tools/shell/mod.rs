//! Shell: running programs, and those left running.

pub(crate) mod bash;
mod envelope;
mod environment;
mod launch;
mod limits;
mod live;
mod own;
pub(crate) mod powershell;
mod process;
mod process_input;
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
pub use process_input::Launcher;
pub use processes::{ProcessLine, Processes};
pub use supervisor::{SUPERVISE, supervised};
