//! What is stored of a message that somebody quotes, and of its files.

use selkie_channel_core::{Body, ConversationId, Inbound, MessageRef, Quote};

use super::rows::{load, load_item};
use super::stored_words::{body, raw_body, read_body};
use super::{conversations, facts};
use crate::error::Result;
use crate::read::StoredFiles;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::InboxId;
use selkie_domain::provenance::Provenance;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::Item;

/// Returns a message of ours by its receipt, or somebody's by its row; of what was taken back nothing is left
/// but its id.
pub fn quoted(
    tx: &mut dyn Tx,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Option<Quote>> {
    let Some(row) = conversations::find(tx, conversation)? else { return Ok(None) };
    if let Some(outbound) = ours(tx, row, message)? {
        let raw = tx.one(body!("FROM outbound o WHERE o.id = ?1"), params![outbound], raw_body)?;
        let text = words(&read_body(&raw)?.body);
        let message = message.clone();
        let attachments = Vec::new();
        return Ok(Some(Quote { message, speaker: String::new(), text, ours: true, attachments }));
    }
    let heard: Option<(i64, String)> = tx.optional(
        "SELECT id, inbound FROM inbox WHERE message = ?1 AND conversation = ?2 ORDER BY id LIMIT 1",
        params![message.as_str(), row],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((id, inbound)) = heard else { return Ok(None) };
    let Inbound { speaker, text, attachments, .. } = load(id, &inbound)?;
    let speaker = if speaker.name.is_empty() { speaker.id.to_string() } else { speaker.name };
    Ok(Some(Quote { message: message.clone(), speaker, text, ours: false, attachments }))
}

/// A stored event that may have brought files.
struct StoredMessage {
    id: i64,
    conversation: i64,
    album: Option<String>,
    inbound: String,
}

fn stored(row: &dyn Row) -> Result<StoredMessage> {
    Ok(StoredMessage {
        id: row.get(0)?,
        conversation: row.get(1)?,
        album: row.get(2)?,
        inbound: row.get(3)?,
    })
}

/// Returns what brought the files of a message, in whichever conversation of its place, and then what else was sent
/// together with it. Of what was taken back there is nothing.
pub fn files(
    tx: &mut dyn Tx,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Vec<StoredFiles>> {
    let Some(here) = conversations::find(tx, conversation)? else { return Ok(Vec::new()) };
    let own: Vec<StoredMessage> = tx.all(
        "SELECT i.id, i.conversation, i.album, i.inbound FROM inbox i
         JOIN conversation c ON c.id = i.conversation
         JOIN conversation h ON h.account = c.account AND h.place = c.place
         WHERE i.message = ?1 AND h.id = ?2 ORDER BY i.id LIMIT 100",
        params![message.as_str(), here],
        stored,
    )?;
    let mut files: Vec<StoredFiles> = own.iter().filter_map(brought).collect();
    let album = own.iter().find_map(|row| Some((row.conversation, row.album.as_deref()?)));
    let Some((conversation, album)) = album else { return Ok(files) };
    let together: Vec<StoredMessage> = tx.all(
        "SELECT id, conversation, album, inbound FROM inbox
         WHERE conversation = ?1 AND album = ?2 ORDER BY ord, id LIMIT 100",
        params![conversation, album],
        stored,
    )?;
    for other in together.iter().filter_map(brought) {
        // An edit tells of the same files once more.
        if files.iter().all(|known| known.message != other.message) {
            files.push(other);
        }
    }
    Ok(files)
}

/// Nothing for what brought no file, or cannot be read.
fn brought(stored: &StoredMessage) -> Option<StoredFiles> {
    let Inbound { message, attachments, .. } = load(stored.id, &stored.inbound).ok()?;
    let row = InboxId(stored.id);
    (!attachments.is_empty()).then_some(StoredFiles { row, message: message?, attachments })
}

/// Returns with which level one of our messages was written, and for whom.
pub fn provenance(
    tx: &mut dyn Tx,
    conversation: &ConversationId,
    message: &MessageRef,
) -> Result<Option<Provenance>> {
    let Some(row) = conversations::find(tx, conversation)? else { return Ok(None) };
    let Some(outbound) = ours(tx, row, message)? else { return Ok(None) };
    let task: Option<i64> =
        tx.only("SELECT task FROM outbound WHERE id = ?1", params![outbound])?;
    // The program's own words.
    let Some(task) = task else { return Ok(Some(Provenance::CLEAN)) };
    let items: Vec<(u16, String)> =
        tx.all("SELECT v, item FROM transcript WHERE task = ?1", params![task], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let written = items.iter().filter_map(|(v, text)| match load_item(task, *v, text) {
        Ok(item @ (Item::Asked { .. } | Item::Said { .. })) => Some(item.level()),
        Ok(_) => None,
        Err(_) => Some(Taint::Derived),
    });
    // What the janitor has forgotten may have been anything.
    let gone = if items.is_empty() { Taint::Derived } else { Taint::Clean };
    let sql = "SELECT facts FROM task WHERE id = ?1";
    let trust = tx.one(sql, params![task], |row| Ok(facts::trust(row.get(0)?)))?;
    Ok(Some(Provenance { level: written.max().unwrap_or(gone), trust }))
}

/// Returns the outbound that made one of our messages.
fn ours(tx: &mut dyn Tx, conversation: i64, message: &MessageRef) -> Result<Option<i64>> {
    let by = params![message.as_str(), conversation];
    let first = tx.first(
        "SELECT outbound FROM part WHERE message = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT 1",
        by,
    )?;
    match first {
        Some(outbound) => Ok(Some(outbound)),
        // One call may make several messages: the others stand behind the first.
        None => tx.first(
            "SELECT p.outbound FROM part_also a JOIN part p ON p.id = a.part
             WHERE a.message = ?1 AND p.conversation = ?2 ORDER BY p.id DESC LIMIT 1",
            by,
        ),
    }
}

/// What was said, in words.
pub fn words(body: &Body) -> String {
    match body {
        Body::Text { markdown } | Body::Status { markdown } | Body::Revision { markdown, .. } => {
            markdown.clone()
        }
        Body::Question(question)
        | Body::Held(question)
        | Body::QuestionWithFile { question, .. } => question.in_words(),
        Body::Voice { caption: Some(words), .. } => words.clone(),
        Body::File { name, .. } | Body::Voice { name, .. } => name.clone(),
        Body::Photo { caption, .. } => caption.clone().unwrap_or_default(),
        Body::Post(post) => post.texts.join("\n\n"),
        Body::Reaction { .. } | Body::Withdrawal { .. } | Body::TapAnswer { .. } | Body::Typing => {
            String::new()
        }
    }
}
