//! What a run has come to, written under its claim: a step, a park, the end.

use chrono::{DateTime, Utc};

use super::approving;
use super::asking;
use super::claimed::RawClaimed;
use super::ending::{self, EndRecord, Gain};
use super::fence::HeldTask;
use super::last::{Last, look};
use super::outbox::{self, LastWords};
use super::rows::{json, millis, small};
use super::usage::cost;
use super::{
    absorbing, appending, claiming, facts, held_answers as holding, lanes, locks, model_calls,
    own_form, status, unsend,
};
use crate::delivery::QueuedOutbound;
use crate::engine::Class;
use crate::error::Result;
use crate::inflow::SeenMarks;
use crate::status::StatusChange;
use crate::tx::Tx;
use crate::value::params;
use crate::work::{Advance, End, HistoryStart, StepForm, WritingCall};
use selkie_domain::facts::Mode;
use selkie_domain::task::{Claim, ParkedOn};
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;

/// An advance, written as text before it reaches the writer.
#[derive(Debug)]
pub struct AdvanceText {
    items: Vec<String>,
    /// The calls that wrote them.
    wrote: Vec<WritingCall>,
    /// What their provider wants back with them.
    kept: Vec<StepForm>,
    /// Absent when it stays as it is.
    header: Option<String>,
    usage: Usage,
    now: DateTime<Utc>,
    seen: SeenMarks,
    approval: Option<Use>,
    how: How,
}

/// What becomes of an approval that was given.
#[derive(Debug)]
enum Use {
    /// It is used up, where it is for this.
    Consume { key: String, hash: String },
    /// It is taken back: the call is not made.
    Forgo { key: String, why: String },
}

#[derive(Debug)]
enum How {
    Step { facts: Option<facts::FactsText>, durable: bool },
    Park(Box<ParkStep>),
    Release,
    Finish(Finish),
}

#[derive(Debug)]
struct Finish {
    facts: Option<facts::FactsText>,
    end: End,
    say: Vec<outbox::DraftText>,
    set_aside: bool,
    unheard: bool,
    cut: Option<HistoryStart>,
    departs: bool,
    hand_over: bool,
}

#[derive(Debug)]
struct ParkStep {
    on: ParkedOn,
    text: String,
    wake_at: Option<i64>,
    ask: Option<asking::QuestionText>,
    seek: Option<approving::ApprovalText>,
    hand_over: bool,
}

impl AdvanceText {
    /// Writes the texts of an advance. `now` serves those that do not bring their own.
    pub fn new(advance: Advance, now: DateTime<Utc>) -> Result<Self> {
        let texts =
            |items: Vec<Item>| items.iter().map(appending::text).collect::<Result<Vec<_>>>();
        Ok(match advance {
            Advance::Counted { calls, with } => Self { wrote: calls, ..Self::new(*with, now)? },
            Advance::Keep { kept, with } => Self { kept, ..Self::new(*with, now)? },
            Advance::Absorb { seen, with } => Self { seen, ..Self::new(*with, now)? },
            Advance::Consume { key, hash, with } => {
                Self { approval: Some(Use::Consume { key, hash }), ..Self::new(*with, now)? }
            }
            Advance::Forgo { key, why, with } => {
                Self { approval: Some(Use::Forgo { key, why }), ..Self::new(*with, now)? }
            }
            Advance::Step { append, header, facts, usage, durable } => {
                let facts = facts.as_ref().map(facts::FactsText::new).transpose()?;
                let how = How::Step { facts, durable };
                Self::plain(texts(append)?, Some(header), usage, now, how)
            }
            Advance::Park { append, header, on, ask, seek, wake_at, usage, hand_over, now } => {
                let how = How::Park(Box::new(ParkStep {
                    text: json(&on)?,
                    on,
                    wake_at: wake_at.map(millis),
                    ask: ask.map(|asked| asking::QuestionText::new(*asked)).transpose()?,
                    seek: seek.map(|sought| approving::ApprovalText::new(*sought)).transpose()?,
                    hand_over,
                }));
                Self::plain(texts(append)?, Some(header), usage, now, how)
            }
            Advance::Release => Self::plain(Vec::new(), None, Usage::default(), now, How::Release),
            Advance::Finish {
                append,
                header,
                facts,
                end,
                say,
                usage,
                set_aside,
                unheard,
                cut,
                departs,
                hand_over,
                now,
            } => {
                let facts = facts.as_ref().map(facts::FactsText::new).transpose()?;
                let said = |draft| outbox::DraftText::saying(draft, &append);
                let say = say.into_iter().map(said).collect::<Result<_>>()?;
                let finish =
                    Finish { facts, end, say, set_aside, unheard, cut, departs, hand_over };
                let how = How::Finish(finish);
                Self::plain(texts(append)?, Some(header), usage, now, how)
            }
        })
    }

    /// With nothing that goes along.
    fn plain(
        items: Vec<String>,
        header: Option<String>,
        usage: Usage,
        now: DateTime<Utc>,
        how: How,
    ) -> Self {
        Self {
            items,
            wrote: Vec::new(),
            kept: Vec::new(),
            header,
            usage,
            now,
            seen: SeenMarks::default(),
            approval: None,
            how,
        }
    }

    /// Returns what a power failure may take back.
    pub fn class(&self) -> Class {
        match self.how {
            How::Step { durable: false, .. } | How::Release => Class::Relaxed,
            _ => Class::Durable,
        }
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        let said = match &self.how {
            How::Finish(finish) => finish.say.iter().map(outbox::DraftText::bytes).sum(),
            How::Park(parking) => {
                parking.ask.as_ref().map_or(0, asking::QuestionText::bytes)
                    + parking.seek.as_ref().map_or(0, approving::ApprovalText::bytes)
            }
            _ => 0,
        };
        let header = self.header.as_ref().map_or(0, String::len);
        let kept = self.kept.iter().map(|kept| kept.form.json.len()).sum::<usize>();
        header + kept + self.items.iter().map(String::len).sum::<usize>() + said
    }
}

/// What a commit came to, with a claim that is not read yet.
#[derive(Debug)]
pub enum RawCommitted {
    Continue { stop: bool, mode: Mode },
    NotApproved { stop: bool, mode: Mode },
    Lost,
    Ended { queued: Vec<QueuedOutbound>, next: Option<Box<RawClaimed>>, usage: Usage },
}

/// Writes an advance under its claim; nothing when the claim is lost.
pub fn commit(tx: &mut dyn Tx, claim: &Claim, advance: &AdvanceText) -> Result<RawCommitted> {
    locks::of_task(tx, claim.task.0, advance.drafts().map(outbox::DraftText::conversation))?;
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
        How::Step { .. } => Ok(RawCommitted::Continue { stop, mode }),
        // Somebody wants it to end: it must not fall asleep before it hears so.
        How::Park(_) if stop => Ok(RawCommitted::Continue { stop, mode }),
        How::Park(parking) => run.park(tx, parking),
        How::Release => run.release(tx),
        How::Finish(finish) => run.finish(tx, &last, finish, advance.usage),
    }
}

impl AdvanceText {
    /// What it says.
    fn drafts(&self) -> impl Iterator<Item = &outbox::DraftText> {
        let (said, parking) = match &self.how {
            How::Finish(finish) => (finish.say.as_slice(), None),
            How::Park(parking) => (&[][..], Some(parking)),
            _ => (&[][..], None),
        };
        let asked = parking.and_then(|parking| parking.ask.as_ref()).map(|ask| &ask.draft);
        let sought = parking.and_then(|parking| parking.seek.as_ref());
        said.iter().chain(asked).chain(sought.into_iter().flat_map(approving::ApprovalText::drafts))
    }

    /// Writes the header, the facts and what it has cost.
    fn write(&self, tx: &mut dyn Tx, task: i64) -> Result<()> {
        let facts = match &self.how {
            How::Step { facts, .. } => facts.as_ref(),
            _ => None,
        };
        let whereabouts = facts.map(|facts| facts.whereabouts(tx)).transpose()?;
        let Usage { calls, input, cached, output, micro_usd, thoughts: _ } = self.usage;
        let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
        tx.execute_later(
            "UPDATE task SET header = COALESCE(?2, header),
                 facts = COALESCE(?3, facts), whereabouts = COALESCE(?9, whereabouts),
                 calls = calls + ?4, input = input + ?5, cached = cached + ?6, output = output + ?7,
                 micro_usd = micro_usd + ?8 WHERE id = ?1",
            params![
                task,
                &self.header,
                facts.map(facts::FactsText::rest),
                calls,
                input,
                cached,
                output,
                money,
                whereabouts
            ],
        )
    }
}

/// What an advance ends a claim with.
struct Run<'a> {
    claim: &'a Claim,
    held: HeldTask,
    now: DateTime<Utc>,
}

impl Run<'_> {
    /// Parks the task: its attempts begin anew, for this claim ended well. A child that has already ended
    /// wakes it at once.
    fn park(&self, tx: &mut dyn Tx, parking: &ParkStep) -> Result<RawCommitted> {
        let task = self.claim.task.0;
        let ParkStep { on, text, wake_at, ask, seek, hand_over } = parking;
        let child = match on {
            ParkedOn::Child { task } => Some(task.0),
            _ => None,
        };
        tx.execute_later(
            "UPDATE task SET state = 'parked', instance = NULL, attempts = 0, parked = ?2, child = ?3,
                 start_at = CASE WHEN EXISTS (SELECT 1 FROM task c WHERE c.id = ?3 AND c.finish IS NOT NULL)
                            THEN 0 ELSE CAST(?4 AS BIGINT) END
             WHERE id = ?1",
            params![task, text, child, *wake_at],
        )?;
        let asked = ask.as_ref().map(|ask| asking::ask(tx, task, ask, self.now)).transpose()?;
        let sought = seek.as_ref().map(|seek| approving::seek(tx, task, seek, self.now));
        let sought = sought.transpose()?.unwrap_or_default();
        let usage = self.given_back(tx)?;
        let next = self.next(tx, *hand_over)?;
        let queued = asked.into_iter().chain(sought).collect();
        Ok(RawCommitted::Ended { queued, next, usage })
    }

    /// The task waits again as if this claim had never been.
    fn release(&self, tx: &mut dyn Tx) -> Result<RawCommitted> {
        tx.execute_later(
            "UPDATE task SET state = 'waiting', instance = NULL, start_at = 0, attempts = attempts - 1
             WHERE id = ?1",
            params![self.claim.task.0],
        )?;
        let usage = self.given_back(tx)?;
        Ok(RawCommitted::Ended { queued: Vec::new(), next: None, usage })
    }

    /// Ends the task and says its last words.
    fn finish(
        &self,
        tx: &mut dyn Tx,
        last: &Last,
        finish: &Finish,
        usage: Usage,
    ) -> Result<RawCommitted> {
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
        ending::finish(tx, task, EndRecord { state, why, at }, gain)?;
        // Before its first answer there is none.
        if last.cost.calls > 0 {
            own_form::forget(tx, task)?;
        }
        if finish.unheard {
            tx.execute_later("UPDATE task SET finish = NULL WHERE id = ?1", params![task])?;
        }
        if last.is_tied {
            ending::untie(tx, task, at)?;
        }
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
        Ok(RawCommitted::Ended { queued, next, usage: cost })
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
