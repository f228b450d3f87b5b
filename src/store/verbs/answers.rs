//! A tap or a message answers a question: once, whatever comes twice.

use chrono::{DateTime, Utc};

use super::accept;
use super::asking::{self, Answer};
use super::event::Row as ArrivalRow;
use super::outbox::{self, DraftText, SaidFor};
use super::rows::{json, millis};
use super::{lanes, locks};
use crate::error::Result;
use crate::question::{TapDone, TapEffect};
use crate::tx::Tx;
use crate::value::params;

/// An effect with its texts written.
#[derive(Debug)]
pub enum Effect {
    Nothing,
    Pick {
        key: String,
        from: String,
        to: String,
        revision: Option<DraftText>,
    },
    Answer {
        key: String,
        given: String,
        revision: Option<DraftText>,
        otherwise: Option<Box<ArrivalRow>>,
    },
}

impl Effect {
    /// Writes the texts.
    pub fn new(effect: TapEffect) -> Result<Self> {
        Ok(match effect {
            TapEffect::Nothing => Self::Nothing,
            TapEffect::Pick { key, from, to, revision } => Self::Pick {
                key,
                from: json(&from)?,
                to: json(&to)?,
                revision: revision.map(DraftText::new).transpose()?,
            },
            TapEffect::Answer { key, given, revision, otherwise } => Self::Answer {
                key,
                given: json(&given)?,
                revision: revision.map(DraftText::new).transpose()?,
                otherwise: otherwise.map(|a| ArrivalRow::new(*a).map(Box::new)).transpose()?,
            },
        })
    }

    fn revision(&self) -> Option<&DraftText> {
        match self {
            Self::Nothing => None,
            Self::Pick { revision, .. } | Self::Answer { revision, .. } => revision.as_ref(),
        }
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        self.revision().map_or(0, DraftText::bytes)
    }
}

/// Carries out the tap or answer of a row; `None` when it was carried out before.
pub fn carry_out(
    tx: &mut dyn Tx,
    row: i64,
    effect: &Effect,
    now: DateTime<Utc>,
) -> Result<Option<TapDone>> {
    locks::of_row(tx, row, effect.revision().map(DraftText::conversation))?;
    let fresh: Option<String> = tx.first(
        "UPDATE inbox SET done_at = ?2
         WHERE id = ?1 AND disposition IN ('tap', 'answer') AND done_at IS NULL
         RETURNING account",
        params![row, millis(now)],
    )?;
    let Some(account) = fresh else { return Ok(None) };
    Ok(Some(match effect {
        Effect::Nothing => TapDone::default(),
        Effect::Pick { key, from, to, .. } => {
            let picked = tx.execute(
                "UPDATE question SET picked = ?4
                 WHERE key = ?1 AND account = ?2 AND state = 'open' AND picked = ?3",
                params![key, &account, from, to],
            )?;
            match picked {
                0 => TapDone::default(),
                _ => done(tx, row, effect, now)?,
            }
        }
        Effect::Answer { key, given, otherwise, .. } => {
            let answer = Answer { account: &account, key, given, inbox: Some(row) };
            match (asking::settle(tx, answer, now)?, otherwise) {
                (Some(lane), _) => {
                    let ready = lanes::ready_name(tx, lane, now)?;
                    TapDone { ready, ..done(tx, row, effect, now)? }
                }
                (None, Some(message)) => {
                    let ready = accept::after_all(tx, row, message, now)?;
                    TapDone { ready, ..TapDone::default() }
                }
                (None, None) => TapDone::default(),
            }
        }
    }))
}

fn done(tx: &mut dyn Tx, row: i64, effect: &Effect, now: DateTime<Utc>) -> Result<TapDone> {
    let revision = effect.revision();
    let queued = revision.map(|r| outbox::say(tx, r, SaidFor::Change(row), now)).transpose()?;
    Ok(TapDone { done: true, queued, ready: None })
}
