//! The demo's world: Ada and Grace in private, the Tea room, the Workshop with its topic.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::chat::{ChatKind, Draft, Spot, User, topic_created};
use super::world::World;

/// The bot's user id.
pub const BOT_ID: i64 = 8_123_456;
/// The bot's token, of Telegram's form; it is no secret anywhere.
pub const TOKEN: &str = "8123456:PLAYGROUND-demo-token-of-35-letters";
/// Ada Lovelace.
pub const ADA: i64 = 4711;
/// Grace Hopper.
pub const GRACE: i64 = 4712;
/// Linus.
pub const LINUS: i64 = 4713;
/// The first of a crowd of people, for whoever plays many at once; each has a private chat of the same id.
pub const FIRST_PERSON: i64 = 900_000_001;
/// Ada's private chat with the bot.
pub const PRIVATE: Spot = Spot { chat: ADA, thread: None };
/// Grace's private chat with the bot.
pub const HERS: Spot = Spot { chat: GRACE, thread: None };
/// The group "Tea room".
pub const GROUP: Spot = Spot { chat: -100_200_300, thread: None };
/// The topic "Boats" of the forum group "Workshop".
pub const TOPIC: Spot = Spot { chat: -1_001_234_567_890, thread: Some(2) };

/// Builds the world.
pub(crate) fn world(now: DateTime<Utc>) -> World {
    let bot = User {
        id: BOT_ID,
        is_bot: true,
        first_name: "selkie".to_owned(),
        last_name: None,
        username: Some("selkie_demo_bot".to_owned()),
    };
    let mut world = World::new(bot, TOKEN.to_owned());
    for (id, first, last, username) in [
        (ADA, "Ada", Some("Lovelace"), Some("ada")),
        (GRACE, "Grace", Some("Hopper"), Some("grace")),
        (LINUS, "Linus", None, None),
    ] {
        let user = User {
            id,
            is_bot: false,
            first_name: first.to_owned(),
            last_name: last.map(str::to_owned),
            username: username.map(str::to_owned),
        };
        world.users.insert(id, user);
    }
    world.add_chat(PRIVATE.chat, ChatKind::Private, "Ada Lovelace", &[ADA]);
    world.add_chat(HERS.chat, ChatKind::Private, "Grace Hopper", &[GRACE]);
    world.add_chat(GROUP.chat, ChatKind::Group, "Tea room", &[ADA, GRACE, LINUS]);
    world.add_chat(TOPIC.chat, ChatKind::Forum, "Workshop", &[ADA, GRACE, LINUS]);
    add_topic(&mut world, now);
    world.updates.clear();
    world
}

/// Thread 1 is every forum's "General", so the chat's own beginning takes that number; the topic's root is 2.
fn add_topic(world: &mut World, now: DateTime<Utc>) {
    world.post(TOPIC.chat, Draft::service(ADA, json!({ "supergroup_chat_created": true })), now);
    let root = Draft { thread: TOPIC.thread, ..Draft::service(ADA, topic_created("Boats")) };
    let id = world.post(TOPIC.chat, root, now);
    if let (Some(id), Some(chat)) = (id, world.chats.get_mut(&TOPIC.chat)) {
        chat.topics.insert(id, "Boats".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_has_telegrams_form() {
        let (id, secret) = TOKEN.split_once(':').unwrap();
        assert_eq!((id.parse::<i64>().unwrap(), secret.len()), (BOT_ID, 35));
    }

    #[test]
    fn the_topic_stands_where_its_constant_says() {
        let world = world(DateTime::UNIX_EPOCH);
        assert!(world.chats[&TOPIC.chat].has_thread(TOPIC.thread.unwrap()));
        assert_eq!(world.updates.len(), 0);
    }
}
