//! `selkie ask`: one task in the terminal.

use std::io::IsTerminal;

use anyhow::bail;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::args::Ask;
use super::live::Live;
use super::{Outcome, print};
use crate::daemon::build::{Chosen, Plan, plan};
use crate::daemon::client::Running;
use crate::daemon::socket::{AskBody, AskLine};
use crate::daemon::{Binary, lifecycle, telemetry};
use crate::domain::plan::Plan as Steps;
use crate::flow::{self, Stop};
use crate::tools::ports::Progress as _;

/// Asks, shows progress, prints the answer.
pub fn ask(binary: &Binary, chosen: &Chosen, ask: Ask) -> Outcome {
    let mut plan = plan(binary, chosen)?;
    // Without a daemon this process works for one question: it must not answer the platforms too.
    plan.channels.clear();
    telemetry::start(
        plan.settings.logging.quieter(),
        &plan.redactor,
        telemetry::colour(&binary.env),
    );
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let live = Live::new(plan.redactor.clone());
    let body = AskBody { text: ask.text, workspace: binary.here.clone(), terminal };
    Ok(lifecycle::runtime()?.block_on(async {
        let (lines, heard) = mpsc::channel(64);
        let asked = async {
            match Running::find(&plan.tls, &plan.folders.state).await? {
                Some(daemon) => daemon.ask(&body, lines).await,
                None => alone(plan, body, lines).await,
            }
        };
        let (asked, shown) = tokio::join!(asked, show(heard, &live, ask.json));
        asked.and(shown)
    })?)
}

/// Answers in this very process.
async fn alone(plan: Plan, body: AskBody, lines: mpsc::Sender<AskLine>) -> anyhow::Result<()> {
    let house = plan.open()?;
    let (tracker, stop) = (TaskTracker::new(), Stop::default());
    house.flow.start(&tracker, stop.clone()).await?;
    let AskBody { text, workspace, terminal } = body;
    let mut events = house.flow.ask(flow::Ask { workspace, text, terminal }).await?;
    while let Some(event) = events.recv().await {
        // Nobody reading any more is the end.
        if lines.send(event.into()).await.is_err() {
            break;
        }
    }
    lifecycle::stop(&house, &tracker, &stop, &mut lifecycle::Signals::listen()?).await;
    Ok(())
}

/// Prints lines as they come; an end that is not `done` is a failure.
async fn show(mut lines: mpsc::Receiver<AskLine>, live: &Live, json: bool) -> anyhow::Result<()> {
    let mut end = None;
    while let Some(line) = lines.recv().await {
        if json {
            print::out(&format!("{}\n", serde_json::to_string(&line)?))?;
        } else {
            person(&line, live)?;
        }
        if let AskLine::Ended(state) = line {
            end = Some(state);
        }
    }
    match end.as_deref() {
        Some("done") => Ok(()),
        Some(state) => bail!("the task has {state}"),
        None => bail!("the task has not ended; it goes on when a daemon runs"),
    }
}

fn person(line: &AskLine, live: &Live) -> anyhow::Result<()> {
    match line {
        AskLine::Said(text) => {
            live.clear();
            print::out(&format!("{}\n", text.trim_end()))?;
        }
        AskLine::Progress(what) => progress(what, live),
        AskLine::Waiting => {}
        AskLine::Ended(_) => live.clear(),
    }
    Ok(())
}

fn progress(what: &Value, live: &Live) {
    let text = |key: &str| what.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("happening") {
        "called" => live.stay(&format!("→ {} {}", text("tool"), text("arguments"))),
        "answered" if what.get("is_error") == Some(&Value::Bool(true)) => {
            live.stay(&format!("✗ {} {}", text("tool"), text("text")));
        }
        "doing" => live.doing(text("line")),
        "planned" => {
            if let Some(Ok(plan)) = what.get("plan").map(Steps::deserialize) {
                live.plan(&plan);
            }
        }
        _ => {}
    }
}
