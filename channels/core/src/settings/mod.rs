//! A channel's section of the config: read key by key, each value once, everything wrong told at once with its key,
//! its value (never a secret) and what is taken.

mod pace;
mod section;
mod size;
mod span;
mod token;
#[cfg(feature = "client")]
mod url;

pub use pace::PaceName;
pub use section::{Findings, entries, read};
pub use size::{MIB, size};
pub use span::span;
pub use token::Token;
#[cfg(feature = "client")]
pub use url::Url;
