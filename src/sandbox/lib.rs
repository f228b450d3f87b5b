//! Starts programs, ends with them all that they start, and holds them in a sandbox of landlock and seccomp.
//!
//! The daemon itself is never held. It starts our own binary as a supervisor ([`Launcher`]), gives it a [`Plan`] over
//! the control line, and the supervisor holds the program back before it starts it.

mod boundary;
mod error;
mod family;
mod files;
mod kernel;
mod launcher;
mod limits;
mod plan;
mod policy;
mod reach;
mod settings;
mod spread;
mod stage;
mod state;
mod streams;
mod supervisor;
mod syscalls;

pub use boundary::Boundary;
pub use error::SandboxError;
pub use family::{children, descendants};
pub use launcher::{ControlLine, Launch, Launcher, Life};
pub use limits::Limits;
pub use plan::Plan;
pub use policy::{Confinement, Machine, Policy};
pub use reach::Reach;
pub use settings::{Mode, Rule, Settings};
pub use state::State;
pub use streams::Streams;
pub use supervisor::{SUPERVISE, supervised};
