//! Work on foreign bytes that could end, pin or fill whoever does it: pages, pictures, documents, recordings. The binary does it in
//! a short-lived process with limits; what dies there is an answer here.

mod child;
mod in_process;
mod job;
mod process;
mod speech;
mod work;

use async_trait::async_trait;

use crate::ToolError;

pub use child::{COMMAND, child};
pub use in_process::InProcess;
pub use job::Job;
#[cfg(any(test, debug_assertions))]
pub use job::Misbehaviour;
pub use process::Processes;

/// Does such work somewhere.
#[async_trait]
pub trait Isolate: Send + Sync {
    /// Does a job. Dropped, it ends the work.
    ///
    /// # Errors
    /// For the model: what is wrong with the bytes, or that they take more than is allowed.
    async fn run(&self, job: Job, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError>;
}

fn broken(name: &str) -> ToolError {
    ToolError::tell(format!("{name} cannot be read: it breaks the reader"))
}
