//! Everything shape looks at, stored with the task.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Audience, Features, MessageRef, PersonId};
use serde::{Deserialize, Serialize};

use crate::choice::Pick;
use crate::gate::GatePass;
use crate::named::named;
use crate::narrowing::Narrowing;
use crate::parent::Parent;
use crate::taint::Taint;

/// The facts of one task.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    /// Version of this layout; see [`Facts::VERSION`].
    pub v: u16,
    /// Where the task speaks and what can be done there.
    pub place: Where,
    /// Who asked.
    pub speaker: Option<PersonId>,
    /// The least trust of everybody whose own words are in play.
    pub trust: Trust,
    /// The highest level of what the model reads: a quote, a forward, a file, a web page, what came of
    /// them.
    #[serde(alias = "untrusted_text")]
    pub taint: Taint,
    /// Why the task exists.
    #[serde(default, alias = "occasion")]
    pub trigger: Trigger,
    /// Plan mode or not.
    #[serde(default)]
    pub mode: Mode,
    /// The message it answers, for tools that point at one.
    pub message: Option<MessageRef>,
    /// Tool or class names that the place's config opens (`places.<id>.allow`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// Why the bot speaks although nobody spoke to it; absent when somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<GatePass>,
    /// Hidden tools that the owner's own words name (`$name`): given to this one task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summoned: Vec<String>,
    /// Who leaves the task fewer tools than its setting gives: a tool is there that each of them names. Nothing gives back
    /// what they take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Narrowing>,
    /// Which model answers and how hard it thinks, and who decided that: what the call names, until a claim decides the rest.
    #[serde(default, skip_serializing_if = "Pick::is_usual")]
    pub pick: Pick,
    /// The task that wants it done, where it is the task of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
    /// So many ends of agents, one after the other, have led to the task, and nobody's word in between.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reports: u8,
    /// When the facts were taken.
    pub at: DateTime<Utc>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u8) -> bool {
    *count == 0
}

impl Facts {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Those of a task that somebody asks for in clean words, about which there is nothing special.
    pub fn of(place: Where, speaker: Option<PersonId>, trust: Trust, at: DateTime<Utc>) -> Self {
        Self {
            v: Self::VERSION,
            place,
            speaker,
            trust,
            taint: Taint::Clean,
            trigger: Trigger::Asked,
            mode: Mode::Normal,
            message: None,
            opened: Vec::new(),
            passed: None,
            summoned: Vec::new(),
            narrowed: Vec::new(),
            pick: Pick::default(),
            parent: None,
            reports: 0,
            at,
        }
    }

    /// Returns the audience of the place.
    pub fn audience(&self) -> Audience {
        match &self.place {
            Where::Channel(features) => features.audience,
            Where::CommandLine { .. } => Audience::Direct,
        }
    }

    /// Says which model answers, how hard it thinks, and who decided that.
    pub fn answers(&self) -> String {
        let route = if self.trigger == Trigger::Heartbeat { "heartbeat" } else { "main" };
        self.pick.told(self.pick.model.as_deref().unwrap_or("the usual one"), route)
    }

    /// Whether an owner alone reads what is said.
    pub fn is_owner_alone(&self) -> bool {
        self.trust == Trust::Owner && self.audience() == Audience::Direct
    }
}

/// Where a task speaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "where", rename_all = "snake_case")]
pub enum Where {
    /// The terminal.
    CommandLine {
        /// Somebody sits at it and can be asked.
        terminal: bool,
    },
    /// A conversation of a channel.
    Channel(Features),
}

impl Where {
    /// Returns the setting's name: `cli`, `telegram:group`.
    pub fn name(&self) -> String {
        match self {
            Self::CommandLine { .. } => "cli".to_owned(),
            Self::Channel(features) => format!("{}:{}", features.channel, features.kind),
        }
    }
}

named! {
    /// Who somebody is to us. Ordered: less trust is less.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Trust {
        /// Nobody we know; reaches the bot only where everyone may.
        Stranger = "stranger",
        /// On the allow list, or speaking in a place that is.
        Allowed = "allowed",
        /// The owner.
        Owner = "owner",
    }
}

/// Why a task exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Somebody asked.
    #[default]
    Asked,
    /// A schedule came due.
    Scheduled,
    /// The heartbeat.
    Heartbeat,
    /// A task of another conversation has sent words into this one.
    Relayed,
    /// Another service has called a hook of the config.
    Webhook,
}

/// What the conversation is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing special.
    #[default]
    Normal,
    /// Planning: nothing outside is changed.
    Plan,
}
