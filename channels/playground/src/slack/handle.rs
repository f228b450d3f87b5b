//! The handle that plays Slack's people: they say, reply, edit, upload, press; and what goes wrong.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use selkie_channel_core::locked;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::world::{BOT, File, SlackMessage, TEAM, said};
use super::{Server, methods, sockets};
use crate::delivered::{DeliveredMessage, Keep};
use crate::faults::Fault;
use crate::wait::until;

/// What stands where a message was.
const GONE: &str = "This message was deleted.";

/// Plays the people of the emulated Slack. Channels that do not exist are ignored.
#[derive(Clone)]
pub struct Slack {
    server: Arc<Server>,
}

impl Slack {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Tells of everything that happens.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.server.changes.subscribe()
    }

    /// From now on the app is one that is distributed outside of the Marketplace: what was said is handed out to it
    /// fifteen messages at a time, once a minute.
    pub fn distribute(&self) {
        self.server.is_distributed.store(true, Ordering::Relaxed);
    }

    /// A person writes; gives the message's `ts`. A text that names the bot (`<@U0SELKIE>`) comes to it
    /// as both events, in a channel.
    pub fn say(&self, channel: &str, user: &str, text: &str) -> String {
        self.post(channel, said(user, text, None))
    }

    /// A person writes in a thread.
    pub fn reply(&self, channel: &str, user: &str, thread: &str, text: &str) -> String {
        self.post(channel, said(user, text, Some(thread)))
    }

    /// A person uploads a file.
    pub fn upload(&self, channel: &str, user: &str, name: &str, bytes: impl Into<Bytes>) -> String {
        self.share(channel, user, None, file(name, bytes.into()))
    }

    /// A person sends an audio clip that somebody has recorded.
    pub fn clip(&self, channel: &str, user: &str, by: &str, bytes: impl Into<Bytes>) -> String {
        let clip = Some((by.to_owned(), 13_500));
        self.share(channel, user, None, File { clip, ..file("audio_message.webm", bytes.into()) })
    }

    /// A person uploads a file in a thread.
    pub fn upload_below(&self, root: &str, channel: &str, user: &str, name: &str) -> String {
        self.share(channel, user, Some(root), file(name, Bytes::from_static(b"below")))
    }

    fn share(&self, channel: &str, user: &str, thread: Option<&str>, file: File) -> String {
        let id = {
            let mut world = self.server.world();
            let id = format!("F0{:06}", world.next_number());
            world.files.insert(id.clone(), file);
            id
        };
        let mut message = said(user, "", thread);
        message.files.push(id);
        self.post(channel, message)
    }

    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    fn post(&self, channel: &str, message: SlackMessage) -> String {
        let (ts, event) = {
            let mut world = self.server.world();
            let ts = world.post(channel, message, (self.server.now)());
            (ts.clone(), self.event(&world, channel, &ts))
        };
        self.server.changed();
        if let Some(event) = event {
            self.tell(channel, event);
        }
        ts
    }

    pub(super) fn event(
        &self,
        world: &super::world::World,
        channel: &str,
        ts: &str,
    ) -> Option<Value> {
        let room = world.rooms.get(channel).filter(|room| room.has_bot)?;
        let message = room.messages.iter().rev().find(|message| message.ts == ts)?;
        let mut event = world.render(message, &self.server.base);
        event["channel"] = json!(channel);
        event["channel_type"] = json!(room.kind);
        event["event_ts"] = json!(ts);
        if !message.files.is_empty() {
            event["subtype"] = json!("file_share");
        }
        let root = message.thread.as_ref();
        let root = root.and_then(|root| room.messages.iter().find(|m| m.ts == *root));
        if let Some(root) = root {
            event["parent_user_id"] = json!(root.user);
        }
        Some(event)
    }

    /// Sends the event, and its `app_mention` twin where the bot is named.
    pub(super) fn tell(&self, channel: &str, event: Value) {
        let named = event["text"].as_str().is_some_and(|text| text.contains(&format!("<@{BOT}>")));
        let twin = (named && !channel.starts_with('D')).then(|| mention_of(&event));
        for event in std::iter::once(event).chain(twin) {
            self.deliver(event);
        }
    }

    /// Sends an event over a socket.
    pub(super) fn deliver(&self, event: Value) {
        let number = self.server.world().next_number();
        let payload = json!({
            "team_id": TEAM, "api_app_id": "A0PLAY", "type": "event_callback",
            "event_id": format!("Ev{number}"), "event": event,
            "authorizations": [{
                "enterprise_id": null, "team_id": TEAM, "user_id": BOT, "is_bot": true,
                "is_enterprise_install": false,
            }],
        });
        sockets::deliver(&self.server, "events_api", payload);
    }

    /// A person edits a message of theirs; where the bot is named, `app_mention` fires once more.
    pub fn edit(&self, channel: &str, ts: &str, text: &str) {
        let (changed, again) = {
            let mut world = self.server.world();
            let edited = world.next_ts((self.server.now)());
            let room = world.rooms.get_mut(channel);
            let messages = room.map(|room| &mut room.messages);
            let message = messages.and_then(|m| m.iter_mut().find(|message| message.ts == ts));
            let Some(message) = message else { return };
            let previous = std::mem::replace(&mut message.text, text.to_owned());
            message.edited = Some(edited.clone());
            let Some(event) = self.event(&world, channel, ts) else { return };
            let changed = json!({
                "type": "message", "subtype": "message_changed", "channel": channel,
                "channel_type": event["channel_type"], "ts": edited, "message": event,
                "previous_message": { "ts": ts, "text": previous },
            });
            (changed, event)
        };
        self.server.changed();
        self.deliver(changed);
        if text.contains(&format!("<@{BOT}>")) && !channel.starts_with('D') {
            self.deliver(mention_of(&again));
        }
    }

    /// A person takes a message of theirs away; a stone stays where others have answered below it. Gives the event.
    pub fn delete(&self, channel: &str, ts: &str) -> Option<Value> {
        let event = {
            let mut world = self.server.world();
            let at = world.next_ts((self.server.now)());
            let room = world.rooms.get_mut(channel)?;
            let index = room.messages.iter().position(|m| m.ts == ts)?;
            let has_thread = room.messages.iter().any(|m| m.thread.as_deref() == Some(ts));
            let gone = room.messages[index].clone();
            let mut event = json!({
                "type": "message", "channel": channel, "channel_type": room.kind, "hidden": true,
                "ts": at, "event_ts": at,
                "previous_message": { "ts": ts, "user": gone.user, "text": gone.text, "thread_ts": gone.thread },
            });
            if has_thread {
                let stone = &mut room.messages[index];
                (stone.user, stone.text) = ("USLACKBOT".to_owned(), GONE.to_owned());
                stone.files.clear();
                event["subtype"] = json!("message_changed");
                event["message"] = json!({
                    "type": "message", "subtype": "tombstone", "user": stone.user, "text": GONE,
                    "hidden": true, "ts": ts, "thread_ts": ts,
                });
            } else {
                room.messages.remove(index);
                event["subtype"] = json!("message_deleted");
                event["deleted_ts"] = json!(ts);
            }
            event
        };
        self.server.changed();
        self.deliver(event.clone());
        Some(event)
    }

    /// An event comes once more.
    pub fn repeat(&self, event: &Value) {
        self.deliver(event.clone());
    }

    /// Slack shows what a link in a message leads to: `message_changed`, and the text is as it was.
    pub fn unfurl(&self, channel: &str, ts: &str) {
        let changed = {
            let mut world = self.server.world();
            let at = world.next_ts((self.server.now)());
            let Some(mut event) = self.event(&world, channel, ts) else { return };
            event["attachments"] = json!([{ "title": "The page behind the link" }]);
            json!({
                "type": "message", "subtype": "message_changed", "channel": channel,
                "channel_type": event["channel_type"], "ts": at, "event_ts": at, "hidden": true,
                "previous_message": { "ts": ts, "text": event["text"] }, "message": event,
            })
        };
        self.deliver(changed);
    }

    /// Calls a method as the bot, beside its own program.
    ///
    /// # Errors
    /// Slack's word.
    pub fn as_bot(&self, method: &str, params: &Value) -> Result<Value, String> {
        let done = methods::run(&self.server, method, params);
        self.server.changed();
        done.map_err(|refusal| refusal.word())
    }

    /// A person shares a file of another workspace: the event is a stub, Slack tells more when asked.
    pub fn share_from_elsewhere(
        &self,
        channel: &str,
        user: &str,
        name: &str,
        bytes: impl Into<Bytes>,
    ) -> String {
        self.share(channel, user, None, File { elsewhere: true, ..file(name, bytes.into()) })
    }

    /// The messages of a channel, oldest first.
    pub fn messages(&self, channel: &str) -> Vec<SlackMessage> {
        let world = self.server.world();
        world.rooms.get(channel).map(|room| room.messages.clone()).unwrap_or_default()
    }

    /// What the bot said after a message, in its thread where it is in a channel.
    pub fn answers(&self, channel: &str, ts: &str) -> Vec<SlackMessage> {
        let messages = self.messages(channel);
        let asked = messages.iter().find(|message| message.ts == ts);
        let thread = match channel.starts_with('D') {
            true => asked.and_then(|message| message.thread.clone()),
            false => asked.map(|m| m.thread.clone().unwrap_or_else(|| ts.to_owned())),
        };
        let ours = |m: &SlackMessage| m.is_bots() && m.ts.as_str() > ts && m.thread == thread;
        messages.into_iter().filter(ours).collect()
    }

    /// Waits until something is there.
    pub async fn wait_until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        until(self.changes(), || look(self)).await
    }

    /// Waits for the bot's first answer to a message.
    pub async fn wait_for_answer(&self, channel: &str, ts: &str) -> SlackMessage {
        self.wait_until(|slack| slack.answers(channel, ts).into_iter().next()).await
    }

    /// Everything the bot says or changes from now on, without loss and without the cost of a look.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<DeliveredMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.server.world().watchers.push(sender);
        receiver
    }

    /// Lets go of old messages, in every channel; gives those of the bot as they stood there, each once.
    pub fn forget(&self, keep: &Keep) -> Vec<DeliveredMessage> {
        let now = (self.server.now)();
        self.server.world().forget(keep, now)
    }

    /// Under load no call is kept.
    pub fn set_load_mode(&self, load: bool) {
        self.server.is_loaded.store(load, Ordering::Relaxed);
        if load {
            locked(&self.server.calls).clear();
        }
    }

    /// A stored file's bytes.
    pub fn file(&self, id: &str) -> Option<Bytes> {
        self.server.world().files.get(id).and_then(|file| file.bytes.clone())
    }

    /// A file's name.
    pub fn file_name(&self, id: &str) -> Option<String> {
        self.server.world().files.get(id).map(|file| file.name.clone())
    }

    /// The signs of life that were shown: channel, thread, words.
    pub fn signs(&self) -> Vec<(String, String, String)> {
        self.server.world().signs.clone()
    }

    /// How often the bot called a method.
    pub fn counted(&self, method: &str) -> usize {
        self.calls(method).len()
    }

    /// The parameters of the bot's calls of a method, oldest first.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let calls = locked(&self.server.calls);
        calls.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }

    /// Sockets that are open now, and the most that ever were at once.
    pub fn sockets(&self) -> (usize, usize) {
        let sockets = self.server.sockets();
        (sockets.count(), sockets.most)
    }

    /// Envelopes that were acknowledged, and those that wait for it.
    pub fn envelopes(&self) -> (u64, usize) {
        let sockets = self.server.sockets();
        (sockets.acknowledged, sockets.waiting.len())
    }

    /// After how long an event without acknowledgement is sent again (Slack: three seconds).
    pub fn set_redelivery(&self, after: Duration) {
        *locked(&self.server.redeliver_after) = after;
    }

    /// Tells every socket that it will be closed: `warning`, `refresh_requested`, `link_disabled`.
    pub fn disconnect(&self, reason: &str) {
        self.server.sockets().disconnect(reason);
    }

    /// Closes every socket without a word.
    pub fn cut_sockets(&self) {
        self.server.sockets().cut();
    }

    /// Plans a fault.
    pub fn fault(&self, fault: Fault) {
        self.server.faults.add(fault);
    }

    /// Forgets all planned faults.
    pub fn clear_faults(&self) {
        self.server.faults.clear();
    }

    /// Archives a channel, or opens it again.
    pub fn set_archived(&self, channel: &str, archived: bool) {
        if let Some(room) = self.server.world().rooms.get_mut(channel) {
            room.archived = archived;
        }
    }

    /// Takes the bot out of a channel, or brings it back.
    pub fn set_member(&self, channel: &str, member: bool) {
        if let Some(room) = self.server.world().rooms.get_mut(channel) {
            room.has_bot = member;
        }
    }

    /// Takes a scope from the app.
    pub fn remove_scope(&self, scope: &str) {
        self.server.world().missing_scopes.insert(scope.to_owned());
    }

    /// Revokes both tokens.
    pub fn revoke(&self) {
        self.server.world().revoked = true;
    }
}

/// The `app_mention` beside a message: it tells neither the kind of channel nor whose thread it is.
fn mention_of(event: &Value) -> Value {
    let mut twin = event.clone();
    twin["type"] = json!("app_mention");
    if let Some(fields) = twin.as_object_mut() {
        fields.remove("channel_type");
        fields.remove("parent_user_id");
        fields.remove("subtype");
    }
    twin
}

/// A file of this workspace.
fn file(name: &str, bytes: Bytes) -> File {
    let length = bytes.len() as u64;
    let name = name.to_owned();
    File { name, length, bytes: Some(bytes), shared: Vec::new(), elsewhere: false, clip: None }
}
