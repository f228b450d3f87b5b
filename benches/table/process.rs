//! What the kernel says of a process: memory and processor time.

use std::fs;
use std::time::Duration;

/// What a process keeps in memory, in MiB.
#[derive(Clone, Copy)]
pub struct Memory {
    /// Everything resident, pages of the program's own file included, which the kernel can drop.
    pub resident: f64,
    /// What only the process itself holds.
    pub own: f64,
}

/// Reads a process's memory.
pub fn memory(pid: u32) -> Memory {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mib = |key: &str| {
        let line = status.lines().find(|l| l.starts_with(key)).unwrap_or_default();
        let kib: f64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
        kib / 1024.0
    };
    Memory { resident: mib("VmRSS:"), own: mib("RssAnon:") }
}

/// Processor time, user and system. The kernel counts in hundredths of a second.
pub fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field is the name in parentheses and may hold blanks.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
