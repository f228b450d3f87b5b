//! Does a job in this process, for a library without a binary and its tests.

use async_trait::async_trait;

use super::job::Job;
use super::{Isolate, broken, work};
use crate::ToolError;

/// Does it with nothing but the bounds of the work itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

#[async_trait]
impl Isolate for InProcess {
    async fn run(&self, job: Job, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError> {
        let name = job.name();
        // A tree may not wander between threads.
        let done = tokio::task::spawn_blocking(move || work::done(&job, bytes)).await;
        done.map_err(|_| broken(name))?.map_err(ToolError::Tell)
    }
}
