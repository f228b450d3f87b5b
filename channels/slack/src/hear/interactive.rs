//! Slash commands, buttons and forms as inbounds, each with a key of its own.

use selkie_channel_core::{Addressed, Audience, Inbound, MessageRef, Speaker, What};
use serde_json::Value;

use super::envelope::Frame;
use super::{field, words};
use crate::ids::{Spot, fnv, moment, order, person};

/// Reads `/selkie reset`: a command of the bot wherever it is written. Slash commands have no time; they
/// stand behind the newest message.
pub fn slash(payload: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let team = field::text(payload, "team_id")?;
    let channel = field::text(payload, "channel_id");
    let key = format!("t:{}", field::text(payload, "trigger_id")?);
    let mut inbound = frame.blank(key, team, channel, What::Message);
    let text = words::unescape(field::text(payload, "text").unwrap_or_default());
    let text = text.trim().trim_start_matches('/');
    inbound.command = words::command(if text.is_empty() { "help" } else { text });
    inbound.text = text.to_owned();
    inbound.addressed = match inbound.audience {
        Audience::Direct => Addressed::Direct,
        Audience::Group => Addressed::Command,
    };
    let name = field::text(payload, "user_name");
    inbound.speaker = somebody(team, field::text(payload, "user_id"), name);
    let title = field::text(payload, "channel_name");
    inbound.title = title.filter(|t| *t != "directmessage").unwrap_or_default().to_owned();
    Some(frame.heard(team, inbound))
}

/// Reads a button, a form or a shortcut: kept, and nothing is begun by it yet.
pub fn payload(payload: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let kind = field::text(payload, "type")?;
    let user = field::object(payload, "user");
    let id =
        |part: Option<&Value>| part.and_then(|part| field::text(part, "id")).map(str::to_owned);
    let team = id(field::object(payload, "team"))
        .or_else(|| user.and_then(|user| field::text(user, "team_id")).map(str::to_owned))?;
    let container = field::object(payload, "container");
    let inside = |key| container.and_then(|container| field::text(container, key));
    let channel = id(field::object(payload, "channel"));
    let channel = channel.or_else(|| inside("channel_id").map(str::to_owned));
    let action = field::list(payload, "actions").first();
    let acted = action.and_then(|action| field::text(action, "action_ts"));
    let key = match (acted, inside("message_ts"), field::text(payload, "trigger_id")) {
        (Some(acted), Some(ts), _) => {
            format!("a:{}:{ts}:{acted}", channel.as_deref().unwrap_or_default())
        }
        (_, _, Some(trigger)) => format!("t:{trigger}"),
        _ => format!("i:{:016x}", fnv(payload.to_string().as_bytes())),
    };
    let what = What::Other { name: kind.to_owned() };
    let mut inbound = frame.blank(key, &team, channel.as_deref(), what);
    let thread = inside("thread_ts").filter(|root| order(root).is_some());
    if let (Some(channel), Some(thread)) = (channel, thread) {
        let spot = Spot { team: team.clone(), channel, thread: Some(thread.to_owned()) };
        inbound.conversation = spot.conversation(frame.account);
    }
    inbound.message = inside("message_ts").map(MessageRef::new);
    if let Some(order) = acted.and_then(order) {
        inbound.order = order;
        inbound.at = moment(order);
    }
    let name = user.and_then(|user| field::text(user, "username").or(field::text(user, "name")));
    inbound.speaker = somebody(&team, id(user).as_deref(), name);
    Some(inbound)
}

fn somebody(team: &str, user: Option<&str>, name: Option<&str>) -> Speaker {
    Speaker {
        id: person(team, user.unwrap_or_default()),
        name: name.unwrap_or_default().to_owned(),
        username: name.map(str::to_owned),
        is_bot: false,
    }
}
