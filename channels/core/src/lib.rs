//! What a channel is to selkie. The only crate that channel crates and the daemon share.
//!
//! A channel is a platform connection: [`Receiver`] bring messages in, a [`Sender`] carries them out, an
//! [`Address`] reads the platform's ids. What a channel can do is data, in its [`ChannelKit`]; nothing
//! above this crate asks which platform it talks to.

mod allow;
pub mod aloud;
mod attachment;
mod beside;
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
mod invisible_chars;
pub mod json;
mod kit;
#[cfg(feature = "client")]
pub mod links;
mod lock;
mod log_throttle;
mod method_limits;
mod outbound;
mod part;
mod pause;
mod piecewise;
pub mod plain;
mod posting;
mod question;
pub mod redact;
mod redact_markdown;
mod roles;
mod search;
mod secret_patterns;
#[cfg(feature = "server")]
pub mod server;
pub mod settings;
mod setup;
mod shorten;
pub mod split;
pub mod styled;
mod table;
pub mod tls;

#[cfg(test)]
mod fuzz;

pub use allow::AllowList;
pub use attachment::{Attachment, AttachmentKind};
pub use examined::{CredentialCheck, Examination, ExaminationReport, Examine, Gravity};
pub use features::Features;
pub use ids::{AccountId, ConversationId, MessageRef, PersonId, PlaceId};
pub use inbound::{
    AddressReason, Aside, Audience, Command, ForwardOrigin, Inbound, Quote, ReplyWindow, Speaker,
    What,
};
pub use invisible_chars::has_no_width;
pub use kit::{
    AllowKeys, AlsoCalled, BuildContext, Channel, ChannelKit, ContactField, ContactForm, FieldKind,
    Ids, Now, Pace, ParameterNames, Problem, Routes, Sighting, SpeakingEffect, SpeakingTool,
    say_aloud,
};
pub use lock::locked;
pub use log_throttle::Seldom;
pub use method_limits::{Brakes, MethodLimit};
pub use outbound::{
    Body, Delivery, GrowingText, Lookup, Mention, Outbound, Post, PostPicture, PostedBy, Receipt,
};
pub use part::Part;
pub use pause::Pauses;
pub use piecewise::Piecewise;
pub use posting::{PictureKind, PostPictures, Postable, Posting, PostingTool};
pub use question::{Choice, Question};
pub use redact::Redactor;
pub use roles::{
    Address, Cursor, Earlier, Inbox, InboxBroken, ListenEnd, OfferedCommand, Pulse, Receiver,
    Sender, Sink, UnpromptedCost,
};
pub use search::Search;
pub use setup::{Setup, SetupField};
pub use shorten::{shorten, shorten_line};
