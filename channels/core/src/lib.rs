//! What a channel is to selkie. The only crate that channel crates and the daemon share.
//!
//! A channel is a platform connection: [`Ears`] bring messages in, a [`Mouth`] carries them out, an
//! [`Address`] reads the platform's ids. What a channel can do is data, in its [`ChannelKit`]; nothing
//! above this crate asks which platform it talks to.

mod allow;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "door")]
pub mod door;
mod ids;
mod inbound;
pub mod json;
mod kit;
#[cfg(feature = "client")]
pub mod links;
mod outbound;
mod pause;
pub mod plain;
pub mod redact;
mod roles;
pub mod section;
mod seldom;
pub mod split;
pub mod table;
pub mod tls;

#[cfg(test)]
mod fuzz;

pub use allow::AllowList;
pub use ids::{AccountId, ConversationId, MessageRef, PersonId, PlaceId};
pub use inbound::{
    Addressed, Attachment, AttachmentKind, Audience, Command, Inbound, Quote, ReplyWindow, Speaker,
    What,
};
pub use kit::{
    AllowKeys, AlsoCalled, BuildContext, Channel, ChannelKit, Features, Ids, Now, Pace,
    ParameterNames, Problem, SpeakingEffect, SpeakingTool,
};
pub use outbound::{Body, Choice, Delivery, Lookup, Outbound, Part, Question, Receipt};
pub use pause::Pauses;
pub use redact::{Redactor, Search};
pub use roles::{
    Address, Cursor, Earlier, Ears, Inbox, InboxBroken, ListenEnd, Mouth, Offered, Sink,
};
pub use seldom::Seldom;
