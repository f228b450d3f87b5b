//! The page's chats on all platforms, each in the one form that the page draws.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Control, emoji, mrkdwn};
use crate::line_platform::{self as line, LineMessage};
use crate::slack::{self, SlackMessage, Whisper};
use crate::telegram::{ADA, GRACE, GROUP, HERS, PRIVATE, Spot, TOPIC};
use crate::x::{self, XPost};

/// How the page's people write the bot's name where a platform knows it by an id.
const NAME: &str = "@selkie";
/// Who speaks when nobody is named.
const OWNER: &str = "Ada";
/// Whose private chat is another one's than the owner's.
const GUEST: &str = "Grace";

/// A chat of the page.
pub(crate) struct Room {
    pub(crate) id: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) at: At,
}

/// Where a chat is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Telegram(Spot),
    /// The channel's id.
    Slack(&'static str),
    /// The chat's id.
    Line(&'static str),
    /// The account's timeline.
    X,
}

/// The page's chats.
pub(crate) const ROOMS: [Room; 9] = [
    Room { id: "telegram:private", kind: "private", at: At::Telegram(PRIVATE) },
    Room { id: "telegram:group", kind: "group", at: At::Telegram(GROUP) },
    Room { id: "telegram:topic", kind: "topic", at: At::Telegram(TOPIC) },
    Room { id: "telegram:grace", kind: "private", at: At::Telegram(HERS) },
    Room { id: "slack:dm", kind: "dm", at: At::Slack(slack::DM) },
    Room { id: "slack:channel", kind: "channel", at: At::Slack(slack::CHANNEL) },
    Room { id: "line:user", kind: "user", at: At::Line(line::ADA) },
    Room { id: "line:group", kind: "group", at: At::Line(line::GROUP) },
    Room { id: "x:main", kind: "timeline", at: At::X },
];

/// The people by platform: name, Slack's id, LINE's id.
const PEOPLE: [(&str, &str, &str); 3] = [
    ("Ada", slack::ADA, line::ADA),
    ("Grace", slack::GRACE, line::GRACE),
    ("Linus", slack::LINUS, line::LINUS),
];

impl At {
    /// Who speaks there when nobody is named: in private there is nobody else.
    pub(crate) fn person(self) -> &'static str {
        if self == Self::Telegram(HERS) { GUEST } else { OWNER }
    }
}

impl Room {
    fn is_direct(&self) -> bool {
        matches!(self.kind, "private" | "dm" | "user")
    }
}

/// Describes a chat: what it is, who is in it, and what can be done there.
pub(crate) fn describe(control: &Control, room: &Room) -> Value {
    let everyone = || PEOPLE.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let (platform, title, key, members, me) = match room.at {
        At::Telegram(spot) => {
            let (title, members) = control.telegram.describe(spot.chat).unwrap_or_default();
            let title = if room.kind == "topic" { format!("{title} · Boats") } else { title };
            let key = match spot.thread {
                Some(thread) => format!("tg:{}:{thread}", spot.chat),
                None => format!("tg:{}", spot.chat),
            };
            let me = if spot == HERS { GRACE } else { ADA };
            ("telegram", title, key, members, json!(me))
        }
        At::Slack(channel) => {
            let key = format!("slack:{}:{channel}", slack::TEAM);
            ("slack", "#tea-room".to_owned(), key, everyone(), json!(slack::ADA))
        }
        At::Line(chat) => {
            ("line", "Tea room".to_owned(), format!("line:{chat}"), everyone(), json!(line::ADA))
        }
        At::X => ("x", "The timeline".to_owned(), "x:main".to_owned(), Vec::new(), json!("hand")),
    };
    let mention = match room.at {
        At::Telegram(_) => {
            format!("@{}", control.telegram.bot()["username"].as_str().unwrap_or_default())
        }
        At::Slack(_) | At::Line(_) | At::X => NAME.to_owned(),
    };
    json!({
        "id": room.id, "platform": platform, "kind": room.kind, "title": title, "key": key,
        "members": members, "me": { "id": me, "name": room.at.person() }, "direct": room.is_direct(),
        // In private with somebody who owns nothing.
        "guest": room.at.person() != OWNER,
        "mention": mention,
        // What starts no work: X is only spoken to.
        "hears": room.at != At::X,
        // A channel whose threads are conversations of their own.
        "threads": room.kind == "channel",
        "edits": matches!(room.at, At::Telegram(_) | At::Slack(_)),
        "files": matches!(room.at, At::Telegram(_)),
        // Who may ask for what needs the owner's approval.
        "asks": match room.at {
            At::Telegram(GROUP) => json!({ "by": GUEST, "text": "add to plan.txt: tea at four" }),
            _ if room.is_direct() && room.at.person() == OWNER => json!({ "by": OWNER, "text": "tweet: tea is ready" }),
            _ => Value::Null,
        },
        // What people may react with; bots on LINE and posts on X have no reactions.
        "reacts": match room.at {
            At::Telegram(_) => emoji::TELEGRAM,
            At::Slack(_) => emoji::SLACK,
            At::Line(_) | At::X => &[],
        },
    })
}

/// Lists a chat's messages, oldest first.
pub(crate) fn messages(control: &Control, at: At) -> Vec<Value> {
    match at {
        At::Telegram(spot) => control.telegram.messages(spot).iter().map(|m| json!(m)).collect(),
        At::Slack(channel) => {
            let messages = control.slack.messages(channel);
            let buttons = |ts: &str| control.slack.buttons(channel, ts).into_iter();
            let said =
                messages.iter().map(|m| of_slack(m, keyboard(buttons(&m.ts).map(|b| b.label))));
            let alone = control.slack.whispers(channel, slack::ADA);
            let mut all: Vec<Value> = said.chain(alone.iter().map(of_whisper)).collect();
            all.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
            all
        }
        At::Line(chat) => {
            let messages = control.line.messages(chat);
            let newest = messages.len().saturating_sub(1);
            let all = messages.iter().enumerate();
            all.map(|(n, message)| of_line(message, n == newest)).collect()
        }
        At::X => control.x.posts().iter().map(of_x).collect(),
    }
}

/// A person says something; gives the message's id.
///
/// # Errors
/// When nobody has this name, or the platform refuses.
pub(crate) fn say(
    control: &Control,
    at: At,
    from: Option<&str>,
    reply_to: &Value,
    text: &str,
) -> Result<Value, String> {
    let name = from.unwrap_or(at.person());
    Ok(match at {
        At::Telegram(spot) => {
            let user = control.telegram.person(name).ok_or_else(|| nobody(name))?;
            json!(match reply_to.as_i64() {
                Some(to) => control.telegram.reply(spot, user, to, text),
                None => control.telegram.say(spot, user, text),
            })
        }
        At::Slack(channel) => {
            let user = person(name)?.1;
            let text = text.replace(NAME, &format!("<@{}>", slack::BOT));
            let messages = control.slack.messages(channel);
            let root = reply_to.as_str().and_then(|ts| messages.into_iter().find(|m| m.ts == ts));
            json!(match root.map(|root| root.thread.unwrap_or(root.ts)) {
                Some(root) => control.slack.reply(channel, user, &root, &text),
                None => control.slack.types(channel, user, &text),
            })
        }
        At::Line(chat) => {
            let user = person(name)?.2;
            json!(match reply_to.as_str() {
                Some(quoted) => control.line.reply(chat, user, quoted, text),
                None => control.line.say(chat, user, text),
            })
        }
        At::X => json!(control.x.post_by_hand(text)?),
    })
}

/// A person presses the button with this label under a message.
///
/// # Errors
/// When nobody has this name, or there is no such button any more.
pub(crate) fn press(
    control: &Control,
    at: At,
    from: Option<&str>,
    message: &str,
    label: &str,
) -> Result<(), String> {
    let user = person(from.unwrap_or(OWNER))?;
    let pressed = match at {
        At::Slack(channel) => control.slack.tap(channel, message, user.1, label),
        At::Line(chat) => control.line.tap(chat, user.2, message, label).is_some(),
        At::Telegram(_) | At::X => false,
    };
    if pressed { Ok(()) } else { Err(format!("no button here says {label:?}")) }
}

/// A person puts an emoji on a message, or takes it away where it is theirs already.
///
/// # Errors
/// When nobody has this name, or they cannot react so here.
pub(crate) fn react(
    control: &Control,
    at: At,
    from: Option<&str>,
    message: &Value,
    emoji: &str,
) -> Result<(), String> {
    let name = from.unwrap_or(at.person());
    let done = match at {
        At::Telegram(spot) => {
            let user = control.telegram.person(name).ok_or_else(|| nobody(name))?;
            let id = message.as_i64().unwrap_or_default();
            let messages = control.telegram.messages(spot);
            let target = messages.iter().find(|message| message.id == id);
            let theirs = target.is_some_and(|message| {
                message.reactions.iter().any(|r| r.by == name && r.emoji == emoji)
            });
            control.telegram.react(spot.chat, user, id, (!theirs).then_some(emoji))
        }
        At::Slack(channel) => {
            let user = person(name)?.1;
            let ts = message.as_str().unwrap_or_default();
            let emoji = emoji::name(emoji);
            control.slack.react(channel, user, ts, emoji)
                || control.slack.unreact(channel, user, ts, emoji)
        }
        At::Line(_) | At::X => false,
    };
    if done { Ok(()) } else { Err(format!("{name} cannot react with {emoji} to this message")) }
}

fn person(name: &str) -> Result<&'static (&'static str, &'static str, &'static str), String> {
    PEOPLE.iter().find(|(known, ..)| *known == name).ok_or_else(|| nobody(name))
}

fn nobody(name: &str) -> String {
    format!("nobody here is called {name}; try Ada, Grace or Linus")
}

/// Buttons one below the other, in the form of Telegram's keyboards: a label is its own data.
fn keyboard(labels: impl IntoIterator<Item = String>) -> Value {
    let rows = labels.into_iter().map(|label| json!([{ "text": label, "callback_data": label }]));
    rows.collect()
}

/// Who wrote a message.
#[derive(Serialize)]
struct Writer<'a> {
    id: &'a str,
    name: &'a str,
    is_bot: bool,
}

/// One message in the form of [`crate::telegram::MessageView`], which the page draws.
fn view(id: &str, from: &Writer<'_>, text: &str, at: &str) -> Value {
    json!({
        "id": id, "from": from, "text": text,
        "entities": [], "at": at, "reply_to": null, "thread": null, "reactions": [], "file": null,
        "keyboard": null, "edited": false, "service": null,
    })
}

fn of_slack(message: &SlackMessage, keyboard: Value) -> Value {
    let person = PEOPLE.iter().find(|(_, slack, _)| *slack == message.user);
    let name = person.map_or("selkie", |(name, ..)| *name);
    let seconds = message.ts.split('.').next().and_then(|s| s.parse().ok()).unwrap_or_default();
    let at = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let at = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let from = Writer { id: &message.user, name, is_bot: message.is_bots() };
    let shown = mrkdwn::read(&message.text, &slack_name);
    let mut value = view(&message.ts, &from, &shown.text, &at);
    value["entities"] = json!(shown.entities);
    value["reply_to"] = json!(message.thread);
    value["keyboard"] = keyboard;
    value["edited"] = json!(message.edited.is_some());
    let reactions = message.reactions.iter();
    value["reactions"] = reactions
        .map(|(emoji, by)| {
            let by = PEOPLE.iter().find(|(_, slack, _)| slack == by).map_or("selkie", |p| p.0);
            json!({ "emoji": emoji::shown(emoji), "by": by })
        })
        .collect();
    value
}

/// What one person alone was shown, as a message that says so.
fn of_whisper(whisper: &Whisper) -> Value {
    let mut message = whisper.as_message();
    message.text = format!("(Only Ada sees this) {}", message.text);
    of_slack(&message, json!([]))
}

/// Who an id in Slack's angle brackets is, as people write it.
fn slack_name(target: &str) -> Option<String> {
    let id = target.strip_prefix('@')?;
    if id == slack::BOT {
        return Some(NAME.to_owned());
    }
    PEOPLE.iter().find(|(_, slack, _)| *slack == id).map(|(name, ..)| format!("@{name}"))
}

/// Quick replies stand below the newest message alone.
fn of_line(message: &LineMessage, is_newest: bool) -> Value {
    let person = PEOPLE.iter().find(|(.., line)| message.from.as_deref() == Some(*line));
    let from = match person {
        Some((name, _, id)) => Writer { id, name, is_bot: false },
        None => Writer { id: line::BOT, name: "selkie", is_bot: true },
    };
    let at = message.at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut value = view(&message.id, &from, &message.text, &at);
    value["reply_to"] = json!(message.quote);
    let there = message.buttons.iter().filter(|button| is_newest || !button.quick);
    value["keyboard"] = keyboard(there.map(|button| button.label.clone()));
    value
}

fn of_x(post: &XPost) -> Value {
    let from = match post.by_hand {
        true => Writer { id: "hand", name: "Ada", is_bot: false },
        false => Writer { id: x::USER, name: "selkie", is_bot: true },
    };
    let at = post.at.to_rfc3339_opts(SecondsFormat::Millis, true);
    let mut value = view(&post.id, &from, &post.text, &at);
    value["reply_to"] = json!(post.reply_to);
    value
}
