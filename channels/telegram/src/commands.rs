//! Tells Telegram the bot's commands, so that its apps offer them: only where they are not as they should be.

use selkie_channel_core::http::Fault;
use selkie_channel_core::{OfferedCommand, Pauses, json};
use serde_json::{Value, json};
use teloxide::payloads::{
    GetMyCommands, GetMyCommandsSetters, SetMyCommands, SetMyCommandsSetters,
};
use teloxide::types::{BotCommand, BotCommandScope};
use tokio::time::sleep;

use crate::api::{Api, CALL_LIMIT};

/// The lists that are ours. Others (a language's, a chat's) are the owner's.
const SCOPES: [(BotCommandScope, bool); 2] =
    [(BotCommandScope::AllPrivateChats, false), (BotCommandScope::AllGroupChats, true)];
/// So often it is tried: the commands work without.
const TRIES: u32 = 10;
/// Telegram's limits.
const MAX: usize = 100;
const MAX_LENGTH: usize = 256;

/// Sets the lists that differ.
///
/// # Errors
/// In words for a log.
pub async fn offer(api: &Api, pauses: Pauses, commands: &[OfferedCommand]) -> Result<(), String> {
    for (scope, in_groups) in SCOPES {
        let wanted = list(commands, in_groups);
        let mut tried = 0;
        while let Err(fault) = settle(api, &scope, &wanted).await {
            tried += 1;
            let why = match fault {
                Fault::Refused(refusal) if refusal.retry_after.is_none() => {
                    return Err(refusal.words);
                }
                Fault::Refused(refusal) => refusal.words,
                Fault::NotSent(why) | Fault::Unclear(why) => why,
            };
            if tried == TRIES {
                return Err(why);
            }
            sleep(pauses.after(tried + 3)).await;
        }
    }
    Ok(())
}

/// Looks first: a list that is set again makes every app load it again.
async fn settle(api: &Api, scope: &BotCommandScope, wanted: &[BotCommand]) -> Result<(), Fault> {
    let ask = GetMyCommands::new().scope(scope.clone());
    let known = api.call("getMyCommands", &json!(ask), CALL_LIMIT).await?;
    let known: Value = json::read(known.result.get()).unwrap_or_default();
    if known == json!(wanted) {
        tracing::debug!(?scope, "the commands stand as they should");
        return Ok(());
    }
    let set = SetMyCommands::new(wanted.to_vec()).scope(scope.clone());
    api.call("setMyCommands", &json!(set), CALL_LIMIT).await?;
    tracing::info!(?scope, "told Telegram the commands");
    Ok(())
}

fn list(commands: &[OfferedCommand], in_groups: bool) -> Vec<BotCommand> {
    let shown = commands.iter().filter(|command| command.in_groups || !in_groups).take(MAX);
    let command = |command: &OfferedCommand| {
        let words: String = command.help.trim().chars().take(MAX_LENGTH).collect();
        BotCommand::new(command.name, words)
    };
    shown.map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{Reply, Server};

    const COMMANDS: [OfferedCommand; 2] = [
        OfferedCommand { name: "stop", help: "ends what I do", in_groups: true },
        OfferedCommand { name: "ps", help: "lists programs", in_groups: false },
    ];

    #[tokio::test]
    async fn only_lists_that_differ_are_set() {
        let known = json!([
            { "command": "stop", "description": "ends what I do" },
            { "command": "ps", "description": "lists programs" },
        ]);
        let script = [
            ("getMyCommands", Reply::Text(502, "<html>".to_owned())),
            ("getMyCommands", Reply::ok(known)),
            ("getMyCommands", Reply::ok(json!([]))),
            ("setMyCommands", Reply::ok(json!(true))),
        ];
        let mut server = Server::start(script).await;
        let receiver = server.channel().receiver.unwrap();
        assert_eq!(receiver.offer(&COMMANDS).await, Ok(()));
        let set = server.next("setMyCommands").await.json();
        assert_eq!(set["scope"]["type"], "all_group_chats");
        let wanted = json!([{ "command": "stop", "description": "ends what I do" }]);
        assert_eq!(set["commands"], wanted);
    }

    #[tokio::test]
    async fn a_refusal_is_told_once() {
        let refusal = Reply::refusal(400, "Bad Request: BOT_COMMAND_INVALID");
        let script = [("getMyCommands", Reply::ok(json!([]))), ("setMyCommands", refusal)];
        let server = Server::start(script).await;
        let told = server.channel().receiver.unwrap().offer(&COMMANDS).await;
        assert_eq!(told, Err("Bad Request: BOT_COMMAND_INVALID".to_owned()));
    }
}
