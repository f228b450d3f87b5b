//! Reminders that were said, settled by their person: done, or said again later; by a tap or in words, each once.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{Audience, ConversationId, Inbound, PersonId};

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::reminders::{self, AGAIN, DONE, LATER};
use crate::intake::messages::later as messages;
use selkie_domain::crash::CrashPoint;
use selkie_domain::ids::InboxId;
use selkie_domain::reminder::ReminderState;
use selkie_schedule::book::{Book, BookError};
use selkie_store::{ReminderRow, Settle, SettleResult, StoreError};

/// So many of a conversation are looked through for the one that somebody means.
const LOOKED_THROUGH: usize = 20;

/// Settles reminders.
pub struct Reminders {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) book: Arc<Book>,
}

/// What somebody makes of a reminder, in words or with a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReminderAction {
    /// It is done.
    Done,
    /// It is to be said again then.
    Again(DateTime<Utc>),
}

/// Who settles, and where.
#[derive(Clone, Copy)]
pub struct Settler<'a> {
    pub(crate) person: &'a PersonId,
    pub(crate) conversation: &'a ConversationId,
    pub(crate) audience: Audience,
}

/// What a settlement comes to.
enum SettleOutcome {
    /// It stands so now.
    Settled(ReminderState),
    /// The tap was carried out before.
    Repeated,
    /// Somebody was quicker, or there are too many: nothing is settled, and the tap is carried out.
    Refused(String),
    /// It cannot be tried, and why.
    Unfit(String),
}

impl Reminders {
    /// Judges and carries out a tap; returns what the person reads on it, `None` when that was done before.
    pub async fn tap(
        &self,
        row: InboxId,
        inbound: &Inbound,
        found: ReminderRow,
        choice: &str,
    ) -> Result<TapOutcome, StoreError> {
        let Inbound { conversation, speaker, audience, .. } = inbound;
        let by = Settler { person: &speaker.id, conversation, audience: *audience };
        if !may_settle(&found, by) {
            return Ok(TapOutcome::Idle(messages::not_your_reminder(
                &found.schedule.schedule.maker.name,
            )));
        }
        if let Some(settled) = found.settled {
            return Ok(TapOutcome::Idle(messages::settled_already(&self.outcome(&found, settled))));
        }
        let wanted = match choice {
            DONE => ReminderAction::Done,
            AGAIN => ReminderAction::Again(self.book.now() + LATER),
            _ => return Ok(TapOutcome::Idle(messages::NO_SUCH_BUTTON.to_owned())),
        };
        // The tapped message is where the buttons are.
        let message = inbound.message.clone().or(found.message.clone());
        let found = ReminderRow { message, ..found };
        let revised = |message| reminders::revised(&self.outbox, &found, message, "");
        let is_shown = found.message.clone().and_then(revised).is_some();
        Ok(match self.settle(&found, wanted, Some(row)).await? {
            SettleOutcome::Settled(_) if is_shown => TapOutcome::Done(String::new()),
            SettleOutcome::Settled(settled) => TapOutcome::Done(self.outcome(&found, settled)),
            SettleOutcome::Repeated => TapOutcome::Repeated,
            SettleOutcome::Refused(why) => TapOutcome::Done(why),
            SettleOutcome::Unfit(why) => TapOutcome::Idle(why),
        })
    }

    /// Settles the newest reminder of a conversation that is somebody's; returns what they read.
    pub async fn newest(
        &self,
        by: Settler<'_>,
        wanted: ReminderAction,
    ) -> Result<String, StoreError> {
        let ledger = &self.context.storage.ledger;
        let said = ledger.reminders_in(by.conversation, LOOKED_THROUGH).await?;
        let Some(found) = said.into_iter().find(|row| may_settle(row, by)) else {
            return Ok(messages::NO_REMINDER.to_owned());
        };
        let name = found.schedule.schedule.name();
        if let Some(settled) = found.settled {
            let outcome = self.outcome(&found, settled);
            return Ok(messages::reminder_settled_already(&name, &outcome));
        }
        let settled = match self.settle(&found, wanted, None).await? {
            SettleOutcome::Settled(settled) => settled,
            SettleOutcome::Refused(why) | SettleOutcome::Unfit(why) => return Ok(why),
            SettleOutcome::Repeated => return Ok(String::new()),
        };
        let outcome = self.outcome(&found, settled);
        if let Some(message) = found.message.clone()
            && let Some(draft) = reminders::revised(&self.outbox, &found, message, &outcome)
        {
            self.outbox.say_once(&format!("reminder:{}", found.id.key()), draft).await;
        }
        Ok(messages::reminder_settled(&name, &outcome))
    }

    async fn settle(
        &self,
        found: &ReminderRow,
        wanted: ReminderAction,
        row: Option<InboxId>,
    ) -> Result<SettleOutcome, StoreError> {
        let (again, made) = match wanted {
            ReminderAction::Done => (None, ReminderState::Done),
            ReminderAction::Again(at) => match self.book.again(found, at) {
                Ok(new) => {
                    let at = new.next_at.unwrap_or(at);
                    (Some(Box::new(new)), ReminderState::Again { at })
                }
                Err(BookError::Refused(why)) => return Ok(SettleOutcome::Unfit(why)),
                Err(BookError::Store(error)) => return Err(error),
            },
        };
        let outcome = self.outcome(found, made);
        let message = found.message.clone().filter(|_| row.is_some());
        let revised = |message| reminders::revised(&self.outbox, found, message, &outcome);
        let settle = Settle { row, id: found.id, again, revision: message.and_then(revised) };
        let runtime = &self.context.runtime;
        runtime.crash.hit(CrashPoint::BeforeAnswer);
        let settling = self.context.storage.ledger.settle_reminder(settle).await?;
        runtime.crash.hit(CrashPoint::AfterAnswer);
        Ok(match settling {
            SettleResult::Settled(queued) => {
                queued.into_iter().for_each(|queued| self.outbox.send(queued));
                self.book.bell().notify_one();
                SettleOutcome::Settled(made)
            }
            SettleResult::Repeated => SettleOutcome::Repeated,
            SettleResult::Late => SettleOutcome::Refused(messages::SETTLED_MEANWHILE.to_owned()),
            SettleResult::Full => SettleOutcome::Refused(self.book.full()),
        })
    }

    fn outcome(&self, row: &ReminderRow, made: ReminderState) -> String {
        reminders::outcome(row, made, self.book.now())
    }
}

/// What a tap on a reminder came to.
pub enum TapOutcome {
    /// Its row is carried out; the person reads this.
    Done(String),
    /// Nothing is written yet, and nothing is to be: the person reads this.
    Idle(String),
    /// Its row was carried out before.
    Repeated,
}

/// Whether a reminder is somebody's to settle: its maker's, and in private of whoever is there.
fn may_settle(row: &ReminderRow, by: Settler<'_>) -> bool {
    let here = &row.schedule.conversation;
    let in_private = by.audience == Audience::Direct && here == by.conversation;
    let is_maker = row.schedule.schedule.maker.person == *by.person;
    here.account() == by.conversation.account() && (in_private || is_maker)
}
