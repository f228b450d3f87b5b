//! One envelope of any kind as an inbound.

use selkie_channel_core::field;
use selkie_channel_core::{Inbound, What, json};
use serde_json::Value;

use super::frame::Frame;
use super::{interactive, message};
use crate::ids::{moment, order, person};
use crate::whoami::Me;

/// The longest id of an envelope that is looked for in what cannot be read.
const MAX_ID: usize = 100;

/// What came over a socket.
#[derive(Debug)]
pub enum Envelope {
    /// The socket is ready; so many are open for this app.
    Hello {
        /// Sockets of this app, this one included.
        sockets: u64,
    },
    /// Slack will close this socket.
    Disconnect {
        /// `warning`, `refresh_requested`, `link_disabled`.
        reason: String,
    },
    /// An event to store and, when it has an id, to acknowledge then.
    Event {
        /// The envelope's id.
        id: Option<String>,
        /// The row to store.
        inbound: Box<Inbound>,
    },
}

/// Reads a frame from its text. Every frame can be read.
pub fn read(raw: &str, frame: Frame<'_>) -> Envelope {
    let envelope = match json::read::<Value>(raw) {
        Ok(envelope) => envelope,
        Err(error) => {
            let id = id_in(raw);
            tracing::warn!(%error, id, bytes = raw.len(), "an envelope that cannot be read is kept and passed over");
            // Slack would only send it again.
            return Envelope::Event { id, inbound: Box::new(frame.unparsed(raw)) };
        }
    };
    let id = field::text(&envelope, "envelope_id").map(str::to_owned);
    match field::text(&envelope, "type") {
        Some("hello") => {
            let sockets = envelope.get("num_connections").and_then(Value::as_u64);
            return Envelope::Hello { sockets: sockets.unwrap_or(1) };
        }
        Some("disconnect") => {
            let reason = field::text(&envelope, "reason").unwrap_or("no reason").to_owned();
            return Envelope::Disconnect { reason };
        }
        _ => {}
    }
    let payload = field::object(&envelope, "payload");
    let kind = field::text(&envelope, "type").unwrap_or_default();
    let known = payload.and_then(|payload| match kind {
        "events_api" => event(payload, frame),
        "slash_commands" => interactive::slash(payload, frame),
        "interactive" => interactive::payload(payload, frame),
        _ => None,
    });
    let inbound = known.unwrap_or_else(|| frame.unparsed(raw));
    Envelope::Event { id, inbound: Box::new(inbound) }
}

/// Finds the id of an envelope that cannot be read: within a text the quotes would be escaped.
fn id_in(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once(r#""envelope_id""#)?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (id, _) = rest.split_once('"')?;
    let is_one = id.len() <= MAX_ID
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_one && !id.is_empty()).then(|| id.to_owned())
}

fn event(payload: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let event = field::object(payload, "event")?;
    let told = told_in(payload);
    let told_team = told.as_ref().map(|told| told.team.as_str()).filter(|team| !team.is_empty());
    // In a channel that is shared with another workspace the payload's team may be that one.
    let team = told_team
        .or(field::text(payload, "context_team_id"))
        .or(field::text(payload, "team_id"))
        .or(field::text(event, "team"))?;
    let me = frame.me.or(told.as_ref());
    let frame = Frame { me: &me, ..frame };
    let kind = field::text(event, "type")?;
    let inbound = match kind {
        "message" | "app_mention" => message::read(event, team, frame)?,
        _ => passed(payload, event, team, frame)?,
    };
    Some(frame.heard(team, inbound))
}

/// Reads from an event who we are; `None` for a frame that does not tell.
pub fn told(raw: &str) -> Option<Me> {
    told_in(field::object(&json::read::<Value>(raw).ok()?, "payload")?)
}

/// Whether a frame is an event, which can be read only by whom it names.
pub fn asks_who_we_are(raw: &str) -> bool {
    let envelope = json::read::<Value>(raw).unwrap_or_default();
    field::text(&envelope, "type") == Some("events_api")
}

/// Every event says for which of the app's installations it is; one for a person who let the app in
/// (`is_bot: false`) names that person and not the bot.
fn told_in(payload: &Value) -> Option<Me> {
    let all = field::list(payload, "authorizations");
    let is_bots = |told: &&Value| told.get("is_bot") != Some(&Value::Bool(false));
    let told = all.iter().find(is_bots).or(all.first())?;
    let text = |key| field::text(told, key).unwrap_or_default().to_owned();
    let user = if is_bots(&told) { text("user_id") } else { String::new() };
    let me = Me { team: text("team_id"), user };
    (me != Me::default()).then_some(me)
}

/// What is no message: told by its own id, placed where it happened.
fn passed(payload: &Value, event: &Value, team: &str, frame: Frame<'_>) -> Option<Inbound> {
    let id = field::text(payload, "event_id")?;
    let kind = field::text(event, "type")?;
    let item = field::object(event, "item");
    let channel = field::text(event, "channel")
        .or_else(|| field::text(field::object(event, "channel")?, "id"))
        .or_else(|| field::text(item?, "channel"));
    let mut inbound = frame.blank(format!("e:{id}"), team, channel, what(event, kind, frame.me));
    let user = field::text(event, "user").unwrap_or_default();
    inbound.speaker.id = person(team, user);
    if let Some(order) = field::text(event, "event_ts").and_then(order) {
        inbound.order = order;
        inbound.at = moment(order);
    }
    Some(inbound)
}

/// The bot's own coming and going, and the end of a channel; everything else asks nothing.
fn what(event: &Value, kind: &str, me: &Me) -> What {
    let ours = !me.user.is_empty() && field::text(event, "user") == Some(me.user.as_str());
    let closed = |reason: &str| What::Closed { reason: reason.to_owned() };
    match kind {
        "channel_left" | "group_left" => closed("removed from the channel"),
        "member_left_channel" if ours => closed("removed from the channel"),
        "channel_archive" | "group_archive" => closed("the channel is archived"),
        "channel_deleted" | "group_deleted" => closed("the channel is deleted"),
        "channel_unarchive" | "group_unarchive" => What::Opened,
        "member_joined_channel" if ours => What::Opened,
        _ => What::Other { name: kind.to_owned() },
    }
}
