//! Work on foreign bytes that could end, pin or fill whoever does it: pages, pictures. The binary does it in
//! a short-lived process with limits; what dies there is an answer here.

mod child;
mod process;
mod work;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::tools::ToolError;
use crate::tools::web::page::Format;
use crate::tools::web::search::Engine;

pub use child::{COMMAND, child};
pub use process::Processes;

/// Bytes of what comes out.
const RESULT: u64 = 8 * 1024 * 1024;

/// What is to be done. It comes with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// The HTML of a page → what is to be read of it, cut to an answer.
    Page {
        /// Where it was found: links are told from there.
        url: String,
        /// The form that is wanted.
        format: Format,
    },
    /// What a search engine answered → its results, as JSON.
    Results {
        /// Which engine it was.
        engine: Engine,
    },
    /// A picture file → `<mime>\n` and the bytes of a picture that every model takes.
    Picture,
    /// Takes all the memory, time or stack that it can get: for tests of the limits.
    #[cfg(any(test, debug_assertions))]
    Misbehave(Misbehaviour),
}

/// What goes wrong in a test.
#[cfg(any(test, debug_assertions))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misbehaviour {
    /// It takes memory.
    Memory,
    /// It never ends.
    Time,
    /// It calls itself.
    Stack,
    /// It says too much.
    Words,
}

/// What one job may take.
struct Limits {
    /// Bytes of address space.
    memory: u64,
    /// Seconds of one processor, and a few more by the clock.
    seconds: u64,
}

impl Job {
    fn limits(&self) -> Limits {
        match self {
            Self::Picture => Limits { memory: 768 * 1024 * 1024, seconds: 20 },
            _ => Limits { memory: 512 * 1024 * 1024, seconds: 10 },
        }
    }

    /// What the words for people call it.
    fn name(&self) -> &'static str {
        match self {
            Self::Picture => "the picture",
            _ => "the page",
        }
    }
}

impl Limits {
    fn by_the_clock(&self) -> Duration {
        // A busy machine gives it a part of a processor.
        Duration::from_secs(6 * self.seconds)
    }
}

/// Does such work somewhere.
#[async_trait]
pub trait Isolate: Send + Sync {
    /// Does a job. Dropped, it ends the work.
    ///
    /// # Errors
    /// For the model: what is wrong with the bytes, or that they take more than is allowed.
    async fn run(&self, job: Job, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError>;
}

/// Does it in this process, with nothing but the bounds of the work itself: for a library without a binary,
/// and its tests.
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

fn broken(name: &str) -> ToolError {
    ToolError::tell(format!("{name} cannot be read: it breaks the reader"))
}
