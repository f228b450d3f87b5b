//! How many requests for approval wait, and how many came to nothing: where no more are sent.

use chrono::{DateTime, Utc};

use super::rows::millis;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::approval::{
    MAX_OPEN, MAX_OPEN_OF_ALL, MAX_RECENT, MAX_RECENT_OF_ALL, MuteOf, WITHIN,
};

/// Counts requests to which nobody has said yes: `withdrawn` with a name was approved, and came to nothing.
macro_rules! unwanted {
    ($where:literal) => {
        concat!(
            $where,
            "(a.state IN ('open', 'denied', 'expired') OR (a.state = 'withdrawn' AND a.decided_by = ''))"
        )
    };
}

/// Why no more is asked for somebody, if so.
pub fn too_many(tx: &mut dyn Tx, requester: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let open: u32 = tx.only(
        "SELECT COUNT(*) FROM approval WHERE requester = ?1 AND state = 'open'",
        params![requester],
    )?;
    let recent: u32 = tx.only(
        unwanted!(
            "SELECT COUNT(*) FROM approval a WHERE a.requester = ?1 AND a.created_at > ?2 AND "
        ),
        params![requester, millis(now - WITHIN)],
    )?;
    Ok(if open >= MAX_OPEN {
        Some(format!("{MAX_OPEN} requests for the same person are waiting already"))
    } else {
        let many = || {
            format!(
                "nobody has approved {MAX_RECENT} requests for the same person within an hour: more can be asked for later"
            )
        };
        (recent >= MAX_RECENT).then(many)
    })
}

/// One of those who are asked, by whom, and for which task.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    pub owner: &'a str,
    pub requester: &'a str,
    pub task: i64,
}

/// Why one owner is not asked for others, if so. What they ask for themselves wears nobody else out, and nobody else keeps
/// them from it.
pub fn not_for(tx: &mut dyn Tx, reader: &Reader<'_>, now: DateTime<Utc>) -> Result<Option<String>> {
    let Reader { owner, requester, .. } = *reader;
    if owner == requester {
        return Ok(None);
    }
    match muted(tx, reader, now)? {
        Some(why) => Ok(Some(why)),
        None => too_many_for(tx, owner, now),
    }
}

/// Says whom an owner has muted: a mute counts for everybody who was asked with its request, as its denial does.
fn muted(tx: &mut dyn Tx, reader: &Reader<'_>, now: DateTime<Utc>) -> Result<Option<String>> {
    let of: Option<String> = tx.first(
        "SELECT m.muted FROM approval m JOIN approval_asked s ON s.approval = m.id
         WHERE m.muted_until > ?1 AND s.person = ?2
           AND ((m.muted = 'person' AND m.requester = ?3)
                OR (m.muted = 'group' AND EXISTS (
                    SELECT 1 FROM task t JOIN conversation c ON c.id = t.conversation
                        JOIN task u ON u.id = m.task JOIN conversation d ON d.id = u.conversation
                    WHERE t.id = ?4 AND c.account = d.account AND c.place = d.place)))
         LIMIT 1",
        params![millis(now), reader.owner, reader.requester, reader.task],
    )?;
    let whose = match of.as_deref().and_then(MuteOf::parse) {
        None => return Ok(None),
        Some(MuteOf::Person) => "for this person",
        Some(MuteOf::Group) => "from here",
    };
    Ok(Some(format!("the owner takes no requests {whose} for now")))
}

fn too_many_for(tx: &mut dyn Tx, owner: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let open: u32 = tx.only(
        "SELECT COUNT(*) FROM approval a WHERE a.state = 'open' AND a.requester <> ?1
           AND EXISTS (SELECT 1 FROM approval_asked s WHERE s.approval = a.id AND s.person = ?1)",
        params![owner],
    )?;
    let recent: u32 = tx.only(
        unwanted!(
            "SELECT COUNT(DISTINCT a.id) FROM approval_asked s JOIN approval a ON a.id = s.approval
             WHERE s.person = ?1 AND a.requester <> ?1 AND a.created_at > ?2 AND "
        ),
        params![owner, millis(now - WITHIN)],
    )?;
    Ok(if open >= MAX_OPEN_OF_ALL {
        Some(format!(
            "{MAX_OPEN_OF_ALL} requests are waiting for the owner already: more can be asked for later"
        ))
    } else {
        let many = || {
            format!(
                "the owner was asked {MAX_RECENT_OF_ALL} times within an hour without approving: more can be asked for later"
            )
        };
        (recent >= MAX_RECENT_OF_ALL).then(many)
    })
}
