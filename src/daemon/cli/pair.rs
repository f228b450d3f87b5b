//! `selkie pair`: a code that makes an owner, strangers who ask to be let in, and who was paired.

use clap::Subcommand;
use serde_json::json;

use super::outcome::Outcome;
use super::print;
use super::request::{quiet, told};
use crate::daemon::Binary;
use crate::daemon::build::Chosen;
use crate::daemon::pairing::{AskedOfPairing, Asking, ToldOfPairing};
use crate::guard::visible::one_line;
use crate::schedule::words::moment;
use crate::store::PairedPerson;

/// `selkie pair`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie pair                               prints a code; whoever sends it to the bot in private is an owner
  selkie pair list                          who was paired, and who asks to be let in
  selkie pair approve ab3defgh              lets a stranger in by the code that the bot gave them (pairing: ask)
  selkie pair remove tg:4711

A code works once, within an hour; a new one takes its place. Who was paired stands in the \
store; who was paired stays so when the config names them no longer.

Exit codes: 0 done · 1 not done · 2 the command line or the config is wrong")]
pub struct Pair {
    /// What to do [default: make a code].
    #[command(subcommand)]
    pub what: Option<PairWhat>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What to do about pairing.
#[derive(Debug, Subcommand)]
pub enum PairWhat {
    /// List who was paired, and who asks to be let in
    List {
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Let a stranger in
    Approve {
        /// The code that the bot gave them
        code: String,
    },
    /// Revoke a pairing, of an owner or of a stranger who was let in
    Remove {
        /// Their id: tg:4711
        person: String,
    },
}

/// Makes a code, lists or takes back, through the daemon when one runs.
pub fn pair(binary: &Binary, chosen: &Chosen, pair: Pair) -> Outcome {
    let plan = quiet(binary, chosen)?;
    let zone = plan.zone;
    match pair.what {
        None => {
            let ToldOfPairing { code, .. } = told(plan, AskedOfPairing::Open)?;
            let Some((code, until)) = code else { return Ok(()) };
            if pair.json {
                return Ok(print::json(&json!({ "code": code, "until": until }))?);
            }
            let until = moment(until, zone);
            Ok(print::out(&format!(
                "Send this to the bot in private, before {until}:\n\n  pair {code}\n\nWhoever sends it first is an owner of \
                 the bot: show it to nobody else. selkie has to be running (selkie run).\n"
            ))?)
        }
        Some(PairWhat::List { json: is_json }) => {
            let ToldOfPairing { paired, asking, .. } = told(plan, AskedOfPairing::List)?;
            if is_json {
                return Ok(print::json(&json!({ "paired": paired, "asking": asking }))?);
            }
            let is = |one: &PairedPerson| vec![one.person.to_string(), one.trust.name().to_owned()];
            let asks = |one: &Asking| {
                let until = moment(one.until, zone);
                vec![one.person.to_string(), format!("asks until {until}: {}", one_line(&one.name))]
            };
            let rows: Vec<_> = paired.iter().map(is).chain(asking.iter().map(asks)).collect();
            let shown = match rows.is_empty() {
                true => "Nobody was paired.\n".to_owned(),
                false => print::table(&rows),
            };
            Ok(print::out(&shown)?)
        }
        Some(PairWhat::Approve { code }) => {
            let ToldOfPairing { said, .. } = told(plan, AskedOfPairing::Approve { code })?;
            Ok(print::out(&format!("{said}\n"))?)
        }
        Some(PairWhat::Remove { person }) => {
            told(plan, AskedOfPairing::Remove { person: person.clone() })?;
            Ok(print::out(&format!(
                "{person} is not paired any more. Where the config names them, they stay.\n"
            ))?)
        }
    }
}
