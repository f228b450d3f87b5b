//! What is stored of a message that somebody quotes.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{Body, ConversationId, Inbound, MessageRef, Quote};

use super::conversations;
use super::outbox::{self, BODY, RawBody};
use super::rows::load;
use crate::store::Result;

/// Returns a message of ours by its receipt, or somebody's by its row; of what was taken back nothing is left
/// but its id.
pub fn quoted(
    conn: &Connection,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Option<Quote>> {
    let Some(row) = conversations::find(conn, conversation)? else { return Ok(None) };
    let sql = format!(
        "SELECT {BODY} FROM part p JOIN outbound o ON o.id = p.outbound
         WHERE p.receipt ->> '$.message' = ?1 AND p.conversation = ?2 ORDER BY p.id DESC LIMIT 1"
    );
    let ours: Option<RawBody> = conn
        .prepare_cached(&sql)?
        .query_row(params![message.as_str(), row], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    if let Some(raw) = ours {
        let text = words(&outbox::read_body(&raw)?.body);
        let message = message.clone();
        return Ok(Some(Quote { message, speaker: String::new(), text, ours: true }));
    }
    let heard: Option<(i64, String)> = conn
        .prepare_cached(
            "SELECT id, inbound FROM inbox WHERE message = ?1 AND conversation = ?2 ORDER BY id LIMIT 1",
        )?
        .query_row(params![message.as_str(), row], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((id, inbound)) = heard else { return Ok(None) };
    let Inbound { speaker, text, .. } = load(id, &inbound)?;
    let speaker = if speaker.name.is_empty() { speaker.id.to_string() } else { speaker.name };
    Ok(Some(Quote { message: message.clone(), speaker, text, ours: false }))
}

/// What was said, in words.
fn words(body: &Body) -> String {
    match body {
        Body::Text { markdown } | Body::Status { markdown } | Body::Revision { markdown, .. } => {
            markdown.clone()
        }
        Body::Question(question) | Body::Held(question) => question.in_words(),
        Body::File { name, .. } | Body::Voice { name, .. } => name.clone(),
        Body::Photo { caption, .. } => caption.clone().unwrap_or_default(),
        Body::Reaction { .. } | Body::Withdrawal { .. } | Body::TapAnswer { .. } | Body::Typing => {
            String::new()
        }
    }
}
