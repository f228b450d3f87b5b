//! What a command asks of the running daemon, or does in this very process where none runs: one way for all of them.

use std::sync::Once;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outcome::Failure;
use super::{print, unconfigured};
use crate::daemon::answered::Answered;
use crate::daemon::approvals::{AskedOfApprovals, ToldOfApprovals, carry_out_approvals};
use crate::daemon::asking::{answers, plan_to_ask, says};
use crate::daemon::backup::{AskedToResume, Resumed, told_to_resume};
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::client::Running;
use crate::engine::flow::Flow;
use crate::daemon::forgetting::{AskedToForget, Forgotten, told_to_forget};
use crate::daemon::pairing::{AskedOfPairing, ToldOfPairing, carry_out_pairing};
use crate::daemon::people::{AskedOfPeople, ToldOfPeople, carry_out_people};
use crate::daemon::posts::{AskedOfPosts, ToldOfPosts, carry_out_posts, names_a_post};
use crate::daemon::schedules::{Asked, Told, carry_out};
use crate::daemon::{Binary, lifecycle, telemetry};

/// Something that can be asked.
pub(super) trait Request: Serialize {
    /// What is answered.
    type Answer: Serialize + DeserializeOwned;
    /// Where the daemon takes it.
    const PATH: &'static str;

    /// Without a state folder there is nothing to be looked at, and none is made for a look.
    fn looks_at_what_is_there(&self) -> bool {
        true
    }

    /// Why only a running daemon can do it.
    fn needs_daemon(&self) -> Option<&'static str> {
        None
    }

    /// Does it in this very process.
    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<Self::Answer>>;
}

/// Reads the config; what is logged is errors alone.
pub(super) fn quiet(binary: &Binary, chosen: &Chosen) -> Result<AppConfig, Failure> {
    let plan = plan(binary, chosen)?;
    let colour = telemetry::colour(&binary.env);
    telemetry::start(plan.settings.logging.quieter(), &plan.redactor, colour);
    Ok(plan)
}

/// Reads the config for what a running daemon can carry out: mistakes in it are told in a line, and only where none runs do
/// they end the command. Times are in the zone of whoever answers.
pub(super) fn to_ask(binary: &Binary, chosen: &Chosen) -> Result<AppConfig, Failure> {
    Ok(to_ask_of(binary, chosen)?.plan)
}

/// The same, with whether a daemon runs.
pub(super) fn to_ask_of(binary: &Binary, chosen: &Chosen) -> Result<ToAsk, Failure> {
    let asked = asked(binary, chosen)?;
    if !asked.runs && asked.plan.is_unconfigured() {
        unconfigured::told(binary, chosen);
    }
    let colour = telemetry::colour(&binary.env);
    telemetry::start(asked.plan.settings.logging.quieter(), &asked.plan.redactor, colour);
    Ok(asked)
}

/// The same for what only looks: nothing is logged.
pub(super) fn to_ask_silently(binary: &Binary, chosen: &Chosen) -> Result<AppConfig, Failure> {
    Ok(asked(binary, chosen)?.plan)
}

/// What is asked with.
pub(super) struct ToAsk {
    /// The config.
    pub(super) plan: AppConfig,
    /// Whether a daemon runs.
    pub(super) runs: bool,
}

fn asked(binary: &Binary, chosen: &Chosen) -> Result<ToAsk, Failure> {
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

/// Asks the daemon, or does it alone.
pub(super) fn told<R: Request>(plan: AppConfig, request: R) -> Result<R::Answer, Failure> {
    let answered = lifecycle::runtime()?.block_on(async {
        match (Running::find(&plan.tls, &plan.folders.state).await?, request.needs_daemon()) {
            (Some(daemon), _) => daemon.call(R::PATH, &request).await,
            (None, Some(why)) => Ok(Answered::Refused(why.to_owned())),
            (None, None) if request.looks_at_what_is_there() && !plan.has_state() => {
                Ok(Answered::Refused(no_state(&plan)))
            }
            (None, None) => {
                told_if_new(&plan);
                let app = plan.open()?;
                app.flow.know_paired().await?;
                let answered = request.alone(&app.flow).await;
                app.ledger.close().await;
                answered
            }
        }
    })?;
    done(answered)
}

/// What was answered, or why it failed.
pub(super) fn done<T>(answered: Answered<T>) -> Result<T, Failure> {
    match answered {
        Answered::Done(answer) => Ok(answer),
        Answered::Refused(why) => Err(Failure::Failed(anyhow::anyhow!("{why}"))),
        Answered::Mistyped(why) => Err(Failure::Usage(why)),
    }
}

impl Request for Asked {
    type Answer = Told;
    const PATH: &'static str = "/v1/schedules";

    fn looks_at_what_is_there(&self) -> bool {
        !matches!(self, Self::Add(_) | Self::Import { .. })
    }

    fn needs_daemon(&self) -> Option<&'static str> {
        matches!(self, Self::Run { .. })
            .then_some("selkie is not running: start it, then run the schedule")
    }

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<Told>> {
        carry_out(flow, self).await
    }
}

impl Request for AskedOfPosts {
    type Answer = ToldOfPosts;
    const PATH: &'static str = "/v1/posts";

    fn needs_daemon(&self) -> Option<&'static str> {
        // What names none is told without one.
        matches!(self, Self::Retry { id } if names_a_post(id))
            .then_some("selkie is not running: start it, then try the post again")
    }

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<ToldOfPosts>> {
        carry_out_posts(flow, self).await
    }
}

impl Request for AskedOfPeople {
    type Answer = ToldOfPeople;
    const PATH: &'static str = "/v1/people";

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<ToldOfPeople>> {
        carry_out_people(flow, self).await
    }
}

impl Request for AskedToResume {
    type Answer = Resumed;
    const PATH: &'static str = "/v1/resume";

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<Resumed>> {
        told_to_resume(flow, self).await
    }
}

impl Request for AskedToForget {
    type Answer = Forgotten;
    const PATH: &'static str = "/v1/forget";

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<Forgotten>> {
        told_to_forget(flow, self).await
    }
}

impl Request for AskedOfApprovals {
    type Answer = ToldOfApprovals;
    const PATH: &'static str = "/v1/approvals";

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<ToldOfApprovals>> {
        carry_out_approvals(flow, self).await
    }
}

impl Request for AskedOfPairing {
    type Answer = ToldOfPairing;
    const PATH: &'static str = "/v1/pairing";

    fn looks_at_what_is_there(&self) -> bool {
        // The first code is made before the first start.
        !matches!(self, Self::Open)
    }

    async fn alone(self, flow: &Flow) -> anyhow::Result<Answered<ToldOfPairing>> {
        carry_out_pairing(flow, self).await
    }
}
