//! What was understood of the voice of messages: the verbs of [`VoiceNotes`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use selkie_channel_core::Inbound;

use super::rows::{json, load};
use super::{locks, outbox, standing, texts};
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use crate::voice::{HeardVoice, VoiceNotes};
use selkie_domain::ids::InboxId;
use selkie_domain::spoken::SpokenWords;

/// What is kept, by the place of the file among the message's files.
type WordsByFile = BTreeMap<u32, SpokenWords>;

#[async_trait]
impl VoiceNotes for SqlLedger {
    async fn keep_spoken(&self, message: InboxId, heard: HeardVoice) -> Result<bool> {
        let plan = Plan::RELAXED.bytes(heard.spoken.words.len()).after(&message.0);
        self.write(plan, move |tx| keep(tx, message.0, &heard)).await
    }

    async fn spoken_words(&self, message: InboxId) -> Result<Vec<HeardVoice>> {
        // What was written last counts: a reader may see what was before.
        let sql = "SELECT spoken FROM inbox WHERE id = ?1";
        let plan = Plan::RELAXED.after(&message.0);
        let found = self.write(plan, move |tx| tx.first::<Option<String>>(sql, params![message.0]));
        let all = kept(found.await?.flatten().as_deref()).into_iter();
        Ok(all.map(|(file, spoken)| HeardVoice { file, spoken }).collect())
    }
}

fn keep(tx: &mut dyn Tx, row: i64, heard: &HeardVoice) -> Result<bool> {
    locks::of_row(tx, row, [])?;
    let stored: Option<(String, Option<String>)> =
        tx.optional("SELECT inbound, spoken FROM inbox WHERE id = ?1", params![row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let Some((inbound, before)) = stored else { return Ok(false) };
    // Whatever takes the words of a message away takes its files along.
    let files = load::<Inbound>(row, &inbound).map_or(0, |inbound| inbound.attachments.len());
    if usize::try_from(heard.file).is_ok_and(|file| file >= files) {
        return Ok(false);
    }
    let mut all = kept(before.as_deref());
    if all.contains_key(&heard.file) {
        return Ok(true);
    }
    all.insert(heard.file, heard.spoken.clone());
    let text = json(&all)?;
    tx.execute_later("UPDATE inbox SET spoken = ?2 WHERE id = ?1", params![row, &text])?;
    Ok(true)
}

/// Takes the words of a message's voice out of what has shown them to people: what is on its way is not sent.
pub fn unecho(tx: &mut dyn Tx, row: i64) -> Result<()> {
    let from = format!("voice:{row}:");
    let to = format!("voice:{row};");
    let shown: Vec<(i64, String)> = tx.all(
        "SELECT o.id, o.body FROM notice n JOIN outbound o ON o.id = n.outbound WHERE n.key >= ?1 AND n.key < ?2",
        params![&from, &to],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (outbound, body) in &shown {
        let left = texts::unsaid(body);
        tx.execute_later("UPDATE outbound SET body = ?2 WHERE id = ?1", params![*outbound, &left])?;
        let [first, last] = standing::parts_of(*outbound);
        tx.execute_later(
            "UPDATE part SET state = 'cancelled', open = 0, reason = 'taken back'
             WHERE id BETWEEN ?1 AND ?2 AND open = 1 AND state = 'queued'",
            params![first, last],
        )?;
    }
    if shown.is_empty() { Ok(()) } else { outbox::tidy(tx) }
}

/// Reads the words that are kept of a message.
pub fn words(text: Option<&str>) -> Vec<SpokenWords> {
    kept(text).into_values().collect()
}

/// What cannot be read is asked for again.
fn kept(text: Option<&str>) -> WordsByFile {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
