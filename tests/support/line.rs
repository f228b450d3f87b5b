//! A world with LINE in it, and a daemon that listens there.

use selkie_playground::line_platform::{
    ACCESS_TOKEN, ADA, GROUP, LineMessage, LinePlatform, SECRET,
};
use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::world::World;

/// A world with LINE in it, whose daemon listens.
pub struct Line {
    /// The world.
    pub world: World,
    /// The daemon.
    pub daemon: Daemon,
}

impl Line {
    /// Starts a daemon that listens to Ada and the group.
    pub async fn start() -> Self {
        Self::with(json!({})).await
    }

    /// The same, with more in LINE's section of the config.
    pub async fn with(more: Value) -> Self {
        Self::of(World::start().await, more).await
    }

    /// The same, with the built-in stand-in as the model.
    pub async fn offline() -> Self {
        Self::of(World::offline().await, json!({})).await
    }

    /// Puts LINE into this world, with more in its section of the config.
    pub async fn of(mut world: World, more: Value) -> Self {
        add(&mut world, more);
        let daemon = world.daemon();
        let line = Self { world, daemon };
        line.listening().await;
        line
    }

    /// Waits until the webhook listens.
    pub async fn listening(&self) {
        let verified = self.platform().knock_when_open(&[]);
        assert_eq!(self.world.within("a listening webhook", verified).await, 200);
    }

    /// The platform.
    pub fn platform(&self) -> &LinePlatform {
        self.world.playground.line()
    }

    /// Ada says something and waits for the first bubble of the answer.
    pub async fn ask(&self, chat: &str, text: &str) -> LineMessage {
        let message = self.platform().say(chat, ADA, text);
        self.answer(chat, &message).await
    }

    /// Waits for the first bubble of an answer.
    pub async fn answer(&self, chat: &str, message: &str) -> LineMessage {
        self.world.within("an answer", self.platform().wait_for_answer(chat, message)).await
    }

    /// Waits for so many bubbles after a message.
    pub async fn bubbles(&self, chat: &str, message: &str, count: usize) -> Vec<LineMessage> {
        let look = |line: &LinePlatform| {
            Some(line.answers_to(chat, message)).filter(|answers| answers.len() >= count)
        };
        self.world.within("all bubbles", self.platform().wait_until(look)).await
    }

    /// How much the bot has said in a chat.
    pub fn said(&self, chat: &str) -> usize {
        self.platform().messages(chat).iter().filter(|m| m.from.is_none()).count()
    }
}

/// Puts LINE into a world's config.
pub fn add(world: &mut World, more: Value) {
    let listen = world.playground.line().keep_webhook().expect("a port");
    let mut section = json!({
        "channel_access_token": ACCESS_TOKEN, "channel_secret": SECRET,
        "base_url": world.playground.line_base_url(),
        "data_base_url": world.playground.line_data_base_url(),
        "webhook_listen": listen,
        "allowed_ids": [GROUP], "pace": "lifted",
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        section[key] = value.clone();
    }
    world.home.set("line", section);
    // Its people tap as fast as they can.
    world.home.set("limits", json!({ "person": { "messages_per_minute": 0 }, "conversation": { "messages_per_minute": 0 } }));
    world.home.set("owners", json!([format!("line:{ADA}")]));
}
