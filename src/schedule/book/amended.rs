//! Posts that are not on their way are given other words, or another time, or are taken away.

use chrono::{DateTime, Utc};
use selkie_channel_core::Post;

use super::{Book, BookError, TRIES, first, refused};
use crate::recurrence::Recurrence;
use crate::zone::Zone;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Schedule, ScheduleState, Wish};
use selkie_store::{Change, ScheduleRow};

/// What a post is to be from now on; what is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostChange {
    /// Its texts.
    pub texts: Option<Vec<String>>,
    /// Its first time.
    pub time: Option<String>,
    /// How often from then on; as before where a time alone is named.
    pub recurrence: Option<Recurrence>,
}

impl Book {
    /// Gives a post of fixed words that is not on its way other words, or another time.
    ///
    /// # Errors
    /// `Refused` when there is no such schedule, or it is no post, or is being posted, or the time cannot be taken.
    pub async fn amend(
        &self,
        id: ScheduleId,
        amended: PostChange,
    ) -> Result<ScheduleRow, BookError> {
        for _ in 0..TRIES {
            let row = self.get(id, None).await?;
            if row.state == ScheduleState::Ended && amended.time.is_none() {
                self.is_not_on_its_way(id).await?;
                let why = format!(
                    "schedule {id} has come due for the last time: give it a time (--time), too"
                );
                return Err(BookError::Refused(why));
            }
            if row.state == ScheduleState::Ended && has_pictures(&row.schedule.action) {
                let why = format!(
                    "schedule {id} has ended, and its pictures are not kept: schedule it again"
                );
                return Err(BookError::Refused(why));
            }
            let (schedule, next_at) = self.amended(&row, &amended)?;
            let change = Change::Amend { schedule: Box::new(schedule), next_at };
            if let Some(changed) = self.parts.ledger.reschedule(row.version, change).await? {
                self.bell.notify_one();
                return Ok(changed);
            }
            self.is_not_on_its_way(id).await?;
        }
        Err(BookError::Refused(format!("schedule {id} keeps changing: try again")))
    }

    /// Takes a post away that is not on its way.
    ///
    /// # Errors
    /// `Refused` when there is no such schedule, or it is being posted.
    pub async fn withdraw(&self, id: ScheduleId) -> Result<ScheduleRow, BookError> {
        for _ in 0..TRIES {
            let row = self.get(id, None).await?;
            // What may be removed may be withdrawn.
            self.change(&row, Wish::Remove)?;
            if let Some(changed) = self.changed(&row, Change::Withdraw).await? {
                return Ok(changed);
            }
            self.is_not_on_its_way(id).await?;
        }
        Err(BookError::Refused(format!("schedule {id} keeps changing: try again")))
    }

    /// Says why the store has not changed a schedule, when a post of it is on its way.
    pub(super) async fn is_not_on_its_way(&self, id: ScheduleId) -> Result<(), BookError> {
        let Some(post) = self.parts.ledger.post_on_its_way(id).await? else { return Ok(()) };
        let post = post.0;
        Err(BookError::Refused(format!(
            "schedule {id} is being posted: `selkie tweets show p{post}` says what becomes of it, and `selkie tweets \
             cancel p{post}` withdraws what is still waiting; then try again"
        )))
    }

    /// Whether a post could be given these words, or this time.
    ///
    /// # Errors
    /// `Refused` when they cannot be taken.
    pub fn may_amend(&self, row: &ScheduleRow, amended: &PostChange) -> Result<(), BookError> {
        self.amended(row, amended).map(|_| ())
    }

    fn amended(
        &self,
        row: &ScheduleRow,
        amended: &PostChange,
    ) -> Result<(Schedule, Option<DateTime<Utc>>), BookError> {
        let id = row.id();
        let Action::Post { to, post } = &row.schedule.action else {
            return Err(BookError::Refused(format!("schedule {id} is no post")));
        };
        let mut schedule = row.schedule.clone();
        if let Some(texts) = &amended.texts {
            let post = Post { texts: texts.clone(), ..post.clone() };
            let action = Action::Post { to: to.clone(), post };
            schedule.action = action.with(|text| self.parts.redactor.clean(text));
            let objection = schedule.action.objection();
            objection.map_or(Ok(()), |why| Err(BookError::Refused(why)))?;
        }
        let Some(time) = &amended.time else { return Ok((schedule, row.next_at)) };
        let zone = Zone::named(&schedule.zone).map_err(refused)?;
        let recurrence = amended.recurrence.or_else(|| before(&schedule)).ok_or_else(|| {
            BookError::Refused(format!(
                "schedule {id} is neither once nor daily nor hourly: say how often it should come (--recurrence)"
            ))
        })?;
        let now = self.parts.clock.now();
        let plan = recurrence.from(time, zone, now).map_err(refused)?;
        schedule.when = plan.expression.to_string();
        schedule.terms.starts = plan.limits.starts;
        let next_at = first(&schedule, now)?;
        Ok((schedule, Some(next_at)))
    }
}

fn has_pictures(action: &Action) -> bool {
    matches!(action, Action::Post { post, .. } if !post.pictures.is_empty())
}

/// How often it has come so far.
fn before(schedule: &Schedule) -> Option<Recurrence> {
    Recurrence::of(&schedule.when.parse().ok()?)
}
