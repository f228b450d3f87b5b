//! The result, as Markdown.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::gauge::Gauge;
use crate::lanes::Kind;
use crate::tally::Verdict;

/// What a soak came to.
pub struct Report {
    /// What became of the questions.
    pub verdict: Verdict,
    /// How many were asked.
    pub asked: usize,
    /// How many were to be asked.
    pub wanted: usize,
    /// How often the daemon was killed.
    pub killed: usize,
    /// What went wrong, by name.
    pub trouble: BTreeMap<String, usize>,
    /// From the first question until nothing was left to do.
    pub wall: Duration,
    /// The daemon's processor time.
    pub cpu: Duration,
    /// At the start, in the middle, at the end.
    pub gauges: [Gauge; 3],
    /// The ledger's parts by their state.
    pub parts: String,
}

impl Report {
    /// Whether everything was asked, and nothing was lost or doubled.
    pub fn is_clean(&self) -> bool {
        self.asked == self.wanted && self.verdict.lost.is_empty() && self.verdict.doubled.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = &self.verdict;
        let places = Kind::ALL.map(Kind::name).join("; ");
        let seconds = self.wall.as_secs_f64();
        let rate = self.asked as f64 / seconds;
        let faults: usize = self.trouble.values().sum();
        let cpu = self.cpu.as_secs_f64() * 1e3 / self.asked.max(1) as f64;
        writeln!(f, "Over {places}.\n\n| | measured | wanted |\n|---|--:|--:|")?;
        writeln!(f, "| messages asked | {} | {} |", self.asked, self.wanted)?;
        writeln!(f, "| — answered once | {} | |", verdict.once)?;
        writeln!(f, "| — lost | {} | 0 |", verdict.lost.len())?;
        writeln!(f, "| — doubled without a word | {} | 0 |", verdict.doubled.len())?;
        let marked = "said again, marked as “(possibly repeated)”";
        writeln!(f, "| — unclear, {marked} | {} | |", verdict.repeated)?;
        writeln!(f, "| — unclear, arrived once with that mark | {} | |", verdict.once_marked)?;
        writeln!(f, "| — unclear to the end, not repeated | {} | |", verdict.in_doubt)?;
        writeln!(f, "| faults of platforms and model | {faults} | |")?;
        writeln!(f, "| kill -9 and start | {} | ≥ 1 |", self.killed)?;
        writeln!(f, "| time | {seconds:.0} s ({rate:.0} messages a second) | ≤ 1,800 s |")?;
        writeln!(f, "| the daemon's processor time | {cpu:.2} ms a message | |\n")?;
        self.gauges(f)?;
        writeln!(f, "\nfaults: {}", listed(&self.trouble))?;
        writeln!(f, "parts in the ledger: {}", self.parts)?;
        if verdict.other > 0 {
            writeln!(f, "said besides: {} ({:?})", verdict.other, verdict.examples)?;
        }
        for (name, numbers) in [("lost", &verdict.lost), ("doubled", &verdict.doubled)] {
            if !numbers.is_empty() {
                writeln!(f, "{name}: {:?}", &numbers[..numbers.len().min(50)])?;
            }
        }
        Ok(())
    }
}

impl Report {
    fn gauges(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | start | middle | end, at rest |\n|---|--:|--:|--:|")?;
        let mut row = |name: &str, cell: &dyn Fn(&Gauge) -> String| {
            let cells = self.gauges.each_ref().map(cell);
            writeln!(f, "| {name} | {} |", cells.join(" | "))
        };
        row("messages asked", &|gauge| gauge.asked.to_string())?;
        row("memory (its own)", &|gauge| format!("{:.1} MiB ({:.1})", gauge.resident, gauge.own))?;
        row("descriptors", &|gauge| gauge.descriptors.to_string())?;
        row("database, and its log", &|gauge| {
            format!("{:.1} MiB, {:.1} MiB", gauge.database, gauge.log)
        })?;
        row("memory of this benchmark and its platforms", &|gauge| {
            format!("{:.1} MiB", gauge.bench)
        })
    }
}

fn listed(counts: &BTreeMap<String, usize>) -> String {
    let all: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    all.join(", ")
}
