//! The playground: emulated platforms and model servers, strict like the real ones, for the demo, the
//! tests and the benchmarks.
//!
//! One listener on loopback serves everything: a Telegram Bot API server below `/telegram`, a Slack below
//! `/slack`, an emulated LINE below `/line` with its content host below `/line-data`, an X below `/x`, an
//! OpenAI-compatible model server below `/model/v1`, an Anthropic one below `/model/anthropic`, the demo's
//! page at `/` and its control API below `/api`. The daemon under test needs only the base URLs; a test in
//! the same process drives people and scripts through [`Telegram`] and [`Model`] and waits for events.

mod clock;
mod control;
mod delivered;
mod faults;
mod form;
mod line;
pub mod line_platform;
pub mod markup;
pub mod model;
mod playground;
pub mod seen;
pub mod slack;
mod spoilt;
pub mod stand_in;
pub mod telegram;
#[cfg(test)]
mod testing;
mod wait;
pub mod x;

pub use clock::{ClockMove, Mover, Now};
pub use delivered::{DeliveredMessage, Keep};
pub use faults::{Fault, FaultKind};
pub use line_platform::LinePlatform;
pub use model::{
    Behaviour, EmbeddingMode, Family, Maker, MakerMode, Model, OwnForm, SaidWords, ScriptedCall,
    SpeechMode, Turn, WantedPicture,
};
pub use playground::{Options, Playground, StartError};
pub use slack::Slack;
pub use telegram::{Pace, Spot, Telegram};
pub use x::XPlatform;
