//! What a person is asked for when a channel is set up, as data.

/// How a channel is set up: what is asked for besides what has a default, and what is to be done at the platform.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The platform's name, as people write it.
    pub title: &'static str,
    /// How one gets what is asked for; a line each.
    pub before: &'static [&'static str],
    /// The keys of its section that are asked for, in their order.
    pub fields: &'static [SetupField],
    /// What is left to be done afterwards; a line each.
    pub after: &'static [&'static str],
}

/// One key of a channel's section that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SetupField {
    /// The key: `bot_token`.
    pub key: &'static str,
    /// What it is, for the prompt: `Bot token`.
    pub label: &'static str,
    /// What Enter takes; empty where there is nothing to take, as for secrets.
    pub default: &'static str,
}

impl SetupField {
    /// One that has no default.
    pub const fn asked(key: &'static str, label: &'static str) -> Self {
        Self { key, label, default: "" }
    }
}
