//! The handle's other half: settings and faults, and how tests look, wait and count.

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::chat::Spot;
use super::chat::{BotMessage, Content, User};
use super::handle::Telegram;
use super::log::Call;
use super::view::{Event, MessageView};
use super::{Pace, shown};
use crate::delivered::{DeliveredMessage, Keep};
use crate::faults::Fault;

impl Telegram {
    /// Switches the bot's privacy mode in groups.
    pub fn set_privacy_mode(&self, on: bool) {
        self.server.world().privacy_mode = on;
    }

    /// Gives the bot another token, as @BotFather does: the one of before is refused from now on.
    pub fn set_token(&self, token: &str) {
        token.clone_into(&mut self.server.world().token);
        self.server.arrivals.notify_waiters();
    }

    /// Holds or lifts the platform's pace.
    pub fn set_pace(&self, pace: Pace) {
        self.server.set_pace(pace);
    }

    /// Plans a fault.
    pub fn fault(&self, fault: Fault) {
        self.server.faults.add(fault);
    }

    /// Forgets every planned fault.
    pub fn clear_faults(&self) {
        self.server.faults.clear();
    }

    /// Delivers this JSON as an update, with the next number when it brings no `update_id`; gives the number.
    pub fn inject_raw_update(&self, update: Value) -> i64 {
        let now = self.server.now();
        let id = self.server.world().updates.push_raw(update, now);
        self.server.arrivals.notify_waiters();
        id
    }

    /// How many updates wait for their acknowledgement.
    pub fn pending_updates(&self) -> usize {
        self.server.world().updates.len()
    }

    /// The messages of a chat or topic, oldest first.
    pub fn messages(&self, spot: impl Into<Spot>) -> Vec<MessageView> {
        let spot = spot.into();
        let world = self.server.world();
        let Some(chat) = world.chats.get(&spot.chat) else { return vec![] };
        let here = chat.messages().filter(|message| message.draft.thread == spot.thread);
        here.filter_map(|message| shown::message(&world, spot.chat, message.id)).collect()
    }

    /// What the bot answered to a message: linked by reply, else by order in the chat.
    pub fn answers_to(&self, chat: i64, message: i64) -> Vec<MessageView> {
        let world = self.server.world();
        let Some(asked) = world.chats.get(&chat).and_then(|chat| chat.message(message)) else {
            return vec![];
        };
        asked.answers.iter().filter_map(|id| shown::message(&world, chat, *id)).collect()
    }

    /// Counts the answers to each message of the people, oldest first, and whether the answers stand in
    /// the order of what they answer.
    pub fn answer_counts(&self, spot: impl Into<Spot>) -> AnswerCounts {
        let spot = spot.into();
        let world = self.server.world();
        let mut counts = AnswerCounts { answers: vec![], in_order: true };
        let mut last = 0;
        for message in world.chats.get(&spot.chat).iter().flat_map(|chat| chat.messages()) {
            let is_asked = message.draft.from != world.bot.id
                && message.draft.thread == spot.thread
                && !matches!(message.draft.content, Content::Service(_));
            if !is_asked {
                continue;
            }
            counts.answers.push((message.id, message.answers.len()));
            if let Some(first) = message.answers.first() {
                counts.in_order &= *first > last;
                last = *first;
            }
        }
        counts
    }

    /// Waits until some message of the chat fits; looks at once and after every event.
    pub async fn wait_for(
        &self,
        spot: impl Into<Spot>,
        fits: impl Fn(&MessageView) -> bool,
    ) -> MessageView {
        let spot = spot.into();
        let mut events = self.subscribe();
        let found = self.messages(spot).into_iter().find(|message| fits(message));
        if let Some(message) = found {
            return message;
        }
        loop {
            match events.recv().await {
                Ok(event) if (event.chat, event.thread) == (spot.chat, spot.thread) => {
                    if let Some(message) = event.message.filter(|message| fits(message)) {
                        return message;
                    }
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    let found = self.messages(spot).into_iter().find(|message| fits(message));
                    if let Some(message) = found {
                        return message;
                    }
                }
                // The world keeps the sender, and this handle keeps the world.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// Waits until the bot has answered a message; gives the first answer.
    pub async fn wait_for_answer(&self, spot: impl Into<Spot>, message: i64) -> MessageView {
        let spot = spot.into();
        let is_answer = |seen: &MessageView| {
            self.answers_to(spot.chat, message).iter().any(|answer| answer.id == seen.id)
        };
        self.wait_for(spot, is_answer).await
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.server.world().events.subscribe()
    }

    /// Everything the bot says or edits from now on, without loss and without the cost of a view.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<BotMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.server.world().watchers.push(sender);
        receiver
    }

    /// Lets go of old messages, in every chat; gives those of the bot as they stood there, each once.
    pub fn forget(&self, keep: &Keep) -> Vec<DeliveredMessage> {
        let now = self.server.now();
        let mut world = self.server.world();
        let bot = world.bot.id;
        let mut delivered = Vec::new();
        for (id, chat) in &mut world.chats {
            let ours = chat.forget(keep, now).filter(|message| message.draft.from == bot);
            delivered.extend(ours.map(|message| DeliveredMessage {
                place: id.to_string(),
                text: message.draft.text.to_string(),
            }));
        }
        delivered
    }

    /// The calls the bot made, oldest first (the last 10,000; none under load).
    pub fn calls(&self) -> Vec<Call> {
        self.server.log.calls()
    }

    /// How often the bot called a method.
    pub fn counted(&self, method: &str) -> u64 {
        self.server.log.counted(method)
    }

    /// Under load no call is kept, only counted.
    pub fn set_load_mode(&self, load: bool) {
        self.server.log.set_load(load);
    }

    /// A stored file's name and bytes.
    pub fn file(&self, file_id: &str) -> Option<(String, Bytes)> {
        let world = self.server.world();
        world.files.get(file_id).map(|file| (file.name.clone(), file.bytes.clone()))
    }

    /// The bot as the page shows it: id, username, name.
    pub(crate) fn bot(&self) -> Value {
        let world = self.server.world();
        let User { id, username, first_name, .. } = &world.bot;
        json!({ "id": id, "username": username, "name": first_name })
    }

    /// The title and the members' first names of a chat.
    pub(crate) fn describe(&self, chat: i64) -> Option<(String, Vec<String>)> {
        let world = self.server.world();
        let place = world.chats.get(&chat)?;
        let name = |id: &i64| world.users.get(id).map(|user| user.first_name.clone());
        Some((place.title.clone(), place.members.iter().filter_map(name).collect()))
    }

    /// The id of a person with this first name.
    pub(crate) fn person(&self, name: &str) -> Option<i64> {
        let world = self.server.world();
        let mut people = world.users.values().filter(|user| !user.is_bot);
        people.find(|user| user.first_name.eq_ignore_ascii_case(name)).map(|user| user.id)
    }
}

/// How the messages of a chat were answered.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerCounts {
    /// Each message of a person and how many answers it has.
    pub answers: Vec<(i64, usize)>,
    /// Whether the first answers stand in the order of the messages.
    pub in_order: bool,
}

impl AnswerCounts {
    /// Whether each message has exactly one answer, in order.
    pub fn is_clean(&self) -> bool {
        self.in_order && self.answers.iter().all(|(_, count)| *count == 1)
    }
}
