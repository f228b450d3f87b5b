//! The port to the emulated platforms, for `selkie demo`.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use selkie_domain::clock::SharedClock;

/// How a person speaks where others read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// To the bot: by its name, where that is needed.
    ToTheBot,
    /// As it is written, to nobody in particular.
    ToTheRoom,
}

/// Something that a person says.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// One of [`World::places`].
    pub place: &'a str,
    /// Who says it, by the name that the others know.
    pub by: &'a str,
    /// The words.
    pub text: &'a str,
    /// To whom.
    pub manner: Manner,
}

/// Where something is said, and who says it.
#[derive(Clone, Debug)]
pub struct SpeakerAt {
    /// One of [`World::places`].
    pub place: String,
    /// Who, by the name that the others know.
    pub by: String,
}

/// Who plays in the demo's stories, and where.
#[derive(Clone, Copy, Debug)]
pub struct Cast {
    /// The owner.
    pub owner: &'static str,
    /// Where the owner is alone with the bot.
    pub alone: &'static str,
    /// Somebody who is allowed in the group and owns nothing.
    pub allowed: &'static str,
    /// The group.
    pub group: &'static str,
}

/// A message of the bot as a person sees it.
#[derive(Clone, Debug)]
pub struct SeenMessage {
    /// Its number there.
    pub message: i64,
    /// Its words.
    pub text: String,
    /// What can be pressed under it.
    pub buttons: Vec<Button>,
}

/// A button.
#[derive(Clone, Debug)]
pub struct Button {
    /// What stands on it.
    pub label: String,
    /// What it carries.
    pub data: String,
}

/// How emulated platforms start.
pub struct Start {
    /// The page's loopback port; 0 takes a free one.
    pub port: u16,
    /// So many demos have used the same state: no platform gives a number away again that one of them gave.
    pub earlier: u32,
    /// The time, there as in the daemon.
    pub clock: SharedClock,
    /// Whose rules the model server keeps that its guest asks, one of [`World::families`].
    pub family: Option<String>,
}

/// Where a step of the clock has led.
#[derive(Clone, Copy, Debug)]
pub struct ClockMove {
    /// What the clock shows.
    pub now: DateTime<Utc>,
    /// Where it is to go: there as soon as it shows no less.
    pub until: DateTime<Utc>,
    /// Whether something came due.
    pub due: bool,
}

/// Moves the clock of daemon and platforms.
#[async_trait]
pub trait Movable: Send + Sync {
    /// Returns the zone in which times are read.
    fn zone(&self) -> String;

    /// Goes to the next due time on the way to `to`, and waits until what came of it is done.
    ///
    /// # Errors
    /// In words: `to` is no time, or something is not done.
    async fn step(&self, to: &str) -> Result<ClockMove, String>;
}

/// Whether a message is the one that is waited for.
pub type Fits<'a> = &'a (dyn Fn(&SeenMessage) -> bool + Send + Sync);

/// Emulated platforms with people in them.
#[async_trait]
pub trait World: Send + Sync {
    /// Starts its servers.
    ///
    /// # Errors
    /// When the port is taken.
    async fn start(&mut self, start: Start) -> anyhow::Result<()>;

    /// Lists the providers whose rules its model server can keep.
    fn families(&self) -> Vec<String>;

    /// Returns the config that makes the daemon its guest: tokens, base URLs, who is allowed, owners; the model, where
    /// its own is asked.
    fn config(&self) -> Value;

    /// Returns its page's address, `http://127.0.0.1:<port>`.
    fn url(&self) -> String;

    /// Tells the page where the daemon's read API is. It begins then: what was said before set the stage, and is not
    /// shown.
    fn set_daemon(&self, console_url: &str);

    /// Lets the page move the clock.
    fn set_movable(&self, movable: Arc<dyn Movable>);

    /// Tells the page which model answers.
    fn set_model(&self, name: &str);

    /// Lists the places that `say` takes; the first is a private chat with the owner.
    fn places(&self) -> Vec<String>;

    /// Returns the word that commands begin with in a place whose platform keeps other lines with a slash for itself.
    fn command_word(&self, place: &str) -> Option<&'static str>;

    /// Finds where somebody speaks who names a place, and who speaks there when nobody is named: a private chat is
    /// each one's own.
    fn speaking(&self, place: &str, by: Option<&str>) -> SpeakerAt;

    /// Lists by whose names `say` can be told who speaks, the owner first.
    fn people(&self) -> Vec<String>;

    /// Returns who plays in the stories.
    fn cast(&self) -> Cast;

    /// Says something as a person in a place and returns the message's number there.
    ///
    /// # Errors
    /// When the place is unknown, or nobody there has this name.
    fn say(&self, line: &Line<'_>) -> anyhow::Result<i64>;

    /// Waits for a message of the bot that fits and is newer than that number: looks at what is there, then at
    /// what comes.
    ///
    /// # Errors
    /// When no story is told in this place.
    async fn wait_for(
        &self,
        place: &str,
        since: i64,
        fits: Fits<'_>,
    ) -> anyhow::Result<SeenMessage>;

    /// A person presses a button under a message, which may be gone by now; returns what they read then.
    ///
    /// # Errors
    /// As [`World::wait_for`].
    async fn press(
        &self,
        place: &str,
        by: &str,
        message: i64,
        data: &str,
    ) -> anyhow::Result<String>;

    /// Lists what the person sees of the bot since that message, oldest first: texts, `[file notes.txt,
    /// 12 bytes]`, `[reaction 👍 on your message]`.
    fn seen(&self, place: &str, since: i64) -> Vec<String>;
}
