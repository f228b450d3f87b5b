//! Gives back to the kernel what a daemon at rest does not need: pages of the program that only the start, or a burst,
//! has looked at, and memory that was let go.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::mm::{Advice, madvise};
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// The start is over by then.
const FIRST: Duration = Duration::from_secs(1);
/// How long nothing has to happen.
const REST: Duration = Duration::from_secs(5);
/// More processor time than polls of channels that stay silent take in [`REST`].
const IDLE: Duration = Duration::from_millis(5);
/// Less work brings few pages back.
const WORTH_IT: Duration = Duration::from_millis(20);
/// More than the list of our mappings takes, bytes: foreign libraries may be loaded into us.
const MAX_MAPPINGS: usize = 256 * 1024;

/// Watches until `stop`.
pub async fn watch(stop: CancellationToken) {
    let mut before = Duration::ZERO;
    let mut given = Duration::ZERO;
    let mut wait = FIRST;
    while stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_some() {
        let now = processor_time();
        let is_first = wait == FIRST;
        let rests = now.saturating_sub(before) < IDLE;
        if is_first || rests && now.saturating_sub(given) > WORTH_IT {
            // Long heaps take a moment: nobody waits for it.
            tokio::task::spawn_blocking(give_back).await.ok();
            given = processor_time();
        }
        (before, wait) = (processor_time(), REST);
    }
}

/// What this process has taken of the processors.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Gives back our code, which is read again from its file where it is used, and free memory.
fn give_back() {
    if let Some(Err(error)) = own_code().map(drop_pages) {
        tracing::debug!(%error, "the kernel keeps the program's pages");
    }
    trim();
}

/// Where one mapping begins, and its bytes.
struct MemoryMapping {
    begin: usize,
    bytes: usize,
}

/// Returns where our own code stands in memory. None where there is no `/proc`.
fn own_code() -> Option<MemoryMapping> {
    let path = fs::read_link("/proc/self/exe").ok()?;
    let maps = fs::read_to_string("/proc/self/maps").ok().filter(|m| m.len() < MAX_MAPPINGS)?;
    code_of(path.to_str()?, &maps)
}

/// Finds the code of a file: what may be run and cannot be written.
fn code_of(path: &str, maps: &str) -> Option<MemoryMapping> {
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let is_ours = rest.starts_with("r-xp ") && rest.ends_with(&format!(" {path}"));
        let (begin, end) = range.split_once('-').filter(|_| is_ours)?;
        let begin = usize::from_str_radix(begin, 16).ok()?;
        let bytes = usize::from_str_radix(end, 16).ok()?.checked_sub(begin)?;
        Some(MemoryMapping { begin, bytes })
    })
}

#[expect(unsafe_code, reason = "the kernel is told which of our pages it may drop")]
fn drop_pages(code: MemoryMapping) -> io::Result<()> {
    let MemoryMapping { begin, bytes } = code;
    let at = std::ptr::without_provenance_mut(begin);
    // SAFETY: these pages are a mapping of our own file that is run and never written, so nothing stands in them that
    // is not in the file: whatever runs there next faults them in as it did the first time. The mapping is made by
    // the loader and stays as long as the process.
    Ok(unsafe { madvise(at, bytes, Advice::LinuxDontNeed) }?)
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no safe name for it")]
fn trim() {
    // SAFETY: may be called at any time, by any thread: it takes the allocator's own locks.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give back by themselves.
#[cfg(not(target_env = "gnu"))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "5500000000-5500001000 r--p 00000000 fe:00 7   /usr/bin/selkie\n\
        5500001000-5500004000 r-xp 00001000 fe:00 7   /usr/bin/selkie\n\
        7f00000000-7f00009000 r-xp 00000000 fe:00 8   /lib/libc.so.6\n\
        7f0000a000-7f0000b000 rw-p 00000000 00:00 0 \n";

    #[test]
    fn code_is_what_is_run_and_never_written() {
        let code = code_of("/usr/bin/selkie", MAPS).map(|code| (code.begin, code.bytes));
        assert_eq!(code, Some((0x55_0000_1000, 0x3000)));
        for (path, maps) in [
            ("/bin/selkie", MAPS),
            ("/usr/bin/selkie", "5500001000-5500004000 rwxp 00001000 fe:00 7   /usr/bin/selkie"),
            ("/usr/bin/selkie", "5500004000-5500001000 r-xp 0 fe:00 7   /usr/bin/selkie"),
            ("/usr/bin/selkie", "zz-5500001000 r-xp 0 fe:00 7   /usr/bin/selkie"),
            ("/usr/bin/selkie", "r-xp /usr/bin/selkie"),
            ("/usr/bin/selkie", ""),
        ] {
            assert!(code_of(path, maps).is_none(), "{path} {maps}");
        }
    }

    #[test]
    fn what_is_given_back_is_there_when_it_is_used() {
        let code = own_code().expect("our code");
        let here = processor_time as fn() -> Duration as usize;
        assert!((code.begin..code.begin + code.bytes).contains(&here), "it is ours");
        drop_pages(code).expect("dropped");
        trim();
        let words: Vec<String> = (0..1_000).map(|n| format!("{n:?}")).collect();
        assert_eq!(words.concat().len(), 2_890);
    }
}
