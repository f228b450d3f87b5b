//! What happens when a message is posted, changed or deleted, and who is told.

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};

use super::chat::{BotMessage, Draft};
use super::view::{Event, EventKind};
use super::world::World;
use super::{render, shown};

impl World {
    /// Stores a message, links answers, tells the page and makes the update.
    ///
    /// `None` when the chat does not exist.
    pub(crate) fn post(&mut self, chat_id: i64, draft: Draft, now: DateTime<Utc>) -> Option<i64> {
        let from_bot = draft.from == self.bot.id;
        let chat = self.chats.get_mut(&chat_id)?;
        let thread = draft.thread;
        let reply_to = draft.reply_to;
        let id = chat.push(draft, now);
        if from_bot {
            chat.link_answer(thread, reply_to, id);
        } else if chat.message(id).is_some_and(|message| !message.is_service()) {
            chat.await_answer(thread, id);
        }
        if from_bot {
            self.tell_watchers(chat_id, id);
        } else if self.bot_sees(chat_id, id) {
            let body = render::message(self, chat_id, id);
            self.updates.push("message", &body, now);
        }
        self.emit(EventKind::Message, chat_id, thread, Some(id));
        Some(id)
    }

    /// Tells everybody who watches what the bot said.
    pub(crate) fn tell_watchers(&mut self, chat: i64, message_id: i64) {
        if self.watchers.is_empty() {
            return;
        }
        let Some(message) = self.chats.get(&chat).and_then(|chat| chat.message(message_id)) else {
            return;
        };
        let text = Arc::clone(&message.draft.text);
        let said = BotMessage { chat, message_id, text, at: Instant::now() };
        self.watchers.retain(|watcher| watcher.send(said.clone()).is_ok());
    }

    /// Tells the page and the tests that something happened.
    pub(crate) fn emit(&self, kind: EventKind, chat: i64, thread: Option<i64>, id: Option<i64>) {
        if self.events.receiver_count() == 0 {
            return;
        }
        let message = id.and_then(|id| shown::message(self, chat, id));
        // Nobody listening any more is no error.
        self.events.send(Event { kind, chat, thread, message, text: None }).ok();
    }

    /// Empties a message's slot.
    pub(crate) fn delete(&mut self, chat_id: i64, id: i64) {
        let taken = self.chats.get_mut(&chat_id).and_then(|chat| chat.take(id));
        if let Some(message) = taken {
            self.emit(EventKind::Deleted, chat_id, message.draft.thread, None);
        }
    }
}
