//! This side: starts the process, hands it the bytes, and takes what comes, or what became of it.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;

use super::child::{COMMAND, TOLD};
use super::{Isolate, Job, broken};
use crate::ToolError;

/// Pages that are read at once: what they take together is bounded, too.
const PAGES: usize = 2;

/// Does jobs in processes of this executable.
pub struct Processes {
    executable: PathBuf,
    pages: Arc<Semaphore>,
    pictures: Arc<Semaphore>,
    documents: Arc<Semaphore>,
    recordings: Arc<Semaphore>,
}

impl Processes {
    /// Takes the executable, which does a job when it is called with [`COMMAND`] alone.
    pub fn new(executable: PathBuf) -> Self {
        let room = |many| Arc::new(Semaphore::new(many));
        let [pictures, documents, recordings] = [1, 1, 1].map(room);
        Self { executable, pages: room(PAGES), pictures, documents, recordings }
    }

    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.executable)
            .arg(COMMAND)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
    }
}

#[async_trait]
impl Isolate for Processes {
    async fn run(&self, job: Job, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError> {
        let room = match job {
            Job::Picture => &self.pictures,
            Job::Document { .. } => &self.documents,
            Job::Speech => &self.recordings,
            _ => &self.pages,
        };
        let _room = room.acquire().await;
        let limit = job.limits().by_the_clock();
        let mut child = self.start().map_err(|e| {
            ToolError::tell(format!("{} cannot be read: no process for it: {e}", job.name()))
        })?;
        let said = tokio::time::timeout(limit, heard(&mut child, &job, bytes)).await;
        match said {
            Ok(Ok((status, Some(out)))) if status.success() => Ok(out),
            Ok(Ok((status, Some(why)))) if status.code() == Some(i32::from(TOLD)) => {
                Err(ToolError::Tell(String::from_utf8_lossy(&why).into_owned()))
            }
            // A panic: the work has a fault of its own.
            Ok(Ok((status, _))) if status.code() == Some(101) => Err(broken(job.name())),
            _ => {
                tracing::warn!(job = job.name(), "isolated work ended at its limits");
                let name = job.name();
                Err(ToolError::tell(format!(
                    "{name} could not be read: it needs more memory or time than is allowed"
                )))
            }
        }
    }
}

/// Whether it ended well, and what it said, when that was whole.
async fn heard(
    child: &mut Child,
    job: &Job,
    bytes: Vec<u8>,
) -> std::io::Result<(ExitStatus, Option<Vec<u8>>)> {
    let input = child.stdin.take();
    let output = child.stdout.take();
    let words = serde_json::to_vec(job)?;
    // It may end before it has read all: what it says counts.
    let (_, out) = tokio::join!(told(input, words, bytes), whole(output, job.limits().result));
    Ok((child.wait().await?, out.ok().flatten()))
}

async fn told(input: Option<ChildStdin>, words: Vec<u8>, bytes: Vec<u8>) -> std::io::Result<()> {
    let Some(mut input) = input else { return Ok(()) };
    let length = u32::try_from(words.len()).unwrap_or(u32::MAX);
    input.write_all(&length.to_le_bytes()).await?;
    input.write_all(&words).await?;
    input.write_all(&bytes).await?;
    input.shutdown().await
}

/// What it said; `None` when that breaks off or is too much.
async fn whole(output: Option<ChildStdout>, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let Some(mut output) = output else { return Ok(None) };
    let length = output.read_u64_le().await?;
    if length > most {
        return Ok(None);
    }
    let mut out = Vec::new();
    output.take(length).read_to_end(&mut out).await?;
    Ok((out.len() as u64 == length).then_some(out))
}
