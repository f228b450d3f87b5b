//! The rows of what is posted in public: how it stands, who is told, and what is still done about it.

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, Body, ConversationId, Outbound, Part};

use super::month;
use super::outbox::{self, SaidFor};
use super::rows::{json, load, millis, time};
use super::standing::{parts_of, standing};
use crate::delivery::{DuePart, Month, QueuedOutbound};
use crate::error::Result;
use crate::post::{OnceMore, PostOf, PostRow, PostedAgain, ToldPost};
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::{OutboundId, PartId, ScheduleId};
use selkie_domain::schedule::{Action, Schedule};

/// A post as it is stored: parsed by whoever asked.
#[derive(Debug)]
pub struct RawPost {
    outbound: i64,
    body: String,
    asked: Option<ConversationId>,
    of: Option<PostOf>,
    told: bool,
    created_at: i64,
}

/// Posts `p`, with what follows their columns.
macro_rules! post {
    ($rest:literal) => {
        concat!(
            "SELECT p.outbound, o.body, c.account, c.key, p.schedule, p.at, p.told, p.created_at
             FROM post p JOIN outbound o ON o.id = p.outbound LEFT JOIN conversation c ON c.id = p.asked ",
            $rest
        )
    };
}

impl RawPost {
    fn from_row(row: &dyn Row) -> Result<Self> {
        let account: Option<&str> = row.get(2)?;
        let key: Option<&str> = row.get(3)?;
        let schedule: Option<i64> = row.get(4)?;
        let at: Option<i64> = row.get(5)?;
        let of = |schedule, at| PostOf { schedule: ScheduleId(schedule), at: time(at) };
        Ok(Self {
            outbound: row.get(0)?,
            body: row.get(1)?,
            asked: account
                .zip(key)
                .map(|(account, key)| ConversationId::new(AccountId::new(account), key)),
            of: schedule.zip(at).map(|(schedule, at)| of(schedule, at)),
            told: row.get(6)?,
            created_at: row.get(7)?,
        })
    }

    /// Reads it, with where it stands.
    pub fn read(self, tx: &mut dyn Tx) -> Result<PostRow> {
        let Self { outbound, body, asked, of, told, created_at } = self;
        Ok(PostRow {
            outbound: OutboundId(outbound),
            said: load(outbound, &body)?,
            asked,
            of,
            told,
            standing: standing(tx, outbound)?,
            missing: missing(tx, outbound)?,
            created_at: time(created_at),
        })
    }
}

/// The places of the parts that have not arrived.
fn missing(tx: &mut dyn Tx, outbound: i64) -> Result<Vec<usize>> {
    let [first, last] = parts_of(outbound);
    let ids: Vec<i64> = tx.column(
        "SELECT id FROM part WHERE id BETWEEN ?1 AND ?2 AND state NOT IN ('sent', 'repeated') ORDER BY id",
        params![first, last],
    )?;
    Ok(ids.into_iter().filter_map(|id| usize::try_from(id - first).ok()).collect())
}

/// Lists the newest posts.
pub fn list(tx: &mut dyn Tx, limit: usize) -> Result<Vec<PostRow>> {
    let rows =
        tx.all(post!("ORDER BY p.outbound DESC LIMIT ?1"), params![limit], RawPost::from_row)?;
    rows.into_iter().map(|raw| raw.read(tx)).collect()
}

/// Finds one.
pub fn by_id(tx: &mut dyn Tx, outbound: OutboundId) -> Result<Option<PostRow>> {
    let found =
        tx.optional(post!("WHERE p.outbound = ?1"), params![outbound.0], RawPost::from_row)?;
    found.map(|raw| raw.read(tx)).transpose()
}

/// Lists those of which nobody was told.
pub fn untold(tx: &mut dyn Tx) -> Result<Vec<i64>> {
    tx.column("SELECT outbound FROM post WHERE told = 0 ORDER BY outbound", params![])
}

/// Lists where the copies lie that may still be needed: of posts that have not arrived, and of what is scheduled.
pub fn files(tx: &mut dyn Tx) -> Result<Vec<String>> {
    let of_posts: Vec<String> = tx.column(
        "SELECT o.body FROM post p CROSS JOIN outbound o ON o.id = p.outbound
         WHERE o.body LIKE '%\"sha256\":%' AND EXISTS (SELECT 1 FROM part q
             WHERE q.id BETWEEN p.outbound * 4096 AND p.outbound * 4096 + 4095
                 AND q.state NOT IN ('sent', 'repeated', 'cancelled'))",
        params![],
    )?;
    let of_schedules: Vec<String> = tx.column(
        "SELECT schedule FROM schedule
         WHERE state IN ('active', 'paused') AND schedule LIKE '%\"sha256\":%'",
        params![],
    )?;
    let mut all = Vec::new();
    for body in of_posts {
        let said: Outbound = load(0, &body)?;
        if let Body::Post(post) = said.body {
            all.extend(post.pictures);
        }
    }
    for text in of_schedules {
        let schedule: Schedule = load(0, &text)?;
        if let Action::Post { post, .. } = schedule.action {
            all.extend(post.pictures);
        }
    }
    Ok(all.into_iter().map(|picture| picture.path).collect())
}

/// Notes that somebody is told, says it, and lets its schedule wait.
pub fn tell(
    tx: &mut dyn Tx,
    outbound: OutboundId,
    draft: Option<&outbox::DraftText>,
    pause: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Option<ToldPost>> {
    if let Some(draft) = draft {
        super::locks::named(tx, [draft.conversation()])?;
    }
    let sql = "UPDATE post SET told = 1 WHERE outbound = ?1 AND told = 0";
    if tx.execute(sql, params![outbound.0])? == 0 {
        return Ok(None);
    }
    let asked: Option<i64> =
        tx.only("SELECT asked FROM post WHERE outbound = ?1", params![outbound.0])?;
    let said_for = asked.map_or(SaidFor::Notice, SaidFor::Asked);
    let queued = draft.map(|draft| outbox::say(tx, draft, said_for, now)).transpose()?;
    let paused = match pause {
        Some(why) => tx.execute(
            "UPDATE schedule SET version = version + 1, state = 'paused', why = ?2
             WHERE id = (SELECT schedule FROM post WHERE outbound = ?1) AND state = 'active'",
            params![outbound.0, why],
        )?,
        None => 0,
    };
    Ok(Some(ToldPost { queued, paused: paused > 0 }))
}

/// Calls that are made once more, written as text before they reach the writer.
#[derive(Debug)]
pub struct Again {
    parts: Vec<(Part, String)>,
    expires_at: Option<DateTime<Utc>>,
    month: Option<Month>,
}

impl Again {
    /// Writes the calls' texts.
    pub fn new(once_more: OnceMore) -> Result<Self> {
        let OnceMore { parts, expires_at, month } = once_more;
        let texts = parts.into_iter().map(|part| json(&part).map(|text| (part, text)));
        Ok(Self { parts: texts.collect::<Result<_>>()?, expires_at, month })
    }

    /// Returns about how many bytes they will take.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|(_, text)| text.len()).sum()
    }
}

/// Queues the parts of a post once more that have come to an end and have not arrived, where its month lets them be.
pub fn again(
    tx: &mut dyn Tx,
    outbound: OutboundId,
    again: &Again,
    now: DateTime<Utc>,
) -> Result<PostedAgain> {
    let [first, last] = parts_of(outbound.0);
    super::locks::of_part(tx, first)?;
    let open = "SELECT 1 FROM part WHERE id BETWEEN ?1 AND ?2 AND open = 1";
    if tx.exists(open, params![first, last])? {
        return Ok(PostedAgain::Nothing);
    }
    if let Some(month) = &again.month
        && let Some(why) = month::again(tx, outbound, month, now)?
    {
        return Ok(PostedAgain::Over(why));
    }
    let over: Vec<i64> = tx.column(
        "SELECT id FROM part WHERE id BETWEEN ?1 AND ?2 AND state IN ('refused', 'unclear', 'expired') ORDER BY id",
        params![first, last],
    )?;
    let mut parts = Vec::new();
    for id in over {
        let place = usize::try_from(id - first).unwrap_or(usize::MAX);
        let Some((part, text)) = again.parts.get(place) else { continue };
        tx.execute(
            "UPDATE part SET state = 'queued', open = 1, told = NULL, attempts = 0, instance = NULL,
                 not_before = NULL, reason = NULL, updated_at = ?2 WHERE id = ?1",
            params![id, millis(now)],
        )?;
        outbox::render(tx, id, text)?;
        parts.push(DuePart {
            id: PartId(id),
            outbound,
            part: part.clone(),
            attempts: 0,
            not_before: None,
            expires_at: again.expires_at,
            unclear: false,
            answer: false,
            departs: false,
        });
    }
    if parts.is_empty() {
        return Ok(PostedAgain::Nothing);
    }
    tx.execute_later(
        "UPDATE outbound SET expires_at = ?2 WHERE id = ?1",
        params![outbound.0, again.expires_at.map(millis)],
    )?;
    let sql = "UPDATE post SET told = 0 WHERE outbound = ?1 AND asked IS NOT NULL";
    tx.execute_later(sql, params![outbound.0])?;
    Ok(PostedAgain::Queued(QueuedOutbound { outbound, parts }))
}

/// Withdraws what has not been sent.
pub fn withdraw(tx: &mut dyn Tx, outbound: OutboundId, now: DateTime<Utc>) -> Result<bool> {
    let [first, last] = parts_of(outbound.0);
    super::locks::of_part(tx, first)?;
    let changed = tx.execute(
        "UPDATE part SET state = 'cancelled', open = 0, updated_at = ?3
         WHERE id BETWEEN ?1 AND ?2 AND state = 'queued' AND open = 1",
        params![first, last, millis(now)],
    )?;
    outbox::tidy(tx)?;
    Ok(changed > 0)
}
