//! Auth profiles: credentials that requests carry and no model sees.

mod bound_header;
mod error;
mod prefix;
mod profiles;
mod settings;

pub use bound_header::BoundHeader;
pub use error::AuthError;
pub use prefix::Prefix;
pub use profiles::{AuthProfile, AuthProfiles, CredentialDeps, MAX_PROFILES, word_of};
pub use settings::{AllowSettings, Bind, ProfileSettings, Settings, Verb};
