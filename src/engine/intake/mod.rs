//! What is heard becomes rows, and what the rows ask for is begun: policy, the gate of groups, commands, buttons.

mod brought_back;
pub mod buttons;
pub mod commands;
pub mod contacts;
mod decide;
pub mod firing;
pub mod gate;
pub mod given;
mod guesses;
pub mod heartbeat;
pub mod hints;
pub mod later;
pub mod listen;
mod may_end;
pub mod messages;
mod own;
pub mod pairing;
pub mod passing_over;
pub mod policy;
pub mod receive;
pub mod remembered;
pub mod remind_when;
pub mod reminders;
pub mod settings;
pub mod ticker;
mod under;
pub mod unlisted;
