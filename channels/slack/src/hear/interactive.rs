//! Slash commands, buttons and forms as inbounds, each with a key of its own.

use chrono::{DateTime, Utc};
use selkie_channel_core::field;
use selkie_channel_core::hash::fnv;
use selkie_channel_core::{
    AddressReason, Audience, Inbound, MessageRef, ReplyWindow, Speaker, What,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::frame::Frame;
use super::text;
use crate::blocks;
use crate::ids::{Spot, is_id, moment, order, person};

/// Answers that Slack takes at the address of one slash command.
const ANSWERS: u32 = 5;
/// The last moment of the year 9999.
const FAR: DateTime<Utc> = match DateTime::from_timestamp(253_402_300_799, 0) {
    Some(far) => far,
    None => DateTime::UNIX_EPOCH,
};

/// Reads `/selkie reset`: a command of the bot wherever it is written. Slash commands have no time; they
/// stand behind the newest message.
pub fn slash(payload: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let team = field::text(payload, "team_id")?;
    let channel = field::text(payload, "channel_id");
    let key = format!("t:{}", field::text(payload, "trigger_id")?);
    let mut inbound = frame.blank(key, team, channel, What::Message);
    let words = text::read(field::text(payload, "text").unwrap_or_default(), "");
    let text = match &words.command {
        Some(command) => format!("{} {}", command.name, command.args),
        None => words.text,
    };
    let text = text.trim().trim_start_matches('/');
    inbound.command = text::command(if text.is_empty() { "help" } else { text });
    inbound.text = text.to_owned();
    inbound.addressed = match inbound.audience {
        Audience::Direct => AddressReason::Direct,
        Audience::Group => AddressReason::Command,
    };
    let name = field::text(payload, "user_name");
    inbound.speaker = somebody(team, field::text(payload, "user_id"), name);
    let title = field::text(payload, "channel_name");
    inbound.title = title.filter(|t| *t != "directmessage").unwrap_or_default().to_owned();
    let alone = is_for_one(&inbound);
    let user = field::text(payload, "user_id").map(str::to_owned);
    inbound.reply_window = field::text(payload, "response_url").map(|url| ReplyWindow {
        token: json!(AnswerAt { url: url.to_owned(), alone, user }).to_string(),
        // Half an hour at Slack, who says when it is over.
        until: FAR,
        calls: ANSWERS,
        hold_at: None,
    });
    Some(frame.heard(team, inbound))
}

/// Where a slash command is answered, and who reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerAt {
    /// The address that came with it.
    pub url: String,
    /// The person alone reads the answer, even where the channel is open to us.
    pub alone: bool,
    /// That person, who is shown the answer by other ways when the address is not taken any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl AnswerAt {
    /// Reads the token of a right to answer.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Commands in a channel are the person's own business; a question is asked before everybody.
fn is_for_one(inbound: &Inbound) -> bool {
    let command = inbound.command.as_ref().filter(|command| command.name != "ask");
    inbound.audience == Audience::Group && command.is_some()
}

/// Who tapped and where: what is needed to answer them alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapHandle {
    /// The channel.
    pub channel: String,
    /// Who tapped.
    pub user: String,
    /// The thread's root, when the buttons stand in one.
    pub thread: Option<String>,
}

impl TapHandle {
    /// Reads a handle of a tap.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Reads a tap on a button; forms and shortcuts are kept, and nothing is begun by them.
pub fn payload(payload: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let kind = field::text(payload, "type")?;
    let user = field::object(payload, "user");
    let id =
        |part: Option<&Value>| part.and_then(|part| field::text(part, "id")).map(str::to_owned);
    let theirs = user.and_then(|user| field::text(user, "team_id")).map(str::to_owned);
    let team = id(field::object(payload, "team")).or_else(|| theirs.clone())?;
    let theirs = theirs.filter(|team| is_id(team, b"T")).unwrap_or_else(|| team.clone());
    // The buttons are ours, whichever workspace somebody in a shared channel belongs to.
    let team = frame.ours(&team).to_owned();
    let container = field::object(payload, "container");
    let inside = |key| container.and_then(|container| field::text(container, key));
    let channel = id(field::object(payload, "channel"));
    let channel = channel.or_else(|| inside("channel_id").map(str::to_owned));
    let thread = inside("thread_ts").filter(|root| order(root).is_some()).map(str::to_owned);
    let action = action(payload);
    let acted = action.and_then(|action| field::text(action, "action_ts"));
    let key = match (acted, inside("message_ts"), field::text(payload, "trigger_id")) {
        (Some(acted), Some(ts), _) => {
            format!("a:{}:{ts}:{acted}", channel.as_deref().unwrap_or_default())
        }
        (_, _, Some(trigger)) => format!("t:{trigger}"),
        _ => format!("i:{:016x}", fnv(payload.to_string().as_bytes())),
    };
    let what = match (kind, &channel) {
        ("block_actions", Some(channel)) => {
            let user = id(user).unwrap_or_default();
            tap(action, &TapHandle { channel: channel.clone(), user, thread: thread.clone() })
        }
        _ => What::Other { name: kind.to_owned() },
    };
    let mut inbound = frame.blank(key, &team, channel.as_deref(), what);
    if let (Some(channel), Some(thread)) = (channel, thread) {
        let spot = Spot { team: team.clone(), channel, thread: Some(thread) };
        inbound.conversation = spot.conversation(frame.account);
    }
    inbound.message = inside("message_ts").map(MessageRef::new);
    if let Some(order) = acted.and_then(order) {
        inbound.order = order;
        inbound.at = moment(order);
    }
    let name = user.and_then(|user| field::text(user, "username").or(field::text(user, "name")));
    inbound.speaker = somebody(&theirs, id(user).as_deref(), name);
    Some(frame.heard(&team, inbound))
}

/// The first action that is ours, else the first.
fn action(payload: &Value) -> Option<&Value> {
    let actions = field::list(payload, "actions");
    actions.iter().find(|action| question(action).is_some()).or(actions.first())
}

fn question(action: &Value) -> Option<&str> {
    field::text(action, "action_id").and_then(blocks::asked)
}

fn tap(action: Option<&Value>, handle: &TapHandle) -> What {
    let asked = action.and_then(|action| Some((question(action)?, field::text(action, "value")?)));
    let (question, choice) = asked.unwrap_or_default();
    What::Tap {
        question: question.to_owned(),
        choice: choice.to_owned(),
        handle: json!(handle).to_string(),
    }
}

/// Slack tells the handle alone; the name that people see is looked up.
fn somebody(team: &str, user: Option<&str>, handle: Option<&str>) -> Speaker {
    Speaker {
        id: person(team, user.unwrap_or_default()),
        name: String::new(),
        username: handle.map(str::to_owned),
        is_bot: false,
    }
}
