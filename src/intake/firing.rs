//! One time of a schedule becomes rows: by whose rights, with what the model is told, or why it is passed over.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PlaceId};

use crate::delivery::account::Account;
use crate::delivery::moments::after;
use crate::delivery::outbox::Outbox;
use crate::domain::cause::Cause;
use crate::domain::facts::{Facts, Mode, Trigger, Trust, Where};
use crate::domain::schedule::{Action, Schedule};
use crate::domain::words::Words;
use crate::intake::messages::schedules as messages;
use crate::intake::receive::Intake;
use crate::schedule::turn::Come;
use crate::schedule::words::moment;
use crate::schedule::zone::Zone;
use crate::store::{Does, Draft, Fired, Firing, Location, NewTask, ScheduleRow, TaskRequest, Turn};
use crate::work::rights::{self, Rights};

/// Carries out schedules that have come due.
pub(crate) struct Firings {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) rights: Arc<Rights>,
}

/// What one time of a schedule is to do, and whether the schedule waits from then on.
struct Decided {
    does: Does,
    pause: Option<String>,
}

impl Decided {
    fn skips(why: String) -> Self {
        Self { does: Does::Skip(why), pause: None }
    }

    fn pauses(why: String) -> Self {
        Self { does: Does::Skip(why.clone()), pause: Some(why) }
    }
}

impl Firings {
    /// Carries out what has come, once, and begins what it asks for. `None`: the store takes nothing now.
    pub(crate) async fn fire(&self, row: &ScheduleRow, come: Come) -> Option<()> {
        let Come { fires, missed, next_at } = come;
        let decided = fires.map(|at| self.decide(row, at));
        let pause = decided.as_ref().and_then(|decided| decided.pause.clone());
        let turn = fires.zip(decided).map(|(at, decided)| Turn { at, does: decided.does });
        let firing = Firing { of: row.version, turn, missed, next_at, pause: pause.clone() };
        let outbox = &self.outbox;
        let stored = outbox.storage.insist(|| self.intake.fire(firing.clone())).await?;
        told(row, &stored.fired);
        self.intake.begin_fired(stored);
        if let Some(why) = pause {
            self.tell_owner(row, &why).await;
        }
        Some(())
    }

    /// A schedule that cannot be read waits, and its owner is told.
    pub(crate) async fn unreadable(&self, row: &ScheduleRow, why: String) -> Option<()> {
        let pause = Some(why.clone());
        let (turn, missed, next_at) = (None, Vec::new(), row.next_at);
        let firing = Firing { of: row.version, turn, missed, next_at, pause };
        self.outbox.storage.insist(|| self.intake.fire(firing.clone())).await?;
        self.tell_owner(row, &why).await;
        Some(())
    }

    fn decide(&self, row: &ScheduleRow, at: DateTime<Utc>) -> Decided {
        if let Some(why) = &row.closed {
            return Decided::pauses(messages::closed(why));
        }
        let Some(account) = self.outbox.accounts.of(&row.conversation) else {
            return Decided::skips(messages::channel_off(row.conversation.account().as_str()));
        };
        let Some(trust) = self.trust(row, account) else {
            return Decided::pauses(messages::not_allowed());
        };
        let does = match &row.schedule.action {
            Action::Post { .. } => match self.post(row, at) {
                Some(draft) => Does::Say(Box::new(draft)),
                None => return Decided::skips(messages::shows_nothing()),
            },
            _ => Does::Task(Box::new(self.request(row, account, at, trust))),
        };
        Decided { does, pause: None }
    }

    /// How far its maker is trusted now, and never more than then; `None` when nobody listens to them any more.
    fn trust(&self, row: &ScheduleRow, account: &Account) -> Option<Trust> {
        let maker = &row.schedule.maker;
        let Rights { owners, .. } = &*self.rights;
        let now = account
            .with_allowed(|allow| rights::trust(owners, allow, &maker.person, &row.place))?;
        Some(now.min(maker.trust))
    }

    fn request(
        &self,
        row: &ScheduleRow,
        account: &Account,
        at: DateTime<Utc>,
        trust: Trust,
    ) -> TaskRequest {
        let now = self.outbox.runtime.now();
        let Schedule { maker, action, .. } = &row.schedule;
        let opened = self.rights.groups.get(row.place.key()).map(|group| group.allow.clone());
        let facts = Facts {
            v: Facts::VERSION,
            place: Where::Channel(account.channel.address.features(&row.conversation)),
            speaker: Some(maker.person.clone()),
            trust,
            taint: maker.taint,
            trigger: Trigger::Scheduled,
            mode: Mode::Normal,
            message: None,
            opened: opened.unwrap_or_default(),
            passed: None,
            summoned: Vec::new(),
            at: now,
        };
        let fixed = matches!(action, Action::Say { .. } | Action::Remind { .. });
        let note = match fixed {
            true => messages::fixed_note(row.id(), &shown(row, at)),
            false => messages::prompt_note(row.id(), &row.schedule.name(), &shown(row, at)),
        };
        let text = match action {
            Action::Remind { markdown } if now - at > messages::LATE => {
                messages::late_reminder(markdown, &shown(row, at))
            }
            action => action.text().to_owned(),
        };
        let words = Words {
            name: maker.name.clone(),
            note,
            fixed,
            ..Words::said(maker.person.clone(), at, text)
        };
        let cause = Cause::Occurrence { schedule: row.id(), at };
        TaskRequest {
            location: location(&row.conversation, &row.place),
            order: at.timestamp_micros(),
            task: NewTask::new(cause, facts),
            words,
        }
    }

    fn post(&self, row: &ScheduleRow, at: DateTime<Utc>) -> Option<Draft> {
        let Action::Post { texts, .. } = &row.schedule.action else { return None };
        let mut draft = self.outbox.draft(&row.conversation, &texts.join("\n\n"), None, None)?;
        // Later it would be said at the wrong time of day.
        draft.expires_at = Some(after(at, row.schedule.terms.lateness));
        Some(draft)
    }

    async fn tell_owner(&self, row: &ScheduleRow, why: &str) {
        let key = format!("schedule:{}:{}", row.id(), row.version.number);
        let line = messages::paused(row.id(), &row.schedule.name(), why);
        self.outbox.tell_owner(&key, &line).await;
    }
}

/// Logs what came of it.
fn told(row: &ScheduleRow, fired: &Fired) {
    let (id, name) = (row.id(), row.schedule.name());
    match fired {
        Fired::Stale => tracing::debug!(schedule = %id, "it has changed meanwhile"),
        Fired::Skipped(why) => tracing::info!(schedule = %id, name, why, "a time is passed over"),
        Fired::Missed => tracing::info!(schedule = %id, name, "times were missed"),
        Fired::Task(made) => tracing::info!(schedule = %id, name, task = %made.task, "due"),
        Fired::Said(_) => tracing::info!(schedule = %id, name, "due: its words are said"),
    }
}

/// Shows a time in the schedule's own zone.
fn shown(row: &ScheduleRow, at: DateTime<Utc>) -> String {
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    format!("{} ({})", moment(at, zone), zone.offset(at))
}

fn location(conversation: &ConversationId, place: &PlaceId) -> Location {
    Location { conversation: conversation.clone(), place: place.clone(), title: String::new() }
}
