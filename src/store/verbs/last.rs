//! What a write of a run looks at first, in one statement: whether its claim holds, and what its end has to know.

use selkie_channel_core::ConversationId;

use super::fence::{HeldTask, STOP, UNSENT};
use super::kin::Kin;
use super::usage::usage;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::Mode;
use selkie_domain::task::Claim;
use selkie_domain::usage::Usage;

/// A task under its claim.
#[derive(Debug)]
pub struct Last {
    /// What the holder of the claim needs to know.
    pub held: HeldTask,
    /// Where it was asked for.
    pub asked: LastRequest,
    /// Leave for a call of its is sought or given.
    pub has_approval: bool,
    /// Which tasks belong to it.
    pub kin: Kin,
    /// The right to answer that was spent on a button for what it says.
    pub spent: Option<String>,
    /// What it has cost so far.
    pub cost: Usage,
}

/// A conversation in which something was asked for.
#[derive(Debug)]
pub struct LastRequest {
    /// Its row.
    pub conversation: i64,
    /// Why it is closed, if it is.
    pub closed: Option<String>,
    account: String,
    key: String,
}

impl LastRequest {
    /// Whether it is this one.
    pub fn is(&self, id: &ConversationId) -> bool {
        self.account == id.account().as_str() && self.key == id.key()
    }
}

/// Looks; `None` when the claim is lost.
pub fn look(tx: &mut dyn Tx, claim: &Claim) -> Result<Option<Last>> {
    tx.optional(
        "SELECT t.lane, t.stop, COALESCE((SELECT p.plan FROM conversation p WHERE p.id = c.parent), c.plan), (SELECT MAX(seq) FROM transcript WHERE transcript.task = t.id),
             c.id, c.closed, c.account, c.key,
             EXISTS (SELECT 1 FROM approval WHERE task = t.id AND state IN ('open', 'approved')),
             (SELECT token FROM hold WHERE task = t.id AND open = 1),
             t.calls, t.input, t.cached, t.output, t.micro_usd, t.parent, t.awaited,
             EXISTS (SELECT 1 FROM task WHERE parent = t.id)
         FROM task t JOIN conversation c ON c.id = t.conversation
         WHERE t.id = ?1 AND t.state = 'running' AND t.claim = ?2 AND t.instance = ?3",
        params![claim.task.0, claim.number, &claim.instance.0],
        |row| {
            let stop: i64 = row.get(1)?;
            let held = HeldTask {
                lane: row.get(0)?,
                stop: stop & STOP != 0,
                unsent: stop & UNSENT != 0,
                mode: if row.get(2)? { Mode::Plan } else { Mode::Normal },
                items: row.get::<Option<i64>>(3)?.unwrap_or_default(),
            };
            let asked = LastRequest {
                conversation: row.get(4)?,
                closed: row.get(5)?,
                account: row.get(6)?,
                key: row.get(7)?,
            };
            let has_approval = row.get(8)?;
            let spent = row.get(9)?;
            let cost = usage(row, 10)?;
            let parent = row.get::<Option<i64>>(15)?;
            let awaited: bool = row.get(16)?;
            let kin = Kin { parent, awaited, has_children: row.get(17)? };
            Ok(Last { held, asked, has_approval, kin, spent, cost })
        },
    )
}
