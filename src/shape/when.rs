//! When a rule of the table is at work.

use selkie_channel_core::Audience;

use selkie_domain::facts::{Facts, Mode, Trigger, Trust, Where};

/// The facts a rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// It is in a conversation of a channel.
    InChannel,
    /// Other people read along.
    Group,
    /// The least trust in play is this one.
    Trust(Trust),
    /// Words of others are in play.
    Tainted,
    /// Nobody asked just now: a schedule, the heartbeat or a webhook did.
    Unattended,
    /// It is an agent's: another task asked.
    Child,
    /// A task of another conversation did.
    Relayed,
    /// Another service did, whose words nobody here has read.
    Webhook,
    /// Plan mode.
    Plan,
    /// A command line at which nobody sits.
    NoTerminal,
}

impl When {
    /// Whether these facts are so.
    pub(super) fn holds(self, facts: &Facts) -> bool {
        match self {
            Self::Always => true,
            Self::InChannel => matches!(facts.place, Where::Channel(_)),
            Self::Group => facts.audience() == Audience::Group,
            Self::Trust(trust) => facts.trust == trust,
            Self::Tainted => facts.taint.is_any(),
            Self::Unattended => {
                matches!(facts.trigger, Trigger::Scheduled | Trigger::Heartbeat | Trigger::Webhook)
            }
            Self::Child => facts.parent.is_some(),
            Self::Relayed => facts.trigger == Trigger::Relayed,
            Self::Webhook => facts.trigger == Trigger::Webhook,
            Self::Plan => facts.mode == Mode::Plan,
            Self::NoTerminal => facts.place == Where::CommandLine { terminal: false },
        }
    }
}
