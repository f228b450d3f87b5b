//! Signing in at a server over HTTP: OAuth as the Model Context Protocol has it, and the tokens that come of it.

mod authorization;
mod bearer;
mod challenge;
mod discovery;
mod error;
mod grant;
mod login_flow;
mod oauth_client;
mod redirect;
mod registration;
mod token_endpoint;
mod token_folder;
mod wire;

pub(crate) use bearer::Bearer;
pub(crate) use challenge::Challenge;
pub use error::LoginError;
pub(crate) use error::behind;
pub use login_flow::{Login, LoginSummary};
pub use token_folder::TokenFolder;
pub(crate) use wire::Wire;
