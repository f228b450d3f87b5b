//! The Web API's methods; every refusal is Slack's word.

use std::sync::Arc;

use serde_json::{Value, json};

use super::params::text;
use super::refusal::MethodResult;
use super::world::{ADA, BOT, File, GRACE, LINUS, TEAM, find, said};
use super::{Server, chat, history, sockets, streams};

/// The standard emoji of this workspace.
const EMOJI: &[&str] = &["+1", "thumbsup", "eyes", "heart", "tada", "tea", "white_check_mark"];

/// Runs a method.
pub(super) fn run(server: &Arc<Server>, method: &str, params: &Value) -> MethodResult {
    match method {
        "auth.test" => Ok(json!({
            "team_id": TEAM, "team": "Playground", "user_id": BOT, "user": "selkie",
            "bot_id": "B0SELKIE",
        })),
        "apps.connections.open" => Ok(json!({ "url": sockets::ticket(server) })),
        "chat.postMessage" => chat::post(server, params),
        "chat.postEphemeral" => chat::whisper(server, params),
        "chat.update" => chat::update(server, params),
        "chat.delete" => chat::delete(server, params),
        "chat.startStream" => streams::start(server, params),
        "chat.appendStream" => streams::append(server, params),
        "chat.stopStream" => streams::stop(server, params),
        "conversations.history" | "conversations.replies" => history::page(server, method, params),
        "conversations.info" => info(server, params),
        "conversations.open" => open(text(params, "users")),
        "reactions.add" => react(server, params),
        "reactions.remove" => unreact(server, params),
        "emoji.list" => Ok(json!({
            "emoji": { "selkie": format!("{}/selkie.png", server.base) },
            "categories": [{ "name": "Standard", "emoji_names": EMOJI }],
        })),
        "users.info" => user(text(params, "user")),
        "usergroups.list" => Ok(json!({
            "usergroups": [{ "id": "S0TEA", "name": "Tea team", "handle": "tea-team" }],
        })),
        "assistant.threads.setStatus" => sign(server, params),
        "files.getUploadURLExternal" => upload_url(server, params),
        "files.completeUploadExternal" => complete(server, params),
        "files.info" => file(server, text(params, "file")),
        _ => Err("unknown_method".into()),
    }
}

/// Of the people here the owner alone has a conversation with the bot.
fn open(users: &str) -> MethodResult {
    match users {
        "" => Err("users_list_not_supplied".into()),
        ADA => Ok(json!({ "channel": { "id": super::DM } })),
        _ => Err("user_not_found".into()),
    }
}

fn info(server: &Server, params: &Value) -> MethodResult {
    let world = server.world();
    let channel = text(params, "channel");
    let room = world.rooms.get(channel).ok_or("channel_not_found")?;
    Ok(json!({ "channel": {
        "id": channel, "name": room.name, "is_im": room.kind == "im",
        "is_archived": room.archived, "is_member": room.has_bot,
    } }))
}

/// Shown under a thread until somebody answers there; an empty one takes it away.
fn sign(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel_id");
    let thread = text(params, "thread_ts");
    let mut world = server.world();
    let room = world.rooms.get(channel).filter(|room| room.has_bot).ok_or("channel_not_found")?;
    if !room.messages.iter().any(|message| message.ts == thread) {
        return Err("invalid_thread_ts".into());
    }
    let status = params.get("status").and_then(Value::as_str).ok_or("invalid_arguments")?;
    world.signs.push((channel.to_owned(), thread.to_owned(), status.to_owned()));
    Ok(json!({}))
}

/// Whether the workspace has an emoji of this name.
pub(super) fn is_emoji(name: &str) -> bool {
    name == "selkie" || EMOJI.contains(&name)
}

fn react(server: &Server, params: &Value) -> MethodResult {
    let name = text(params, "name").to_owned();
    if !is_emoji(&name) {
        return Err("invalid_name".into());
    }
    let mut world = server.world();
    let room = world.open_room(text(params, "channel"))?;
    let message = find(&mut room.messages, text(params, "timestamp"))?;
    let mark = (name, BOT.to_owned());
    if message.reactions.contains(&mark) {
        return Err("already_reacted".into());
    }
    message.reactions.push(mark);
    Ok(json!({}))
}

fn unreact(server: &Server, params: &Value) -> MethodResult {
    let mut world = server.world();
    let room = world.open_room(text(params, "channel"))?;
    let message = find(&mut room.messages, text(params, "timestamp"))?;
    let before = message.reactions.len();
    message.reactions.retain(|(name, user)| name != text(params, "name") || user != BOT);
    match message.reactions.len() < before {
        true => Ok(json!({})),
        false => Err("no_reaction".into()),
    }
}

fn user(id: &str) -> MethodResult {
    let names = [(ADA, "Ada"), (GRACE, "Grace"), (LINUS, "Linus"), (BOT, "selkie")];
    let (id, name) = names.iter().find(|(known, _)| *known == id).ok_or("user_not_found")?;
    let profile = json!({ "display_name": name, "real_name": name });
    Ok(json!({ "user": { "id": id, "name": name.to_lowercase(), "profile": profile } }))
}

fn upload_url(server: &Server, params: &Value) -> MethodResult {
    let name = text(params, "filename").to_owned();
    let length = text(params, "length").parse().ok().filter(|length| *length > 0);
    let Some(length) = length.filter(|_| !name.is_empty()) else {
        return Err("invalid_arguments".into());
    };
    let mut world = server.world();
    let id = format!("F0{:06}", world.next_number());
    world.files.insert(
        id.clone(),
        File { name, length, bytes: None, shared: Vec::new(), elsewhere: false, clip: None },
    );
    Ok(json!({ "upload_url": format!("{}/upload/{id}", server.base), "file_id": id }))
}

fn complete(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel_id");
    let ids: Vec<String> = params["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|file| file["id"].as_str().map(str::to_owned))
        .collect();
    let mut world = server.world();
    world.open_room(channel)?;
    let whole = |id: &String| world.files.get(id).is_some_and(|file| file.bytes.is_some());
    if ids.is_empty() || !ids.iter().all(whole) {
        return Err("file_not_found".into());
    }
    let thread = Some(text(params, "thread_ts")).filter(|thread| !thread.is_empty());
    let mut message = said(BOT, text(params, "initial_comment"), thread);
    message.files.clone_from(&ids);
    let ts = world.post(channel, message, (server.now)());
    let mut files = Vec::new();
    for id in &ids {
        if let Some(file) = world.files.get_mut(id) {
            file.shared.push((channel.to_owned(), ts.clone()));
            files.push(file.render(id, &server.base));
        }
    }
    Ok(json!({ "files": files }))
}

fn file(server: &Server, id: &str) -> MethodResult {
    let world = server.world();
    let file = world.files.get(id).ok_or("file_not_found")?;
    Ok(json!({ "file": file.render(id, &server.base) }))
}
