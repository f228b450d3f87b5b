//! What the machine itself takes, whatever runs on it: its disk's syncs, and memory that has left the caches.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a processor fetches from memory at once, bytes.
const LINE: usize = 64;
const MIB: usize = 1024 * 1024;

/// Its name, for people.
pub fn name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {cores} cores", model.unwrap_or("unknown processor"))
}

/// Median time of a 4 KiB append and its `fdatasync` in `folder`, of so many, with a pause before each: after
/// one the processor and the disk have to wake up.
pub fn fdatasync_p50(folder: &Path, times: usize, pause: Duration) -> Duration {
    let path = folder.join("fdatasync-probe");
    let mut file = File::create(&path).expect("probe file");
    let median = median(times, pause, || {
        file.write_all(&[7; 4096]).expect("probe write");
        file.sync_data().expect("probe sync");
    });
    drop(fs::remove_file(path));
    median
}

/// Median time of reading 1 MiB again, a line at a time and each only when the one before is known, as code is
/// fetched that nobody can foresee. It tells how much of the caches is left after a pause.
pub fn mebibyte_p50(times: usize, pause: Duration) -> Duration {
    let next = chain(MIB / LINE);
    median(times, pause, || {
        let last = (0..next.len()).fold(0, |at, _| next[at].0);
        assert_eq!(std::hint::black_box(last), 0, "the chain is a circle");
    })
}

/// Where the next line is; alone in its own.
#[repr(align(64))]
#[derive(Clone)]
struct Next(usize);

/// One circle through all lines, in an order that no processor foresees (Sattolo's shuffle).
fn chain(lines: usize) -> Vec<Next> {
    let mut order: Vec<usize> = (0..lines).collect();
    let mut seed = 1_u64;
    for at in (1..lines).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(at, (seed >> 33) as usize % at);
    }
    order.into_iter().map(Next).collect()
}

fn median(times: usize, pause: Duration, mut done: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..times)
        .map(|_| {
            std::thread::sleep(pause);
            let start = Instant::now();
            done();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
