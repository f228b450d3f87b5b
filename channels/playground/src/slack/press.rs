//! Buttons and slash commands: what people press and type at the bot.

use serde_json::{Value, json};

use super::handle::Slack;
use super::world::{Stream, TEAM, Whisper};
use super::{respond, sockets, streams};

/// The app's command.
const COMMAND: &str = "/selkie";

/// A button as it stands under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What stands on it.
    pub label: String,
    /// The app's name for it.
    pub action_id: String,
    /// What the app gets when it is pressed.
    pub value: String,
    block_id: String,
}

impl Slack {
    /// Ends a stream as Slack does by itself after some minutes (`Ended`), or as a person does. Whether it went on.
    pub fn end_stream(&self, channel: &str, ts: &str, end: Stream) -> bool {
        let is_ended = {
            let now = (self.server().now)();
            let mut world = self.server().world();
            let room = world.rooms.get_mut(channel);
            let messages = room.map(|room| room.messages.as_mut_slice()).unwrap_or_default();
            let message = streams::open(messages, ts, now).ok();
            message.map(|message| message.stream = Some(end)).is_some()
        };
        self.server().changed();
        is_ended
    }

    /// The buttons under a message, in order.
    pub fn buttons(&self, channel: &str, ts: &str) -> Vec<Button> {
        let message = self.messages(channel).into_iter().find(|message| message.ts == ts);
        let blocks = message.and_then(|message| message.blocks).unwrap_or_default();
        let actions = blocks.as_array().into_iter().flatten().enumerate();
        let buttons = actions.flat_map(|(n, block)| {
            let elements = block["elements"].as_array().cloned().unwrap_or_default();
            let id = block["block_id"].as_str().map_or_else(|| format!("b{n}"), str::to_owned);
            elements.into_iter().filter_map(move |element| button(&element, &id))
        });
        buttons.collect()
    }

    /// A person presses the button that says `label`; whether there is one.
    pub fn tap(&self, channel: &str, ts: &str, user: &str, label: &str) -> bool {
        let found = self.buttons(channel, ts).into_iter().find(|button| button.label == label);
        match found {
            Some(button) => {
                self.tap_old(channel, ts, user, &button);
                true
            }
            None => false,
        }
    }

    /// A person presses a button that may have gone since they saw it.
    pub fn tap_old(&self, channel: &str, ts: &str, user: &str, button: &Button) {
        let server = self.server();
        let (thread, acted, number) = {
            let mut world = server.world();
            let room = world.rooms.get(channel);
            let message = room.and_then(|room| room.messages.iter().find(|m| m.ts == ts));
            let thread = message.and_then(|message| message.thread.clone());
            (thread, world.next_ts((server.now)()), world.next_number())
        };
        let mut container = json!({
            "type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false,
        });
        if let Some(thread) = thread {
            container["thread_ts"] = json!(thread);
        }
        let payload = json!({
            "type": "block_actions", "api_app_id": "A0PLAY", "team": { "id": TEAM, "domain": "play" },
            "enterprise": null, "is_enterprise_install": false, "channel": { "id": channel },
            "user": { "id": user, "username": user.to_lowercase(), "team_id": TEAM },
            "container": container, "trigger_id": format!("{number}.2.play"),
            "state": { "values": {} }, "response_url": respond::address(server, channel, user),
            "actions": [{
                "type": "button", "action_id": button.action_id, "block_id": button.block_id,
                "value": button.value, "action_ts": acted,
                "text": { "type": "plain_text", "text": button.label, "emoji": true },
            }],
        });
        sockets::deliver(server, "interactive", payload);
    }

    /// A person types a line: `/selkie` begins the app's command, which leaves no message. Returns when, as messages have
    /// it.
    pub fn types(&self, channel: &str, user: &str, line: &str) -> String {
        let command = line.strip_prefix(COMMAND);
        match command.filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            Some(text) => self.slash(channel, user, text.trim()),
            None => self.say(channel, user, line),
        }
    }

    /// A person writes `/selkie text`; returns when.
    pub fn slash(&self, channel: &str, user: &str, text: &str) -> String {
        let server = self.server();
        let (number, ts) = {
            let mut world = server.world();
            (world.next_number(), world.next_ts((server.now)()))
        };
        let payload = json!({
            "team_id": TEAM, "channel_id": channel, "user_id": user, "user_name": user.to_lowercase(),
            "command": COMMAND, "text": text, "trigger_id": format!("{number}.1.play"),
            "response_url": respond::address(server, channel, user),
        });
        sockets::deliver(server, "slash_commands", payload);
        ts
    }

    /// Slack sends the event of a message once more, acknowledged or not.
    pub fn redeliver(&self, channel: &str, ts: &str) {
        let event = self.event(&self.server().world(), channel, ts);
        if let Some(event) = event {
            self.tell(channel, event);
        }
    }

    /// What one person alone was shown in a channel, oldest first.
    pub fn whispers(&self, channel: &str, user: &str) -> Vec<Whisper> {
        let mut all = self.all_whispers(channel);
        all.retain(|whisper| whisper.user == user);
        all
    }

    /// What single people were shown in a channel, oldest first.
    pub fn all_whispers(&self, channel: &str) -> Vec<Whisper> {
        let world = self.server().world();
        let here = |whisper: &&Whisper| whisper.channel == channel;
        world.whispers.iter().filter(here).cloned().collect()
    }
}

fn button(element: &Value, block_id: &str) -> Option<Button> {
    Some(Button {
        label: element.pointer("/text/text")?.as_str()?.to_owned(),
        action_id: element["action_id"].as_str()?.to_owned(),
        value: element["value"].as_str().unwrap_or_default().to_owned(),
        block_id: block_id.to_owned(),
    })
}
