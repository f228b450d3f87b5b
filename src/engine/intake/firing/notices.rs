//! What the owner, whoever made a schedule, and the log are told of it.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::firing::request::local_time;
use crate::intake::messages::schedules as messages;
use selkie_domain::command_line;
use selkie_domain::schedule::Action;
use selkie_schedule::turn::{name, next, plan};
use selkie_store::{FiringResult, ScheduleRow};

/// Tells people of schedules.
pub struct FiringNotices {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
}

impl FiringNotices {
    /// Tells the owner that it waits for somebody; of a post that lacks its login whoever asked for it, too.
    pub(super) async fn tell_paused(&self, row: &ScheduleRow, why: &str) {
        let key = key(row);
        let comes_again = plan(&row.schedule).is_ok_and(|plan| {
            let now = self.context.runtime.now();
            let again = next(&plan, &name(row.id()), now, row.fired).is_some();
            again || row.schedule.action.is_never_too_late()
        });
        let line = messages::paused(row.id(), &row.schedule.name(), why, comes_again);
        self.outbox.tell_owner(&key, &line).await;
        if matches!(&row.schedule.action, Action::Post { to, .. } if why == messages::login_gone(to.account().as_str()))
        {
            self.tell_asker(row, &key, &line).await;
        }
    }

    /// Tells the owner, and whoever else made it, once, until when it waits.
    pub(super) async fn tell_used_up(
        &self,
        row: &ScheduleRow,
        why: &str,
        next_at: Option<DateTime<Utc>>,
    ) {
        let key = key(row);
        let next = next_at.map(|at| local_time(row, at));
        let line = messages::used_up(row.id(), &row.schedule.name(), why, next.as_deref());
        self.outbox.tell_owner(&key, &line).await;
        if self.context.owners.first() != Some(&row.schedule.maker.person) {
            self.say_here(row, &key, &line).await;
        }
    }

    /// Tells the owner that the platform lets nothing be said there, once a day for each reason's schedule.
    pub(super) async fn tell_not_said(&self, row: &ScheduleRow, why: &str) {
        let line = messages::passed_over(row.id(), &row.schedule.name(), why);
        let elsewhere =
            |conversation: &ConversationId| conversation.account() != row.conversation.account();
        let accounts = &self.context.accounts;
        let mut privately = self.context.owners.iter().filter_map(|owner| accounts.private(owner));
        let key = format!("schedule:{}", row.id());
        let now = self.context.runtime.now();
        let found = privately.find(elsewhere);
        match found.and_then(|conversation| self.outbox.draft(&conversation, &line, None, None)) {
            Some(draft) => {
                let key = format!("notice:{key}:{}", now.format("%Y-%m-%d"));
                self.outbox.say_once(&key, draft).await;
            }
            None => self.outbox.notice(&key, &line).await,
        }
    }

    /// Tells whoever asked for it what the owner was told, where they are others.
    async fn tell_asker(&self, row: &ScheduleRow, key: &str, line: &str) {
        let owner =
            self.context.owners.first().and_then(|owner| self.context.accounts.private(owner));
        if owner.as_ref() == Some(&row.conversation) || command_line::is_at(&row.conversation) {
            return;
        }
        self.say_here(row, key, &self.context.runtime.redactor.clean(line)).await;
    }

    /// Says it where the schedule speaks, once.
    async fn say_here(&self, row: &ScheduleRow, key: &str, line: &str) {
        if let Some(draft) = self.outbox.draft(&row.conversation, line, None, None) {
            self.outbox.say_once(&format!("{key}:here"), draft).await;
        }
    }
}

/// What is told of one version of a schedule is told once.
fn key(row: &ScheduleRow) -> String {
    format!("schedule:{}:{}", row.id(), row.version.number)
}

/// Logs what came of one time.
pub(super) fn log_outcome(row: &ScheduleRow, fired: &FiringResult) {
    let id = row.id();
    let name = row.schedule.name();
    match fired {
        FiringResult::UnderWay => tracing::debug!(schedule = %id, "it is under way already"),
        FiringResult::Stale => tracing::debug!(schedule = %id, "it has changed meanwhile"),
        FiringResult::CarriedOut => {
            tracing::info!(schedule = %id, name, "this time was carried out before")
        }
        FiringResult::Skipped(why) => {
            tracing::info!(schedule = %id, name, why, "a time is passed over")
        }
        FiringResult::Missed => tracing::info!(schedule = %id, name, "times were missed"),
        FiringResult::Task(made) => tracing::info!(schedule = %id, name, task = %made.task, "due"),
        FiringResult::Said(_) => tracing::info!(schedule = %id, name, "due: it is posted"),
    }
}
