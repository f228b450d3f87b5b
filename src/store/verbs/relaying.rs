//! What a task says in another conversation: sent, and part of the history there, in one write.

use chrono::{DateTime, Utc};

use super::outbox::{self, DraftText as Words, SaidFor};
use super::rows::millis;
use super::{appending, conversations, facts, fence, lanes, locks, standing};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use crate::work::{Relay, SayResult};
use selkie_domain::cause::Cause;
use selkie_domain::ids::OutboundId;
use selkie_domain::task::Claim;

/// What is said, written as text before it reaches the writer.
#[derive(Debug)]
pub struct RelayText {
    draft: Words,
    facts: facts::FactsText,
    items: Vec<String>,
}

impl RelayText {
    /// Writes the texts.
    pub fn new(relay: Relay) -> Result<Self> {
        let Relay { draft, facts, items } = relay;
        Ok(Self {
            draft: Words::new(draft)?,
            facts: facts::FactsText::new(&facts)?,
            items: items.iter().map(appending::text).collect::<Result<_>>()?,
        })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        let items: usize = self.items.iter().map(String::len).sum();
        self.draft.bytes() + self.facts.bytes() + items
    }
}

/// Says it under the claim, once for a key; in the other conversation it stands as a task that has ended.
pub fn relay(
    tx: &mut dyn Tx,
    claim: &Claim,
    key: &str,
    relay: &RelayText,
    now: DateTime<Utc>,
) -> Result<SayResult> {
    let RelayText { draft, facts, items } = relay;
    locks::of_task(tx, claim.task.0, [draft.conversation()])?;
    if fence::held(tx, claim)?.is_none() {
        return Ok(SayResult::Lost);
    }
    let before: Option<i64> = tx.first(
        "SELECT id FROM outbound WHERE task = ?1 AND call = ?2",
        params![claim.task.0, key],
    )?;
    if let Some(outbound) = before {
        return Ok(SayResult::Known(OutboundId(outbound), standing::standing(tx, outbound)?));
    }
    let queued = outbox::say(tx, draft, SaidFor::Call(claim.task.0, key), now)?;
    if queued.parts.is_empty() {
        // The conversation is closed: nobody has read it.
        let standing = standing::standing(tx, queued.outbound.0)?;
        return Ok(SayResult::Known(queued.outbound, standing));
    }
    let here = conversations::speak(tx, draft.conversation())?;
    let lane = lanes::of_conversation(tx, here)?;
    let cause = Cause::Conversation { task: claim.task, call: key.to_owned() };
    let whereabouts = facts.whereabouts(tx)?;
    let made = tx.insert(
        "INSERT INTO task (account, cause, conversation, lane, ord, state, facts, whereabouts, created_at, ended_at,
             epoch, finish)
         VALUES (?1, ?2, ?3, ?4, ?5, 'done', ?6, ?7, ?5, ?5, (SELECT epoch FROM conversation WHERE id = ?3),
             1 + COALESCE((SELECT MAX(e.finish) FROM task e WHERE e.conversation = ?3 AND e.finish IS NOT NULL
                 AND e.epoch = (SELECT epoch FROM conversation WHERE id = ?3)), 0))
         ON CONFLICT (account, cause) WHERE cause <> '' DO NOTHING",
        params![
            draft.conversation().account().as_str(),
            cause.key(None).as_ref(),
            here,
            lane,
            millis(now),
            facts.rest(),
            whereabouts
        ],
    )?;
    if let Some(task) = made {
        appending::append(tx, task, 1, items, &[])?;
    }
    Ok(SayResult::New(queued))
}
