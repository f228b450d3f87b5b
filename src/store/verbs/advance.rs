//! An advance of a run, written as text before it reaches the writer.

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::requests::RequestText;
use super::rows::{json, millis, small};
use super::spawning::SpawnText;
use super::{appending, approving, asking, facts, outbox};
use crate::engine::Class;
use crate::error::Result;
use crate::inflow::SeenMarks;
use crate::tx::Tx;
use crate::value::params;
use crate::work::{Advance, End, HistoryStart, StepForm, WritingCall};
use selkie_domain::task::ParkedOn;
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;

/// An advance, written as text before it reaches the writer.
#[derive(Debug)]
pub struct AdvanceText {
    pub items: Vec<String>,
    /// The calls that wrote them.
    pub wrote: Vec<WritingCall>,
    /// What their provider wants back with them.
    pub kept: Vec<StepForm>,
    /// Absent when it stays as it is.
    pub header: Option<String>,
    pub usage: Usage,
    pub now: DateTime<Utc>,
    pub seen: SeenMarks,
    pub approval: Option<Use>,
    /// The children that it begins.
    pub spawn: Option<SpawnText>,
    /// What the parent is told of its end, where nobody has waited for it.
    pub report: Option<RequestText>,
    pub how: How,
}

/// What becomes of an approval that was given.
#[derive(Debug)]
pub enum Use {
    /// It is used up, where it is for this.
    Consume { key: String, hash: String },
    /// It is taken back: the call is not made.
    Forgo { key: String, why: String },
}

/// What the advance is.
#[derive(Debug)]
pub enum How {
    Step { facts: Option<facts::FactsText>, durable: bool },
    Park(Box<ParkStep>),
    Release,
    Finish(Finish),
}

/// The end of a run.
#[derive(Debug)]
pub struct Finish {
    pub facts: Option<facts::FactsText>,
    pub end: End,
    pub say: Vec<outbox::DraftText>,
    pub set_aside: bool,
    pub unheard: bool,
    pub cut: Option<HistoryStart>,
    pub departs: bool,
    pub hand_over: bool,
}

/// A run that waits.
#[derive(Debug)]
pub struct ParkStep {
    pub on: ParkedOn,
    pub text: String,
    pub wake_at: Option<i64>,
    pub ask: Option<asking::QuestionText>,
    pub seek: Option<approving::ApprovalText>,
    pub hand_over: bool,
}

impl AdvanceText {
    /// Writes the texts of an advance. `now` serves those that do not bring their own.
    pub fn new(advance: Advance, now: DateTime<Utc>) -> Result<Self> {
        let texts =
            |items: Vec<Item>| items.iter().map(appending::text).collect::<Result<Vec<_>>>();
        Ok(match advance {
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
            beside => return Self::beside(beside, now),
        })
    }

    /// Writes the texts of what goes along with an advance.
    fn beside(advance: Advance, now: DateTime<Utc>) -> Result<Self> {
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
            Advance::Spawn { children, side_by_side, until, with } => {
                let spawn = SpawnText::new(children, side_by_side, until)?;
                Self { spawn: Some(spawn), ..Self::new(*with, now)? }
            }
            Advance::Report { request, with } => {
                Self { report: Some(RequestText::new(*request)?), ..Self::new(*with, now)? }
            }
            Advance::Step { .. }
            | Advance::Park { .. }
            | Advance::Release
            | Advance::Finish { .. } => {
                return Self::new(advance, now);
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
            spawn: None,
            report: None,
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
        let spawned = self.spawn.as_ref().map_or(0, SpawnText::bytes);
        let told = self.report.as_ref().map_or(0, RequestText::bytes);
        header + kept + spawned + told + self.items.iter().map(String::len).sum::<usize>() + said
    }

    /// The conversations that it touches besides its own.
    pub fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        let spawned = self.spawn.iter().flat_map(SpawnText::conversations);
        let told = self.report.iter().map(RequestText::conversation);
        self.drafts().map(outbox::DraftText::conversation).chain(spawned).chain(told)
    }

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
    pub fn write(&self, tx: &mut dyn Tx, task: i64) -> Result<()> {
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
