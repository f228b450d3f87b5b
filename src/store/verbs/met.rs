//! Whom the bot has met: the verbs of [`Acquaintances`].

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, Audience, ConversationId, Inbound, PersonId, PlaceId, What};

use super::rows::{millis, time};
use super::{forgotten, private};
use crate::error::Result;
use crate::met::{Acquaintances, LookResult, NewlyMet, PrivateChat, SeenPerson};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::{Row, params};

/// So many messages are looked through at a time.
const PAGE: i64 = 500;
/// Characters of a name that are kept.
const MAX_NAME: usize = 120;

#[async_trait]
impl Acquaintances for SqlLedger {
    async fn look_for_met(&self, after: Option<i64>, settled: DateTime<Utc>) -> Result<LookResult> {
        self.read(move |tx| look(tx, after, millis(settled))).await
    }

    async fn note_met(&self, met: Vec<SeenPerson>, upto: Option<i64>) -> Result<()> {
        let plan = Plan::RELAXED.bytes(met.len() * 200).after("met");
        self.write(plan, move |tx| note(tx, &met, upto)).await
    }

    async fn met_in(&self, place: &PlaceId, most: usize) -> Result<Vec<SeenPerson>> {
        let place = place.clone();
        self.read(move |tx| {
            tx.all(
                "SELECT account, place, person, name, username, is_bot, direct, at FROM met
                 WHERE account = ?1 AND place = ?2 ORDER BY at DESC, person LIMIT ?3",
                params![place.account().as_str(), place.key(), most],
                met_of,
            )
        })
        .await
    }

    async fn met_lately(&self, most: usize) -> Result<Vec<SeenPerson>> {
        self.read(move |tx| {
            tx.all(
                "SELECT account, place, person, name, username, is_bot, direct, at FROM met ORDER BY at DESC LIMIT ?1",
                params![most],
                met_of,
            )
        })
        .await
    }

    async fn met_beside(
        &self,
        account: &AccountId,
        person: &PersonId,
        most: usize,
    ) -> Result<Vec<SeenPerson>> {
        let account = account.clone();
        let person = person.clone();
        self.read(move |tx| {
            tx.all(
                "SELECT m.account, m.place, m.person, m.name, m.username, m.is_bot, m.direct, m.at
                 FROM met own JOIN met m ON m.account = own.account AND m.place = own.place
                 WHERE own.account = ?1 AND own.person = ?2 AND own.direct = 0 AND m.person <> ?2
                 ORDER BY m.at DESC, m.place, m.person LIMIT ?3",
                params![account.as_str(), person.as_str(), most],
                met_of,
            )
        })
        .await
    }

    async fn private_chats(&self, people: &[PersonId]) -> Result<Vec<PrivateChat>> {
        let people = people.to_vec();
        self.write(Plan::RELAXED, move |tx| {
            let mut all = Vec::new();
            for person in &people {
                all.extend(private_chats(tx, person)?);
            }
            Ok(all)
        })
        .await
    }

    async fn forget_names(&self, people: &[PersonId], chats: &[PrivateChat]) -> Result<()> {
        let people = people.to_vec();
        let chats = chats.to_vec();
        self.write(Plan::DURABLE, move |tx| forgotten::names(tx, &people, &chats)).await
    }

    async fn newly_met(&self, most: usize) -> Result<Vec<NewlyMet>> {
        self.read(move |tx| {
            tx.all(
                "SELECT account, place, person, name, username, is_bot, direct, at, brought, brought_at,
                        brought_name FROM met
                 WHERE fresh = 1 ORDER BY at, account, place, person LIMIT ?1",
                params![most],
                |row| {
                    let is_new = row.get::<i64>(9)? == 0;
                    let brought = row.get(8)?;
                    let brought_name = row.get(10)?;
                    Ok(NewlyMet { met: met_of(row)?, brought, brought_name, is_new })
                },
            )
        })
        .await
    }

    async fn note_brought(&self, met: Vec<SeenPerson>) -> Result<()> {
        let plan = Plan::RELAXED.bytes(met.len() * 200).after("met");
        self.write(plan, move |tx| {
            for one in &met {
                // Who has another name by now is brought once more.
                tx.execute_later(
                    "UPDATE met SET fresh = CASE WHEN username = ?4 AND name = ?6 THEN 0 ELSE 1 END, brought = ?4,
                         brought_at = ?5, brought_name = ?6
                     WHERE account = ?1 AND place = ?2 AND person = ?3",
                    params![
                        one.place.account().as_str(),
                        one.place.key(),
                        one.person.as_str(),
                        &one.username,
                        millis(one.at),
                        &one.name
                    ],
                )?;
            }
            Ok(())
        })
        .await
    }
}

fn look(tx: &mut dyn Tx, after: Option<i64>, settled: i64) -> Result<LookResult> {
    let after = match after {
        Some(after) => after,
        None => tx.only("SELECT met FROM meta WHERE id = 1", params![])?,
    };
    // Where one thread writes, nothing comes to be seen behind something newer.
    let settled = if tx.is_alone() { i64::MAX } else { settled };
    let mut looked = LookResult::default();
    let mut latest = HashMap::new();
    let found: Vec<InboxRow> = tx.all(
        "SELECT i.id, i.stored_at, i.inbound, i.disposition, c.account, c.place
         FROM inbox i LEFT JOIN conversation c ON c.id = i.conversation
         WHERE i.id > ?1 ORDER BY i.id LIMIT ?2",
        params![after, PAGE],
        |row| {
            Ok(InboxRow {
                id: row.get(0)?,
                is_settled: row.get::<i64>(1)? < settled,
                met: spoke(row)?,
            })
        },
    )?;
    for InboxRow { id, is_settled, met } in found {
        if is_settled && looked.last == looked.settled {
            looked.settled = Some(id);
        }
        looked.last = Some(id);
        if let Some(met) = met {
            latest.insert((met.place.clone(), met.person.clone()), met);
        }
    }
    looked.met = latest.into_values().collect();
    Ok(looked)
}

/// A row of the inbox.
struct InboxRow {
    id: i64,
    is_settled: bool,
    met: Option<SeenPerson>,
}

/// Who spoke in a row of the inbox: nobody in what asked nothing of the bot, or was not for it.
fn spoke(row: &dyn Row) -> Result<Option<SeenPerson>> {
    let account: Option<&str> = row.get(4)?;
    let place: Option<&str> = row.get(5)?;
    let Some(account) = account else { return Ok(None) };
    let Some(place) = place else { return Ok(None) };
    let disposition: &str = row.get(3)?;
    let is_task = disposition == "task";
    let counts =
        matches!(disposition, "command" | "answer" | "gate" | "context" | "ignored: untriggered");
    if !is_task && !counts {
        return Ok(None);
    }
    // What cannot be read is told where it is needed.
    let Ok(inbound) = serde_json::from_str::<Inbound>(row.get(2)?) else { return Ok(None) };
    let speaker = inbound.speaker;
    let username = speaker.username.unwrap_or_default();
    let is_forgotten = speaker.name.is_empty() && username.is_empty() && inbound.text.is_empty();
    let is_other = inbound.what != What::Message || (speaker.is_bot && !is_task);
    if is_other || is_forgotten || speaker.id.as_str().is_empty() {
        return Ok(None);
    }
    Ok(Some(SeenPerson {
        place: PlaceId::new(AccountId::new(account), place),
        person: speaker.id,
        name: speaker.name.chars().take(MAX_NAME).collect(),
        username: username.chars().take(MAX_NAME).collect(),
        is_bot: speaker.is_bot,
        is_direct: inbound.audience == Audience::Direct,
        at: inbound.at,
    }))
}

fn note(tx: &mut dyn Tx, met: &[SeenPerson], upto: Option<i64>) -> Result<()> {
    for one in met {
        let SeenPerson { place, person, name, username, is_bot, is_direct, at } = one;
        // Once for all that is looked through together. The time alone is worth a line in a file that people read once a day.
        tx.execute_later(
            "INSERT INTO met (account, place, person, name, username, is_bot, direct, at, fresh, brought, brought_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, '', 0)
             ON CONFLICT (account, place, person) DO UPDATE SET
                 name = excluded.name, username = excluded.username, is_bot = excluded.is_bot,
                 direct = excluded.direct, at = excluded.at,
                 fresh = CASE WHEN met.username <> excluded.username OR met.name <> excluded.name
                              OR excluded.at >= met.brought_at + 86400000 THEN 1 ELSE met.fresh END
             WHERE excluded.at > met.at OR (excluded.at = met.at
                 AND (met.name <> excluded.name OR met.username <> excluded.username))",
            params![
                place.account().as_str(),
                place.key(),
                person.as_str(),
                name,
                username,
                *is_bot,
                *is_direct,
                millis(*at)
            ],
        )?;
    }
    match upto {
        Some(upto) => tx.execute_later("UPDATE meta SET met = ?1 WHERE met < ?1", params![upto]),
        None => Ok(()),
    }
}

/// Whom the bot does not listen to, it has not met: their messages alone tell where they wrote.
fn private_chats(tx: &mut dyn Tx, person: &PersonId) -> Result<Vec<PrivateChat>> {
    let met: Vec<i64> = tx.all(
        "SELECT c.id FROM met m JOIN conversation c ON c.account = m.account AND c.place = m.place
         WHERE m.person = ?1 AND m.direct = 1",
        params![person.as_str()],
        |row| row.get(0),
    )?;
    let mut all: BTreeMap<i64, u64> =
        met.into_iter().map(|conversation| (conversation, 0)).collect();
    all.extend(private::all(tx, person)?);
    let chat = |(conversation, stray)| {
        let chat = private_chat(tx, conversation, person)?;
        Ok(PrivateChat { messages: chat.messages + stray, ..chat })
    };
    all.into_iter().map(chat).collect()
}

fn private_chat(tx: &mut dyn Tx, conversation: i64, person: &PersonId) -> Result<PrivateChat> {
    tx.one(
        "SELECT c.account, c.key, c.place,
                (SELECT COUNT(*) FROM inbox WHERE conversation = c.id),
                (SELECT COUNT(*) FROM task WHERE conversation = c.id)
         FROM conversation c WHERE c.id = ?1",
        params![conversation],
        |row| {
            let account = AccountId::new(row.get::<&str>(0)?);
            Ok(PrivateChat {
                conversation: ConversationId::new(account.clone(), row.get::<&str>(1)?),
                place: PlaceId::new(account, row.get::<&str>(2)?),
                person: person.clone(),
                messages: row.get::<i64>(3)?.unsigned_abs(),
                tasks: row.get::<i64>(4)?.unsigned_abs(),
            })
        },
    )
}

fn met_of(row: &dyn Row) -> Result<SeenPerson> {
    Ok(SeenPerson {
        place: PlaceId::new(AccountId::new(row.get::<&str>(0)?), row.get::<&str>(1)?),
        person: PersonId::new(row.get::<&str>(2)?),
        name: row.get(3)?,
        username: row.get(4)?,
        is_bot: row.get(5)?,
        is_direct: row.get(6)?,
        at: time(row.get(7)?),
    })
}

/// Whom a place has met goes on with it under its new name.
pub fn move_met(tx: &mut dyn Tx, account: &str, old: &str, new: &str) -> Result<()> {
    tx.execute_later(
        "UPDATE met SET place = ?3, fresh = 1 WHERE account = ?1 AND place = ?2
             AND NOT EXISTS (SELECT 1 FROM met m WHERE m.account = ?1 AND m.place = ?3 AND m.person = met.person)",
        params![account, old, new],
    )?;
    tx.execute_later("DELETE FROM met WHERE account = ?1 AND place = ?2", params![account, old])
}

/// Forgets whom nobody has heard for long; where they were met stays in the file of contacts.
pub fn forget(tx: &mut dyn Tx, since: i64, most: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM met WHERE (account, place, person) IN
             (SELECT account, place, person FROM met WHERE at < ?1 ORDER BY at LIMIT ?2)",
        params![since, most],
    )
}
