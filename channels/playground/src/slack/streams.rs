//! Messages of the bot that grow: begun in a thread, appended to, stopped; until then nothing else changes them.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::Server;
use super::chat::{check_metadata, thread};
use super::params::text;
use super::refusal::{MethodResult, Refusal};
use super::world::{BOT, SlackMessage, Stream, TEAM, find, is_person, said};

/// The most that one call brings, characters.
const MAX_TEXT: usize = 12_000;

/// Begins one. In a channel Slack wants to know who reads along.
pub(super) fn start(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let mut world = server.world();
    let room = world.open_room(channel)?;
    let root = thread(params).ok_or("missing_thread_ts")?;
    if !room.messages.iter().any(|message| message.ts == root) {
        return Err("thread_not_found".into());
    }
    if room.kind != "im" {
        reader(params)?;
    }
    check_text(params)?;
    if !server.may_post(channel) {
        return Err(Refusal::Limited(1));
    }
    let words = text(params, "markdown_text");
    let message = SlackMessage { stream: Some(Stream::Open), ..said(BOT, words, Some(root)) };
    let ts = world.post(channel, message, (server.now)());
    world.tell_watchers(channel, words);
    Ok(json!({ "channel": channel, "ts": ts }))
}

pub(super) fn append(server: &Server, params: &Value) -> MethodResult {
    if text(params, "markdown_text").is_empty() {
        return Err("no_text".into());
    }
    let channel = text(params, "channel");
    let ts = text(params, "ts");
    let mut world = server.world();
    let message = open(&mut world.open_room(channel)?.messages, ts, (server.now)())?;
    check_text(params)?;
    join(message, text(params, "markdown_text"));
    let words = message.text.clone();
    world.tell_watchers(channel, &words);
    Ok(json!({ "channel": channel, "ts": ts }))
}

/// Ends one, with the last of its words where the call brings some.
pub(super) fn stop(server: &Server, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let ts = text(params, "ts");
    let mut world = server.world();
    let message = open(&mut world.open_room(channel)?.messages, ts, (server.now)())?;
    check_text(params)?;
    check_metadata(params)?;
    join(message, text(params, "markdown_text"));
    message.stream = Some(Stream::Ended);
    message.metadata = params.get("metadata").cloned();
    let message = message.clone();
    world.tell_watchers(channel, &message.text);
    let shown = world.render(&message, &server.base);
    Ok(json!({ "channel": channel, "ts": ts, "message": shown }))
}

/// The message of a stream that goes on.
pub(super) fn open<'a>(
    messages: &'a mut [SlackMessage],
    ts: &str,
    now: DateTime<Utc>,
) -> Result<&'a mut SlackMessage, Refusal> {
    let message = find(messages, ts)?;
    match message.stream {
        _ if !message.is_bots() => Err("message_not_owned_by_app".into()),
        Some(Stream::StoppedByPerson) => Err("stopped_by_user".into()),
        _ if message.grows(now) => Ok(message),
        _ => Err("message_not_in_streaming_state".into()),
    }
}

/// White space at the beginning of a piece is lost.
fn join(message: &mut SlackMessage, piece: &str) {
    message.text.push_str(piece.trim_start());
}

fn reader(params: &Value) -> Result<(), Refusal> {
    match (text(params, "recipient_user_id"), text(params, "recipient_team_id")) {
        ("", _) => Err("missing_recipient_user_id".into()),
        (_, "") => Err("missing_recipient_team_id".into()),
        (user, _) if !is_person(user) => Err("user_not_found".into()),
        (_, team) if team != TEAM => Err("team_not_found".into()),
        _ => Ok(()),
    }
}

fn check_text(params: &Value) -> Result<(), Refusal> {
    match text(params, "markdown_text").chars().count() > MAX_TEXT {
        true => Err("msg_too_long".into()),
        false => Ok(()),
    }
}
