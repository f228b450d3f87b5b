//! The envelope in which words for a contact come: read from base64url, or made around plain words.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use chrono::DateTime;
use serde::Deserialize;
use uuid::{Uuid, Version};

use super::letter;
use crate::ToolError;

/// The kind of payload that is taken.
const JSON: &str = "application/json";

/// What is said to a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) message_id: String,
    pub(super) text: String,
    pub(super) session_id: String,
    pub(super) reply_to: Option<String>,
}

/// What a call says of it.
#[derive(Clone, Debug, Default)]
pub(super) struct EnvelopeArgs<'a> {
    pub(super) content_type: Option<&'a str>,
    pub(super) message_text: Option<&'a str>,
    pub(super) message_base64: Option<&'a str>,
    pub(super) session_id: Option<&'a str>,
    pub(super) reply_to: Option<&'a str>,
}

/// As somebody has written it.
#[derive(Deserialize)]
struct RawEnvelope {
    #[serde(default)]
    message_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    sent_at: String,
    #[serde(default)]
    session_id: String,
    reply_to: Option<String>,
}

/// Reads or makes it.
///
/// # Errors
/// In the words of the reference, what is wrong with it.
pub(super) fn of(asked: &EnvelopeArgs<'_>) -> Result<Envelope, ToolError> {
    let kind = asked.content_type.unwrap_or(JSON);
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.is_empty() && !kind.eq_ignore_ascii_case(JSON) {
        return Err(ToolError::tell("content_type must be application/json envelope"));
    }
    let given =
        |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let session = given(asked.session_id);
    if session.as_deref().is_some_and(|id| !is_session(id)) {
        return Err(ToolError::tell("session_id must be uuid_v7"));
    }
    let mut envelope = match (given(asked.message_base64), given(asked.message_text)) {
        (Some(encoded), _) => read(&encoded)?,
        (None, Some(text)) => Envelope {
            message_id: format!("msg_{}", Uuid::now_v7()),
            text,
            session_id: session.clone().unwrap_or_else(|| Uuid::now_v7().to_string()),
            reply_to: None,
        },
        (None, None) => {
            return Err(ToolError::tell("message_text or message_base64 is required"));
        }
    };
    if let Some(session) = session {
        envelope.session_id = session;
    }
    envelope.reply_to = given(asked.reply_to).or(envelope.reply_to);
    match letter::fault("message_text", &envelope.text) {
        Some(why) => Err(ToolError::Tell(why)),
        None => Ok(envelope),
    }
}

fn read(encoded: &str) -> Result<Envelope, ToolError> {
    let bytes = URL_SAFE_NO_PAD.decode(encoded).or_else(|_| URL_SAFE.decode(encoded));
    let bytes = bytes.map_err(|_| ToolError::tell("message_base64 decode failed"))?;
    let written: RawEnvelope = serde_json::from_slice(&bytes)
        .map_err(|_| ToolError::tell("message_base64 must be envelope json"))?;
    let RawEnvelope { message_id, text, sent_at, session_id, reply_to } = written;
    for (name, value) in [("message_id", &message_id), ("text", &text), ("sent_at", &sent_at)] {
        if value.trim().is_empty() {
            return Err(ToolError::tell(format!("message envelope missing {name}")));
        }
    }
    if DateTime::parse_from_rfc3339(&sent_at).is_err() {
        return Err(ToolError::tell("message envelope sent_at must be RFC3339"));
    }
    if !is_session(&session_id) {
        return Err(ToolError::tell("message envelope session_id must be uuid_v7"));
    }
    Ok(Envelope { message_id, text: text.trim().to_owned(), session_id, reply_to })
}

fn is_session(id: &str) -> bool {
    Uuid::parse_str(id).is_ok_and(|id| id.get_version() == Some(Version::SortRand))
}
