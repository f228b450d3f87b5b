//! A message, new, edited or deleted, as an inbound.

use selkie_channel_core::field;
use selkie_channel_core::{AddressReason, Audience, Inbound, MessageRef, Speaker, What};
use serde_json::Value;

use super::frame::Frame;
use super::{attachment, content, text};
use crate::ids::{Spot, is_id, moment, order, person};
use crate::whoami::Me;

/// Subtypes by which people still say something.
const SAID: &[&str] = &["file_share", "thread_broadcast", "me_message", "bot_message"];

/// Reads a `message` or its twin, an `app_mention`; `None` when it lacks a channel or a `ts`.
pub fn read(event: &Value, team: &str, frame: Frame<'_>) -> Option<Inbound> {
    let channel = field::text(event, "channel")?;
    if field::text(event, "type") == Some("app_mention") {
        return named(event, team, channel, frame);
    }
    match field::text(event, "subtype") {
        Some("message_changed") => changed(event, team, channel, frame),
        Some("message_deleted") => {
            let ts = field::text(event, "deleted_ts").or(field::text(event, "ts"))?;
            Some(deleted(event, ts, team, channel, frame))
        }
        Some(subtype) if !SAID.contains(&subtype) => {
            let ts = field::text(event, "ts")?;
            let key = format!("m:{team}:{channel}:{ts}:{subtype}");
            Some(other(event, key, subtype, team, channel, frame))
        }
        _ => {
            let inbound = said(event, kind_of(event), team, channel, frame)?;
            Some(left_to_twin(event, inbound, frame))
        }
    }
}

/// Slack itself says that we are named, wherever it found that: where the text does not show it, the
/// `message` beside it counts as talk among others, and this is a row of its own.
fn named(event: &Value, team: &str, channel: &str, frame: Frame<'_>) -> Option<Inbound> {
    let own = content::own(event);
    let guessed = text::first_mention(&own).unwrap_or_default();
    let me = Me { user: guessed.to_owned(), ..frame.me.clone() };
    let frame = if frame.me.user.is_empty() { Frame { me: &me, ..frame } } else { frame };
    let mut inbound = said(event, kind_of(event), team, channel, frame)?;
    if inbound.addressed != AddressReason::Mention && inbound.addressed != AddressReason::Command {
        inbound.key += ":a";
        inbound.addressed = AddressReason::Mention;
        let ts = field::text(event, "ts")?;
        let thread = Some(thread(event, ts).unwrap_or(ts).to_owned());
        let spot = Spot { team: team.to_owned(), channel: channel.to_owned(), thread };
        inbound.conversation = spot.conversation(frame.account);
    }
    Some(inbound)
}

/// While nobody knows who we are, a message of a channel that names somebody may name us: its twin, the
/// `app_mention`, tells, and must not find its row taken.
fn left_to_twin(event: &Value, mut inbound: Inbound, frame: Frame<'_>) -> Inbound {
    let text = content::own(event);
    let unsure = frame.me.user.is_empty()
        && inbound.audience == Audience::Group
        && text::first_mention(&text).is_some();
    if unsure {
        inbound.key += ":?";
        inbound.what = What::Other { name: "may_name_us".to_owned() };
    }
    inbound
}

fn kind_of(event: &Value) -> Option<&str> {
    field::text(event, "channel_type")
}

/// Reads a message of a thread's history, which its text alone addresses to nobody; `None` for what is no
/// message.
pub fn earlier(message: &Value, spot: &Spot, frame: Frame<'_>) -> Option<Inbound> {
    let mut message = message.clone();
    // As it stands now: when it was changed is of no account.
    message.as_object_mut()?.remove("edited");
    if field::text(&message, "subtype").is_some_and(|subtype| !SAID.contains(&subtype)) {
        return None;
    }
    let mut inbound = said(&message, None, &spot.team, &spot.channel, frame)?;
    inbound.conversation = spot.conversation(frame.account);
    inbound.addressed = AddressReason::No;
    inbound.command = None;
    if let Some(quote) = inbound.quote.take() {
        inbound.text += &format!(" (shares of {}: {})", quote.speaker, quote.text);
    }
    let ours = field::text(&message, "user") == Some(frame.me.user.as_str());
    if ours && !frame.me.user.is_empty() {
        inbound.speaker.name = "you, the bot".to_owned();
    }
    Some(inbound)
}

/// Whoever took it away, what is stored of it goes; of our own messages nothing stands among what was heard.
fn deleted(event: &Value, ts: &str, team: &str, channel: &str, frame: Frame<'_>) -> Inbound {
    let key = format!("m:{team}:{channel}:{ts}:d");
    let inbound = other(event, key, "message_deleted", team, channel, frame);
    let before = field::object(event, "previous_message");
    let user = before.and_then(|before| field::text(before, "user")).unwrap_or_default();
    if !user.is_empty() && user == frame.me.user {
        return inbound;
    }
    Inbound { what: What::Unsent, message: Some(MessageRef::new(ts)), ..inbound }
}

/// `message_changed` fires for unfurled links too: only another text is an edit. Of a message with a thread below it a
/// stone stays where it was deleted.
fn changed(event: &Value, team: &str, channel: &str, frame: Frame<'_>) -> Option<Inbound> {
    let inner = field::object(event, "message")?;
    if field::text(inner, "subtype") == Some("tombstone") {
        return Some(deleted(event, field::text(inner, "ts")?, team, channel, frame));
    }
    let text = |value: Option<&Value>| value.map(content::own).unwrap_or_default();
    if text(Some(inner)) == text(field::object(event, "previous_message")) {
        let ts = field::text(event, "ts")?;
        let key = format!("m:{team}:{channel}:{ts}:c");
        return Some(other(event, key, "message_changed", team, channel, frame));
    }
    let mut inbound = said(inner, kind_of(event), team, channel, frame)?;
    let before = field::object(event, "previous_message");
    let ts = field::text(inner, "ts")?;
    let was_asked = text::read(&text(before), &frame.me.user).mentioned;
    if was_asked && inbound.audience == Audience::Group && thread(inner, ts).is_none() {
        // It has opened a thread, and is changed there, without our name too.
        let spot = Spot {
            team: team.to_owned(),
            channel: channel.to_owned(),
            thread: Some(ts.to_owned()),
        };
        inbound.conversation = spot.conversation(frame.account);
    }
    if inbound.what == What::Message {
        inbound.key += &format!(":e{}", field::text(event, "ts").unwrap_or_default());
        inbound.what = What::Edit;
    }
    Some(inbound)
}

fn other(
    event: &Value,
    key: String,
    name: &str,
    team: &str,
    channel: &str,
    frame: Frame<'_>,
) -> Inbound {
    let what = What::Other { name: name.to_owned() };
    let mut inbound = frame.blank(key, team, Some(channel), what);
    if let Some(order) = field::text(event, "ts").and_then(order) {
        inbound.order = order;
        inbound.at = moment(order);
    }
    inbound.speaker = speaker(event, team, frame);
    inbound
}

/// Fills in what was said. The key holds the time of an edit: the same edit comes as `message_changed`
/// and, where the bot is named, as another `app_mention`.
fn said(
    message: &Value,
    kind: Option<&str>,
    team: &str,
    channel: &str,
    frame: Frame<'_>,
) -> Option<Inbound> {
    let ts = field::text(message, "ts")?;
    let order = order(ts)?;
    let edited = field::object(message, "edited").and_then(|edited| field::text(edited, "ts"));
    let key = format!("m:{team}:{channel}:{ts}");
    let (key, what) = match edited {
        Some(edited) => (format!("{key}:e{edited}"), What::Edit),
        None => (key, What::Message),
    };
    let mut inbound = frame.blank(key, team, Some(channel), what);
    inbound.order = order;
    inbound.at = moment(order);
    inbound.message = Some(MessageRef::new(ts));
    if kind == Some("im") {
        inbound.audience = Audience::Direct;
    }
    inbound.speaker = speaker(message, team, frame);
    let words = text::read(&content::own(message), &frame.me.user);
    inbound.addressed = addressed(message, &inbound, &words, frame);
    inbound.text = words.text;
    inbound.aside = words.aside;
    inbound.command = words.command.filter(|_| inbound.addressed != AddressReason::No);
    inbound.attachments = attachment::of(message);
    if let Some(shared) = content::shared(message) {
        share(&mut inbound, shared, ts);
    }
    let opens = inbound.audience == Audience::Group && inbound.addressed != AddressReason::No;
    let below = thread(message, ts);
    inbound.thread = below.filter(|root| *root != ts).map(MessageRef::new);
    let root = below.or(opens.then_some(ts));
    let spot = Spot {
        team: team.to_owned(),
        channel: channel.to_owned(),
        thread: root.map(str::to_owned),
    };
    inbound.conversation = spot.conversation(frame.account);
    Some(inbound)
}

/// Adds what a message shares: a program's cards are its own words; a person's are quoted, or forwarded
/// where the person says nothing besides.
fn share(inbound: &mut Inbound, shared: content::SharedContent, ts: &str) {
    let says_nothing = inbound.text.is_empty() && inbound.command.is_none();
    match (inbound.speaker.is_bot, says_nothing) {
        (true, true) => inbound.text = shared.text,
        (true, false) => inbound.text += &format!("\n{}", shared.text),
        (false, true) => {
            inbound.text = format!("{}: {}", shared.speaker, shared.text);
            inbound.forwarded = true;
        }
        (false, false) => inbound.quote = Some(shared.quoted(ts)),
    }
}

/// The thread a message stands in. In a channel or a group one at the root that names us opens a thread, and
/// what people say there among themselves is one conversation. Nothing but the message decides it: its
/// twin knows no kind of channel.
fn thread<'a>(message: &'a Value, ts: &'a str) -> Option<&'a str> {
    let root = field::text(message, "thread_ts").filter(|root| order(root).is_some())?;
    Some(if order(root) == order(ts) { ts } else { root })
}

fn addressed(
    message: &Value,
    inbound: &Inbound,
    words: &text::Words,
    frame: Frame<'_>,
) -> AddressReason {
    let me = frame.me.user.as_str();
    let root_is_ours = !me.is_empty() && field::text(message, "parent_user_id") == Some(me);
    match inbound.audience {
        Audience::Direct => AddressReason::Direct,
        Audience::Group if words.mentioned && words.command.is_some() => AddressReason::Command,
        Audience::Group if words.mentioned => AddressReason::Mention,
        Audience::Group if root_is_ours => AddressReason::Reply,
        Audience::Group => AddressReason::No,
    }
}

/// Returns who wrote it; bots, the own one too, are marked.
fn speaker(message: &Value, team: &str, frame: Frame<'_>) -> Speaker {
    let user = field::text(message, "user");
    let bot = field::text(message, "bot_id");
    let is_bot = bot.is_some()
        || field::text(message, "subtype") == Some("bot_message")
        || (user.is_some() && user == Some(frame.me.user.as_str()));
    let profile = field::object(message, "user_profile");
    let shown =
        profile.and_then(|p| field::text(p, "display_name").or(field::text(p, "real_name")));
    let name = shown.or(field::text(message, "username")).unwrap_or_default();
    Speaker {
        id: person(home_of(message, team), user.or(bot).unwrap_or_default()),
        name: name.to_owned(),
        username: profile.and_then(|p| field::text(p, "name")).map(str::to_owned),
        is_bot,
    }
}

/// The workspace a speaker belongs to, which in a shared channel may be another one than ours. An
/// organisation (`E…`) is no workspace.
fn home_of<'a>(message: &'a Value, ours: &'a str) -> &'a str {
    let told =
        ["user_team", "source_team", "team"].iter().find_map(|key| field::text(message, key));
    told.filter(|team| is_id(team, b"T")).unwrap_or(ours)
}
