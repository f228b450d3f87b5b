//! `selkie approvals`: what waits for somebody's leave, and the machine's owner's word on it.

use anyhow::anyhow;

use super::args::Approvals;
use super::outcome::{Failure, Outcome};
use super::print;
use crate::daemon::app::App;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::client::Running;
use crate::daemon::socket::DecideBody;
use crate::daemon::{Binary, lifecycle, telemetry};
use crate::domain::approval::{Verdict, code};
use crate::guard::visible::visible;
use crate::store::ApprovalRow;

/// Lists or decides, through the daemon when one runs.
pub fn approvals(binary: &Binary, chosen: &Chosen, what: Approvals) -> Outcome {
    let plan = plan(binary, chosen)?;
    telemetry::start(
        plan.settings.logging.quieter(),
        &plan.redactor,
        telemetry::colour(&binary.env),
    );
    match what {
        Approvals::List { json } => list(plan, json),
        Approvals::Approve { code } => decide(plan, code, Verdict::Approve),
        Approvals::Deny { code } => decide(plan, code, Verdict::Deny),
    }
}

fn list(plan: AppConfig, json: bool) -> Outcome {
    let open: Vec<ApprovalRow> = lifecycle::runtime()?.block_on(async {
        match Running::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.read(&["v1", "approvals"]).await,
            None => {
                let app = plan.open()?;
                let open = app.flow.approvals().await;
                app.ledger.close().await;
                Ok(open?)
            }
        }
    })?;
    if json {
        return Ok(print::json(&open)?);
    }
    if open.is_empty() {
        return Ok(print::out("Nothing waits for an approval.\n")?);
    }
    for approval in open {
        let whom = approval.requester.map(|person| person.id.to_string()).unwrap_or_default();
        let until = approval.expires_at.format("%Y-%m-%d %H:%M:%S UTC");
        let tool = &approval.request.tool;
        let shown = visible(&approval.request.preview).replace('\n', "\n    ");
        let code = code(&approval.key);
        print::out(&format!("{code}  {tool} for {whom}, until {until}\n    {shown}\n"))?;
    }
    Ok(())
}

fn decide(plan: AppConfig, code: String, verdict: Verdict) -> Outcome {
    let body = DecideBody { code, verdict };
    let said: Option<String> = lifecycle::runtime()?.block_on(async {
        match Running::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.call("/v1/approvals", &body).await,
            None => alone(plan.open()?, &body).await,
        }
    })?;
    match said {
        Some(said) => Ok(print::out(&format!("{said}\n"))?),
        None => Err(Failure::Failed(anyhow!(
            "nothing with the code {:?} waits for an approval: see selkie approvals list",
            body.code
        ))),
    }
}

/// Decides in this very process; the task goes on at the daemon's next start.
async fn alone(app: App, body: &DecideBody) -> anyhow::Result<Option<String>> {
    let said = app.flow.decide(&body.code, body.verdict).await;
    app.ledger.close().await;
    Ok(said?)
}
