//! `selkie approvals`: what is waiting for approval, and the machine's owner's word on it.

use anyhow::anyhow;

use super::args::Approvals;
use super::outcome::{Failure, Outcome};
use super::print;
use crate::agent::prompt;
use crate::daemon::app::App;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::client::Running;
use crate::daemon::socket::DecideBody;
use crate::daemon::{Binary, lifecycle, telemetry};
use crate::domain::approval::{Verdict, code};
use crate::guard::visible::{one_line, visible};
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
        return Ok(print::out("Nothing is waiting for approval.\n")?);
    }
    for approval in open {
        print::out(&line(&approval))?;
    }
    Ok(())
}

/// What waits: the tool, for whom, where, until when, what it would do, what that does not show, and why it asks.
fn line(approval: &ApprovalRow) -> String {
    let ApprovalRow { key, requester, request, expires_at, conversation, .. } = approval;
    let whom = requester.as_ref().map(|who| prompt::person(&who.name, who.id.as_str()));
    let whom = whom.unwrap_or_else(|| "nobody who is there just now".to_owned());
    let place = match request.place.as_str() {
        "" => conversation.to_string(),
        place => place.to_owned(),
    };
    let head = format!("{}  {} for {whom} in {place}", code(key), request.tool);
    let until = expires_at.format("%Y-%m-%d %H:%M:%S UTC");
    let unseen = request.unseen.iter().map(|what| format!("not shown: {what}"));
    let reasons = request.reasons.iter().map(|reason| format!("it {reason}"));
    let why: String =
        unseen.chain(reasons).map(|line| format!("  - {}\n", visible(&one_line(&line)))).collect();
    let shown = visible(&request.preview).replace('\n', "\n    ");
    format!("{}, until {until}\n    {shown}\n{why}", visible(&one_line(&head)))
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
            "nothing with the code {:?} is waiting for approval: see selkie approvals list",
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use selkie_channel_core::{AccountId, ConversationId, PersonId};

    use super::*;
    use crate::domain::approval::{ApprovalState, Approvers, Request};
    use crate::domain::ids::TaskId;
    use crate::domain::question::Person;

    #[test]
    fn what_waits_says_for_whom_where_until_when_and_why() {
        let row = ApprovalRow {
            key: "3fa9c10000".to_owned(),
            task: TaskId(1),
            conversation: ConversationId::new(AccountId::new("a"), "tg:-5"),
            requester: Some(Person { id: PersonId::new("tg:2"), name: "Ben\n(tg:1)".to_owned() }),
            request: Request {
                v: Request::VERSION,
                call: "c1.0".to_owned(),
                tool: "bash".to_owned(),
                words: String::new(),
                preview: "run\n· folder: /srv\nthis:\nls".to_owned(),
                unseen: vec!["what $X stands for".to_owned()],
                place: "telegram:group “Team”".to_owned(),
                reasons: vec!["asks first: so".to_owned()],
                of: Approvers::Owners,
                hash: String::new(),
            },
            state: ApprovalState::Open,
            why: None,
            by: String::new(),
            asked: Vec::new(),
            expires_at: DateTime::UNIX_EPOCH,
        };
        insta::assert_snapshot!(line(&row), @r"
        3fa9c1  bash for Ben (tg:2) in telegram:group “Team”, until 1970-01-01 00:00:00 UTC
            run
            · folder: /srv
            this:
            ls
          - not shown: what $X stands for
          - it asks first: so
        ");
    }
}
