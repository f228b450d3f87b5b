//! Buttons that are pressed: the callback query, its 60 seconds, and the answer the person reads.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::handle::Telegram;
use super::params::Params;
use super::refusal::Refusal;
use super::view::{Event, EventKind};
use super::world::{Tap, World};
use super::{Server, render};

/// How long a query takes an answer.
const LIFE: TimeDelta = TimeDelta::seconds(60);
/// The most characters of an answer.
const MAX_ANSWER: usize = 200;

/// Who presses what.
struct Press<'a> {
    chat: i64,
    user: i64,
    message: i64,
    data: &'a str,
}

impl Telegram {
    /// A person presses a button that carries `data`, there or not: an old keyboard may still be on a
    /// phone. Gives the callback query's id.
    pub fn press(&self, chat: i64, user: i64, message: i64, data: &str) -> String {
        let now = self.server.now();
        let id = self.server.world().press(&Press { chat, user, message, data }, now);
        self.server.arrivals.notify_waiters();
        id
    }

    /// A person taps the button with this label; `None` when the message has none. Gives the query's id.
    pub fn tap(&self, chat: i64, user: i64, message: i64, label: &str) -> Option<String> {
        let data = self.server.world().button(chat, message, label)?;
        Some(self.press(chat, user, message, &data))
    }

    /// Waits until the bot has answered a tap; gives what the person read, empty for a mere end of waiting.
    pub async fn tap_answer(&self, query: &str) -> String {
        let mut events = self.subscribe();
        loop {
            let answer = self.server.world().taps.get(query).and_then(|tap| tap.answer.clone());
            if let Some(text) = answer {
                return text;
            }
            // The world keeps the sender, and this handle keeps the world.
            if let Err(RecvError::Closed) = events.recv().await {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl World {
    fn press(&mut self, press: &Press<'_>, now: DateTime<Utc>) -> String {
        let &Press { chat, user, message, data } = press;
        let id = format!("{}", 4_382_000_000_000_000_000 + self.next_number());
        let under = self.chats.get(&chat).and_then(|chat| chat.message(message));
        let thread = under.and_then(|under| under.draft.thread);
        let under = match (under, self.chats.get(&chat)) {
            (None, Some(place)) => json!({
                "chat": render::chat(self, place), "message_id": message, "date": 0,
            }),
            _ => render::message(self, chat, message),
        };
        let mut body =
            json!({ "id": id, "chat_instance": format!("{chat}"), "data": data, "message": under });
        if let Some(person) = self.users.get(&user) {
            body["from"] = render::user(person);
        }
        self.taps.insert(id.clone(), Tap { at: now, chat, thread, answer: None });
        self.updates.push("callback_query", &body, now);
        id
    }

    /// What the button with this label carries.
    fn button(&self, chat: i64, message: i64, label: &str) -> Option<String> {
        let markup = self.chats.get(&chat)?.message(message)?.draft.markup.as_ref()?;
        let rows = markup.get("inline_keyboard")?.as_array()?.iter().filter_map(Value::as_array);
        let button = rows.flatten().find(|button| button["text"] == label)?;
        button["callback_data"].as_str().map(str::to_owned)
    }
}

/// `answerCallbackQuery`: once, in time, and short.
pub(crate) fn answer(server: &Server, params: &Params) -> Result<String, Refusal> {
    let id = params.text("callback_query_id").unwrap_or_default();
    let text = params.text("text").unwrap_or_default();
    if text.chars().count() > MAX_ANSWER {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    let now = server.now();
    let mut world = server.world();
    let open = world.taps.get_mut(id.as_ref()).filter(|tap| tap.answer.is_none());
    let Some(tap) = open.filter(|tap| now - tap.at < LIFE) else {
        return Err(Refusal::bad(
            "query is too old and response timeout expired or query ID is invalid",
        ));
    };
    tap.answer = Some(text.clone().into_owned());
    let text = Some(text.into_owned());
    let event = Event {
        kind: EventKind::TapAnswer,
        chat: tap.chat,
        thread: tap.thread,
        message: None,
        text,
    };
    // Nobody listening any more is no error.
    world.events.send(event).ok();
    Ok("true".to_owned())
}
