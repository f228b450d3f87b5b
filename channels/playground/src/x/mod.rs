//! The emulated X: posts, the account's timeline, logins checked as strictly as X does, and the handle that
//! looks at them.

mod api;
mod count;
mod handle;
mod http;
mod keys;
mod login;
mod media;
mod medium;
mod post;
mod record;
mod refusal;
mod server;

pub use handle::XPlatform;
pub(crate) use http::{MOUNT, routes};
pub use keys::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, APP_BEARER, BEARER_WITHOUT_MEDIA, CLIENT_ID, CONSUMER_KEY,
    CONSUMER_SECRET, NEXT_USER_BEARER, OTHER_USER, OTHER_USER_BEARER, REFRESH_TOKEN, USER,
    USER_BEARER,
};
pub use record::{XCall, XPicture, XPost};
pub(crate) use server::Server;

#[cfg(test)]
mod tests;
