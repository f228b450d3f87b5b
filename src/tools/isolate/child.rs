//! The other side: a process that takes its limits before its first foreign byte, does one job and ends.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::job::{Job, Limits};
use super::work;

/// The hidden command that makes this executable do one job.
pub const COMMAND: &str = "--do-one-isolated-job";
/// The exit code of bytes that are told to be wrong.
pub(super) const TOLD: u8 = 3;
/// Bytes of a job's own words.
const WORDS: u32 = 64 * 1024;
/// Bytes of a stack.
const STACK: u64 = 8 * 1024 * 1024;

/// Does the one job that stands on standard input, and writes what comes of it to standard output.
pub fn child() -> ExitCode {
    match one_job() {
        Ok(code) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

fn one_job() -> io::Result<ExitCode> {
    let mut input = io::stdin().lock();
    // The job's own words are the daemon's; foreign bytes come after them.
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length).min(WORDS);
    let mut words = vec![0; usize::try_from(length).unwrap_or_default()];
    input.read_exact(&mut words)?;
    let job: Job = serde_json::from_slice(&words)?;
    confine(&job.limits())?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let (code, out) = match work::done(&job, bytes) {
        Ok(out) => (ExitCode::SUCCESS, out),
        Err(why) => (ExitCode::from(TOLD), why.into_bytes()),
    };
    let mut output = io::stdout().lock();
    output.write_all(&(out.len() as u64).to_le_bytes())?;
    output.write_all(&out)?;
    output.flush()?;
    Ok(code)
}

/// Nothing of this can be taken back by what follows.
fn confine(limits: &Limits) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    // When the machine's memory runs out, this goes first. It may not be wanted: then it does not.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    for (resource, most) in [
        (Resource::As, limits.memory),
        (Resource::Cpu, limits.seconds),
        (Resource::Stack, STACK),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        // Standard input, output and error are open; nothing else will be.
        (Resource::Nofile, 3),
        (Resource::Nproc, 0),
    ] {
        let most = Rlimit { current: Some(most), maximum: Some(most) };
        match setrlimit(resource, most) {
            // The machine allows less, or knows no such limit.
            Err(rustix::io::Errno::PERM) => {}
            Err(_) if !cfg!(target_os = "linux") => {}
            other => other?,
        }
    }
    Ok(())
}
