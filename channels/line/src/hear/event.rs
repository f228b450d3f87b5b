//! One webhook event of any kind as an inbound. Nothing is dropped: what nobody knows is kept raw.

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{
    AccountId, AddressReason, Audience, ConversationId, Inbound, MessageRef, PlaceId, ReplyWindow,
    Speaker, What,
};
use serde_json::Value;

use super::frame::Frame;
use super::{field, message, text};
use crate::buttons;
use crate::ids::{Spot, name_of, person};
use crate::names::Names;

/// A reply token lives about a minute; this leaves room for the call itself.
const WINDOW: TimeDelta = TimeDelta::seconds(50);

/// Kinds that are known and ask nothing of the bot.
const PASSED: &str = "\
    memberJoined memberLeft videoPlayComplete beacon accountLink membership things delivery module \
    activated deactivated botSuspended botResumed";

/// Asks who speaks in an event, and where, when nobody knows yet.
pub async fn learn(event: &Value, names: &Names) {
    if let Some(spot) = chat(event) {
        let user = field::object(event, "source").and_then(|s| field::text(s, "userId"));
        names.learn(&spot, user).await;
    }
}

/// Returns the message that an event's message quotes, and the chat it stands in.
pub fn quoted(event: &Value) -> Option<(Spot, String)> {
    let id = field::text(field::object(event, "message")?, "quotedMessageId")?;
    Some((chat(event)?, id.to_owned()))
}

/// Reads an event.
pub fn read(event: &Value, frame: Frame<'_>) -> Inbound {
    known(event, frame).unwrap_or_else(|| {
        let raw = frame.redactor.kept(&event.to_string());
        blank(event, What::Unparsed { raw }, frame)
    })
}

fn known(event: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let kind = field::text(event, "type")?;
    let other = |name: &str| What::Other { name: name.to_owned() };
    if field::text(event, "mode") == Some("standby") {
        // Another module of the official account has the word: nothing may be answered.
        let mut inbound = blank(event, other("standby"), frame);
        inbound.reply_window = None;
        return Some(inbound);
    }
    let what = match kind {
        "message" => return message::read(event, blank(event, What::Message, frame), frame),
        "postback" => return Some(postback(event, blank(event, other(kind), frame))),
        "unsend" => return unsend(event, frame),
        "follow" | "join" => What::Opened,
        "unfollow" => What::Closed { reason: "blocked by the person".to_owned() },
        "leave" => What::Closed { reason: "removed from the group".to_owned() },
        kind if field::has(PASSED, kind) => other(kind),
        _ => return None,
    };
    Some(blank(event, what, frame))
}

/// A tap whose data is a command (an owner's rich menu has such) is that command, one on a button of ours is
/// a tap. Any other is not ours and is passed over in silence.
fn postback(event: &Value, mut inbound: Inbound) -> Inbound {
    let data = field::object(event, "postback").and_then(|p| field::text(p, "data"));
    if let Some(command) = data.and_then(text::command) {
        inbound.what = What::Message;
        inbound.addressed = AddressReason::Command;
        inbound.text.clone_from(&command.args);
        inbound.command = Some(command);
        return inbound;
    }
    let Some((question, choice)) = data.and_then(buttons::read) else {
        // Somebody else's button (a rich menu, another flow of the account): not ours to answer.
        inbound.reply_window = None;
        return inbound;
    };
    // The tap's own token answers it; whatever is said first uses it up.
    let handle = inbound.reply_window.as_ref().map(|w| w.token.clone()).unwrap_or_default();
    inbound.what = What::Tap { question, choice, handle };
    inbound
}

/// Somebody takes a message back: what is remembered of it goes, and what is stored of it.
fn unsend(event: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let id = field::text(field::object(event, "unsend")?, "messageId")?;
    frame.known.forget(id);
    let message = Some(MessageRef::new(id));
    Some(Inbound { message, ..blank(event, What::Unsent, frame) })
}

/// Returns an inbound about the event's chat with nothing said yet.
fn blank(event: &Value, what: What, frame: Frame<'_>) -> Inbound {
    let chat = chat(event);
    let (conversation, place) = where_(chat.as_ref(), frame.account);
    let at = field::time(event, "timestamp").unwrap_or(DateTime::UNIX_EPOCH);
    let direct = chat.as_ref().is_none_or(|spot| spot.kind() == "user");
    Inbound {
        title: chat.as_ref().map(|spot| frame.names.title(spot)).unwrap_or_default(),
        order: at.timestamp_millis(),
        at,
        speaker: speaker(event, chat.as_ref(), frame.names),
        audience: if direct { Audience::Direct } else { Audience::Group },
        reply_window: window(event, at, frame),
        ..Inbound::blank(key(event), conversation, place, what)
    }
}

/// LINE's own id of the event, the same when it comes again; else a hash of it without the flag that
/// tells so.
fn key(event: &Value) -> String {
    match field::text(event, "webhookEventId") {
        Some(id) => format!("e:{id}"),
        None => {
            let mut bare = event.clone();
            if let Some(fields) = bare.as_object_mut() {
                fields.remove("deliveryContext");
            }
            format!("h:{}", name_of(&bare.to_string()))
        }
    }
}

fn chat(event: &Value) -> Option<Spot> {
    let source = field::object(event, "source")?;
    let id = match field::text(source, "type")? {
        "group" => field::text(source, "groupId"),
        "room" => field::text(source, "roomId"),
        _ => field::text(source, "userId"),
    };
    Spot::parse(id?)
}

/// An event about no chat is kept in a conversation that no message can come from.
fn where_(chat: Option<&Spot>, account: &AccountId) -> (ConversationId, PlaceId) {
    match chat {
        Some(spot) => (spot.conversation(account), spot.place(account)),
        None => (
            ConversationId::new(account.clone(), "line:none"),
            PlaceId::new(account.clone(), "line:none"),
        ),
    }
}

fn speaker(event: &Value, chat: Option<&Spot>, names: &Names) -> Speaker {
    let user = field::object(event, "source").and_then(|s| field::text(s, "userId"));
    let name = user.zip(chat).map(|(user, chat)| names.person(chat, user));
    Speaker {
        // Some old apps do not tell who speaks in a group.
        id: person(user.unwrap_or("unknown")),
        name: name.unwrap_or_default(),
        username: None,
        is_bot: false,
    }
}

/// The right to answer: a minute from when the webhook is received. An event that comes for the first time
/// counts from its own time when that is earlier, for it may have waited on its way.
fn window(event: &Value, at: DateTime<Utc>, frame: Frame<'_>) -> Option<ReplyWindow> {
    let token = field::text(event, "replyToken")?.to_owned();
    let context = field::object(event, "deliveryContext");
    let again = context.is_some_and(|context| field::is_true(context, "isRedelivery"));
    let from = if again { frame.now } else { at.min(frame.now) };
    let hold_at = Some(from + frame.deadline);
    Some(ReplyWindow { token, until: from + WINDOW, calls: 1, hold_at })
}
