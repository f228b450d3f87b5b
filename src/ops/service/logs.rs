//! The log of an installed service: the journal keeps it, and its own program shows it.

use std::process::Command;

use super::machine::{Kind, Machine};
use super::systemd;

/// What of the log is wanted.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// Go on with what comes.
    pub follow: bool,
    /// The newest so many.
    pub count: Option<u32>,
    /// From then on, in the journal's words.
    pub since: Option<String>,
    /// One JSON object a line.
    pub json: bool,
}

/// So many lines are shown when nobody says how many.
const USUAL: u32 = 50;

/// Returns the command that shows it.
pub fn journal(machine: &Machine, wanted: &Lines) -> Command {
    let mut command = systemd::program(machine, "journalctl");
    let unit = match machine.asked.kind {
        Kind::System => "--unit",
        Kind::User => "--user-unit",
    };
    command.arg(format!("{unit}={}", machine.unit_name())).arg("--no-pager");
    // Whoever names a beginning wants all that came since.
    let usual = wanted.since.is_none().then_some(USUAL);
    if let Some(count) = wanted.count.or(usual) {
        command.arg(format!("--lines={count}"));
    }
    if let Some(since) = &wanted.since {
        command.arg(format!("--since={since}"));
    }
    if wanted.follow {
        command.arg("--follow");
    }
    if wanted.json {
        command.arg("--output=json");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::machine::ServiceTarget;

    fn words(kind: Kind, wanted: &Lines) -> String {
        let env = [("HOME".to_owned(), "/home/ada".to_owned())].into();
        let asked = ServiceTarget { kind, name: "team".to_owned(), root: None };
        let command = journal(&Machine::of(asked, &env).unwrap(), wanted);
        let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_journal_is_asked_for_the_right_unit_and_for_no_more_than_is_wanted() {
        let usual = words(Kind::System, &Lines::default());
        assert_eq!(usual, "--unit=team.service --no-pager --lines=50");
        let since = Lines { since: Some("-1h".to_owned()), json: true, ..Lines::default() };
        let all = words(Kind::User, &since);
        assert_eq!(all, "--user-unit=team.service --no-pager --since=-1h --output=json");
        let few = Lines { follow: true, count: Some(3), ..Lines::default() };
        assert!(words(Kind::User, &few).ends_with("--lines=3 --follow"));
    }
}
