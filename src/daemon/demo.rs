//! The port to the emulated platforms, for `selkie demo`.

use async_trait::async_trait;
use serde_json::Value;

/// How a person speaks where others read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// To the bot: by its name, where that is needed.
    ToTheBot,
    /// As it is written, to nobody in particular.
    ToTheRoom,
}

/// Emulated platforms with people in them.
#[async_trait]
pub trait World: Send + Sync {
    /// Starts its servers on this loopback port; 0 takes a free one. `earlier` demos have used the same state:
    /// no platform gives a number away again that one of them gave.
    ///
    /// # Errors
    /// When the port is taken.
    async fn start(&mut self, port: u16, earlier: u32) -> anyhow::Result<()>;

    /// Returns the config that makes the daemon its guest: tokens, base URLs, who is allowed, owners.
    fn config(&self) -> Value;

    /// Returns its page's address, `http://127.0.0.1:<port>`.
    fn url(&self) -> String;

    /// Tells the page where the daemon's read API is.
    fn set_daemon(&self, console_url: &str);

    /// Tells the page which model answers.
    fn set_model(&self, name: &str);

    /// Lists the places that `say` takes; the first is a private chat with the owner.
    fn places(&self) -> Vec<String>;

    /// Says something as a person in a place and returns the message's number there.
    ///
    /// # Errors
    /// When the place is unknown.
    fn say(&self, place: &str, text: &str, manner: Manner) -> anyhow::Result<i64>;

    /// Lists what the person sees of the bot since that message, oldest first: texts, `[file notes.txt,
    /// 12 bytes]`, `[reaction 👍 on your message]`.
    fn seen(&self, place: &str, since: i64) -> Vec<String>;
}
