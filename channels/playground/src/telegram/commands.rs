//! `setMyCommands`, `getMyCommands`, `deleteMyCommands`: a list for each scope and language.

use serde_json::{Value, json};

use super::Server;
use super::params::Params;
use super::refusal::Refusal;

/// Most commands of one list.
const MAX: usize = 100;
/// The scopes without a chat of their own.
const SCOPES: [&str; 4] =
    ["default", "all_private_chats", "all_group_chats", "all_chat_administrators"];
/// The scopes of one chat.
const CHAT_SCOPES: [&str; 3] = ["chat", "chat_administrators", "chat_member"];

/// `setMyCommands`.
pub(crate) fn set(server: &Server, params: &Params) -> Result<String, Refusal> {
    let key = key(params)?;
    let list = params.json("commands")?;
    let list = list.ok_or_else(|| Refusal::bad("can't parse BotCommand: Expected an Array"))?;
    let list = list.as_array().ok_or_else(|| Refusal::bad("expected an Array of BotCommand"))?;
    if list.len() > MAX {
        return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
    }
    let list = list.iter().map(command).collect::<Result<Value, _>>()?;
    server.world().commands.insert(key, list);
    Ok("true".to_owned())
}

/// `getMyCommands`.
pub(crate) fn get(server: &Server, params: &Params) -> Result<String, Refusal> {
    let key = key(params)?;
    let list = server.world().commands.get(&key).cloned().unwrap_or_else(|| json!([]));
    Ok(list.to_string())
}

/// `deleteMyCommands`.
pub(crate) fn delete(server: &Server, params: &Params) -> Result<String, Refusal> {
    let key = key(params)?;
    server.world().commands.remove(&key);
    Ok("true".to_owned())
}

/// Scope and language of a list.
fn key(params: &Params) -> Result<String, Refusal> {
    let scope = params.json("scope")?.unwrap_or_else(|| json!({ "type": "default" }));
    let kind = scope["type"].as_str().unwrap_or_default();
    let language = params.text("language_code").unwrap_or_default().into_owned();
    if SCOPES.contains(&kind) {
        return Ok(format!("{kind}/{language}"));
    }
    if CHAT_SCOPES.contains(&kind) && (scope["chat_id"].is_i64() || scope["chat_id"].is_string()) {
        return Ok(format!("{kind} {} {}/{language}", scope["chat_id"], scope["user_id"]));
    }
    Err(Refusal::bad("can't parse BotCommandScope: Unsupported type specified"))
}

/// A command whose name and description the platform takes.
fn command(command: &Value) -> Result<Value, Refusal> {
    let name = command["command"].as_str().unwrap_or_default();
    let name = name.strip_prefix('/').unwrap_or(name);
    let description = command["description"].as_str().unwrap_or_default().trim();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !(1..=32).contains(&name.len()) || !name.bytes().all(plain) {
        return Err(Refusal::bad("BOT_COMMAND_INVALID"));
    }
    if !(1..=256).contains(&description.chars().count()) {
        return Err(Refusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
    }
    Ok(json!({ "command": name, "description": description }))
}
