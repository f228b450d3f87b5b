//! `selkie pair`: a code that makes an owner, and who became one by it.

use clap::Subcommand;

use super::outcome::Outcome;
use super::print;
use super::request::{quiet, told};
use crate::daemon::Binary;
use crate::daemon::build::Chosen;
use crate::daemon::pairing::{AskedOfPairing, ToldOfPairing};

/// `selkie pair`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie pair                               prints a code; whoever sends it to the bot in private is an owner
  selkie pair list
  selkie pair remove tg:4711

A code works once, within an hour, and ends after three wrong ones; a new one takes its place. Who was paired stands in the
store; owners that the config names are not listed here.

Exit codes: 0 done · 1 not done · 2 the command line or the configuration is wrong")]
pub struct Pair {
    /// What to do [default: make a code].
    #[command(subcommand)]
    pub what: Option<PairWhat>,
}

/// What to do about pairing.
#[derive(Debug, Subcommand)]
pub enum PairWhat {
    /// List who was paired
    List,
    /// Take a pairing back: they are no owner any more
    Remove {
        /// Their id: tg:4711
        person: String,
    },
}

/// Makes a code, lists or takes back, through the daemon when one runs.
pub fn pair(binary: &Binary, chosen: &Chosen, pair: Pair) -> Outcome {
    let plan = quiet(binary, chosen)?;
    match pair.what {
        None => {
            let ToldOfPairing { code, .. } = told(plan, AskedOfPairing::Open)?;
            let Some((code, until)) = code else { return Ok(()) };
            let until = until.format("%H:%M UTC");
            Ok(print::out(&format!(
                "Send this to the bot in private, before {until}:\n\n  pair {code}\n\nWhoever sends it first is an owner of \
                 the bot: show it to nobody else. selkie has to be running (selkie run).\n"
            ))?)
        }
        Some(PairWhat::List) => {
            let ToldOfPairing { paired, .. } = told(plan, AskedOfPairing::List)?;
            let lines: String = paired.iter().map(|person| format!("{person}\n")).collect();
            let shown = if lines.is_empty() { "Nobody was paired.\n".to_owned() } else { lines };
            Ok(print::out(&shown)?)
        }
        Some(PairWhat::Remove { person }) => {
            told(plan, AskedOfPairing::Remove { person: person.clone() })?;
            Ok(print::out(&format!(
                "{person} is no owner any more, unless the config names them.\n"
            ))?)
        }
    }
}
