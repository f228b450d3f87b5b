//! What is heard becomes rows, and what the rows ask for is begun: policy, the gate of groups, commands, buttons.

mod brought_back;
pub(crate) mod buttons;
pub(crate) mod commands;
pub(crate) mod contacts;
mod decide;
pub(crate) mod firing;
pub mod gate;
pub(crate) mod given;
mod guesses;
pub mod heartbeat;
pub(crate) mod hints;
pub(crate) mod later;
pub(crate) mod listen;
mod may_end;
pub(crate) mod messages;
mod own;
pub(crate) mod pairing;
pub(crate) mod passing_over;
pub(crate) mod policy;
pub(crate) mod receive;
pub(crate) mod remembered;
pub(crate) mod remind_when;
pub(crate) mod reminders;
pub mod settings;
pub(crate) mod ticker;
mod under;
pub(crate) mod unlisted;
