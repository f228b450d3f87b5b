//! `selkie trace`: a message's whole chain, from the platform's event to the receipts, told as a story; so what was said
//! for no message; the newest tasks, where nothing is named.

mod kept;
mod list;
mod origin;
mod sent;
mod text;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use text::word;
use work::Teller;

use super::number::number_in;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{rows, to_ask_silently};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::request::Request;

/// `selkie trace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie trace
  selkie trace 17
  selkie trace 1767225600.000200 --json

Without a name it lists the newest tasks. A task's number is in /status while it \
runs, and in the log, too. A platform's message id is the last part of a message's link (in Slack the ts: p1767225600000200 in a \
link is 1767225600.000200).

Exit codes: 0 found · 1 nothing is known about it · 2 the command line or the config is wrong")]
pub struct Trace {
    /// A task's number, the key of an event, or the platform's id of a message or of its answer
    pub message: Option<String>,
    /// How many tasks to list
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "message", value_parser = number_in(1..=500_u16))]
    pub limit: u16,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Finds the chain and prints it.
pub fn trace(binary: &Binary, chosen: &ConfigChoice, trace: &Trace) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    // With mistakes the shape would be another one.
    let shaper = plan.mistakes.is_none().then(|| Arc::clone(&plan.shaper));
    let zone = plan.zone;
    let Some(message) = &trace.message else { return newest(plan, trace) };
    let mut chains = rows(plan, Request::Trace { message: message.clone() })?;
    if chains.is_empty() {
        return Err(Failure::Failed(anyhow::anyhow!(
            "nothing is known about {message:?}: it is not a task's number, an event's key, or a platform's id of a \
             message (the last part of its link). The ids that /id shows are those of places, not of messages"
        )));
    }
    chains.iter_mut().for_each(text::hide_codes);
    if trace.json {
        chains.iter_mut().for_each(text::cut);
        return Ok(print::json(&chains)?);
    }
    chains.reverse();
    let teller = Teller { shaper: shaper.as_deref(), zone };
    let mut told = BTreeSet::new();
    let mut stories = Vec::new();
    for chain in &chains {
        let task = word(&chain["task"]["id"]);
        let is_its = std::ptr::eq(chain, begins(&chains, chain));
        let is_told = task.is_empty() || (is_its && told.insert(task));
        stories.push(story(chain, &teller, is_told));
    }
    Ok(print::prose(&stories.join("\n\n"))?)
}

/// Finds the chain that a chain's task is told with: its own first message or words, else the oldest that there is.
fn begins<'a>(chains: &'a [Value], chain: &'a Value) -> &'a Value {
    let same = || chains.iter().filter(|other| other["task"]["id"] == chain["task"]["id"]);
    let its_own = |one: &&Value| one["inbox"].is_null() || one["disposition"] == "task";
    same().find(its_own).or_else(|| same().next()).unwrap_or(chain)
}

/// Lists the newest tasks.
fn newest(plan: AppConfig, trace: &Trace) -> Outcome {
    let zone = plan.zone;
    let mut tasks = rows(plan, Request::Tasks { limit: trace.limit.into() })?;
    tasks.iter_mut().for_each(text::hide_codes);
    if trace.json {
        return Ok(print::json(&tasks.iter().map(list::entry).collect::<Vec<_>>())?);
    }
    match tasks.is_empty() {
        true => Ok(print::out("There are no tasks yet.\n")?),
        false => Ok(print::out(&list::table(&tasks, zone, print::width()))?),
    }
}

/// Tells one chain; a task of several messages and what it said, with one of them alone.
fn story(chain: &Value, teller: &Teller<'_>, is_told: bool) -> String {
    let origin = origin::origin(chain, teller.zone);
    if !is_told {
        return format!(
            "{origin}Task {} is shown with its own message.\n",
            word(&chain["task"]["id"])
        );
    }
    let sent = sent::sent(chain, teller.zone);
    match chain["task"].is_null() {
        true => format!("{origin}{sent}"),
        false => format!("{origin}{}{sent}{}", work::work(chain, teller), sent::sums(chain)),
    }
}
