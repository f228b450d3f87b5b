//! `selkie trace`: a message's whole chain, from the platform's event to the receipts, told as a story.

mod origin;
mod sent;
mod text;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use text::word;
use work::Teller;

use super::outcome::{Failure, Outcome};
use super::print;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::client::Running;
use crate::daemon::{Binary, lifecycle};

/// `selkie trace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie trace 17
  selkie trace 1767225600.000200 --json

A task's number stands in /status while it runs, and in the log. A platform's message id is the last part of a message's link
(in Slack the ts: p1767225600000200 in a link is 1767225600.000200). The console lists the newest tasks.")]
pub struct Trace {
    /// A task's number, the key of an event or a cause, or the platform's id of a message or of its answer
    pub message: String,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Finds the chain and prints it.
pub fn trace(binary: &Binary, chosen: &Chosen, trace: &Trace) -> Outcome {
    let plan = plan(binary, chosen)?;
    let shaper = Arc::clone(&plan.shaper);
    let zone = plan.zone;
    let mut chains = read(plan, &trace.message)?;
    if chains.is_empty() {
        let message = &trace.message;
        return Err(Failure::Failed(anyhow::anyhow!(
            "nothing is known about {message:?}: it is no task's number, no key of an event or a cause, and no message \
             id of a platform (the last part of a message's link); an id of /id names a place, not a message"
        )));
    }
    if trace.json {
        chains.iter_mut().for_each(text::cut);
        return Ok(print::json(&chains)?);
    }
    chains.reverse();
    let teller = Teller { shaper: &shaper, zone };
    let mut told = BTreeSet::new();
    let mut stories = Vec::new();
    for chain in &chains {
        let task = word(&chain["task"]["id"]);
        let is_its = std::ptr::eq(chain, begins(&chains, chain));
        let is_told = task.is_empty() || (is_its && told.insert(task));
        stories.push(story(chain, &teller, is_told));
    }
    Ok(print::out(&stories.join("\n\n"))?)
}

/// Finds the chain that a chain's task is told with: its own first message or words, else the oldest that there is.
fn begins<'a>(chains: &'a [Value], chain: &'a Value) -> &'a Value {
    let same = || chains.iter().filter(|other| other["task"]["id"] == chain["task"]["id"]);
    let its_own = |one: &&Value| one["inbox"].is_null() || one["disposition"] == "task";
    same().find(its_own).or_else(|| same().next()).unwrap_or(chain)
}

/// Reads the chains, through the daemon when one runs.
fn read(plan: AppConfig, message: &str) -> anyhow::Result<Vec<Value>> {
    lifecycle::runtime()?.block_on(async {
        if let Some(daemon) = Running::find(&plan.tls, &plan.folders.state).await? {
            return daemon.read(&["v1", "trace", message]).await;
        }
        let store = plan.folders.state.join("selkie.db");
        if plan.settings.store.url.is_none() && !store.exists() {
            anyhow::bail!(
                "there is no {}: name the folder with --state, or the config with --config",
                store.display()
            );
        }
        let app = plan.open()?;
        let chains = app.ledger.trace(message).await;
        app.ledger.close().await;
        let chains = chains?;
        Ok(chains.iter().map(serde_json::to_value).collect::<Result<_, _>>()?)
    })
}

/// Tells one chain; a task of several messages and what it said, with one of them alone.
fn story(chain: &Value, teller: &Teller<'_>, is_told: bool) -> String {
    let origin = origin::origin(chain, teller.zone);
    if !is_told {
        return format!(
            "{origin}Task {} is told with its own message.\n",
            word(&chain["task"]["id"])
        );
    }
    let sent = sent::sent(chain, teller.zone);
    match chain["task"].is_null() {
        true => format!("{origin}{sent}"),
        false => format!("{origin}{}{sent}{}", work::work(chain, teller), sent::sums(chain)),
    }
}
