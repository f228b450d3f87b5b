//! The emulated workspace: its people, channels and messages.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::refusal::Refusal;
use crate::delivered::{DeliveredMessage, Keep};

/// The workspace.
pub const TEAM: &str = "T0PLAY";
/// The owner.
pub const ADA: &str = "U0ADA";
/// A member of the channel.
pub const GRACE: &str = "U0GRACE";
/// Another one.
pub const LINUS: &str = "U0LINUS";
/// The bot's user.
pub const BOT: &str = "U0SELKIE";
/// Ada's direct conversation with the bot.
pub const DM: &str = "D0ADA";
/// `#tea-room`.
pub const CHANNEL: &str = "C0TEA";
/// The bot's token.
pub const BOT_TOKEN: &str = "xoxb-1000000001-2000000002-playgroundsecret";
/// The app's token.
pub const APP_TOKEN: &str = "xapp-1-A0PLAY-3000000003-playgroundsecret";

/// No stream lasts longer.
const STREAM_LIFE: TimeDelta = TimeDelta::minutes(5);

/// A message as people see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlackMessage {
    /// Its id and time.
    pub ts: String,
    /// Who wrote it.
    pub user: String,
    /// What stands there, in mrkdwn.
    pub text: String,
    /// The message its thread hangs on.
    pub thread: Option<String>,
    /// The emoji on it and whose they are.
    pub reactions: Vec<(String, String)>,
    /// The files that came with it, by id.
    pub files: Vec<String>,
    /// When it was edited last.
    pub edited: Option<String>,
    /// What the app stored with it.
    pub metadata: Option<Value>,
    /// Its blocks, when it has any: buttons among them.
    pub blocks: Option<Value>,
    /// How its stream stands, when it has one.
    pub stream: Option<Stream>,
}

/// A message that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// It goes on.
    Open,
    /// It was stopped, or it took too long.
    Ended,
    /// A person has stopped it.
    StoppedByPerson,
}

/// What one person alone was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whisper {
    /// When, as messages have it.
    pub ts: String,
    /// Where.
    pub channel: String,
    /// Who.
    pub user: String,
    /// The thread it was shown in.
    pub thread: Option<String>,
    /// What.
    pub text: String,
}

impl Whisper {
    /// The same as a message of the bot.
    pub(crate) fn as_message(&self) -> SlackMessage {
        let ts = self.ts.clone();
        SlackMessage { ts, ..said(BOT, &self.text, self.thread.as_deref()) }
    }
}

impl SlackMessage {
    /// Whether the bot wrote it.
    pub fn is_bots(&self) -> bool {
        self.user == BOT
    }

    /// Whether its stream goes on: Slack ends it after some minutes, whatever is appended.
    pub(super) fn grows(&self, now: DateTime<Utc>) -> bool {
        self.stream == Some(Stream::Open) && now - posted_at(&self.ts) < STREAM_LIFE
    }
}

/// A channel or a direct conversation.
#[derive(Default)]
pub(super) struct Room {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) has_bot: bool,
    pub(super) archived: bool,
    pub(super) messages: Vec<SlackMessage>,
}

/// A file, shared or on its way.
#[derive(Clone)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) length: u64,
    pub(super) bytes: Option<Bytes>,
    pub(super) shared: Vec<(String, String)>,
    /// It lies in another workspace.
    pub(super) elsewhere: bool,
    /// Recorded in Slack: by whom, and how many milliseconds it plays.
    pub(super) clip: Option<(String, u64)>,
}

/// A right to answer.
pub(super) struct Right {
    pub(super) channel: String,
    pub(super) user: String,
    pub(super) left: u32,
    pub(super) until: DateTime<Utc>,
}

/// The state.
#[derive(Default)]
pub(super) struct World {
    pub(super) rooms: BTreeMap<String, Room>,
    pub(super) files: BTreeMap<String, File>,
    pub(super) whispers: Vec<Whisper>,
    /// Signs of life: channel, thread, words.
    pub(super) signs: Vec<(String, String, String)>,
    pub(super) rights: BTreeMap<u64, Right>,
    pub(super) revoked: bool,
    pub(super) missing_scopes: BTreeSet<String>,
    pub(super) watchers: Vec<mpsc::UnboundedSender<DeliveredMessage>>,
    last: i64,
    number: u64,
}

impl World {
    pub(super) fn demo() -> Self {
        let room = |name, kind, has_bot| Room { name, kind, has_bot, ..Room::default() };
        let rooms = BTreeMap::from([
            (DM.to_owned(), room("", "im", true)),
            (CHANNEL.to_owned(), room("tea-room", "channel", true)),
            ("C0ELSE".to_owned(), room("elsewhere", "channel", false)),
        ]);
        Self { rooms, ..Self::default() }
    }

    /// A `ts` nobody had before, later than all others.
    pub(super) fn next_ts(&mut self, now: DateTime<Utc>) -> String {
        self.last = now.timestamp_micros().max(self.last + 100);
        format!("{}.{:06}", self.last / 1_000_000, self.last % 1_000_000)
    }

    /// A number nobody had before.
    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// The room a call means: a person's id stands for their direct conversation.
    pub(super) fn home_of(&self, channel: &str) -> String {
        if channel == ADA { DM.to_owned() } else { channel.to_owned() }
    }

    /// The room the bot may write to.
    pub(super) fn open_room(&mut self, channel: &str) -> Result<&mut Room, &'static str> {
        let room = self.rooms.get_mut(channel).ok_or("channel_not_found")?;
        match (room.archived, room.has_bot) {
            (true, _) => Err("is_archived"),
            (_, false) => Err("not_in_channel"),
            _ => Ok(room),
        }
    }

    /// Stores a message and returns its `ts`.
    pub(super) fn post(
        &mut self,
        channel: &str,
        mut message: SlackMessage,
        now: DateTime<Utc>,
    ) -> String {
        let ts = self.next_ts(now);
        message.ts.clone_from(&ts);
        if let Some(room) = self.rooms.get_mut(channel) {
            room.messages.push(message);
        }
        ts
    }

    /// Tells everybody who watches what the bot said.
    pub(super) fn tell_watchers(&mut self, channel: &str, text: &str) {
        let said = || DeliveredMessage { place: channel.to_owned(), text: text.to_owned() };
        self.watchers.retain(|watcher| watcher.send(said()).is_ok());
    }

    /// Lets go of old messages; gives those of the bot.
    pub(super) fn forget(&mut self, keep: &Keep, now: DateTime<Utc>) -> Vec<DeliveredMessage> {
        self.signs.clear();
        let mut delivered = Vec::new();
        for (id, room) in &mut self.rooms {
            let times = room.messages.iter().map(|message| Some(posted_at(&message.ts)));
            let gone = keep.gone(now, room.messages.len(), times);
            let ours = room.messages.drain(..gone).filter(SlackMessage::is_bots);
            delivered.extend(ours.map(|m| DeliveredMessage { place: id.clone(), text: m.text }));
        }
        delivered
    }

    /// A message as the API and the events write it.
    pub(super) fn render(&self, message: &SlackMessage, base: &str) -> Value {
        let mut out = json!({
            "type": "message", "user": message.user, "ts": message.ts, "text": message.text,
            "team": TEAM,
        });
        if let Some(thread) = &message.thread {
            out["thread_ts"] = json!(thread);
        }
        if message.is_bots() {
            out["bot_id"] = json!("B0SELKIE");
        }
        if let Some(blocks) = &message.blocks {
            out["blocks"] = blocks.clone();
        }
        if let Some(edited) = &message.edited {
            out["edited"] = json!({ "user": message.user, "ts": edited });
        }
        if !message.files.is_empty() {
            let files = message.files.iter().filter_map(|id| Some((id, self.files.get(id)?)));
            let told = files.map(|(id, file)| match file.elsewhere {
                true => {
                    json!({ "id": id, "mode": "file_access", "file_access": "check_file_info" })
                }
                false => file.render(id, base),
            });
            out["files"] = told.collect();
        }
        out
    }
}

/// The time that a `ts` is.
fn posted_at(ts: &str) -> DateTime<Utc> {
    let micros = ts.replace('.', "").parse().unwrap_or_default();
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

/// Whether somebody of this id is there.
pub(super) fn is_person(user: &str) -> bool {
    [ADA, GRACE, LINUS].contains(&user)
}

/// What a person says.
pub(super) fn said(user: &str, text: &str, thread: Option<&str>) -> SlackMessage {
    let thread = thread.map(str::to_owned);
    SlackMessage { user: user.to_owned(), text: text.to_owned(), thread, ..SlackMessage::default() }
}

/// The message of a `ts`.
pub(super) fn find<'a>(
    messages: &'a mut [SlackMessage],
    ts: &str,
) -> Result<&'a mut SlackMessage, Refusal> {
    messages.iter_mut().find(|message| message.ts == ts).ok_or("message_not_found".into())
}
