//! What Slack lets an app do: the scope that a method needs, and how often it may be called.

use std::collections::BTreeSet;

use serde_json::Value;

use super::params::text;

/// What a bot may ask for that is installed by selkie's manifest.
const SCOPES: &str = "\
    app_mentions:read channels:history channels:read chat:write commands emoji:read files:read \
    files:write groups:history groups:read im:history im:write mpim:history mpim:read reactions:write \
    usergroups:read users:read";

/// Lists what the bot's token may do, as Slack does in each answer's header.
pub(super) fn given(missing: &BTreeSet<String>) -> String {
    let given = SCOPES.split(' ').filter(|scope| !missing.contains(*scope));
    given.collect::<Vec<_>>().join(",")
}

/// The scope a call needs.
pub(super) fn scope(method: &str, params: &Value) -> Option<&'static str> {
    let kind = text(params, "channel").chars().next();
    Some(match method {
        "chat.postMessage"
        | "chat.postEphemeral"
        | "chat.update"
        | "chat.delete"
        | "chat.startStream"
        | "chat.appendStream"
        | "chat.stopStream"
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
        "emoji.list" | "chat.startStream" | "chat.stopStream" => 20,
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
        | "chat.appendStream"
        | "users.info"
        | "files.info"
        | "files.getUploadURLExternal"
        | "files.completeUploadExternal" => 100,
        _ => return None,
    })
}
