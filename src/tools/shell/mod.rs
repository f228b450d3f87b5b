//! Shell: running programs, and those left running.

pub(crate) mod bash;
mod command_end;
mod envelope;
mod environment;
mod held;
mod host;
mod launch;
mod live;
mod own;
mod own_program;
pub(crate) mod powershell;
mod process;
mod processes;
mod rewrite;
mod spoken;
mod supervise;
mod survivors;
mod tape;
#[cfg(test)]
mod tests;

pub(super) use bash::Bash;
pub(super) use powershell::PowerShell;
pub(super) use process::Process;

pub use environment::is_name as is_variable;
pub use held::folder_of_sandbox;
pub use own_program::{OwnProgram, OwnProgramError, OwnPrograms};
pub use processes::{ProcessLine, Processes};
pub use spoken::{Speaker, SpeakerLife, SpokenProgram, SpokenPrograms};
