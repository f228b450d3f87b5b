//! One git process: no environment but ours, bounded in time, memory and words, gone with the call.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::private::Private;
use crate::ToolError;

/// Where git is looked for: the daemon's own environment does not reach it.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How long it may take.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Bytes of its answer; dispatch cuts what is longer than a model takes.
const ANSWER: u64 = 256 * 1024;
/// Bytes of its complaint.
const COMPLAINT: u64 = 4 * 1024;

/// Says what is changed below a folder, in git's short form.
///
/// # Errors
/// For the model: git is not there, complains, or takes too long.
pub(super) async fn status(
    private: &Private,
    top: &Path,
    folder: &Path,
) -> Result<String, ToolError> {
    let mut child = Group(command(private, top, folder).spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => ToolError::tell("git is not installed here"),
        _ => ToolError::tell(format!("git did not start: {e}")),
    })?);
    child.bound();
    let Ok(said) = tokio::time::timeout(MAX_TIME, child.heard()).await else {
        let limit = MAX_TIME.as_secs();
        return Err(ToolError::tell(format!("git took longer than {limit} s and was ended")));
    };
    let (status, answer, complaint) =
        said.map_err(|e| ToolError::tell(format!("git cannot be read: {e}")))?;
    let cut = answer.len() as u64 > ANSWER;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    if cut {
        let whole = answer.rfind('\n').unwrap_or(answer.len());
        return Ok(format!("{}\n[There is more.]", &answer[..whole]));
    }
    if status.success() {
        return Ok(answer);
    }
    let why = String::from_utf8_lossy(&complaint);
    let why = why.lines().next().map_or("it was ended", |line| line.trim_start_matches("fatal: "));
    Err(ToolError::tell(format!("git: {why}")))
}

fn command(private: &Private, top: &Path, folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["--no-pager", "--no-optional-locks", "status", "--short"])
        .args(["--ignore-submodules=all", "--", "."])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", PATH), ("LC_ALL", "C"), ("GIT_OPTIONAL_LOCKS", "0")])
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs([("GIT_ATTR_NOSYSTEM", "1"), ("GIT_ATTR_SOURCE", private.empty_tree)])
        // Nothing is fetched, whatever is missing.
        .envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")])
        .envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_REPLACE_OBJECTS", "1")])
        .env("GIT_DIR", &private.folder)
        .env("GIT_OBJECT_DIRECTORY", &private.objects)
        .env("GIT_WORK_TREE", top)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// A process and all that it starts, ended when it is dropped.
struct Group(Child);

impl Group {
    /// A repository may ask for any amount of memory.
    fn bound(&self) {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Resource, Rlimit, prlimit};
            const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
            let limits = [
                (Resource::As, MEMORY),
                (Resource::Cpu, MAX_TIME.as_secs()),
                (Resource::Fsize, 0),
                (Resource::Core, 0),
            ];
            for (resource, most) in limits {
                let most = Rlimit { current: Some(most), maximum: Some(most) };
                // It is gone already, then.
                let _ = prlimit(self.pid(), resource, most);
            }
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    async fn heard(&mut self) -> std::io::Result<(std::process::ExitStatus, Vec<u8>, Vec<u8>)> {
        let answer = self.0.stdout.take();
        let complaint = self.0.stderr.take();
        let (answer, complaint) =
            tokio::try_join!(some(answer, ANSWER + 1), some(complaint, COMPLAINT))?;
        Ok((self.0.wait().await?, answer, complaint))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // No id: it was waited for, and whatever it had started would not be known any more.
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// The first bytes; the pipe is closed then.
async fn some(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
