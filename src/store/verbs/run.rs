//! What a run has come to, written under its claim: a step, a park, the end.

use chrono::{DateTime, Utc};

use super::advance::{AdvanceText, Finish, How, ParkStep, Use};
use super::claimed::RawClaimed;
use super::ending::{self, EndRecord, Gain, Parting};
use super::fence::HeldTask;
use super::last::{Last, look};
use super::outbox::LastWords;
use super::requests::{self, RequestText};
use super::rows::millis;
use super::usage::cost;
use super::{
    absorbing, appending, approving, asking, claiming, facts, held_answers as holding, kin, lanes,
    locks, model_calls, own_form, spawning, status, unsend,
};
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::intake::Fuse;
use crate::status::StatusChange;
use crate::tx::Tx;
use crate::value::params;
use crate::work::{End, HistoryStart};
use selkie_domain::facts::Mode;
use selkie_domain::ids::TaskId;
use selkie_domain::task::{Claim, Lane, ParkedOn};
use selkie_domain::usage::Usage;

/// What a commit came to, with a claim that is not read yet.
#[derive(Debug)]
pub enum RawCommitted {
    Continue { stop: bool, mode: Mode, family: Usage },
    NotApproved { stop: bool, mode: Mode },
    Lost,
    Ended(RawEnded),
}

/// The end of a claim, with the next one that is not read yet.
#[derive(Debug, Default)]
pub struct RawEnded {
    pub queued: Vec<QueuedOutbound>,
    pub next: Option<Box<RawClaimed>>,
    pub usage: Usage,
    pub ready: Vec<Lane>,
    pub stopping: Vec<TaskId>,
}

/// Writes an advance under its claim; nothing when the claim is lost.
pub fn commit(tx: &mut dyn Tx, claim: &Claim, advance: &AdvanceText) -> Result<RawCommitted> {
    locks::of_task(tx, claim.task.0, advance.conversations())?;
    let Some(last) = look(tx, claim)? else { return Ok(RawCommitted::Lost) };
    let task = claim.task.0;
    let held = last.held;
    let AdvanceText { items, wrote, now, seen, how, .. } = advance;
    let mut unsent = held.unsent;
    if !seen.is_empty() {
        unsent |= absorbing::absorb(tx, task, held.lane, seen, *now)?;
    }
    let first = held.items + 1;
    // What the only call of a task has used stands with the task.
    let ends = matches!(how, How::Finish(_));
    let alone = ends && last.cost.calls == 0 && advance.usage.calls == 1;
    appending::append(tx, task, first, items, &model_calls::columns(items.len(), wrote, alone))?;
    own_form::keep(tx, task, &advance.kept)?;
    if unsent {
        unsend::again(tx, task)?;
    }
    let HeldTask { stop, mode, .. } = held;
    // What ends is written with its end.
    if !matches!(how, How::Finish(_)) {
        advance.write(tx, task)?;
    }
    match &advance.approval {
        Some(Use::Consume { key, hash }) if !approving::consume(tx, task, key, hash, *now)? => {
            return Ok(RawCommitted::NotApproved { stop, mode });
        }
        Some(Use::Forgo { key, why }) => approving::forgo(tx, task, key, why, *now)?,
        Some(Use::Consume { .. }) | None => {}
    }
    let run = Run { claim, held, now: *now };
    match how {
        // Somebody wants it to end: it must not fall asleep before it hears so.
        How::Park(parking) if !stop => {
            let ready = advance.spawn.as_ref().map(|spawn| spawning::begin(tx, task, spawn, *now));
            let ready = ready.transpose()?.unwrap_or_default();
            run.park(tx, parking, ready)
        }
        How::Step { .. } | How::Park(_) => {
            let family = kin::used_by_family(tx, task, last.kin)?;
            Ok(RawCommitted::Continue { stop, mode, family })
        }
        How::Release => run.release(tx),
        How::Finish(finish) => run.finish(tx, &last, finish, advance),
    }
}

/// What an advance ends a claim with.
struct Run<'a> {
    claim: &'a Claim,
    held: HeldTask,
    now: DateTime<Utc>,
}

impl Run<'_> {
    /// Parks the task: its attempts begin anew, for this claim ended well. Where it waits for children and none is under way
    /// it goes on at once.
    fn park(
        &self,
        tx: &mut dyn Tx,
        parking: &ParkStep,
        mut ready: Vec<Lane>,
    ) -> Result<RawCommitted> {
        let task = self.claim.task.0;
        let ParkStep { on, text, wake_at, ask, seek, hand_over } = parking;
        tx.execute_later(
            "UPDATE task SET state = 'parked', instance = NULL, attempts = 0, parked = ?2,
                 start_at = CASE WHEN CAST(?4 AS BIGINT) = 1 AND NOT EXISTS (SELECT 1 FROM task c
                                WHERE c.parent = ?1 AND c.awaited = 1 AND c.ended_at IS NULL)
                            THEN 0 ELSE CAST(?3 AS BIGINT) END
             WHERE id = ?1",
            params![task, text, *wake_at, i64::from(*on == ParkedOn::Children)],
        )?;
        let asked = ask.as_ref().map(|ask| asking::ask(tx, task, ask, self.now)).transpose()?;
        let sought = seek.as_ref().map(|seek| approving::seek(tx, task, seek, self.now));
        let sought = sought.transpose()?.unwrap_or_default();
        let usage = self.given_back(tx)?;
        let next = self.next(tx, *hand_over)?;
        if *on == ParkedOn::Children {
            ready.extend(lanes::ready_name(tx, self.held.lane, self.now)?);
        }
        let queued = asked.into_iter().chain(sought).collect();
        Ok(RawCommitted::Ended(RawEnded { queued, next, usage, ready, ..RawEnded::default() }))
    }

    /// The task waits again as if this claim had never been.
    fn release(&self, tx: &mut dyn Tx) -> Result<RawCommitted> {
        tx.execute_later(
            "UPDATE task SET state = 'waiting', instance = NULL, start_at = 0, attempts = attempts - 1
             WHERE id = ?1",
            params![self.claim.task.0],
        )?;
        approving::interrupt(tx, self.claim.task.0, self.now)?;
        let usage = self.given_back(tx)?;
        Ok(RawCommitted::Ended(RawEnded { usage, ..RawEnded::default() }))
    }

    /// Ends the task and says its last words.
    fn finish(
        &self,
        tx: &mut dyn Tx,
        last: &Last,
        finish: &Finish,
        advance: &AdvanceText,
    ) -> Result<RawCommitted> {
        let usage = advance.usage;
        let task = self.claim.task.0;
        let at = millis(self.now);
        let why = match &finish.end {
            End::Done => None,
            End::Failed { why } => Some(why.as_str()),
            End::Stopped => Some("stopped by a person"),
        };
        let state = finish.end.state().name();
        let facts = finish.facts.as_ref();
        let whereabouts = facts.map(|facts| facts.whereabouts(tx)).transpose()?;
        let gain = Gain { facts: facts.map(facts::FactsText::rest), whereabouts, usage };
        let record = EndRecord { state, why, at };
        ending::finish(tx, task, record, gain)?;
        // Before its first answer there is none.
        if last.cost.calls > 0 {
            own_form::forget(tx, task)?;
        }
        if finish.unheard {
            tx.execute_later("UPDATE task SET finish = NULL WHERE id = ?1", params![task])?;
        }
        if last.has_approval {
            approving::withdraw_of(tx, task, at)?;
        }
        let Parting { stopping, ready } = ending::part(tx, task, last.kin, record)?;
        let mut ready = lanes::ready_names(tx, &ready, self.now)?;
        let report = advance.report.as_ref().filter(|_| !self.held.stop);
        ready.extend(report.map(|report| self.report(tx, report)).transpose()?.flatten());
        let queued = self.say(tx, last, finish)?;
        if finish.say.iter().any(|said| said.is_over) {
            status::forget(tx, StatusChange::Answer, task)?;
        }
        if finish.set_aside {
            raise_epoch(tx, task)?;
        } else if let Some(cut) = finish.cut {
            cut_history(tx, task, cut)?;
        }
        let mut cost = last.cost;
        cost.add(usage);
        let next = self.next(tx, finish.hand_over)?;
        Ok(RawCommitted::Ended(RawEnded { queued, next, usage: cost, ready, stopping }))
    }

    /// Tells the parent of the end, and returns its lane where it may start.
    fn report(&self, tx: &mut dyn Tx, report: &RequestText) -> Result<Option<Lane>> {
        let fuse = Fuse { instance: self.claim.instance.clone(), permits: 0, now: self.now };
        Ok(requests::request(tx, report, &fuse)?.ready)
    }

    /// Says the last words; the first part of the first leaves at once, if anything may.
    fn say(&self, tx: &mut dyn Tx, last: &Last, finish: &Finish) -> Result<Vec<QueuedOutbound>> {
        let sender = finish.departs.then_some(&self.claim.instance);
        let mut words =
            LastWords { task: self.claim.task.0, last, spent: last.spent.as_deref(), sender };
        let mut queued = Vec::with_capacity(finish.say.len());
        for draft in &finish.say {
            queued.push(holding::say(tx, words, draft, self.now)?);
            words.sender = None;
            // A right of its own has let go what comes behind it.
            words.spent = words.spent.filter(|spent| draft.token().is_none_or(|own| own == *spent));
        }
        Ok(queued)
    }

    /// The claim has ended and the task has not; returns what it cost so far.
    fn given_back(&self, tx: &mut dyn Tx) -> Result<Usage> {
        lanes::refresh(tx, self.held.lane)?;
        cost(tx, self.claim.task.0)
    }

    /// Claims what waits next in the lane, if it is to be handed over.
    fn next(&self, tx: &mut dyn Tx, hand_over: bool) -> Result<Option<Box<RawClaimed>>> {
        if !hand_over {
            return Ok(None);
        }
        let next = claiming::take(tx, self.held.lane, &self.claim.instance, self.now)?;
        Ok(next.map(Box::new))
    }
}

/// The conversation so far is not read any more; its todos and notes stay.
fn raise_epoch(tx: &mut dyn Tx, task: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE conversation SET epoch = epoch + 1, cut = 0, short = 0
         WHERE id = (SELECT conversation FROM task WHERE id = ?1)",
        params![task],
    )
}

/// The history begins here from now on. A conversation that was reset meanwhile has another one.
fn cut_history(tx: &mut dyn Tx, task: i64, cut: HistoryStart) -> Result<()> {
    tx.execute_later(
        "UPDATE conversation SET cut = ?2, short = ?3
         WHERE id = (SELECT conversation FROM task WHERE id = ?1)
             AND epoch = (SELECT epoch FROM task WHERE id = ?1)",
        params![task, cut.from, cut.short],
    )
}
