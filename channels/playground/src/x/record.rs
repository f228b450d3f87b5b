//! What stands on the timeline, and which calls arrived.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

/// A post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct XPost {
    /// Its id.
    pub id: String,
    /// As it was written.
    pub text: String,
    /// The post it goes on from.
    pub reply_to: Option<String>,
    /// The post it quotes.
    pub quote: Option<String>,
    /// Its pictures.
    pub pictures: Vec<XPicture>,
    /// The account's owner wrote it in the app, and nobody through the API.
    pub by_hand: bool,
    /// When.
    pub at: DateTime<Utc>,
}

/// A picture of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct XPicture {
    /// What it is: `image/png`.
    pub mime: String,
    /// Its bytes.
    #[serde(skip)]
    pub content: Vec<u8>,
}

/// A call that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct XCall {
    /// `tweets`, `timeline`, `me`, `token`; `upload`, `append`, `finalize` or `upload_status`.
    pub method: String,
    /// Its body.
    pub body: Value,
    /// What it was answered; 0 when the line was cut, `None` when it is not answered yet.
    pub status: Option<u16>,
}
