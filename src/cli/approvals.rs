//! `selkie approvals`: what is waiting for approval, and the machine's owner's word on it.

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde::Serialize;

use super::outcome::Outcome;
use super::print;
use super::request::{ask, mismatched, said, to_ask};
use selkie_agent::prompt;
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::request::{Request, Response};
use selkie_domain::approval::{self, Verdict, code};
use selkie_domain::ids::TaskId;
use selkie_domain::question::Person;
use selkie_engine::delivery::approvals::muted as muted_line;
use selkie_guard::visible::{one_line, visible};
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_store::ApprovalRow;

/// `selkie approvals`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie approvals list
  selkie approvals approve 3fa9c1
  selkie approvals deny 3fa9c1
  selkie approvals unmute 3fa9c1")]
pub enum Approvals {
    /// List the calls that are waiting for approval
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Approve a call, which is then made once
    Approve {
        /// Its code, as shown by the request and by `selkie approvals list`
        code: String,
    },
    /// Deny a call
    Deny {
        /// Its code, as shown by the request and by `selkie approvals list`
        code: String,
    },
    /// Let requests through again that somebody has muted with a call
    Unmute {
        /// The call's code, as shown by `selkie approvals list`
        code: String,
    },
}

/// Lists or decides, through the daemon when one runs.
pub fn approvals(binary: &Binary, chosen: &ConfigChoice, what: Approvals) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    match what {
        Approvals::List { json } => list(plan, json),
        Approvals::Approve { code } => decide(plan, code, Verdict::Approve),
        Approvals::Deny { code } => decide(plan, code, Verdict::Deny),
        Approvals::Unmute { code } => decide(plan, code, Verdict::Unmute),
    }
}

fn list(plan: AppConfig, json: bool) -> Outcome {
    let zone = plan.zone;
    let Response::Approvals { open, muted } = ask(plan, Request::Approvals)? else {
        return mismatched();
    };
    if json {
        return Ok(print::json(&open.iter().map(ApprovalJson::of).collect::<Vec<_>>())?);
    }
    if open.is_empty() {
        print::out("Nothing is waiting for approval.\n")?;
    }
    for approval in open {
        print::out(&print::hanging(&line(&approval, zone), print::width()))?;
    }
    for approval in muted {
        let told = muted_line(&approval).unwrap_or_default();
        print::out(&print::hanging(&format!("{told}\n"), print::width()))?;
    }
    Ok(())
}

/// What waits: the tool, for whom, where, until when, what it would do, what that does not show, and why it asks.
fn line(approval: &ApprovalRow, zone: Zone) -> String {
    let ApprovalRow { key, requester, request, expires_at, conversation, .. } = approval;
    let whom = requester.as_ref().map(|who| prompt::person(&who.name, who.id.as_str()));
    let whom = whom.unwrap_or_else(|| "nobody in particular".to_owned());
    let place = match request.place.as_str() {
        "" => conversation.to_string(),
        place => place.to_owned(),
    };
    let head = format!("{}  {} for {whom} in {place}", code(key), request.tool);
    let until = moment(*expires_at, zone);
    let unseen = request.unseen.iter().map(|what| format!("not shown: {what}"));
    let reasons = request.reasons.iter().map(|reason| format!("it {reason}"));
    let why: String =
        unseen.chain(reasons).map(|line| format!("  - {}\n", visible(&one_line(&line)))).collect();
    let shown = visible(&request.preview).replace('\n', "\n    ");
    format!("{}, until {until}\n    {shown}\n{why}", visible(&one_line(&head)))
}

/// The same for programs: conversations as every command takes them.
#[derive(Serialize)]
struct ApprovalJson<'a> {
    code: &'a str,
    key: &'a str,
    task: TaskId,
    conversation: &'a str,
    requester: &'a Option<Person>,
    request: &'a approval::Request,
    asked: Vec<PrintedAsked<'a>>,
    expires_at: DateTime<Utc>,
}

/// Somebody who can decide.
#[derive(Serialize)]
struct PrintedAsked<'a> {
    person: &'a Person,
    conversation: &'a str,
}

impl<'a> ApprovalJson<'a> {
    fn of(row: &'a ApprovalRow) -> Self {
        let ApprovalRow { key, task, conversation, requester, request, asked, expires_at, .. } =
            row;
        let asked = asked.iter().map(|asked| PrintedAsked {
            person: &asked.person,
            conversation: asked.conversation.key(),
        });
        Self {
            code: code(key),
            key,
            task: *task,
            conversation: conversation.key(),
            requester,
            request,
            asked: asked.collect(),
            expires_at: *expires_at,
        }
    }
}

fn decide(plan: AppConfig, code: String, verdict: Verdict) -> Outcome {
    said(ask(plan, Request::Decide { code, verdict })?)
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{AccountId, ConversationId, PersonId};

    use super::*;
    use selkie_domain::approval::{ApprovalState, Approvers};

    #[test]
    fn what_waits_says_for_whom_where_until_when_and_why() {
        let row = ApprovalRow {
            key: "3fa9c10000".to_owned(),
            task: TaskId(1),
            conversation: ConversationId::new(AccountId::new("a"), "tg:-5"),
            requester: Some(Person { id: PersonId::new("tg:2"), name: "Ben\n(tg:1)".to_owned() }),
            request: approval::Request {
                v: approval::Request::VERSION,
                call: "c1.0".to_owned(),
                tool: "bash".to_owned(),
                words: String::new(),
                preview: "run\n· folder: /srv\nas follows:\nls".to_owned(),
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
            mute: None,
        };
        insta::assert_snapshot!(line(&row, Zone::UTC), @r"
        3fa9c1  bash for Ben (tg:2) in telegram:group “Team”, until 1970-01-01 00:00 UTC
            run
            · folder: /srv
            as follows:
            ls
          - not shown: what $X stands for
          - it asks first: so
        ");
    }
}
