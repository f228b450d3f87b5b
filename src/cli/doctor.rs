//! `selkie doctor`: looks at everything that can be wrong, and prints what to do.

use std::time::Duration;

use super::outcome::{Failure, Outcome};
use super::print;
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::lifecycle;
use selkie_domain::count::counted;
use selkie_ops::doctor::{Finding, Level, examine};

/// `selkie doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie doctor
  selkie doctor --json | jq '.[] | select(.level == \"error\")'

It asks each platform who the bot is, and each model one short question, which costs a few tokens. It changes nothing; run it \
before the first start, or at any time while selkie runs.

Exit codes: 0 no errors found · 1 errors found · 2 the command line is wrong")]
pub struct Doctor {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What a disk that does not answer may hold up at the end.
const FAREWELL: Duration = Duration::from_millis(100);

/// Looks and prints, the worst first.
pub fn doctor(binary: &Binary, chosen: &ConfigChoice, doctor: &Doctor) -> Outcome {
    let runtime = lifecycle::runtime()?;
    let findings = runtime.block_on(examine(binary, chosen));
    runtime.shutdown_timeout(FAREWELL);
    match doctor.json {
        true => print::json(&findings)?,
        false => print::out(&shown(&findings, print::width()))?,
    }
    match findings.iter().any(|finding| finding.level == Level::Error) {
        true => Err(Failure::Told),
        false => Ok(()),
    }
}

/// A row for what is so, and one for what to do.
fn shown(findings: &[Finding], width: usize) -> String {
    let head = |finding: &Finding| match finding.name.is_empty() {
        true => finding.what.to_owned(),
        false => format!("{} {}", finding.what, finding.name),
    };
    let mut rows = Vec::new();
    for finding in findings {
        let level = format!("{:<7}", finding.level.name());
        rows.push(vec![level, head(finding), finding.message.clone()]);
        if !finding.advice.is_empty() {
            rows.push(vec![String::new(), String::new(), format!("→ {}", finding.advice)]);
        }
    }
    let text = print::table(&rows, width);
    let count = |level| findings.iter().filter(|finding| finding.level == level).count() as u64;
    let errors = counted(count(Level::Error), ["error", "errors"]);
    let warnings = counted(count(Level::Warning), ["warning", "warnings"]);
    let unknown = match count(Level::Unknown) {
        0 => String::new(),
        many => format!(", {many} unknown"),
    };
    text + &format!("\n{errors}, {warnings}{unknown}, {} fine\n", count(Level::Fine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_so_and_what_to_do_stand_under_each_other() {
        let findings = [
            Finding::error("channel", "the token is refused", "make a new one").of("tea"),
            Finding::unknown("clock", "nobody told the time"),
            Finding::fine("disk", "there is room"),
        ];
        insta::assert_snapshot!(shown(&findings, 80), @"
        error    channel tea  the token is refused
                              → make a new one
        unknown  clock        nobody told the time
        fine     disk         there is room

        1 error, 0 warnings, 1 unknown, 1 fine
        ");
    }
}
