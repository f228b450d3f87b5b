//! Messages of the bot: posted, changed, taken away, shown to one person alone.

use serde_json::{Value, json};

use super::params::text;
use super::refusal::{MethodResult, Refusal};
use super::world::{BOT, Whisper, find, is_person, said};
use super::{Server, blocks};

/// Larger metadata is refused, bytes.
const MAX_METADATA: usize = 16 * 1024;
/// A changed message may not be longer.
const MAX_UPDATE: usize = 4000;

pub(super) fn post(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let mut world = server.world();
    let channel = world.home_of(channel);
    let room = world.open_room(&channel)?;
    if thread(params).is_some_and(|root| !room.messages.iter().any(|message| message.ts == root)) {
        return Err("thread_not_found".into());
    }
    check(params, 40_000)?;
    check_metadata(params)?;
    if !server.may_post(&channel) {
        return Err(Refusal::Limited(1));
    }
    let mut message = said(BOT, text(params, "text"), thread(params));
    message.metadata = params.get("metadata").cloned();
    message.blocks = shown_blocks(params);
    let ts = world.post(&channel, message, (server.now)());
    world.tell_watchers(&channel, text(params, "text"));
    Ok(json!({ "channel": channel, "ts": ts }))
}

/// With a text and without blocks the old blocks go; an empty list takes them away in any case.
pub(super) fn update(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let ts = text(params, "ts");
    let mut world = server.world();
    let now = (server.now)();
    let edited = world.next_ts(now);
    let message = find(&mut world.open_room(channel)?.messages, ts)?;
    if !message.is_bots() {
        return Err("cant_update_message".into());
    }
    if message.grows(now) {
        return Err("streaming_state_conflict".into());
    }
    check(params, MAX_UPDATE)?;
    message.text = text(params, "text").to_owned();
    message.blocks = shown_blocks(params);
    message.edited = Some(edited);
    let answer = json!({ "channel": channel, "ts": ts, "text": message.text });
    world.tell_watchers(channel, text(params, "text"));
    Ok(answer)
}

pub(super) fn delete(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let ts = text(params, "ts");
    let mut world = server.world();
    let room = world.open_room(channel)?;
    let message = find(&mut room.messages, ts)?;
    if !message.is_bots() || message.grows((server.now)()) {
        return Err("cant_delete_message".into());
    }
    room.messages.retain(|message| message.ts != ts);
    Ok(json!({ "channel": channel, "ts": ts }))
}

/// Seen by one person, stored nowhere.
pub(super) fn whisper(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let user = text(params, "user");
    let mut world = server.world();
    world.open_room(channel)?;
    if !is_person(user) {
        return Err("user_not_in_channel".into());
    }
    check(params, 40_000)?;
    let ts = world.next_ts((server.now)());
    let whisper = Whisper {
        ts: ts.clone(),
        channel: channel.to_owned(),
        user: user.to_owned(),
        thread: thread(params).map(str::to_owned),
        text: text(params, "text").to_owned(),
    };
    world.whispers.push(whisper);
    Ok(json!({ "message_ts": ts }))
}

pub(super) fn thread(params: &Value) -> Option<&str> {
    Some(text(params, "thread_ts")).filter(|thread| !thread.is_empty())
}

fn shown_blocks(params: &Value) -> Option<Value> {
    params.get("blocks").filter(|blocks| blocks.as_array().is_some_and(|b| !b.is_empty())).cloned()
}

/// Whether metadata is small enough.
pub(super) fn check_metadata(params: &Value) -> Result<(), Refusal> {
    match params.get("metadata").is_some_and(|metadata| metadata.to_string().len() > MAX_METADATA) {
        true => Err("metadata_too_large".into()),
        false => Ok(()),
    }
}

fn check(params: &Value, most: usize) -> Result<(), Refusal> {
    let words = text(params, "text");
    if words.trim().is_empty() && shown_blocks(params).is_none() {
        return Err("no_text".into());
    }
    if words.chars().count() > most {
        return Err("msg_too_long".into());
    }
    match params.get("blocks").map(blocks::check) {
        Some(Err(why)) => Err(Refusal::Blocks(why)),
        _ => Ok(()),
    }
}
