//! What is looked at before an event is stored, in one statement: whether it is stored already, and its conversation.

use selkie_channel_core::Inbound;

use super::around::Untold;
use super::chosen;
use super::conversations::GRAIN;
use super::rows::millis;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::choice::Choice;

/// What there is of an event.
#[derive(Debug)]
pub struct Glance {
    /// It is stored already.
    pub known: bool,
    /// A message of its id was taken back before, here or in another place of the account.
    pub unsent: bool,
    /// The row of where its task would speak.
    pub whereabouts: Option<i64>,
    /// Its conversation, by its key or by one it had before its place moved.
    pub here: Option<Here>,
}

/// A conversation, with what a task that comes now has to know of it.
#[derive(Clone, Debug)]
pub struct Here {
    /// Its row.
    pub row: i64,
    /// Its key of today.
    pub key: String,
    /// The place that owns it.
    pub place: String,
    /// The row of that place's first conversation.
    pub place_row: i64,
    /// The folder that the place works in.
    pub workspace: Option<String>,
    /// It is closed.
    pub is_closed: bool,
    /// It is in plan mode.
    pub plan: bool,
    /// What an owner has chosen for it.
    pub chosen: Choice,
    /// Its epoch.
    pub epoch: i64,
    /// Its own lane.
    pub lane: Option<Lane>,
    /// What there is that nobody was told of.
    pub untold: Untold,
    title: String,
    last_at: Option<i64>,
}

/// A lane.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Its row.
    pub row: i64,
    /// A task that came now would be its only one.
    pub is_idle: bool,
}

/// Looks. `place`: where the task that it may become would speak, as facts have it.
pub fn glance(tx: &mut dyn Tx, inbound: &Inbound, place: &str) -> Result<Glance> {
    let account = inbound.conversation.account().as_str();
    tx.one(
        "SELECT (SELECT 1 FROM inbox WHERE account = ?1 AND key = ?3),
             (SELECT id FROM whereabouts WHERE place = ?4),
             c.id, c.key, c.place,
             (SELECT MIN(id) FROM conversation WHERE account = c.account AND place = c.place),
             (SELECT path FROM workspace w WHERE w.account = c.account AND w.place = c.place),
             c.closed IS NOT NULL, c.plan, c.epoch, c.title, c.last_at, l.id,
             l.ready_at IS NULL AND NOT EXISTS (SELECT 1 FROM task WHERE lane = l.id AND state = 'running'),
             EXISTS (SELECT 1 FROM inbox
                     WHERE conversation = c.id AND disposition = 'context' AND task IS NULL),
             EXISTS (SELECT 1 FROM inbox
                     WHERE conversation = c.id AND disposition = 'gate' AND task IS NULL),
             EXISTS (SELECT 1 FROM part WHERE conversation = c.id AND told IS NOT NULL AND told = 0),
             EXISTS (SELECT 1 FROM question WHERE conversation = c.id AND state = 'open'),
             EXISTS (SELECT 1 FROM inbox
                     WHERE message = ?5 AND account = ?1 AND disposition = 'unsend'),
             COALESCE(c.model, (SELECT p.model FROM conversation p
                     WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key)),
             COALESCE(c.effort, (SELECT p.effort FROM conversation p
                     WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key)),
             COALESCE(c.agent, (SELECT p.agent FROM conversation p
                     WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key))
         FROM (SELECT 1 AS one) x
         LEFT JOIN conversation c ON c.id = COALESCE(
             (SELECT id FROM conversation WHERE account = ?1 AND key = ?2),
             (SELECT conversation FROM conversation_alias WHERE account = ?1 AND old = ?2))
         LEFT JOIN lane l ON l.name = c.account || '|' || c.key",
        params![
            account,
            inbound.conversation.key(),
            &inbound.key,
            place,
            inbound.message.as_ref().map(|message| message.as_str())
        ],
        |row| {
            Ok(Glance {
                known: row.get::<Option<i64>>(0)?.is_some(),
                unsent: row.get(18)?,
                whereabouts: row.get(1)?,
                here: match row.get(2)? {
                    Some(id) => Some(here(id, row)?),
                    None => None,
                },
            })
        },
    )
}

fn here(id: i64, row: &dyn Row) -> Result<Here> {
    let lane = match row.get(12)? {
        Some(lane) => Some(Lane { row: lane, is_idle: row.get(13)? }),
        None => None,
    };
    let untold = Untold {
        context: row.get(14)?,
        gate: row.get(15)?,
        lines: false,
        undelivered: row.get(16)?,
        asked: row.get(17)?,
    };
    Ok(Here {
        row: id,
        key: row.get(3)?,
        place: row.get(4)?,
        place_row: row.get(5)?,
        workspace: row.get(6)?,
        is_closed: row.get(7)?,
        plan: row.get(8)?,
        chosen: chosen::read(row, 19)?,
        epoch: row.get(9)?,
        title: row.get(10)?,
        last_at: row.get(11)?,
        lane,
        untold,
    })
}

impl Glance {
    /// Returns the row of the conversation.
    pub fn row(&self) -> Option<i64> {
        self.here.as_ref().map(|here| here.row)
    }
}

impl Here {
    /// Whether an event has nothing to add to what is noted of its conversation: that it was heard of, its title, its
    /// place.
    pub fn has_noted(&self, inbound: &Inbound) -> bool {
        let at = millis(inbound.at);
        let lately = self.last_at.is_some_and(|last| (at - GRAIN..=at).contains(&last));
        let same_title = inbound.title.is_empty() || inbound.title == self.title;
        lately && same_title && self.place == inbound.place.key()
    }
}
