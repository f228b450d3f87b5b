//! The handle that plays Telegram's people: they say, reply, edit, upload, press, block; tests wait and count.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::log::Call;
use super::view::{Event, EventKind, MessageView};
use super::world::{ChatKind, Content, Draft, FileKind, Said, User};
use super::{Fault, Pace, Server, entities, render, view};

/// A chat, or one topic of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The chat's id.
    pub chat: i64,
    /// The topic's root message.
    pub thread: Option<i64>,
}

impl From<i64> for Spot {
    fn from(chat: i64) -> Self {
        Self { chat, thread: None }
    }
}

/// A file a person uploads.
#[derive(Clone, Debug)]
pub struct FileDraft {
    /// Document, photo or voice.
    pub kind: FileKind,
    /// The name.
    pub name: String,
    /// The bytes.
    pub bytes: Bytes,
    /// The text under it; empty for none.
    pub caption: String,
    /// The size the platform tells, where it should differ from the bytes.
    pub told_size: Option<u64>,
}

impl FileDraft {
    /// A file without caption.
    pub fn new(kind: FileKind, name: &str, bytes: impl Into<Bytes>) -> Self {
        let (name, bytes) = (name.to_owned(), bytes.into());
        Self { kind, name, bytes, caption: String::new(), told_size: None }
    }
}

/// Plays the people of the emulated Telegram. Ids that do not exist are ignored and give 0.
#[derive(Clone)]
pub struct Telegram {
    server: Arc<Server>,
}

impl Telegram {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// A person writes; gives the message's id.
    pub fn say(&self, spot: impl Into<Spot>, user: i64, text: &str) -> i64 {
        self.write(spot.into(), user, text, None)
    }

    /// A person replies to a message.
    pub fn reply(&self, spot: impl Into<Spot>, user: i64, to: i64, text: &str) -> i64 {
        self.write(spot.into(), user, text, Some(to))
    }

    fn write(&self, spot: Spot, user: i64, text: &str, reply_to: Option<i64>) -> i64 {
        let entities = entities::detect(text);
        self.post(spot, Draft { entities, reply_to, ..Draft::text(user, spot.thread, text) })
    }

    fn post(&self, spot: Spot, draft: Draft) -> i64 {
        let now = self.server.now();
        let id = self.server.world().post(spot.chat, draft, now);
        self.server.arrivals.notify_waiters();
        id.unwrap_or(0)
    }

    /// A person edits a text of theirs; whether there was one.
    pub fn edit(&self, chat: i64, message: i64, text: &str) -> bool {
        let now = self.server.now();
        {
            let mut world = self.server.world();
            let bot = world.bot.id;
            let place = world.chats.get_mut(&chat);
            let Some(target) = place.and_then(|chat| chat.message_mut(message)) else {
                return false;
            };
            if target.draft.from == bot {
                return false;
            }
            target.draft.text = text.into();
            target.draft.entities = entities::detect(text);
            target.edited = Some(now);
            let thread = target.draft.thread;
            if world.bot_sees(chat, message) {
                let body = render::message(&world, chat, message);
                world.updates.push("edited_message", &body, now);
            }
            world.emit(EventKind::Edited, chat, thread, Some(message));
        }
        self.server.arrivals.notify_waiters();
        true
    }

    /// A person uploads a file.
    pub fn upload(&self, spot: impl Into<Spot>, user: i64, file: FileDraft) -> i64 {
        self.upload_into(spot.into(), user, file, None)
    }

    /// A person uploads several files as one album.
    pub fn album(&self, spot: impl Into<Spot>, user: i64, files: Vec<FileDraft>) -> Vec<i64> {
        let spot = spot.into();
        let album = format!("1400{:013}", self.server.world().next_number());
        let upload = |file| self.upload_into(spot, user, file, Some(album.clone()));
        files.into_iter().map(upload).collect()
    }

    fn upload_into(&self, spot: Spot, user: i64, file: FileDraft, album: Option<String>) -> i64 {
        let file_id = {
            let mut world = self.server.world();
            let file_id = world.store_file(file.kind, &file.name, file.bytes);
            if let (Some(size), Some(stored)) = (file.told_size, world.files.get_mut(&file_id)) {
                stored.size = size;
            }
            file_id
        };
        let entities = entities::detect(&file.caption);
        let text = Draft::text(user, spot.thread, &file.caption);
        self.post(spot, Draft { content: Content::File(file_id), entities, album, ..text })
    }

    /// A person puts a reaction on a message (the bot learns of it only if it asked for the kind).
    pub fn react(&self, chat: i64, user: i64, message: i64, emoji: &str) {
        let now = self.server.now();
        {
            let mut world = self.server.world();
            let place = world.chats.get_mut(&chat);
            let Some(target) = place.and_then(|chat| chat.message_mut(message)) else { return };
            target.reactions.push((emoji.to_owned(), user));
            let thread = target.draft.thread;
            let (Some(place), Some(person)) = (world.chats.get(&chat), world.users.get(&user))
            else {
                return;
            };
            let body = json!({
                "chat": render::chat(&world, place), "message_id": message,
                "user": render::user(person), "date": now.timestamp(),
                "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": emoji}],
            });
            world.updates.push("message_reaction", &body, now);
            world.emit(EventKind::Reaction, chat, thread, Some(message));
        }
        self.server.arrivals.notify_waiters();
    }

    /// A person presses a button; gives the callback query's id.
    pub fn press(&self, chat: i64, user: i64, message: i64, data: &str) -> String {
        let now = self.server.now();
        let id = {
            let mut world = self.server.world();
            let id = format!("{}", 4_382_000_000_000_000_000 + world.next_number());
            let mut body = json!({
                "id": id, "chat_instance": format!("{chat}"), "data": data,
                "message": render::message(&world, chat, message),
            });
            if let Some(person) = world.users.get(&user) {
                body["from"] = render::user(person);
            }
            world.callbacks.insert(id.clone(), now);
            world.updates.push("callback_query", &body, now);
            id
        };
        self.server.arrivals.notify_waiters();
        id
    }

    /// The person blocks the bot, or the group kicks it.
    pub fn close(&self, chat: i64) {
        self.set_closed(chat, true);
    }

    /// The person unblocks the bot, or the group adds it again.
    pub fn reopen(&self, chat: i64) {
        self.set_closed(chat, false);
    }

    fn set_closed(&self, chat: i64, closed: bool) {
        let now = self.server.now();
        {
            let mut world = self.server.world();
            let Some(place) = world.chats.get_mut(&chat) else { return };
            place.closed = closed;
            let by = place.members.first().copied().unwrap_or_default();
            let (old, new) = if closed { ("member", "kicked") } else { ("kicked", "member") };
            let Some(place) = world.chats.get(&chat) else { return };
            let bot = render::user(&world.bot);
            let status = |status: &str| match status {
                "kicked" => json!({ "status": "kicked", "user": bot, "until_date": 0 }),
                other => json!({ "status": other, "user": bot }),
            };
            let mut body = json!({
                "chat": render::chat(&world, place), "date": now.timestamp(),
                "old_chat_member": status(old), "new_chat_member": status(new),
            });
            if let Some(person) = world.users.get(&by) {
                body["from"] = render::user(person);
            }
            world.updates.push("my_chat_member", &body, now);
        }
        self.server.arrivals.notify_waiters();
    }

    /// The group becomes a supergroup with this id.
    pub fn migrate(&self, chat: i64, to: i64) {
        let by = {
            let mut world = self.server.world();
            let Some(place) = world.chats.get_mut(&chat) else { return };
            place.moved_to = Some(to);
            let (title, members) = (place.title.clone(), place.members.clone());
            world.add_chat(to, ChatKind::Supergroup, &title, &members);
            members.first().copied().unwrap_or_default()
        };
        self.post(chat.into(), Draft::service(by, json!({ "migrate_to_chat_id": to })));
        self.post(to.into(), Draft::service(by, json!({ "migrate_from_chat_id": chat })));
    }

    /// Adds a person and their private chat with the bot.
    pub fn add_person(&self, id: i64, name: &str) -> Spot {
        let mut world = self.server.world();
        let user = User {
            id,
            is_bot: false,
            first_name: name.to_owned(),
            last_name: None,
            username: None,
        };
        world.users.insert(id, user);
        if !world.chats.contains_key(&id) {
            world.add_chat(id, ChatKind::Private, name, &[id]);
        }
        id.into()
    }

    /// Switches the bot's privacy mode in groups.
    pub fn set_privacy_mode(&self, on: bool) {
        self.server.world().privacy_mode = on;
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
        here.filter_map(|message| view::message(&world, spot.chat, message.id)).collect()
    }

    /// What the bot answered to a message: linked by reply, else by order in the chat.
    pub fn answers_to(&self, chat: i64, message: i64) -> Vec<MessageView> {
        let world = self.server.world();
        let Some(asked) = world.chats.get(&chat).and_then(|chat| chat.message(message)) else {
            return vec![];
        };
        asked.answers.iter().filter_map(|id| view::message(&world, chat, *id)).collect()
    }

    /// Counts the answers to each message of the people, oldest first, and whether the answers stand in
    /// the order of what they answer.
    pub fn tally(&self, spot: impl Into<Spot>) -> Tally {
        let spot = spot.into();
        let world = self.server.world();
        let mut tally = Tally { answers: vec![], in_order: true };
        let mut last = 0;
        for message in world.chats.get(&spot.chat).iter().flat_map(|chat| chat.messages()) {
            let is_asked = message.draft.from != world.bot.id
                && message.draft.thread == spot.thread
                && !matches!(message.draft.content, Content::Service(_));
            if !is_asked {
                continue;
            }
            tally.answers.push((message.id, message.answers.len()));
            if let Some(first) = message.answers.first() {
                tally.in_order &= *first > last;
                last = *first;
            }
        }
        tally
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
    pub fn watch(&self) -> mpsc::UnboundedReceiver<Said> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.server.world().watchers.push(sender);
        receiver
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
pub struct Tally {
    /// Each message of a person and how many answers it has.
    pub answers: Vec<(i64, usize)>,
    /// Whether the first answers stand in the order of the messages.
    pub in_order: bool,
}

impl Tally {
    /// Whether each message has exactly one answer, in order.
    pub fn is_clean(&self) -> bool {
        self.in_order && self.answers.iter().all(|(_, count)| *count == 1)
    }
}
