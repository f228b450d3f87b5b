//! What the daemon takes of its machine: memory, descriptors, the database's files, processor time.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// One look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauge {
    /// Everything resident, in MiB.
    pub resident: f64,
    /// What only the process itself holds.
    pub own: f64,
    /// Open descriptors.
    pub descriptors: usize,
    /// The database's file, in MiB.
    pub database: f64,
    /// The log beside it, which keeps its size once it has grown.
    pub log: f64,
    /// What this benchmark and its playground keep resident.
    pub bench: f64,
    /// How many messages were asked by then.
    pub asked: usize,
}

impl Gauge {
    /// Reads all of it.
    pub fn read(pid: u32, database: &Path, asked: usize) -> Self {
        let folder = format!("/proc/{pid}");
        let mib_of = |file: &Path| {
            let size = file.metadata().map_or(0, |file| file.len());
            size as f64 / 1_048_576.0
        };
        Self {
            resident: mib(&folder, "VmRSS:"),
            own: mib(&folder, "RssAnon:"),
            descriptors: fs::read_dir(format!("{folder}/fd")).map_or(0, Iterator::count),
            database: mib_of(database),
            log: mib_of(&database.with_extension("db-wal")),
            bench: mib("/proc/self", "VmRSS:"),
            asked,
        }
    }
}

fn mib(process: &str, key: &str) -> f64 {
    let status = fs::read_to_string(format!("{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    let kib: f64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    kib / 1024.0
}

/// Processor time of a process, user and system, in the kernel's hundredths of a second.
pub fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field is the name in parentheses and may hold blanks.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
