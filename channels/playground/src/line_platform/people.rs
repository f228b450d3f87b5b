//! What people do, as the events that LINE makes of it.

use serde_json::{Value, json};

use super::content::Draft;
use super::demo::{BOT, BOT_NAME};
use super::handle::LinePlatform;
use super::view::{LineMessage, Via};
use super::world::{File, quote_token};

impl LinePlatform {
    /// A person writes; `@selkie` in the text is a mention of the bot. Gives the message's id.
    pub fn say(&self, chat: &str, user: &str, text: &str) -> String {
        self.write(chat, user, text, None)
    }

    /// A person quotes a message.
    pub fn reply(&self, chat: &str, user: &str, quoted: &str, text: &str) -> String {
        self.write(chat, user, text, Some(quoted))
    }

    fn write(&self, chat: &str, user: &str, text: &str, quoted: Option<&str>) -> String {
        let mut message = json!({ "type": "text", "text": text });
        let mentions = mentions(text);
        if !mentions.is_empty() {
            message["mention"] = json!({ "mentionees": mentions });
        }
        if let Some(quoted) = quoted {
            message["quotedMessageId"] = json!(quoted);
        }
        self.post(chat, user, message, text)
    }

    /// A person sends a sticker.
    pub fn sticker(&self, chat: &str, user: &str, keywords: &[&str]) -> String {
        let message = json!({
            "type": "sticker", "packageId": "11537", "stickerId": "52002734",
            "stickerResourceType": "STATIC", "keywords": keywords,
        });
        self.post(chat, user, message, "[sticker]")
    }

    /// A person sends a place.
    pub fn location(&self, chat: &str, user: &str, title: &str) -> String {
        let message = json!({
            "type": "location", "title": title, "address": "1 Quay", "latitude": 58.9, "longitude": -3.3,
        });
        self.post(chat, user, message, "[location]")
    }

    /// A person sends a file.
    pub fn upload(&self, chat: &str, user: &str, draft: Draft) -> String {
        let (kind, mime) = draft.types();
        let mut message = json!({ "type": kind });
        match kind {
            "file" => {
                message["fileName"] = json!(draft.name);
                message["fileSize"] = json!(draft.bytes.len());
            }
            kind => {
                message["contentProvider"] = json!({ "type": "line" });
                if matches!(kind, "audio" | "video") {
                    message["duration"] = json!(13_500);
                }
            }
        }
        let id = self.server.world().next().to_string();
        let file = File {
            bytes: draft.bytes,
            mime: mime.to_owned(),
            preparing: draft.preparing,
            failed: draft.failed,
        };
        self.server.world().files.insert(id.clone(), file);
        message["id"] = json!(id);
        self.post(chat, user, message, &format!("[{kind}]"))
    }

    /// A person takes a message back. Gives the event.
    pub fn unsend(&self, chat: &str, user: &str, message: &str) -> Value {
        let event = json!({ "type": "unsend", "unsend": { "messageId": message } });
        let event = self.complete(chat, Some(user), event);
        self.repeat(&event);
        event
    }

    /// An event comes, once more.
    pub fn repeat(&self, event: &Value) {
        self.server.tell();
        self.server.dispatch(event.clone());
    }

    /// A person taps the button with this label under a message of the bot; the chat shows their words.
    /// Gives the id of these words; `None` when there is no such button, or it is gone: quick replies
    /// stand below the newest message alone.
    pub fn tap(&self, chat: &str, user: &str, message: &str, label: &str) -> Option<String> {
        let messages = self.messages(chat);
        let at = messages.iter().position(|m| m.id == message)?;
        let newest = at + 1 == messages.len();
        let mut buttons = messages[at].buttons.iter();
        let button = buttons.find(|b| b.label == label && (newest || !b.quick))?;
        let now = self.server.stamp();
        let (id, token) = {
            let mut world = self.server.world();
            let id = world.next().to_string();
            let words = LineMessage {
                id: id.clone(),
                from: Some(user.to_owned()),
                text: button.display.clone(),
                quote: None,
                at: now,
                via: Via::Person,
                buttons: Vec::new(),
                answers: None,
            };
            world.chats.get_mut(chat)?.messages.push(words);
            let token = world.token(chat, Some(&id), now);
            (id, token)
        };
        let data = json!({ "data": button.data });
        let event = json!({ "type": "postback", "replyToken": token, "postback": data });
        self.happen(chat, Some(user), event);
        Some(id)
    }

    /// A person taps a button of somebody else's making.
    pub fn postback(&self, chat: &str, user: &str, data: &str) {
        let at = self.server.stamp();
        let token = self.server.world().token(chat, None, at);
        let event =
            json!({ "type": "postback", "replyToken": token, "postback": { "data": data } });
        self.happen(chat, Some(user), event);
    }

    /// The person blocks the bot, or the group removes it.
    pub fn close(&self, chat: &str) {
        self.set_closed(chat, true);
    }

    /// The person adds the bot, or the group does (again).
    pub fn open(&self, chat: &str) {
        self.set_closed(chat, false);
    }

    /// A person leaves a group; nothing tells the bot.
    pub fn leave(&self, chat: &str, user: &str) {
        if let Some(chat) = self.server.world().chats.get_mut(chat) {
            chat.members.retain(|member| member != user);
        }
    }

    fn set_closed(&self, chat: &str, closed: bool) {
        if let Some(chat) = self.server.world().chats.get_mut(chat) {
            chat.closed = closed;
        }
        let person = chat.starts_with('U').then_some(chat);
        let kind = match (person.is_some(), closed) {
            (true, true) => "unfollow",
            (true, false) => "follow",
            (false, true) => "leave",
            (false, false) => "join",
        };
        let mut event = json!({ "type": kind });
        if !closed {
            let at = self.server.stamp();
            event["replyToken"] = json!(self.server.world().token(chat, None, at));
        }
        self.happen(chat, person, event);
    }

    fn post(&self, chat: &str, user: &str, mut message: Value, shown: &str) -> String {
        let now = self.server.stamp();
        let event = {
            let mut world = self.server.world();
            let id = match message["id"].as_str() {
                Some(id) => id.to_owned(),
                None => world.next().to_string(),
            };
            message["id"] = json!(id);
            message["quoteToken"] = json!(quote_token(&id));
            let view = LineMessage {
                id: id.clone(),
                from: Some(user.to_owned()),
                text: shown.to_owned(),
                quote: message["quotedMessageId"].as_str().map(str::to_owned),
                at: now,
                via: Via::Person,
                buttons: Vec::new(),
                answers: None,
            };
            if let Some(chat) = world.chats.get_mut(chat) {
                chat.messages.push(view);
            }
            let token = world.token(chat, Some(&id), now);
            json!({ "type": "message", "replyToken": token, "message": message })
        };
        let id = event["message"]["id"].as_str().unwrap_or_default().to_owned();
        self.happen(chat, Some(user), event);
        id
    }

    /// Fills in what every event has, and hands it to the sender.
    pub(super) fn happen(&self, chat: &str, user: Option<&str>, event: Value) {
        let event = self.complete(chat, user, event);
        if let Some(id) = event["message"]["id"].as_str() {
            self.server.world().events.insert(id.to_owned(), event.clone());
        }
        self.server.tell();
        self.server.dispatch(event);
    }

    /// Fills in what every event has.
    pub fn complete(&self, chat: &str, user: Option<&str>, mut event: Value) -> Value {
        let mut source = match chat.as_bytes().first() {
            Some(b'C') => json!({ "type": "group", "groupId": chat }),
            Some(b'R') => json!({ "type": "room", "roomId": chat }),
            _ => json!({ "type": "user" }),
        };
        if let Some(user) = user {
            source["userId"] = json!(user);
        }
        event["source"] = source;
        event["mode"] = json!("active");
        event["timestamp"] = json!(self.server.stamp().timestamp_millis());
        event["webhookEventId"] = json!(format!("01PLAY{:020}", self.server.world().next()));
        event["deliveryContext"] = json!({ "isRedelivery": false });
        event
    }
}

/// Where the bot's name stands, in UTF-16 units.
fn mentions(text: &str) -> Vec<Value> {
    let found = text.match_indices(BOT_NAME).map(|(at, name)| {
        let index = text[..at].encode_utf16().count();
        json!({
            "index": index, "length": name.len(), "type": "user", "userId": BOT, "isSelf": true,
        })
    });
    found.collect()
}
