//! What is due by itself, whatever it is, and when something is next: schedules, tasks that wait for a time, a person or
//! an approval, parts on their way, held answers, posts of which somebody has to be told.

use chrono::{DateTime, TimeDelta, Utc};

use super::rows::{millis, time};
use crate::error::Result;
use crate::read::UpcomingWork;
use crate::tx::Tx;
use crate::value::params;

/// A part that waits for less is under way: platforms ask for such pauses.
const SHORT: TimeDelta = TimeDelta::minutes(1);

/// Whether something is due or under way; ?2: what a part may wait for.
pub const DUE_NOW: &str = "SELECT 1 FROM schedule WHERE state = 'active' AND next_at IS NOT NULL AND next_at <= ?1
     UNION ALL SELECT 1 FROM task WHERE state = 'running'
     UNION ALL SELECT 1 FROM task WHERE state = 'waiting' AND start_at <= ?1
     UNION ALL SELECT 1 FROM task WHERE start_at > 0 AND start_at <= ?1
     UNION ALL SELECT 1 FROM rendered r CROSS JOIN part p ON p.id = r.part JOIN outbound o ON o.id = p.outbound
         WHERE p.open = 1 AND (p.state = 'sending'
             OR (p.state IN ('queued', 'unclear') AND COALESCE(p.not_before, 0) <= ?2)
             OR (p.state = 'held' AND o.expires_at <= ?1))
     UNION ALL SELECT 1 FROM post s WHERE s.told = 0 AND NOT EXISTS (SELECT 1 FROM part q
         WHERE q.id BETWEEN s.outbound * 4096 AND s.outbound * 4096 + 4095 AND q.open = 1)";

/// The next moment of a part.
const NEXT_PART: &str =
    "SELECT MIN(p.not_before) FROM rendered r CROSS JOIN part p ON p.id = r.part
     WHERE p.open = 1 AND p.state IN ('queued', 'unclear') AND p.not_before > ?1";

/// The next moment of each other kind.
const NEXT_OF_OTHERS: [&str; 3] = [
    "SELECT MIN(next_at) FROM schedule WHERE state = 'active' AND next_at IS NOT NULL AND next_at > ?1",
    "SELECT MIN(start_at) FROM task WHERE start_at > 0 AND start_at > ?1",
    "SELECT MIN(o.expires_at) FROM rendered r CROSS JOIN part p ON p.id = r.part
     JOIN outbound o ON o.id = p.outbound WHERE p.open = 1 AND p.state = 'held' AND o.expires_at > ?1",
];

/// Says what is due by itself at a moment, and when something is next.
pub fn upcoming(tx: &mut dyn Tx, now: DateTime<Utc>) -> Result<UpcomingWork> {
    let soon = millis(now + SHORT);
    let now = millis(now);
    let due = tx.exists(DUE_NOW, params![now, soon])?;
    let mut next: Option<i64> = tx.only(NEXT_PART, params![soon])?;
    for sql in NEXT_OF_OTHERS {
        let at: Option<i64> = tx.only(sql, params![now])?;
        next = [next, at].into_iter().flatten().min();
    }
    Ok(UpcomingWork { due, next: next.map(time) })
}
