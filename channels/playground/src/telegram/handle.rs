//! The handle that plays Telegram's people: they say, reply, edit, upload, press, block.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::chat::{ChatKind, Content, Draft, FileKind, Spot, User};
use super::view::EventKind;
use super::{Server, entities, render};

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
    /// Seconds that a voice note plays.
    pub seconds: u32,
    /// The message that it replies to.
    pub reply_to: Option<i64>,
}

impl FileDraft {
    /// A file without caption.
    pub fn new(kind: FileKind, name: &str, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let name = name.to_owned();
        let caption = String::new();
        Self { kind, name, bytes, caption, told_size: None, seconds: 1, reply_to: None }
    }
}

/// Plays the people of the emulated Telegram. Ids that do not exist are ignored and give 0.
#[derive(Clone)]
pub struct Telegram {
    pub(super) server: Arc<Server>,
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

    /// Takes everything that was said in a chat off its screen; its bot is told nothing.
    pub fn clear(&self, spot: impl Into<Spot>) {
        if let Some(chat) = self.server.world().chats.get_mut(&spot.into().chat) {
            chat.clear();
        }
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

    /// A person sends something without words: `fields` as the message has them, `{"dice": {…}}`.
    pub fn share(&self, spot: impl Into<Spot>, user: i64, fields: Value) -> i64 {
        let spot = spot.into();
        let text = Draft::text(user, spot.thread, "");
        self.post(spot, Draft { content: Content::Thing(fields), ..text })
    }

    /// Somebody deletes a topic of a forum.
    pub fn delete_topic(&self, chat: i64, thread: i64) {
        if let Some(place) = self.server.world().chats.get_mut(&chat) {
            place.topics.remove(&thread);
        }
    }

    /// The commands that people are offered in a scope: `all_private_chats`.
    pub fn commands(&self, scope: &str) -> Vec<String> {
        let world = self.server.world();
        let list = world.commands.get(&format!("{scope}/")).and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(|command| command["command"].as_str());
        names.map(str::to_owned).collect()
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
            if let Some(stored) = world.files.get_mut(&file_id) {
                stored.size = file.told_size.unwrap_or(stored.size);
                stored.seconds = file.seconds;
            }
            file_id
        };
        let entities = entities::detect(&file.caption);
        let text = Draft::text(user, spot.thread, &file.caption);
        let content = Content::File(file_id);
        let reply_to = file.reply_to;
        self.post(spot, Draft { content, entities, album, reply_to, ..text })
    }

    /// The person blocks the bot, or the group kicks it.
    pub fn close(&self, chat: i64) {
        self.set_closed(chat, true);
    }

    /// The person unblocks the bot, or the group adds it again.
    pub fn reopen(&self, chat: i64) {
        self.set_closed(chat, false);
    }

    /// The group makes the bot an administrator.
    pub fn promote(&self, chat: i64) {
        if let Some(place) = self.server.world().chats.get_mut(&chat) {
            place.bot_is_admin = true;
        }
        self.tell_membership(chat, "member", "administrator");
    }

    fn set_closed(&self, chat: i64, closed: bool) {
        if let Some(place) = self.server.world().chats.get_mut(&chat) {
            (place.closed, place.bot_is_admin) = (closed, false);
        }
        let (old, new) = if closed { ("member", "kicked") } else { ("kicked", "member") };
        self.tell_membership(chat, old, new);
    }

    /// Tells the bot what it is in a chat now.
    fn tell_membership(&self, chat: i64, old: &str, new: &str) {
        let now = self.server.now();
        {
            let mut world = self.server.world();
            let Some(place) = world.chats.get(&chat) else { return };
            let by = place.members.first().copied().unwrap_or_default();
            let mut body = json!({
                "chat": render::chat(&world, place), "date": now.timestamp(),
                "old_chat_member": render::member(&world.bot, old),
                "new_chat_member": render::member(&world.bot, new),
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
            let title = place.title.clone();
            let members = place.members.clone();
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
}
