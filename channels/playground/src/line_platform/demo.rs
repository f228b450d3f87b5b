//! The demo's people, group and bot.

use std::collections::BTreeMap;

use super::world::{Chat, World};

/// The bot's channel access token.
pub const ACCESS_TOKEN: &str = "playground+line/access/token/7Zx0QmP4sV9aK2dB6nW8cE1yT5uJ3hF=";
/// The channel secret, by which webhooks are signed.
pub const SECRET: &str = "3f9c1d7a5b2e4860c8d1f6a7b9e0d2c4";
/// The bot's user id.
pub const BOT: &str = "Ub0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";
/// How people write its name.
pub const BOT_NAME: &str = "@selkie";
/// Ada; also her chat with the bot.
pub const ADA: &str = "Uada00000000000000000000000000001";
/// Grace.
pub const GRACE: &str = "Uace00000000000000000000000000002";
/// Linus.
pub const LINUS: &str = "Ubed00000000000000000000000000003";
/// The group.
pub const GROUP: &str = "Ccafe0000000000000000000000000001";
/// A room of several people.
pub const ROOM: &str = "Rcafe0000000000000000000000000002";

/// Builds the demo's world.
pub(super) fn world() -> World {
    let people = [(ADA, "Ada"), (GRACE, "Grace"), (LINUS, "Linus")];
    let own = |id: &str| (id.to_owned(), Chat::new("", &[id]));
    let mut chats: BTreeMap<String, Chat> = people.iter().map(|(id, _)| own(id)).collect();
    chats.insert(GROUP.to_owned(), Chat::new("Tea room", &[ADA, GRACE, LINUS]));
    chats.insert(ROOM.to_owned(), Chat::new("", &[ADA, GRACE]));
    World::new(people.map(|(id, name)| (id.to_owned(), name.to_owned())).into(), chats)
}
