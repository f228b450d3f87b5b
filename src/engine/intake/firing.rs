//! One time of a schedule becomes rows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::Body;

use crate::delivery::account::Account;
use crate::delivery::context::Context;
use crate::delivery::moments::after;
use crate::delivery::outbox::Outbox;
use crate::intake::firing::decision::{
    AccountFacts, FiringDecision, FiringFacts, MissingFact, decide,
};
use crate::intake::firing::notices::{FiringNotices, log_outcome};
use crate::intake::firing::request::{FiringTime, location, task_request};
use crate::intake::heartbeat::Heartbeat;
use crate::intake::messages::schedules as messages;
use crate::intake::receive::Intake;
use crate::work::rights::{self, Rights};
use crate::work::scheduled;
use selkie_domain::facts::{Trust, Where};
use selkie_domain::schedule::{Action, ScheduleState};
use selkie_schedule::book::Book;
use selkie_schedule::day;
use selkie_schedule::plan::INSTANT;
use selkie_schedule::turn::{DueOutcome, name, next, on_the_wall, plan};
use selkie_schedule::zone::Zone;
use selkie_store::{
    Draft, FiringRecord, FiringResult, LastTime, OccurrenceAction, ScheduleRow, Turn, Wait,
};

mod decision;
pub mod notices;
mod request;

/// Carries out schedules that have come due.
pub struct Firings {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) book: Arc<Book>,
    pub(crate) heartbeat: Arc<Heartbeat>,
    pub(crate) notices: FiringNotices,
}

/// What one time of a schedule does, and whether the schedule waits from then on.
struct FiringPlan {
    does: OccurrenceAction,
    wait: Option<Wait>,
}

/// What came of a schedule that somebody had come due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByHand {
    /// It is carried out.
    Begun,
    /// It is under way already.
    UnderWay,
    /// It was changed meanwhile.
    Changed,
    /// It is passed over, and why.
    PassedOver(String),
}

impl ByHand {
    fn of(fired: &FiringResult) -> Self {
        match fired {
            FiringResult::Task(_)
            | FiringResult::Said(_)
            | FiringResult::Missed
            | FiringResult::CarriedOut => Self::Begun,
            FiringResult::UnderWay => Self::UnderWay,
            FiringResult::Stale => Self::Changed,
            FiringResult::Skipped(why) => Self::PassedOver(why.clone()),
        }
    }
}

impl FiringPlan {
    fn skip(why: String) -> Self {
        Self { does: OccurrenceAction::Skip(why), wait: None }
    }
}

impl Firings {
    /// Carries out what has come, once, and begins what it asks for. `None`: the store takes nothing now.
    pub async fn fire(&self, row: &ScheduleRow, come: DueOutcome) -> Option<()> {
        self.carry_out(row, come, false).await.map(|_| ())
    }

    /// Carries out a schedule now because somebody wants it, as [`Firings::fire`] does.
    pub async fn by_hand(&self, row: &ScheduleRow, now: DateTime<Utc>) -> Option<ByHand> {
        let come = DueOutcome { fires: Some(now), missed: Vec::new(), next_at: row.next_at };
        self.carry_out(row, come, true).await
    }

    /// Ends in this process what was withdrawn with its schedule.
    pub async fn follow_removed(&self) {
        self.intake.commands.withdrawn(self.book.withdrawn()).await;
    }

    /// A schedule that cannot be read waits, and its owner is told.
    pub async fn unreadable(&self, row: &ScheduleRow, why: String) -> Option<()> {
        let wait = Some(Wait::ForSomebody(why.clone()));
        let firing = FiringRecord {
            of: row.version,
            turn: None,
            missed: Vec::new(),
            last: None,
            next_at: row.next_at,
            wait,
            by_hand: false,
        };
        self.context.storage.insist(|_| self.intake.fire(firing.clone())).await?;
        self.notices.tell_paused(row, &why).await;
        Some(())
    }

    async fn carry_out(
        &self,
        row: &ScheduleRow,
        come: DueOutcome,
        by_hand: bool,
    ) -> Option<ByHand> {
        let DueOutcome { fires, missed, mut next_at } = come;
        let mut wait = None;
        let mut turn = None;
        let last = fires.or_else(|| missed.last().map(|missed| missed.last));
        let last = last.map(|at| LastTime { at, local: wall_time(row, at) });
        if let Some(at) = fires {
            if !by_hand {
                let late = self.context.runtime.now() - at;
                self.context.runtime.metrics.late(late.to_std().unwrap_or_default());
            }
            let plan = self.plan(row, at, by_hand).await?;
            // One that waits or is over stays so, whatever comes of this.
            wait = plan.wait.filter(|_| row.state == ScheduleState::Active);
            turn = Some(Turn { at, does: plan.does });
        }
        if let Some(Wait::ForItsTime(_)) = &wait {
            next_at = self.tomorrow(row);
        }
        if matches!(wait, Some(Wait::ForSomebody(_))) && row.schedule.action.is_never_too_late() {
            // It is said when somebody lets it go on.
            next_at = next_at.or(fires);
        }
        let wait_for = wait.clone();
        let firing =
            FiringRecord { of: row.version, turn, missed, last, next_at, wait: wait_for, by_hand };
        let stored = self.context.storage.insist(|_| self.intake.fire(firing.clone())).await?;
        log_outcome(row, &stored.fired);
        let came = ByHand::of(&stored.fired);
        let is_stale = matches!(came, ByHand::Changed | ByHand::UnderWay);
        self.intake.begin_fired(stored);
        match wait {
            Some(Wait::ForSomebody(why)) if !is_stale => self.notices.tell_paused(row, &why).await,
            Some(Wait::ForItsTime(why)) if !is_stale => {
                self.notices.tell_used_up(row, &why, next_at).await;
            }
            _ => {}
        }
        Some(came)
    }

    /// Says what one time does. `None`: the store does not answer now.
    async fn plan(
        &self,
        row: &ScheduleRow,
        at: DateTime<Utc>,
        by_hand: bool,
    ) -> Option<FiringPlan> {
        let does = match self.decide(row, by_hand).await? {
            FiringDecision::Task(start) => {
                let opened = self.rights.here(&row.conversation, &row.place).allow;
                let time = FiringTime { at, now: self.context.runtime.now(), opened };
                OccurrenceAction::Task(Box::new(task_request(row, start, time)))
            }
            FiringDecision::Post => match self.draft_post(row, at) {
                Some(draft) => OccurrenceAction::Say(Box::new(draft)),
                None => return Some(FiringPlan::skip(messages::SHOWS_NOTHING.to_owned())),
            },
            FiringDecision::Skip(why) => return Some(FiringPlan::skip(why)),
            FiringDecision::SkipUnsayable(why) => {
                self.notices.tell_not_said(row, &why).await;
                return Some(FiringPlan::skip(why));
            }
            FiringDecision::Pause(why) => {
                let wait = Some(Wait::ForSomebody(why.clone()));
                return Some(FiringPlan { wait, ..FiringPlan::skip(why) });
            }
            FiringDecision::WaitForTomorrow(why) => {
                let wait = Some(Wait::ForItsTime(why.clone()));
                return Some(FiringPlan { wait, ..FiringPlan::skip(why) });
            }
        };
        Some(FiringPlan { does, wait: None })
    }

    /// Decides, and reads the facts that this takes. `None`: the store does not answer now.
    async fn decide(&self, row: &ScheduleRow, by_hand: bool) -> Option<FiringDecision> {
        let account = self.context.accounts.of(&row.conversation);
        let mut facts = self.facts(row, account.as_deref(), by_hand);
        loop {
            match decide(row, &facts) {
                Ok(decision) => return Some(decision),
                Err(MissingFact::IsAnOwners) => {
                    let asks = |ledger| {
                        rights::is_an_owners(&self.rights.owners, ledger, &row.conversation)
                    };
                    facts.is_an_owners = Some(self.context.storage.insist(asks).await?);
                }
                Err(MissingFact::Cost) => {
                    facts.cost = Some(account.as_ref()?.unasked(&row.conversation).await);
                }
                Err(MissingFact::Used) => {
                    facts.used = Some(scheduled::used_today(&self.context, row).await?);
                }
                Err(MissingFact::Look) => {
                    facts.look = Some(self.heartbeat.looks_at(row).await);
                }
            }
        }
    }

    /// The facts that nothing has to be read for.
    fn facts(&self, row: &ScheduleRow, account: Option<&Account>, by_hand: bool) -> FiringFacts {
        let action = &row.schedule.action;
        FiringFacts {
            by_hand,
            account: account.map(|account| AccountFacts {
                posts_by: account.posts_by(),
                trust: self.trust(row, account),
                not_listed: self.not_listed(row, account),
                place: Where::Channel(account.channel.address.features(&row.conversation)),
            }),
            unknown_model: match action {
                Action::Prompt { model: Some(model), .. } => self.book.unknown_model(model),
                _ => None,
            },
            has_login: match action {
                Action::Post { to, .. } => self.context.accounts.of(to).is_some(),
                _ => true,
            },
            is_an_owners: None,
            cost: None,
            used: None,
            look: None,
        }
    }

    /// How far its maker is trusted now, and never more than then; `None` when nobody listens to them any more.
    fn trust(&self, row: &ScheduleRow, account: &Account) -> Option<Trust> {
        let maker = &row.schedule.maker;
        let Rights { owners, .. } = &*self.rights;
        let now = account
            .with_allowed(|allow| rights::trust(owners, allow, &maker.person, &row.place))?;
        Some(now.min(maker.trust))
    }

    /// What is said of a schedule that was made elsewhere than it speaks, and speaks where nobody is listed.
    fn not_listed(&self, row: &ScheduleRow, account: &Account) -> Option<String> {
        let to = location(&row.conversation, &row.place);
        let is_free = row.was_made_there()
            || rights::may_be_told(&self.rights.owners, &self.context.accounts, &to);
        (!is_free).then(|| rights::not_listed(account, &to))
    }

    /// The first time of the schedule's next local day.
    fn tomorrow(&self, row: &ScheduleRow) -> Option<DateTime<Utc>> {
        let plan = plan(&row.schedule).ok()?;
        let midnight = day::ends(plan.zone, self.context.runtime.now());
        next(&plan, &name(row.id()), midnight - INSTANT, row.fired)
    }

    /// Renders its post; `None` when it shows nothing.
    fn draft_post(&self, row: &ScheduleRow, at: DateTime<Utc>) -> Option<Draft> {
        let Action::Post { to, post } = &row.schedule.action else { return None };
        let mut draft = self.outbox.draft_of(to, Body::Post(post.clone()))?;
        // Later it would be said at the wrong time of day.
        draft.expires_at = Some(after(at, row.schedule.terms.lateness));
        Some(draft)
    }
}

/// What the clocks of the schedule's zone show, as it is kept.
fn wall_time(row: &ScheduleRow, at: DateTime<Utc>) -> String {
    on_the_wall(Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC), at)
}
