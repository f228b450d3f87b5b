//! Gives parsers of foreign bytes what nobody would write: seeds, and what comes of changing them.

mod change;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use change::Changer;

/// How many seconds each target gets; without it a few inputs that are always the same.
const SECONDS: &str = "SELKIE_FUZZ";
/// Inputs of a run without it, at most, and how long it may go on.
const USUAL: (u32, Duration) = (300, Duration::from_secs(2));
/// So long an input may take: time of the processor, where the machine tells it.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Gives `target` every seed of `seeds/<name>/`, and inputs made of them.
///
/// # Panics
/// When the target does, or takes too long; the input is kept beside the seeds.
pub fn bytes(name: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let seeds = seeds(&folder);
    assert!(!seeds.is_empty(), "{} holds no seed", folder.display());
    let seconds = seconds();
    let run = Run { name, folder, watched: seconds.is_some() };
    for seed in &seeds {
        run.one(seed, &target);
    }
    let mut changer = Changer::new(&seeds, seconds.map_or(0, |_| std::process::id()));
    let begun = Instant::now();
    let mut made = 0;
    let (inputs, longest) = seconds.map_or(USUAL, |most| (u32::MAX, most));
    while made < inputs && begun.elapsed() < longest {
        run.one(&changer.next(), &target);
        made += 1;
    }
    if seconds.is_some() {
        eprintln!("{name}: {made} inputs");
    }
}

/// As [`bytes`], for what takes text.
///
/// # Panics
/// As [`bytes`].
pub fn text(name: &str, target: impl Fn(&str)) {
    bytes(name, |bytes| target(&String::from_utf8_lossy(bytes)));
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, not the daemon's")]
fn seconds() -> Option<Duration> {
    std::env::var(SECONDS).ok()?.parse().ok().map(Duration::from_secs)
}

/// How long this thread has worked; without Linux nothing is ever slow.
fn worked() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().filter_map(|file| fs::read(file).ok()).collect()
}

struct Run<'a> {
    name: &'a str,
    folder: PathBuf,
    watched: bool,
}

impl Run<'_> {
    fn one(&self, input: &[u8], target: &impl Fn(&[u8])) {
        let last = std::env::temp_dir().join(format!("selkie-fuzz-{}", self.name));
        if self.watched {
            // It is looked for when the process is gone; where it cannot be kept, it is not found.
            let _ = fs::write(&last, input);
        }
        let begun = worked();
        let done = catch_unwind(AssertUnwindSafe(|| target(input)));
        let slow = self.watched && worked().saturating_sub(begun) > MAX_TIME;
        if done.is_err() || slow {
            let kept = self.folder.join(format!("found-{:016x}", change::hash(input)));
            fs::write(&kept, input).expect("the seeds' folder takes a file");
            let what = if slow { "takes too long" } else { "panics" };
            panic!("{}: {what}; the input is kept in {}", self.name, kept.display());
        }
    }
}
