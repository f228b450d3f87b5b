//! What people wrote that a task answers, and who they are: for tools that look at it themselves.

use selkie_channel_core::PersonId;

/// What people wrote that a task answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserText {
    /// Their own words, without quotes and files.
    pub text: String,
    /// Who they are.
    pub people: Vec<Speaker>,
}

/// Somebody who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Who.
    pub id: PersonId,
    /// The name that they go by there.
    pub name: String,
}
