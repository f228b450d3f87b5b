//! How tests look, wait and count on the emulated LINE.

use tokio::sync::mpsc;

use super::handle::LinePlatform;
use super::view::{LineCall, LineMessage, Via};
use crate::delivered::{DeliveredMessage, Keep};
use crate::wait::until;

impl LinePlatform {
    /// Tells of everything that happens.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.server.happened.subscribe()
    }

    /// The messages of a chat, oldest first.
    pub fn messages(&self, chat: &str) -> Vec<LineMessage> {
        self.server.world().chats.get(chat).map(|chat| chat.messages.clone()).unwrap_or_default()
    }

    /// What the bot said after a message: replies to it, and every push since.
    pub fn answers_to(&self, chat: &str, message: &str) -> Vec<LineMessage> {
        let messages = self.messages(chat);
        let asked = messages.iter().position(|m| m.id == message).unwrap_or(messages.len());
        let since = messages.into_iter().skip(asked + 1);
        let answers = |m: &LineMessage| match m.via {
            Via::Reply => m.answers.as_deref() == Some(message),
            Via::Push => true,
            Via::Person => false,
        };
        since.filter(answers).collect()
    }

    /// Waits until the bot has answered a message; gives the first bubble.
    pub async fn wait_for_answer(&self, chat: &str, message: &str) -> LineMessage {
        self.wait_until(|line| line.answers_to(chat, message).into_iter().next()).await
    }

    /// Waits until something is there; looks at once and after everything that happens.
    pub async fn wait_until<T>(&self, look: impl Fn(&Self) -> Option<T>) -> T {
        until(self.changes(), || look(self)).await
    }

    /// Everything the bot says from now on, without loss and without the cost of a look.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<DeliveredMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.server.world().watchers.push(sender);
        receiver
    }

    /// Lets go of old messages, in every chat; gives those of the bot as they stood there, each once.
    pub fn forget(&self, keep: &Keep) -> Vec<DeliveredMessage> {
        let now = self.server.now();
        self.server.world().forget(keep, now)
    }

    /// Under load no call is kept.
    pub fn set_load_mode(&self, load: bool) {
        let mut world = self.server.world();
        world.is_loaded = load;
        if load {
            world.calls.clear();
        }
    }

    /// The calls the bot made, oldest first.
    pub fn calls(&self) -> Vec<LineCall> {
        self.server.world().calls.clone()
    }

    /// The calls of one method, oldest first.
    pub fn calls_of(&self, method: &str) -> Vec<LineCall> {
        self.calls().into_iter().filter(|call| call.method == method).collect()
    }
}
