//! Asks the running daemon, or an app in this very process where none runs: one way for all commands.

use std::sync::Once;

use serde_json::Value;

use super::outcome::{Failure, Outcome};
use super::{print, unconfigured};
use selkie_app::Binary;
use selkie_app::answered::NotDone;
use selkie_app::asking::{answers, plan_to_ask, says};
use selkie_app::build::{AppConfig, ConfigChoice, plan};
use selkie_app::client::{RunningDaemon, UNEXPECTED};
use selkie_app::lifecycle;
use selkie_app::reload::ReloadReport;
use selkie_app::request::{Request, Response};
use selkie_app::telemetry;

/// Reads the config; what is logged is errors alone.
pub(super) fn quiet(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Failure> {
    let plan = plan(binary, chosen)?;
    let colour = telemetry::colour(&binary.env);
    telemetry::start(plan.settings.logging.quieter(), &plan.redactor, colour);
    Ok(plan)
}

/// Reads the config for what a running daemon can carry out: mistakes in it are told in a line, and only where none runs do
/// they end the command. Times are in the zone of whoever answers.
pub(super) fn to_ask(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Failure> {
    Ok(to_ask_of(binary, chosen)?.plan)
}

/// The same, with whether a daemon runs.
pub(super) fn to_ask_of(binary: &Binary, chosen: &ConfigChoice) -> Result<ToAsk, Failure> {
    let asked = asked(binary, chosen)?;
    if !asked.runs && asked.plan.is_unconfigured() {
        unconfigured::told(binary, chosen);
    }
    let colour = telemetry::colour(&binary.env);
    telemetry::start(asked.plan.settings.logging.quieter(), &asked.plan.redactor, colour);
    Ok(asked)
}

/// The same for what only looks: nothing is logged.
pub(super) fn to_ask_silently(
    binary: &Binary,
    chosen: &ConfigChoice,
) -> Result<AppConfig, Failure> {
    Ok(asked(binary, chosen)?.plan)
}

/// What is asked with.
pub(super) struct ToAsk {
    /// The config.
    pub(super) plan: AppConfig,
    /// Whether a daemon runs.
    pub(super) runs: bool,
}

fn asked(binary: &Binary, chosen: &ConfigChoice) -> Result<ToAsk, Failure> {
    static TOLD: Once = Once::new();
    let mut plan = plan_to_ask(binary, chosen)?;
    let answers = lifecycle::runtime()?.block_on(answers(&plan))?;
    if let (Some(mistakes), Some(_)) = (&plan.mistakes, &answers) {
        let says = says(mistakes, chosen.file.path());
        // A command that asks twice says it once.
        TOLD.call_once(|| print::told(&format!("selkie: {says}")));
    }
    match (answers, plan.mistakes.take()) {
        (None, Some(mistakes)) => Err(mistakes.into()),
        (answers, mistakes) => {
            let runs = answers.is_some();
            let zone = answers.and_then(|answers| answers.zone).unwrap_or(plan.zone);
            Ok(ToAsk { plan: AppConfig { zone, mistakes, ..plan }, runs })
        }
    }
}

/// A folder that was mistyped is neither made nor filled.
pub(super) fn no_state(plan: &AppConfig) -> String {
    let state = plan.folders.state.display();
    format!(
        "selkie has not used the state folder {state} yet, so nothing is in it: start selkie (selkie run), or name the \
         folder that you mean with --state"
    )
}

/// Whoever names another folder by mistake hears that it is no life that they know.
pub(super) fn told_if_new(plan: &AppConfig) {
    if !plan.has_state() {
        let state = plan.folders.state.display();
        print::told(&format!(
            "selkie: the state folder {state} is new: no selkie has used it before"
        ));
    }
}

/// Asks the daemon, or has it answered in this very process where none runs.
pub(super) fn ask(plan: AppConfig, request: Request) -> Result<Response, Failure> {
    Ok(lifecycle::runtime()?.block_on(async {
        match RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.answer(&request).await,
            None => alone(plan, request).await,
        }
    })?)
}

/// Has a running daemon read everything again; nothing where none runs.
pub(super) fn reloaded(plan: &AppConfig) -> anyhow::Result<Option<Result<ReloadReport, NotDone>>> {
    lifecycle::runtime()?.block_on(async {
        match RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.reload().await.map(Some),
            None => Ok(None),
        }
    })
}

async fn alone(plan: AppConfig, request: Request) -> anyhow::Result<Response> {
    if let Some(why) = request.needs_daemon() {
        return Err(NotDone::refused(why).into());
    }
    if !request.may_be_first() && !plan.has_state() {
        return Err(NotDone::Refused(no_state(&plan)).into());
    }
    told_if_new(&plan);
    let app = plan.open()?;
    app.flow.know_paired().await?;
    let answered = request.answer(&app).await;
    app.ledger.close().await;
    Ok(answered?)
}

/// What is said of an answer to something else.
pub(super) fn mismatched<T>() -> Result<T, Failure> {
    Err(anyhow::anyhow!(UNEXPECTED).into())
}

/// Prints what came of something, where words say it.
pub(super) fn said(response: Response) -> Outcome {
    let Response::Said(said) = response else { return mismatched() };
    Ok(print::prose(&format!("{said}\n"))?)
}

/// Asks for rows.
pub(super) fn rows(plan: AppConfig, request: Request) -> Result<Vec<Value>, Failure> {
    match ask(plan, request)? {
        Response::Rows(rows) => Ok(rows),
        _ => mismatched(),
    }
}
