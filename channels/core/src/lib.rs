//! What a channel is to selkie. The only crate that channel crates and the daemon share.
//!
//! A channel is a platform connection: [`Receiver`] bring messages in, a [`Sender`] carries them out, an
//! [`Address`] reads the platform's ids. What a channel can do is data, in its [`ChannelKit`]; nothing
//! above this crate asks which platform it talks to.

mod allow;
mod beside;
mod brakes;
#[cfg(feature = "door")]
pub mod door;
mod encoded;
mod examined;
mod features;
pub mod field;
pub mod file;
pub mod hash;
#[cfg(feature = "client")]
pub mod http;
mod ids;
mod inbound;
pub mod json;
mod kit;
#[cfg(feature = "client")]
pub mod links;
mod lock;
mod lookalike;
mod looks;
mod outbound;
mod part;
mod pause;
mod piecewise;
pub mod plain;
mod posting;
pub mod redact;
mod roles;
mod said;
mod search;
mod seldom;
mod sequence;
pub mod settings;
mod setup;
pub mod split;
pub mod styled;
mod table;
mod targets;
mod through;
pub mod tls;
mod widths;

#[cfg(test)]
mod fuzz;

pub use allow::AllowList;
pub use brakes::{Brakes, Limited};
pub use examined::{CredentialCheck, Examination, Examine, Examined, Gravity};
pub use features::Features;
pub use ids::{AccountId, ConversationId, MessageRef, PersonId, PlaceId};
pub use inbound::{
    Addressed, Aside, Attachment, AttachmentKind, Audience, Command, Inbound, Quote, ReplyWindow,
    Speaker, What,
};
pub use kit::{
    AllowKeys, AlsoCalled, BuildContext, Channel, ChannelKit, ContactField, ContactForm, FieldKind,
    Ids, Now, Pace, ParameterNames, Problem, Routes, Sighting, SpeakingEffect, SpeakingTool,
};
pub use lock::locked;
pub use outbound::{
    Body, Choice, Delivery, Growing, Lookup, Mention, Outbound, Post, PostPicture, PostedBy,
    Question, Receipt,
};
pub use part::Part;
pub use pause::Pauses;
pub use piecewise::Piecewise;
pub use posting::{PictureKind, PostPictures, Postable, Posting, PostingTool};
pub use redact::Redactor;
pub use roles::{
    Address, Cursor, Earlier, Inbox, InboxBroken, ListenEnd, Offered, Pulse, Receiver, Sender,
    Sink, Unasked,
};
pub use search::Search;
pub use seldom::Seldom;
pub use setup::{Setup, SetupField};
pub use widths::has_no_width;
