//! How the bot stands with LINE: whether its token is taken, whether events come in, and whether it knows its owners.

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{CredentialCheck, ExaminationReport, Examine, PersonId};
use serde_json::json;

use crate::api::Api;
use crate::refusal::{Kind, kind};

/// So many owners are asked about.
const MAX_OWNERS: usize = 10;
const ANOTHER_TOKEN: &str = "issue a new channel access token in the LINE Developers console (Messaging API); the config \
    takes it in line.channel_access_token_file or line.channel_access_token";
/// Where the webhook is set.
const CONSOLE: &str = "in the LINE Developers console (Messaging API, Webhook settings)";

/// Asks, and changes nothing.
pub async fn examine(api: &Api, what: Examine<'_>) -> ExaminationReport {
    let mut examined = ExaminationReport::default();
    match api.get("info").await {
        Ok(me) => {
            let name = me["displayName"].as_str().unwrap_or("a bot without a name");
            examined.fine(format!("the access token works: the bot is {name}"));
        }
        Err(fault) => return refused(&fault),
    }
    webhook(api, what.daemon_runs, &mut examined).await;
    owners(api, what.owners, &mut examined).await;
    examined
}

/// Asks who the bot is, and nothing else.
pub async fn check_credential(api: &Api) -> CredentialCheck {
    match api.get("info").await {
        Ok(_) => CredentialCheck::Taken,
        Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Token => {
            CredentialCheck::Refused(format!("{}: {ANOTHER_TOKEN}", not_taken(&refusal)))
        }
        Err(_) => CredentialCheck::Unknown,
    }
}

/// Asks where LINE sends events to: the address that is set, while it is in use.
///
/// # Errors
/// When LINE does not tell.
pub async fn reached_at(api: &Api) -> Result<Vec<String>, String> {
    match api.get("channel/webhook/endpoint").await {
        Ok(set) if set["active"] == false => Ok(Vec::new()),
        Ok(set) => Ok(set["endpoint"].as_str().map(str::to_owned).into_iter().collect()),
        Err(Fault::Refused(refusal)) if refusal.status == 404 => Ok(Vec::new()),
        Err(fault) => Err(fault.to_string()),
    }
}

fn not_taken(Refusal { status, words, .. }: &Refusal) -> String {
    format!("LINE rejects the access token ({status}: {words})")
}

fn refused(fault: &Fault) -> ExaminationReport {
    match fault {
        Fault::Refused(refusal) if kind(refusal) == Kind::Token => {
            ExaminationReport::broken(not_taken(refusal), ANOTHER_TOKEN)
        }
        Fault::Refused(_) => {
            ExaminationReport::broken(fault.to_string(), "run selkie doctor again later")
        }
        Fault::NotSent(why) | Fault::Unclear(why) => ExaminationReport::broken(
            format!("LINE cannot be reached: {why}"),
            "check this machine's network, its proxy, and line.base_url",
        ),
    }
}

async fn webhook(api: &Api, daemon_runs: bool, examined: &mut ExaminationReport) {
    match api.get("channel/webhook/endpoint").await {
        Ok(set) if set["active"] == false => {
            examined.error("LINE sends no events: the webhook is switched off", format!("switch on Use webhook \
                {CONSOLE}"));
        }
        Ok(_) if daemon_runs => arrives(api, examined).await,
        Ok(_) => examined.fine("a webhook is set; run selkie doctor while selkie runs to see whether it leads here"),
        Err(Fault::Refused(refusal)) if refusal.status == 404 => examined.error(
            "LINE sends no events: no webhook is set",
            format!("enter the https address that leads to line.webhook_listen, followed by line.webhook_path, \
                {CONSOLE}"),
        ),
        Err(fault) => {
            examined.warning(format!("could not find out whether a webhook is set: {fault}"), "run selkie doctor \
                again");
        }
    }
}

/// Lets LINE knock at the webhook, with no event in its hand.
async fn arrives(api: &Api, examined: &mut ExaminationReport) {
    match api.post("channel/webhook/test", &json!({}), None).await {
        Ok(tried) if tried["success"] == true => examined.fine("the webhook is set and leads here"),
        Ok(tried) => {
            let text = |key: &str| tried[key].as_str().unwrap_or_default().to_owned();
            examined.error(
                format!("LINE cannot reach the webhook: {} {}", text("reason"), text("detail")),
                format!(
                    "check that the address {CONSOLE} leads to line.webhook_listen, that line.channel_secret is this \
                     channel's, and that the proxy before selkie has a valid certificate"
                ),
            );
        }
        Err(fault) => {
            examined.warning(
                format!("could not find out whether LINE reaches the webhook: {fault}"),
                "run selkie doctor again",
            );
        }
    }
}

async fn owners(api: &Api, owners: &[PersonId], examined: &mut ExaminationReport) {
    for owner in owners.iter().take(MAX_OWNERS) {
        let Some(user) = owner.as_str().strip_prefix("line:") else { continue };
        match api.get(&format!("profile/{user}")).await {
            Ok(_) => examined.fine(format!("the bot can write to the owner {owner}")),
            Err(Fault::Refused(refusal)) if refusal.status == 404 => examined.warning(
                format!("the bot cannot write to the owner {owner}: they have not added it as a friend, or have blocked it"),
                "add the bot as a friend from that account, or correct the id in owners: /id tells you yours",
            ),
            Err(fault) => examined.warning(
                format!("could not find out whether the bot can write to the owner {owner}: {fault}"),
                "run selkie doctor again",
            ),
        }
    }
}
