//! People's reactions, and the events by which the bot learns of them.

use serde_json::json;

use super::handle::Slack;
use super::methods::is_emoji;
use super::world::is_person;

/// Where a message stands.
#[derive(Clone, Copy)]
struct At<'a> {
    channel: &'a str,
    ts: &'a str,
}

impl Slack {
    /// A person puts an emoji (`eyes`) on a message; gives whether Slack takes it. Once is enough: a second
    /// time it stands there already.
    pub fn react(&self, channel: &str, user: &str, ts: &str, name: &str) -> bool {
        is_person(user) && is_emoji(name) && self.mark(At { channel, ts }, user, name, true)
    }

    /// A person takes an emoji of theirs away; gives whether it was there.
    pub fn unreact(&self, channel: &str, user: &str, ts: &str, name: &str) -> bool {
        self.mark(At { channel, ts }, user, name, false)
    }

    fn mark(&self, at: At<'_>, user: &str, name: &str, stands: bool) -> bool {
        let At { channel, ts } = at;
        let event = {
            let mut world = self.server().world();
            let event_ts = world.next_ts((self.server().now)());
            // The event needs a scope of its own, and goes to members alone.
            let told = !world.missing_scopes.contains("reactions:read");
            let Some(room) = world.rooms.get_mut(channel) else { return false };
            let told = told && room.has_bot;
            let mut messages = room.messages.iter_mut();
            let Some(message) = messages.find(|message| message.ts == ts) else { return false };
            let mark = (name.to_owned(), user.to_owned());
            if message.reactions.contains(&mark) == stands {
                return false;
            }
            match stands {
                true => message.reactions.push(mark),
                false => message.reactions.retain(|known| *known != mark),
            }
            let kind = if stands { "reaction_added" } else { "reaction_removed" };
            told.then(|| {
                json!({
                    "type": kind, "user": user, "reaction": name, "item_user": message.user,
                    "item": { "type": "message", "channel": channel, "ts": ts }, "event_ts": event_ts,
                })
            })
        };
        self.server().changed();
        if let Some(event) = event {
            self.deliver(event);
        }
        true
    }
}
