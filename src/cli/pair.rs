//! `selkie pair`: a code that makes an owner, strangers who ask to be let in, and who was paired.

use clap::Subcommand;
use selkie_channel_core::PersonId;
use serde_json::json;

use super::outcome::Outcome;
use super::print;
use super::request::{ask, mismatched, said, to_ask};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::pairing::{OpenCode, Pairings, WaitingStranger};
use selkie_app::request::{Request, Response};
use selkie_domain::facts::Trust;
use selkie_guard::visible::one_line;
use selkie_schedule::words::moment;
use selkie_store::PairedPerson;

/// `selkie pair`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie pair                               print a code for an owner
  selkie pair list                          owners, guests, and who is asking
  selkie pair approve ab3defgh              let in the stranger with this code
  selkie pair remove tg:4711

Whoever sends the code to the bot in a private chat becomes an owner. A code works once, within an hour; a new one replaces it. \
With `pairing: ask` in the config, the bot gives strangers a code to ask you with. Owners named in the config are not paired: \
remove them there.

Exit codes: 0 done · 1 not done · 2 the command line or the config is wrong")]
pub struct Pair {
    /// What to do [default: make a code].
    #[command(subcommand)]
    pub what: Option<PairWhat>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What to do about pairing.
#[derive(Debug, Subcommand)]
pub enum PairWhat {
    /// List the owners, who was let in, and who is asking to be
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Let in a stranger who has a code from the bot
    Approve {
        /// The code that the bot gave them
        code: String,
    },
    /// Revoke the pairing of an owner, or of somebody who was let in
    Remove {
        /// Their id, such as tg:4711
        person: String,
    },
}

/// Makes a code, lists or takes back, through the daemon when one runs.
pub fn pair(binary: &Binary, chosen: &ConfigChoice, pair: Pair) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    let zone = plan.zone;
    match pair.what {
        None => {
            let Response::Code(code) = ask(plan, Request::OpenPairing)? else {
                return mismatched();
            };
            if pair.json {
                return Ok(print::json(&code)?);
            }
            let OpenCode { code, until } = code;
            let until = moment(until, zone);
            Ok(print::prose(&format!(
                "Send this to the bot in a private chat before {until}:\n\n  pair {code}\n\nWhoever sends it first becomes an owner \
                 of the bot, so keep it to yourself. selkie has to be running (selkie run).\n"
            ))?)
        }
        Some(PairWhat::List { json: is_json }) => {
            let Response::Paired(all) = ask(plan, Request::Paired)? else { return mismatched() };
            let Pairings { owners, paired, asking } = all;
            if is_json {
                return Ok(print::json(&json!({ "paired": paired, "asking": asking }))?);
            }
            let owns =
                |one: &PersonId| row(one.as_str(), Trust::Owner.name(), "named in the config");
            let is = |one: &PairedPerson| row(one.person.as_str(), one.trust.name(), "paired");
            let asks = |one: &WaitingStranger| {
                let until = moment(one.until, zone);
                row(one.person.as_str(), "asks", &format!("until {until}: {}", one_line(&one.name)))
            };
            let rows = owners.iter().map(owns).chain(paired.iter().map(is));
            let rows: Vec<_> = rows.chain(asking.iter().map(asks)).collect();
            let shown = match rows.is_empty() {
                true => {
                    "Nobody owns the bot yet: selkie pair prints a code for its owner.\n".to_owned()
                }
                false => print::table(&rows, print::width()),
            };
            Ok(print::prose(&shown)?)
        }
        Some(PairWhat::Approve { code }) => said(ask(plan, Request::ApprovePairing { code })?),
        Some(PairWhat::Remove { person }) => said(ask(plan, Request::Unpair { person })?),
    }
}

fn row(person: &str, trust: &str, how: &str) -> Vec<String> {
    [person, trust, how].map(str::to_owned).into()
}
