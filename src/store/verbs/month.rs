//! What is posted in public is kept beside what is said, and counted by the month.

use chrono::{DateTime, Utc};

use super::rows::millis;
use super::standing::parts_of;
use crate::delivery::Month;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::OutboundId;

/// Where something is posted, and where somebody asked for it.
#[derive(Clone, Copy, Debug)]
pub struct Whose {
    /// The public conversation.
    pub conversation: i64,
    /// The one that asked.
    pub asked: Option<i64>,
}

/// One time of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// The schedule.
    pub schedule: i64,
    /// The time.
    pub at: DateTime<Utc>,
}

/// Says why so many more posts are refused, if they are.
pub fn over(
    tx: &mut dyn Tx,
    conversation: i64,
    month: &Month,
    more: i64,
) -> Result<Option<String>> {
    let used: i64 = tx.only(
        "SELECT COUNT(*) FROM post p JOIN part q ON q.id BETWEEN p.outbound * 4096 AND p.outbound * 4096 + 4095
         WHERE p.conversation = ?1 AND p.created_at >= ?2
             AND q.state NOT IN ('refused', 'cancelled', 'expired')",
        params![conversation, millis(month.since)],
    )?;
    let is_over = used.saturating_add(more) > i64::from(month.most);
    Ok(is_over.then(|| month.over.clone()))
}

/// Says why a post that is tried again is refused, if it is; else it counts in the month in which that is.
pub fn again(
    tx: &mut dyn Tx,
    outbound: OutboundId,
    month: &Month,
    now: DateTime<Utc>,
) -> Result<Option<String>> {
    let sql = "SELECT conversation, created_at FROM post WHERE outbound = ?1";
    let post = tx.optional(sql, params![outbound.0], |row| Ok([row.get(0)?, row.get(1)?]))?;
    let Some([conversation, created_at]) = post else { return Ok(None) };
    let is_counted = created_at >= millis(month.since);
    let [first, last] = parts_of(outbound.0);
    // What is unclear was counted when it was stored.
    let more: i64 = tx.only(
        "SELECT COUNT(*) FROM part WHERE id BETWEEN ?1 AND ?2
             AND (state IN ('refused', 'expired') OR (state = 'unclear' AND CAST(?3 AS BIGINT) = 0))",
        params![first, last, is_counted],
    )?;
    if more == 0 {
        return Ok(None);
    }
    let why = over(tx, conversation, month, more)?;
    if why.is_none() && !is_counted {
        let sql = "UPDATE post SET created_at = ?2 WHERE outbound = ?1";
        tx.execute_later(sql, params![outbound.0, millis(now)])?;
    }
    Ok(why)
}

/// Keeps a post beside what is said.
pub fn keep(tx: &mut dyn Tx, outbound: OutboundId, whose: Whose, now: DateTime<Utc>) -> Result<()> {
    let Whose { conversation, asked } = whose;
    let asked = asked.filter(|asked| *asked != conversation);
    tx.execute_later(
        "INSERT INTO post (outbound, conversation, asked, told, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![outbound.0, conversation, asked, asked.is_none(), millis(now)],
    )
}

/// Notes of which time of which schedule a post is: the schedule's conversation is told.
pub fn of_time(tx: &mut dyn Tx, outbound: OutboundId, of: Time) -> Result<()> {
    tx.execute_later(
        "UPDATE post SET schedule = ?2, at = ?3, told = 0,
             asked = (SELECT conversation FROM schedule WHERE id = ?2)
         WHERE outbound = ?1",
        params![outbound.0, of.schedule, millis(of.at)],
    )
}
