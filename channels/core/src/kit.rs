//! A channel as data: its settings, its speaking tools, how to build it.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AccountId, Address, AllowList, Audience, Features, PersonId, PlaceId, Postable, Posting,
    Receiver, Redactor, Sender, Setup,
};

/// Everything the daemon needs to know of a kind of channel before there is one.
#[derive(Clone)]
pub struct ChannelKit {
    /// The config section and the channel's name in settings: `telegram`.
    pub name: &'static str,
    /// What its ids begin with: `tg`.
    pub prefix: &'static str,
    /// The JSON Schema of its config section.
    pub settings: fn() -> Schema,
    /// Keys of its section that hold secrets: read from `<key>_file` and credentials too.
    pub secrets: &'static [&'static str],
    /// Other programs' words for keys of its section.
    pub also: &'static [AlsoCalled],
    /// Keys of its section that hold addresses where it listens.
    pub listens: &'static [&'static str],
    /// How config writes people's ids, in `owners`.
    pub people: Ids,
    /// How config writes places' ids, in `groups`.
    pub places: Ids,
    /// How its people stand in contact files.
    pub contacts: ContactForm,
    /// Which keys of its section let somebody in.
    pub allow_keys: AllowKeys,
    /// The kinds of conversation it has: `private`, `group`.
    pub kinds: &'static [(&'static str, Audience)],
    /// What can be done in each kind of conversation before there is one, for `tools list --in`.
    pub features: fn(kind: &str) -> Features,
    /// The tools by which a model speaks through it.
    pub speaking: &'static [SpeakingTool],
    /// What can be posted through it in public, where it has a timeline.
    pub posting: Option<&'static Posting>,
    /// What a person pastes at the platform to make the bot, where there is such a thing.
    pub manifest: Option<fn() -> String>,
    /// What a person is asked for to set it up, where `selkie init` does that.
    pub setup: Option<&'static Setup>,
    /// Builds the channel from its checked section. `Ok(None)` when the section is absent or off.
    pub build: fn(Value, BuildContext) -> Result<Option<Channel>, Vec<Problem>>,
}

/// Another program's words for a key of a channel's section, for people who come from there.
#[derive(Clone, Copy, Debug)]
pub struct AlsoCalled {
    /// The key of the section that is meant; one that holds a secret.
    pub key: &'static str,
    /// The other section and key.
    pub written: (&'static str, &'static str),
    /// The other program's environment variable. It counts only while the section proves nothing by itself.
    pub variable: &'static str,
    /// A key of the section and its default, which says whose server is asked: what the variable holds goes to
    /// that server alone.
    pub home: (&'static str, &'static str),
}

/// How a platform's ids are written where config has those of every platform.
#[derive(Clone, Copy)]
pub struct Ids {
    /// One of them, for errors; empty when there are none.
    pub such_as: &'static str,
    /// Whether a text is one, to the letter: ids are compared as they are written.
    pub fit: fn(&str) -> bool,
}

impl Ids {
    /// There are none.
    pub const NONE: Self = Self { such_as: "", fit: |_| false };
}

/// How a channel's people stand in contact files, and where a list of things to do names them.
#[derive(Clone, Copy)]
pub struct ContactForm {
    /// The ids by which a contact is reached, made of its fields, the preferred first: `tg:{tg_private_chat_id}`. A field
    /// that holds a list makes several. None where the platform has no people.
    pub ids: &'static [&'static str],
    /// Whether a text is an id that somebody may be named by: `tg:4711`, `tg:@grace`.
    pub names: fn(&str) -> bool,
    /// The fields that tell of somebody who spoke.
    pub seen: fn(&Sighting<'_>) -> Vec<ContactField>,
    /// How somebody is spoken to.
    pub routes: Routes,
}

/// Somebody who spoke in a place.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// Who.
    pub person: &'a PersonId,
    /// Their `@name` without the `@`; empty when they have none.
    pub username: &'a str,
    /// Where.
    pub place: &'a PlaceId,
    /// They were alone with the bot there.
    pub is_direct: bool,
}

/// A field of a contact file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactField {
    /// Its name.
    pub key: &'static str,
    /// What it says, or one of what it lists.
    pub value: String,
    /// What it is.
    pub is: FieldKind,
}

/// What a field of a contact file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// It never changes.
    Fixed,
    /// The person may change it.
    Shown,
    /// It has a value for each of several places.
    Listed,
}

impl ContactField {
    /// A field that never changes.
    pub fn fixed(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: value.into(), is: FieldKind::Fixed }
    }

    /// A field that the person may change.
    pub fn shown(key: &'static str, value: impl Into<String>) -> Self {
        Self { is: FieldKind::Shown, ..Self::fixed(key, value) }
    }

    /// One value of a list.
    pub fn listed(key: &'static str, value: impl Into<String>) -> Self {
        Self { is: FieldKind::Listed, ..Self::fixed(key, value) }
    }
}

impl ContactForm {
    /// There are none.
    pub const NONE: Self =
        Self { ids: &[], names: |_| false, seen: |_| Vec::new(), routes: Routes::NONE };
}

/// How a channel's people are spoken to, by the fields of their contacts; see [`ContactForm::ids`].
#[derive(Clone, Copy)]
pub struct Routes {
    /// Ids of conversations with the person alone, the preferred first.
    pub direct: &'static [&'static str],
    /// Ids of conversations that they share with others: only where one is named.
    pub shared: &'static [&'static str],
    /// A chat that is named and is none of theirs counts as none: they are spoken to alone.
    pub falls_back: bool,
    /// Which channel comes first where several reach a person: the lowest.
    pub rank: u8,
}

impl Routes {
    /// There are none.
    pub const NONE: Self = Self { direct: &[], shared: &[], falls_back: false, rank: u8::MAX };
}

/// What a channel may use of the daemon.
#[derive(Clone)]
pub struct BuildContext {
    /// The one TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// Learns the channel's secrets, so that no surface can show them.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
    /// The folder of cached files, for the channel's own use.
    pub cache_dir: PathBuf,
    /// The channel's own folder for what it must not lose. It is not there before the channel makes it
    /// (0700), which it does only when it has something to keep.
    pub state_dir: PathBuf,
    /// The time.
    pub now: Now,
}

/// Tells the wall-clock time.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// Something wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key inside the section, e.g. `bot_token`; empty for the section itself.
    pub key: String,
    /// What is wrong and what is taken.
    pub message: String,
}

impl Problem {
    /// Says what is wrong with a key.
    pub fn of(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }
}

/// A built channel.
#[derive(Clone)]
pub struct Channel {
    /// The kit's name.
    pub name: &'static str,
    /// Which bot it is.
    pub account: AccountId,
    /// Hears; absent for a channel that only speaks.
    pub receiver: Option<Arc<dyn Receiver>>,
    /// Speaks.
    pub sender: Arc<dyn Sender>,
    /// Reads ids.
    pub address: Arc<dyn Address>,
    /// Whom it listens to.
    pub allow: AllowList,
    /// Which keys of its section let somebody in.
    pub allow_keys: AllowKeys,
    /// The one command of the platform behind which ours are typed (`/selkie stop`), where its own clients keep
    /// everything that begins with `/` to themselves.
    pub carrier: Option<&'static str>,
    /// What can be posted by it in public.
    pub posting: Option<Postable>,
    /// How fast it may speak.
    pub pace: Pace,
    /// The largest file that is fetched from the platform, in bytes.
    pub max_fetch_bytes: u64,
}

/// The keys of a channel's section that hold its allow list, for what people are told; empty for a channel
/// that listens to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowKeys {
    /// Takes keys of places.
    pub places: &'static str,
    /// Takes ids of people; often the same key.
    pub people: &'static str,
}

impl AllowKeys {
    /// One key for places and people.
    pub const fn one(key: &'static str) -> Self {
        Self { places: key, people: key }
    }
}

/// How fast an account may speak. All calls count, edits and reactions too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// Least time between two calls of one direct conversation's place; zero lifts it.
    pub per_direct: Duration,
    /// Calls a minute to one group; `None` lifts it.
    pub per_group_minute: Option<NonZeroU32>,
    /// Calls a second of the whole account; `None` lifts it.
    pub per_account_second: Option<NonZeroU32>,
}

impl Pace {
    /// No limit but what the platform says in its answers.
    pub const LIFTED: Self =
        Self { per_direct: Duration::ZERO, per_group_minute: None, per_account_second: None };
}

/// One tool by which a model speaks through a channel. One implementation serves all channels.
#[derive(Clone, Copy)]
pub struct SpeakingTool {
    /// `telegram_send_file`.
    pub name: &'static str,
    /// For the model.
    pub description: &'static str,
    /// Which implementation.
    pub effect: SpeakingEffect,
    /// JSON Schema of its parameters, from a typed struct in the channel's crate.
    pub parameters: fn() -> Schema,
    /// The platform's names of the common parameters.
    pub names: ParameterNames,
    /// What `emoji` takes, with blanks in between; empty when anything goes.
    pub vocabulary: &'static str,
    /// The largest file, in bytes, by the platform's rules; config may lower it.
    pub max_bytes: u64,
    /// What to say when a file is over `max_bytes`: which tool takes it.
    pub too_big: &'static str,
}

/// The tool that says words aloud, for a channel that carries recordings up to so many bytes.
pub const fn say_aloud(max_bytes: u64) -> SpeakingTool {
    SpeakingTool {
        name: "say_aloud",
        description: "Says words aloud in this chat, as a recording with the words beside it: when somebody asks to hear \
            something. They need not be written once more.",
        effect: SpeakingEffect::SayAloud,
        parameters: || schemars::schema_for!(SayAloud),
        names: ParameterNames { conversation: None, message: None },
        vocabulary: "",
        max_bytes,
        too_big: "say it in shorter pieces",
    }
}

/// Parameters of `say_aloud`.
#[derive(schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SayAloud {
    /// At most 4,096 characters.
    text: String,
    /// A name of a voice. Default: the usual one.
    voice: Option<String>,
}

/// What a speaking tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeakingEffect {
    /// Sends a file to keep.
    SendFile,
    /// Sends a picture to look at.
    SendPhoto,
    /// Sends a voice note.
    SendVoice,
    /// Says words aloud: a recording is made of them.
    SayAloud,
    /// Puts an emoji on a message.
    React,
}

/// What a platform calls the parameters that name a conversation and a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterNames {
    /// `chat_id`, `channel_id`; `None` when the tool takes none.
    pub conversation: Option<&'static str>,
    /// `message_id`, `message_ts`; `None` when the tool takes none.
    pub message: Option<&'static str>,
}
