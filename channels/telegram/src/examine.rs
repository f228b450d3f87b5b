//! How the bot stands with Telegram: whether its token is taken, whether a webhook takes its messages, and whether it
//! can speak to its owners.

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{CredentialCheck, ExaminationReport, Examine, PersonId, json};
use serde_json::Value;

use crate::api::{Answer, Api, CALL_LIMIT};
use crate::refusal::{Kind, kind};

/// So many owners are asked about.
const MAX_OWNERS: usize = 10;
const ANOTHER_TOKEN: &str = "copy the token again from @BotFather (/mybots, API Token); the config takes it in \
    telegram.bot_token_file or telegram.bot_token";

/// Asks, and changes nothing.
pub async fn examine(api: &Api, what: Examine<'_>) -> ExaminationReport {
    let (me, clock) = match ask(api, "getMe", &serde_json::json!({})).await {
        Ok((me, answer)) => (me, answer.date),
        Err(fault) => return refused(&fault),
    };
    if me["is_bot"].as_bool() == Some(false) {
        return ExaminationReport::broken(
            "the token belongs to an account that is not a bot",
            "make a bot at @BotFather (/newbot) and take the token that it gives you",
        );
    }
    let mut examined = ExaminationReport { clock, ..ExaminationReport::default() };
    let name = me["username"].as_str().unwrap_or("a bot without a name");
    let hears = match me["can_read_all_group_messages"].as_bool() {
        Some(false) => "; in groups it sees only commands, mentions and replies to it",
        _ => "",
    };
    examined.fine(format!("the token works: the bot is @{name}{hears}"));
    webhook(api, &mut examined).await;
    owners(api, what.owners, &mut examined).await;
    examined
}

/// Asks who the bot is, and nothing else.
pub async fn check_credential(api: &Api) -> CredentialCheck {
    match ask(api, "getMe", &serde_json::json!({})).await {
        Ok(_) => CredentialCheck::Taken,
        Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Token => {
            CredentialCheck::Refused(format!("{}: {ANOTHER_TOKEN}", not_taken(&refusal)))
        }
        Err(_) => CredentialCheck::Unknown,
    }
}

fn not_taken(Refusal { status, words, .. }: &Refusal) -> String {
    format!("Telegram rejects the bot's token ({status}: {words})")
}

async fn ask(api: &Api, method: &str, params: &Value) -> Result<(Value, Answer), Fault> {
    let answer = api.call(method, params, CALL_LIMIT).await?;
    Ok((json::read(answer.result.get()).unwrap_or_default(), answer))
}

fn refused(fault: &Fault) -> ExaminationReport {
    match fault {
        Fault::Refused(refusal) if kind(refusal) == Kind::Token => {
            ExaminationReport::broken(not_taken(refusal), ANOTHER_TOKEN)
        }
        Fault::Refused(refusal) if kind(refusal) == Kind::Limited => ExaminationReport::broken(
            format!("Telegram limits the bot ({})", refusal.words),
            "run selkie doctor again when that time is over",
        ),
        Fault::Refused(_) => ExaminationReport::broken(
            fault.to_string(),
            "see https://core.telegram.org/bots/api#getme",
        ),
        Fault::NotSent(why) | Fault::Unclear(why) => ExaminationReport::broken(
            format!("Telegram cannot be reached: {why}"),
            "check this machine's network, its proxy, and telegram.base_url",
        ),
    }
}

/// While a webhook is set, nobody who polls is given anything.
async fn webhook(api: &Api, examined: &mut ExaminationReport) {
    match ask(api, "getWebhookInfo", &serde_json::json!({})).await {
        Ok((info, _)) => {
            let url = info["url"].as_str().filter(|url| !url.is_empty());
            let Some(url) = url else { return };
            let waiting = info["pending_update_count"].as_u64().unwrap_or_default();
            examined.error(
                format!("a webhook takes the bot's messages to {} ({waiting} are waiting)", host(url)),
                "selkie run removes the webhook when it starts. If another program set it, give that program a bot \
                 of its own; otherwise it will set it again",
            );
        }
        Err(fault) => examined.warning(
            format!("could not find out whether a webhook is set: {fault}"),
            "run selkie doctor again",
        ),
    }
}

/// The server of an address; the rest of it may be a secret.
fn host(url: &str) -> String {
    let host = reqwest::Url::parse(url).ok();
    let host = host.as_ref().and_then(reqwest::Url::host_str);
    host.unwrap_or("an address that cannot be read").to_owned()
}

/// A bot can write to nobody who has not written to it.
async fn owners(api: &Api, owners: &[PersonId], examined: &mut ExaminationReport) {
    for owner in owners.iter().take(MAX_OWNERS) {
        let id = owner.as_str().strip_prefix("tg:").and_then(|id| id.parse::<i64>().ok());
        let Some(id) = id else {
            examined.warning(format!("the owner {owner} has no number"), "/id tells you yours");
            continue;
        };
        match ask(api, "getChat", &serde_json::json!({ "chat_id": id })).await {
            Ok(_) => examined.fine(format!("the bot can write to the owner {owner}")),
            Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Closed => examined.warning(
                format!("the bot cannot write to the owner {owner} ({})", refusal.words),
                "write to the bot from that account, or correct the id in owners: /id tells you yours",
            ),
            Err(fault) => examined.warning(
                format!("could not find out whether the bot can write to the owner {owner}: {fault}"),
                "run selkie doctor again",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_webhook_the_server_alone_is_told() {
        assert_eq!(host("https://bot.example.org/hook/s3cret?x=y"), "bot.example.org");
        assert_eq!(host("s3cret"), "an address that cannot be read");
    }
}
