//! Reactions: the bot's, checked as the Bot API checks them, and people's, of which a bot may learn.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::chat::{Chat, ChatKind};
use super::handle::Telegram;
use super::params::Params;
use super::refusal::Refusal;
use super::view::EventKind;
use super::world::World;
use super::{Server, render, target};

/// The platform's list, without variation selectors.
const REACTIONS: &str = "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u{200d}🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨\u{200d}💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u{200d}♂ 🤷 🤷\u{200d}♀ 😡";

/// Who reacts to what.
#[derive(Clone, Copy)]
struct ReactionActor {
    chat: i64,
    user: i64,
    message: i64,
}

impl Telegram {
    /// A person puts a reaction on a message in place of the one they had there; `None` takes it away.
    /// Gives whether they may: the message is there, they are too, and Telegram has the emoji. The bot
    /// learns of it if it asked for `message_reaction` and, in a group, is an administrator.
    pub fn react(&self, chat: i64, user: i64, message: i64, emoji: Option<&str>) -> bool {
        let now = self.server.now();
        let done = self.server.world().react(ReactionActor { chat, user, message }, emoji, now);
        self.server.arrivals.notify_waiters();
        done
    }
}

impl World {
    fn react(&mut self, who: ReactionActor, emoji: Option<&str>, now: DateTime<Utc>) -> bool {
        let new: Vec<String> = emoji.map(plain).into_iter().collect();
        if !new.iter().all(|emoji| is_known(emoji)) {
            return false;
        }
        let Some(old) = self.replace_reaction(who, &new) else { return false };
        if old == new {
            return true;
        }
        let place = self.chats.get(&who.chat);
        if place.is_some_and(tells_reactions) {
            let body = self.reaction_changed(who, &old, &new, now);
            self.updates.push("message_reaction", &body, now);
        }
        let place = self.chats.get(&who.chat).and_then(|chat| chat.message(who.message));
        let thread = place.and_then(|message| message.draft.thread);
        self.emit(EventKind::Reaction, who.chat, thread, Some(who.message));
        true
    }

    /// Gives what the person had there; `None` where they cannot react.
    fn replace_reaction(&mut self, who: ReactionActor, new: &[String]) -> Option<Vec<String>> {
        let place = self.chats.get_mut(&who.chat)?;
        if !place.members.contains(&who.user) {
            return None;
        }
        let reactions = &mut place.message_mut(who.message)?.reactions;
        let own = reactions.iter().filter(|(_, by)| *by == who.user);
        let old = own.map(|(emoji, _)| emoji.clone()).collect();
        reactions.retain(|(_, by)| *by != who.user);
        reactions.extend(new.iter().map(|emoji| (emoji.clone(), who.user)));
        Some(old)
    }

    /// A `MessageReactionUpdated`: the reactions of this one person before and after.
    fn reaction_changed(
        &self,
        who: ReactionActor,
        old: &[String],
        new: &[String],
        now: DateTime<Utc>,
    ) -> Value {
        let types = |all: &[String]| -> Value {
            all.iter().map(|emoji| json!({ "type": "emoji", "emoji": emoji })).collect()
        };
        let mut body = json!({
            "message_id": who.message, "date": now.timestamp(),
            "old_reaction": types(old), "new_reaction": types(new),
        });
        if let Some(place) = self.chats.get(&who.chat) {
            body["chat"] = render::chat(self, place);
        }
        if let Some(person) = self.users.get(&who.user) {
            body["user"] = render::user(person);
        }
        body
    }
}

/// Whether a bot that asks for reactions gets those of this chat.
fn tells_reactions(chat: &Chat) -> bool {
    !chat.closed && (chat.kind == ChatKind::Private || chat.bot_is_admin)
}

/// `setMessageReaction`.
pub(super) fn set(server: &Server, params: &Params) -> Result<String, Refusal> {
    let mut world = server.world();
    let bot = world.bot.id;
    let chat = target::chat(&world, params)?;
    let message = target::message(chat, params, "message to react not found")?;
    let chat = chat.id;
    let id = message.id;
    let thread = message.draft.thread;
    let wanted = params.json("reaction")?.unwrap_or_else(|| json!([]));
    let wanted = wanted.as_array().ok_or_else(|| Refusal::bad("REACTION_INVALID"))?;
    let emoji = match wanted.as_slice() {
        [] => None,
        [one] => Some(known_emoji(one)?),
        _ => return Err(Refusal::bad("REACTIONS_TOO_MANY")),
    };
    if let Some(message) = world.chats.get_mut(&chat).and_then(|chat| chat.message_mut(id)) {
        message.reactions.retain(|(_, by)| *by != bot);
        message.reactions.extend(emoji.map(|emoji| (emoji, bot)));
    }
    world.emit(EventKind::Reaction, chat, thread, Some(id));
    Ok("true".to_owned())
}

/// The emoji of a `ReactionTypeEmoji`, if a bot may use it.
fn known_emoji(reaction: &Value) -> Result<String, Refusal> {
    let invalid = || Refusal::bad("REACTION_INVALID");
    if reaction["type"] != "emoji" {
        return Err(invalid());
    }
    let emoji = reaction["emoji"].as_str().ok_or_else(invalid)?;
    Some(plain(emoji)).filter(|emoji| is_known(emoji)).ok_or_else(invalid)
}

fn plain(emoji: &str) -> String {
    emoji.replace('\u{fe0f}', "")
}

fn is_known(plain: &str) -> bool {
    REACTIONS.split(' ').any(|known| known == plain)
}
