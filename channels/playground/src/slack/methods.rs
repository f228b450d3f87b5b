//! The Web API's methods; every refusal is Slack's word.

use std::sync::Arc;

use serde_json::{Value, json};

use super::world::{ADA, BOT, File, GRACE, LINUS, SlackMessage, TEAM, said};
use super::{Server, chat, history, sockets};

/// Why a call is not done.
pub(super) enum Refusal {
    /// 429, with the seconds to wait.
    Limited(u64),
    /// A scope is missing.
    Scope(&'static str),
    /// `invalid_blocks`, and what is wrong with them.
    Blocks(String),
    /// Any other of Slack's words.
    Word(String),
}

impl Refusal {
    /// Slack's word for it.
    pub(super) fn word(self) -> String {
        match self {
            Self::Limited(_) => "ratelimited".to_owned(),
            Self::Scope(_) => "missing_scope".to_owned(),
            Self::Blocks(_) => "invalid_blocks".to_owned(),
            Self::Word(word) => word,
        }
    }
}

impl From<&str> for Refusal {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

/// What a method answers.
pub(super) type Done = Result<Value, Refusal>;

/// The standard emoji of this workspace.
const EMOJI: &[&str] = &["+1", "thumbsup", "eyes", "heart", "tada", "tea", "white_check_mark"];

/// The scope a call needs.
pub(super) fn scope(method: &str, params: &Value) -> Option<&'static str> {
    let kind = text(params, "channel").chars().next();
    Some(match method {
        "chat.postMessage"
        | "chat.postEphemeral"
        | "chat.update"
        | "chat.delete"
        | "assistant.threads.setStatus" => "chat:write",
        "reactions.add" | "reactions.remove" => "reactions:write",
        "emoji.list" => "emoji:read",
        "users.info" => "users:read",
        "usergroups.list" => "usergroups:read",
        "conversations.history" | "conversations.replies" => match kind {
            Some('D') => "im:history",
            Some('G') => "groups:history",
            _ => "channels:history",
        },
        "conversations.info" => match kind {
            Some('D') => "im:read",
            Some('G') => "groups:read",
            _ => "channels:read",
        },
        "conversations.open" => "im:write",
        "files.getUploadURLExternal" | "files.completeUploadExternal" => "files:write",
        "files.info" => "files:read",
        _ => return None,
    })
}

/// Whether a method hands out what was said, which distributed apps get little of.
pub(super) fn is_history(method: &str) -> bool {
    matches!(method, "conversations.history" | "conversations.replies")
}

/// How many calls of a method Slack takes in a minute; messages have a pace of their own.
pub(super) fn per_minute(method: &str) -> Option<usize> {
    Some(match method {
        "emoji.list" => 20,
        "apps.connections.open"
        | "chat.update"
        | "chat.delete"
        | "reactions.add"
        | "reactions.remove"
        | "conversations.history"
        | "conversations.replies"
        | "conversations.info"
        | "conversations.open" => 50,
        "chat.postEphemeral"
        | "users.info"
        | "files.info"
        | "files.getUploadURLExternal"
        | "files.completeUploadExternal" => 100,
        _ => return None,
    })
}

/// Runs a method.
pub(super) fn run(server: &Arc<Server>, method: &str, params: &Value) -> Done {
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
        "conversations.history" | "conversations.replies" => history::page(server, method, params),
        "conversations.info" => info(server, params),
        "conversations.open" => Ok(json!({ "channel": { "id": super::DM } })),
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

/// A text parameter; empty when it is not there.
pub(super) fn text<'a>(params: &'a Value, key: &str) -> &'a str {
    params.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The message of a `ts`.
pub(super) fn find<'a>(
    messages: &'a mut [SlackMessage],
    ts: &str,
) -> Result<&'a mut SlackMessage, Refusal> {
    messages.iter_mut().find(|message| message.ts == ts).ok_or("message_not_found".into())
}

fn info(server: &Server, params: &Value) -> Done {
    let world = server.world();
    let channel = text(params, "channel");
    let room = world.rooms.get(channel).ok_or("channel_not_found")?;
    Ok(json!({ "channel": {
        "id": channel, "name": room.name, "is_im": room.kind == "im",
        "is_archived": room.archived, "is_member": room.has_bot,
    } }))
}

/// Shown under a thread until somebody answers there; an empty one takes it away.
fn sign(server: &Server, params: &Value) -> Done {
    let (channel, thread) = (text(params, "channel_id"), text(params, "thread_ts"));
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

fn react(server: &Server, params: &Value) -> Done {
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

fn unreact(server: &Server, params: &Value) -> Done {
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

fn user(id: &str) -> Done {
    let names = [(ADA, "Ada"), (GRACE, "Grace"), (LINUS, "Linus"), (BOT, "selkie")];
    let (id, name) = names.iter().find(|(known, _)| *known == id).ok_or("user_not_found")?;
    let profile = json!({ "display_name": name, "real_name": name });
    Ok(json!({ "user": { "id": id, "name": name.to_lowercase(), "profile": profile } }))
}

fn upload_url(server: &Server, params: &Value) -> Done {
    let name = text(params, "filename").to_owned();
    let length = text(params, "length").parse().ok().filter(|length| *length > 0);
    let (false, Some(length)) = (name.is_empty(), length) else {
        return Err("invalid_arguments".into());
    };
    let mut world = server.world();
    let id = format!("F0{:06}", world.next_number());
    world.files.insert(
        id.clone(),
        File { name, length, bytes: None, shared: Vec::new(), elsewhere: false },
    );
    Ok(json!({ "upload_url": format!("{}/upload/{id}", server.base), "file_id": id }))
}

fn complete(server: &Server, params: &Value) -> Done {
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

fn file(server: &Server, id: &str) -> Done {
    let world = server.world();
    let file = world.files.get(id).ok_or("file_not_found")?;
    Ok(json!({ "file": file.render(id, &server.base) }))
}
