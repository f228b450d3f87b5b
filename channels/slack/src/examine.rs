//! How the bot stands with Slack: whether its token is taken, which scopes it has, and whether its owners are there.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use reqwest::header::CONTENT_LENGTH;
use selkie_channel_core::http::{Fault, PlatformReply, Refusal, Request};
use selkie_channel_core::{CredentialCheck, ExaminationReport, Examine, PersonId};
use serde_json::Value;

use crate::api::Api;
use crate::connector::CALL_LIMIT;
use crate::manifest::scopes;
use crate::refusal::{self, Kind, kind};

/// So many owners are asked about.
const MAX_OWNERS: usize = 10;
const ANOTHER_TOKEN: &str = "install the app again at https://api.slack.com/apps (OAuth & Permissions) and copy the \
    Bot User OAuth Token, xoxb-…; the config takes it in slack.bot_token_file or slack.bot_token";
/// Without these the bot hears nothing or says nothing.
const NEEDED: [&str; 3] = ["app_mentions:read", "chat:write", "im:history"];

/// Asks, and changes nothing.
pub async fn examine(api: &Api, what: Examine<'_>) -> ExaminationReport {
    let Me { answer, scopes: given, clock } = match me(api).await {
        Ok(me) => me,
        Err(fault) => return refused(&fault),
    };
    let mut examined = ExaminationReport { clock, ..ExaminationReport::default() };
    let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
    examined.fine(format!(
        "the bot's token works: {} in {} ({}); only selkie run can try the app's token",
        text("user"),
        text("team"),
        text("team_id")
    ));
    if let Some(given) = given {
        missing(&given, &mut examined);
    }
    owners(api, what.owners, &mut examined).await;
    examined
}

/// Asks who the bot is, and nothing else. The app's token is tried by a socket alone: asking for one is limited to a few a
/// minute, and who listens needs it.
pub async fn check_credential(api: &Api) -> CredentialCheck {
    match me(api).await {
        Ok(_) => CredentialCheck::Taken,
        Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Token => {
            CredentialCheck::Refused(format!("{}: {ANOTHER_TOKEN}", not_taken(&refusal)))
        }
        Err(_) => CredentialCheck::Unknown,
    }
}

fn not_taken(refusal: &Refusal) -> String {
    format!("Slack rejects the bot's token ({})", refusal.code)
}

/// Who the bot is.
struct Me {
    answer: Value,
    /// What its token may do, where Slack tells.
    scopes: Option<BTreeSet<String>>,
    clock: Option<DateTime<Utc>>,
}

/// Asks by a call of our own: what Slack tells in its headers is not in the answer.
async fn me(api: &Api) -> Result<Me, Fault> {
    let (base, _) = api.hosts();
    let request = api.raw().post(base.below(["auth.test"])).header(CONTENT_LENGTH, 0);
    let request = request.bearer_auth(&api.bot().token_value.0);
    let call = Request { what: "auth.test", request, limit: CALL_LIMIT, progress: None };
    api.raw()
        .call(call, |reply| {
            let Some(answer) = reply.object() else { return PlatformReply::Foreign };
            match (answer["ok"].as_bool(), answer["error"].as_str()) {
                (Some(true), _) => {
                    let scopes = reply.header("x-oauth-scopes").map(listed);
                    PlatformReply::Done(Me { answer, scopes, clock: reply.date() })
                }
                (Some(false), Some(code)) => {
                    let words = code.to_owned();
                    PlatformReply::Refused(Refusal {
                        code: words.clone(),
                        words,
                        ..reply.refusal()
                    })
                }
                _ => PlatformReply::Foreign,
            }
        })
        .await
}

fn listed(header: &str) -> BTreeSet<String> {
    header.split(',').map(|scope| scope.trim().to_owned()).filter(|s| !s.is_empty()).collect()
}

fn refused(fault: &Fault) -> ExaminationReport {
    match fault {
        Fault::Refused(refusal) if kind(refusal) == Kind::Token => {
            ExaminationReport::broken(not_taken(refusal), ANOTHER_TOKEN)
        }
        Fault::Refused(refusal) => ExaminationReport::broken(
            format!("Slack refuses: {}", refusal::words(refusal)),
            "run selkie doctor again later",
        ),
        Fault::NotSent(why) | Fault::Unclear(why) => ExaminationReport::broken(
            format!("Slack cannot be reached: {why}"),
            "check this machine's network and slack.base_url (no proxy is used for Slack)",
        ),
    }
}

/// Names the scopes that the app asks for and was not given.
fn missing(given: &BTreeSet<String>, examined: &mut ExaminationReport) {
    let missing: Vec<&str> = scopes().filter(|scope| !given.contains(*scope)).collect();
    if missing.is_empty() {
        examined.fine("the app has every scope that it needs");
        return;
    }
    let message = format!("the app lacks {}", missing.join(", "));
    let advice = "paste what selkie slack manifest prints at https://api.slack.com/apps (App Manifest), and install the \
                  app again";
    match missing.iter().any(|scope| NEEDED.contains(scope)) {
        true => examined.error(message, advice),
        false => examined.warning(message, advice),
    }
}

async fn owners(api: &Api, owners: &[PersonId], examined: &mut ExaminationReport) {
    for owner in owners.iter().take(MAX_OWNERS) {
        let Some(user) = owner.as_str().rsplit(':').next() else { continue };
        match api.ask("users.info", &[("user", user)]).await {
            Ok(answer) if answer["user"]["deleted"] == true => examined.warning(
                format!("the owner {owner} no longer has an account in the workspace"),
                "correct owners: /selkie id tells you your id",
            ),
            Ok(_) => examined.fine(format!("the owner {owner} is in the workspace")),
            Err(Fault::Refused(refusal)) if refusal.code == "user_not_found" => examined.warning(
                format!("Slack does not know the owner {owner}"),
                "correct owners: /selkie id tells you your id",
            ),
            Err(fault) => examined.warning(
                format!(
                    "could not find out whether the owner {owner} is there: {}",
                    refusal::why(&fault)
                ),
                "run selkie doctor again",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_channel_core::Gravity;

    #[test]
    fn what_is_missing_is_as_bad_as_what_it_is_for() {
        let all: BTreeSet<String> = scopes().map(str::to_owned).collect();
        assert!(all.len() > 10 && NEEDED.iter().all(|scope| all.contains(*scope)), "{all:?}");
        for (less, wanted) in [
            (None, Gravity::Fine),
            (Some("emoji:read"), Gravity::Warning),
            (Some("chat:write"), Gravity::Error),
        ] {
            let mut examined = ExaminationReport::default();
            missing(
                &all.iter().filter(|s| Some(s.as_str()) != less).cloned().collect(),
                &mut examined,
            );
            assert_eq!(examined.findings[0].gravity, wanted, "{less:?}");
        }
        assert_eq!(listed("a:b, c:d,").len(), 2);
    }
}
