//! A platform as the stories of every channel use it: how a person writes there, and what the bot said.

use futures_util::future::BoxFuture;

use crate::support::world::World;

/// Where something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// To the bot alone.
    Private,
    /// Among others, and meant for the bot.
    Group,
}

/// A platform.
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// A world whose model is the stand-in.
    pub world: fn() -> BoxFuture<'static, World>,
    /// Ada says something; a text that begins with `/` is a command. Where the bot only speaks, the owner
    /// lets it say the text.
    pub say: fn(&World, Room, &str),
    /// What the bot said in a room, oldest first; a file as `[file name] caption`.
    pub said: fn(&World, Room) -> Vec<String>,
}
