//! A command's effect and its answer, once per row.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId};

use super::conversations::{self, Site};
use super::ending::{EndRecord, end};
use super::outbox::{self, DraftText, SaidFor};
use super::rows::millis;
use super::stop::{self, StopResult};
use super::{asking, chosen, fence, forgetting, lanes, locks, notes, stopped_agents};
use crate::arrival::Location;
use crate::error::Result;
use crate::intake::{ChosenHere, CommandDone, CommandEffect, StopAnswers};
use crate::notes::ZoneOf;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::Mode;
use selkie_domain::ids::TaskId;

/// An effect with its drafts written.
#[derive(Debug)]
pub enum Effect {
    Say(Option<DraftText>),
    Stop { by: Option<PersonId>, also: Vec<ConversationId>, answers: Box<Answers> },
    Reset(DraftText),
    Forget(Option<DraftText>),
    Workspace(Option<String>, Option<DraftText>),
    Zone(ZoneOf, Option<DraftText>),
    Mode(Mode, Option<DraftText>),
    Choose(ChosenHere, Option<DraftText>),
}

/// The answers to a stop with their texts written.
#[derive(Debug)]
pub struct Answers {
    stopped: DraftText,
    refused: DraftText,
    finished: DraftText,
    idle: DraftText,
}

impl Effect {
    /// Writes the drafts' texts.
    pub fn new(effect: CommandEffect) -> Result<Self> {
        Ok(match effect {
            CommandEffect::Say(draft) => Self::Say(draft.map(DraftText::new).transpose()?),
            CommandEffect::Stop { by, also, answers } => {
                let StopAnswers { stopped, refused, finished, idle } = *answers;
                let answers = Box::new(Answers {
                    stopped: DraftText::new(stopped)?,
                    refused: DraftText::new(refused)?,
                    finished: DraftText::new(finished)?,
                    idle: DraftText::new(idle)?,
                });
                Self::Stop { by, also, answers }
            }
            CommandEffect::Reset(draft) => Self::Reset(DraftText::new(draft)?),
            CommandEffect::Forget(draft) => Self::Forget(draft.map(DraftText::new).transpose()?),
            CommandEffect::Workspace(path, draft) => {
                Self::Workspace(path, draft.map(DraftText::new).transpose()?)
            }
            CommandEffect::Zone(zone, draft) => {
                Self::Zone(zone, draft.map(DraftText::new).transpose()?)
            }
            CommandEffect::Mode(mode, draft) => {
                Self::Mode(mode, draft.map(DraftText::new).transpose()?)
            }
            CommandEffect::Choose(chosen, draft) => {
                Self::Choose(chosen, draft.map(DraftText::new).transpose()?)
            }
        })
    }

    /// Returns the conversations that it touches besides its row's, and those in which it speaks.
    fn elsewhere(&self) -> Vec<&ConversationId> {
        let (also, said): (&[ConversationId], Vec<&DraftText>) = match self {
            Self::Say(draft)
            | Self::Forget(draft)
            | Self::Workspace(_, draft)
            | Self::Zone(_, draft)
            | Self::Mode(_, draft)
            | Self::Choose(_, draft) => (&[], draft.iter().collect()),
            Self::Reset(draft) => (&[], vec![draft]),
            Self::Stop { also, answers, .. } => (also, vec![&answers.stopped]),
        };
        also.iter().chain(said.into_iter().map(DraftText::conversation)).collect()
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Say(draft)
            | Self::Forget(draft)
            | Self::Workspace(_, draft)
            | Self::Zone(_, draft)
            | Self::Mode(_, draft)
            | Self::Choose(_, draft) => draft.as_ref().map_or(0, DraftText::bytes),
            Self::Stop { answers, .. } => answers.stopped.bytes().max(answers.idle.bytes()),
            Self::Reset(draft) => draft.bytes(),
        }
    }
}

/// Carries out the command of a row; `None` when it was carried out before.
pub fn carry_out(
    tx: &mut dyn Tx,
    row: i64,
    effect: &Effect,
    now: DateTime<Utc>,
) -> Result<Option<CommandDone>> {
    locks::of_row(tx, row, effect.elsewhere())?;
    let command: Option<Command> = tx.optional(
        "UPDATE inbox SET done_at = ?2
         WHERE id = ?1 AND disposition = 'command' AND done_at IS NULL
         RETURNING conversation, stored_at",
        params![row, millis(now)],
        |found| {
            let why = SaidFor::Command(row);
            Ok(Command { conversation: found.get(0)?, given: found.get(1)?, why })
        },
    )?;
    command.map(|command| command.carry_out(tx, effect, now)).transpose()
}

/// Carries out a command that no row stands for.
pub fn typed(
    tx: &mut dyn Tx,
    at: &Location,
    effect: &Effect,
    now: DateTime<Utc>,
) -> Result<CommandDone> {
    locks::named(tx, effect.elsewhere().into_iter().chain([&at.conversation]))?;
    let known = conversations::find(tx, &at.conversation)?;
    let conversation = match (known, effect) {
        // Whoever forgets from elsewhere says nothing there: the chat is neither younger nor open for it.
        (Some(row), Effect::Forget(None)) => row,
        _ => {
            let row = conversations::hear(tx, known, Site::of(at, now))?;
            conversations::open(tx, row)?;
            row
        }
    };
    let why = SaidFor::Typed(conversation);
    Command { conversation, given: millis(now), why }.carry_out(tx, effect, now)
}

/// A command that is given.
struct Command {
    /// Where.
    conversation: i64,
    /// When.
    given: i64,
    /// What its answer is said for.
    why: SaidFor<'static>,
}

impl Command {
    fn carry_out(
        &self,
        tx: &mut dyn Tx,
        effect: &Effect,
        now: DateTime<Utc>,
    ) -> Result<CommandDone> {
        let Self { conversation, given, why } = *self;
        let mut ended = StopResult::default();
        let draft = match effect {
            Effect::Say(draft) => draft.as_ref(),
            Effect::Stop { by, also, answers } => {
                let by = by.as_ref().map(PersonId::as_str);
                ended = stop::stop(tx, conversation, by, now)?;
                let mut busy = stop::is_busy(tx, conversation)?;
                for thread in also {
                    if let Some(thread) = conversations::find(tx, thread)? {
                        ended.join(stop::stop(tx, thread, by, now)?);
                        busy |= stop::is_busy(tx, thread)?;
                    }
                }
                Some(match ended.any {
                    true => &answers.stopped,
                    false if by.is_some() && busy => &answers.refused,
                    false if stop::has_just_ended(tx, conversation, given)? => &answers.finished,
                    false => &answers.idle,
                })
            }
            Effect::Reset(draft) => {
                ended = begin_anew(tx, conversation, now)?;
                Some(draft)
            }
            Effect::Forget(draft) => {
                ended = forgetting::mark(tx, conversation, now)?;
                draft.as_ref()
            }
            Effect::Workspace(path, draft) => {
                notes::set_workspace(tx, conversation, path.as_deref())?;
                draft.as_ref()
            }
            Effect::Zone(zone, draft) => {
                notes::set_zone(tx, zone)?;
                draft.as_ref()
            }
            Effect::Mode(mode, draft) => {
                notes::change_mode(tx, conversation, *mode, now)?;
                draft.as_ref()
            }
            Effect::Choose(chosen, draft) => {
                chosen::set(tx, conversation, chosen)?;
                draft.as_ref()
            }
        };
        let queued = draft.map(|d| outbox::say(tx, d, why, now)).transpose()?;
        Ok(CommandDone { stopping: ended.running, queued, withdrawn: ended.withdrawn })
    }
}

/// Stops what runs in a conversation and begins it anew, its agents too.
fn begin_anew(tx: &mut dyn Tx, conversation: i64, now: DateTime<Utc>) -> Result<StopResult> {
    let ended = stop::stop(tx, conversation, None, now)?;
    tx.execute_later(
        "UPDATE conversation SET epoch = epoch + 1, cut = 0, short = 0, todos = NULL, skills = NULL,
             plan = 0
         WHERE id = ?1",
        params![conversation],
    )?;
    stopped_agents::forget(tx, conversation, now)?;
    Ok(ended)
}

/// Ends a task as far as it has come: who asked for it has gone.
pub fn abandon(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<CommandDone> {
    withdraw(tx, task, "who asked has gone", now)
}

/// Ends a task as far as it has come, and why.
pub fn withdraw(tx: &mut dyn Tx, task: i64, why: &str, now: DateTime<Utc>) -> Result<CommandDone> {
    locks::of_task(tx, task, [])?;
    let mut done = CommandDone::default();
    let found: Option<(i64, String)> = tx.optional(
        "SELECT lane, state FROM task WHERE id = ?1 AND ended_at IS NULL",
        params![task],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((lane, state)) = found else { return Ok(done) };
    done.stopping.push(TaskId(task));
    if state == "running" {
        fence::tell_to_stop(tx, task)?;
    } else {
        done.withdrawn = asking::withdraw_of(tx, task, now)?;
        end(tx, task, EndRecord { state: "stopped", why: Some(why), at: millis(now) })?;
        lanes::refresh(tx, lane)?;
    }
    stop::cancel_unsent(tx, task, "stopped", now)?;
    outbox::tidy(tx)?;
    Ok(done)
}
