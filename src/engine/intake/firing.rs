//! One time of a schedule becomes rows: by whose rights, with what the model is told, or why it is passed over.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, ConversationId, PlaceId, Post, UnpromptedCost};

use crate::delivery::account::Account;
use crate::delivery::moments::after;
use crate::delivery::outbox::Outbox;
use crate::intake::heartbeat::Heartbeat;
use crate::intake::messages::schedules as messages;
use crate::intake::receive::Intake;
use crate::work::messages::public_place;
use crate::work::rights::{self, Rights};
use crate::work::scheduled;
use selkie_domain::cause::Cause;
use selkie_domain::command_line;
use selkie_domain::facts::{Facts, Trigger, Trust, Where};
use selkie_domain::schedule::{Action, Schedule, ScheduleState};
use selkie_domain::words::Words;
use selkie_schedule::book::Book;
use selkie_schedule::plan::INSTANT;
use selkie_schedule::turn::{DueOutcome, name, next, plan};
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_schedule::{budget, day, turn};
use selkie_store::{
    Draft, FiringRecord, FiringResult, LastTime, Location, NewTask, OccurrenceAction, ScheduleRow,
    TaskRequest, Turn, Wait,
};

/// Carries out schedules that have come due.
pub struct Firings {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) book: Arc<Book>,
    pub(crate) heartbeat: Arc<Heartbeat>,
}

/// What one time of a schedule is to do, and whether the schedule waits from then on.
struct FiringDecision {
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

impl FiringDecision {
    fn skips(why: String) -> Self {
        Self { does: OccurrenceAction::Skip(why), wait: None }
    }

    fn pauses(why: String) -> Self {
        Self { does: OccurrenceAction::Skip(why.clone()), wait: Some(Wait::ForSomebody(why)) }
    }

    fn waits_for_tomorrow(why: String) -> Self {
        Self { does: OccurrenceAction::Skip(why.clone()), wait: Some(Wait::ForItsTime(why)) }
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
        let last = last.map(|at| LastTime { at, local: on_the_wall(row, at) });
        if let Some(at) = fires {
            if !by_hand {
                let late = self.outbox.runtime.now() - at;
                self.outbox.runtime.metrics.late(late.to_std().unwrap_or_default());
            }
            let decided = self.decide(row, at, by_hand).await?;
            // One that waits or is over stays so, whatever comes of this.
            wait = decided.wait.filter(|_| row.state == ScheduleState::Active);
            turn = Some(Turn { at, does: decided.does });
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
        let outbox = &self.outbox;
        let stored = outbox.storage.insist(|_| self.intake.fire(firing.clone())).await?;
        told(row, &stored.fired);
        let came = ByHand::of(&stored.fired);
        let is_stale = matches!(came, ByHand::Changed | ByHand::UnderWay);
        self.intake.begin_fired(stored);
        match wait {
            Some(Wait::ForSomebody(why)) if !is_stale => self.tell_owner(row, &why).await,
            Some(Wait::ForItsTime(why)) if !is_stale => {
                self.tell_used_up(row, &why, next_at).await;
            }
            _ => {}
        }
        Some(came)
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
        self.outbox.storage.insist(|_| self.intake.fire(firing.clone())).await?;
        self.tell_owner(row, &why).await;
        Some(())
    }

    /// `None`: the store does not answer now.
    async fn decide(
        &self,
        row: &ScheduleRow,
        at: DateTime<Utc>,
        by_hand: bool,
    ) -> Option<FiringDecision> {
        if let Some(why) = &row.closed {
            return Some(FiringDecision::pauses(messages::closed(why)));
        }
        let Some(account) = self.outbox.accounts.of(&row.conversation) else {
            let why = messages::channel_off(row.conversation.account().as_str());
            return Some(FiringDecision::skips(why));
        };
        if let Some(tool) = account.posts_by()
            && !matches!(row.schedule.action, Action::Post { .. })
        {
            return Some(FiringDecision::pauses(public_place(&row.conversation, tool)));
        }
        let Some(trust) = self.trust(row, &account) else {
            return Some(FiringDecision::pauses(messages::NOT_ALLOWED.to_owned()));
        };
        let to = location(&row.conversation, &row.place);
        let accounts = &self.outbox.accounts;
        let owners = &self.rights.owners;
        if !row.was_made_there() && !rights::may_be_told(owners, accounts, &to) {
            let asks = |ledger| rights::is_an_owners(owners, ledger, &row.conversation);
            if !self.outbox.storage.insist(asks).await? {
                return Some(FiringDecision::pauses(rights::not_listed(&account, &to)));
            }
        }
        if !by_hand && speaks_elsewhere(row) && row.schedule.maker.needs_consent() {
            return Some(FiringDecision::pauses(messages::needs_consent(row.place.key())));
        }
        if let UnpromptedCost::Never(why) | UnpromptedCost::Spent(why) =
            account.unasked(&row.conversation).await
        {
            self.tell_not_said(row, &why).await;
            return Some(FiringDecision::skips(why));
        }
        if let Action::Prompt { model, .. } = &row.schedule.action {
            let model = model.as_deref().and_then(|model| self.book.unknown_model(model));
            if let Some(why) = model {
                return Some(FiringDecision::pauses(why));
            }
        }
        if row.schedule.action.asks_a_model() {
            let used = scheduled::used_today(&self.outbox, row).await?;
            if let Some(why) = budget::used_up(&row.schedule.terms.budget, &used) {
                return Some(FiringDecision::waits_for_tomorrow(why));
            }
        }
        let does = match &row.schedule.action {
            Action::Post { .. } if trust == Trust::Stranger => {
                return Some(FiringDecision::pauses(messages::STRANGERS_POST_NOTHING.to_owned()));
            }
            // Whoever asked waits for it: it is held and they are told, instead of passed over.
            Action::Post { to, .. } if self.outbox.accounts.of(to).is_none() => {
                return Some(FiringDecision::pauses(messages::login_gone(to.account().as_str())));
            }
            Action::Post { to, post } => match self.post(row, to, post, at) {
                Some(draft) => OccurrenceAction::Say(Box::new(draft)),
                None => return Some(FiringDecision::skips(messages::SHOWS_NOTHING.to_owned())),
            },
            Action::Heartbeat => match self.heartbeat.looks_at(row).await {
                Ok(text) => {
                    let mut request = self.request(row, &account, at, trust);
                    request.words.text = text;
                    OccurrenceAction::Task(Box::new(request))
                }
                Err(why) => return Some(FiringDecision::skips(why)),
            },
            _ => OccurrenceAction::Task(Box::new(self.request(row, &account, at, trust))),
        };
        Some(FiringDecision { does, wait: None })
    }

    /// The first time of the schedule's next local day.
    fn tomorrow(&self, row: &ScheduleRow) -> Option<DateTime<Utc>> {
        let plan = plan(&row.schedule).ok()?;
        let midnight = day::ends(plan.zone, self.outbox.runtime.now());
        next(&plan, &name(row.id()), midnight - INSTANT, row.fired)
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
        let place = Where::Channel(account.channel.address.features(&row.conversation));
        let facts = Facts {
            taint: maker.taint,
            trigger: match action {
                Action::Heartbeat => Trigger::Heartbeat,
                _ => Trigger::Scheduled,
            },
            opened: self.rights.here(&row.conversation, &row.place).allow,
            ..Facts::of(place, Some(maker.person.clone()), trust, now)
        };
        let fixed = matches!(action, Action::Say { .. } | Action::Remind { .. });
        let note = match action {
            Action::Heartbeat => messages::heartbeat_note(&shown(row, at)),
            _ if fixed => messages::fixed_note(row.id(), &shown(row, at)),
            _ => messages::prompt_note(row.id(), &row.schedule.name(), &shown(row, at)),
        };
        let text = match action {
            Action::Remind { markdown } | Action::Say { markdown } if now - at > messages::LATE => {
                messages::said_late(markdown, &shown(row, at))
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

    fn post(
        &self,
        row: &ScheduleRow,
        to: &ConversationId,
        post: &Post,
        at: DateTime<Utc>,
    ) -> Option<Draft> {
        let mut draft = self.outbox.draft_of(to, Body::Post(post.clone()))?;
        // Later it would be said at the wrong time of day.
        draft.expires_at = Some(after(at, row.schedule.terms.lateness));
        Some(draft)
    }

    /// Tells the owner, and whoever else made it, once, until when it waits.
    async fn tell_used_up(&self, row: &ScheduleRow, why: &str, next_at: Option<DateTime<Utc>>) {
        let key = format!("schedule:{}:{}", row.id(), row.version.number);
        let next = next_at.map(|at| shown(row, at));
        let line = messages::used_up(row.id(), &row.schedule.name(), why, next.as_deref());
        self.outbox.tell_owner(&key, &line).await;
        let owner = self.rights.owners.first();
        if owner != Some(&row.schedule.maker.person)
            && let Some(draft) = self.outbox.draft(&row.conversation, &line, None, None)
        {
            self.outbox.say_once(&format!("{key}:here"), draft).await;
        }
    }

    /// Tells the owner that the platform lets nothing be said there, once a day for each reason's schedule.
    async fn tell_not_said(&self, row: &ScheduleRow, why: &str) {
        let line = messages::passed_over(row.id(), &row.schedule.name(), why);
        let elsewhere =
            |conversation: &ConversationId| conversation.account() != row.conversation.account();
        let mut privately =
            self.rights.owners.iter().filter_map(|o| self.outbox.accounts.private(o));
        let (key, now) = (format!("schedule:{}", row.id()), self.outbox.runtime.now());
        let found = privately.find(elsewhere);
        match found.and_then(|conversation| self.outbox.draft(&conversation, &line, None, None)) {
            Some(draft) => {
                let key = format!("notice:{key}:{}", now.format("%Y-%m-%d"));
                self.outbox.say_once(&key, draft).await;
            }
            None => self.outbox.notice(&key, &line).await,
        }
    }

    async fn tell_owner(&self, row: &ScheduleRow, why: &str) {
        let key = format!("schedule:{}:{}", row.id(), row.version.number);
        let comes_again = plan(&row.schedule).is_ok_and(|plan| {
            let now = self.outbox.runtime.now();
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

    /// Tells whoever asked for it what the owner was told, where they are others.
    async fn tell_asker(&self, row: &ScheduleRow, key: &str, line: &str) {
        let outbox = &self.outbox;
        let owner = outbox.owners.first().and_then(|owner| outbox.accounts.private(owner));
        if owner.as_ref() == Some(&row.conversation) || command_line::is_at(&row.conversation) {
            return;
        }
        let line = outbox.runtime.redactor.clean(line);
        if let Some(draft) = outbox.draft(&row.conversation, &line, None, None) {
            outbox.say_once(&format!("{key}:here"), draft).await;
        }
    }
}

/// Whether fixed words may be said in another conversation than they were written in.
fn speaks_elsewhere(row: &ScheduleRow) -> bool {
    matches!(row.schedule.action, Action::Say { .. } | Action::Remind { .. })
        && !row.was_made_there()
}

/// What the clocks of the schedule's zone show, as it is kept.
fn on_the_wall(row: &ScheduleRow, at: DateTime<Utc>) -> String {
    turn::on_the_wall(Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC), at)
}

/// Logs what came of it.
fn told(row: &ScheduleRow, fired: &FiringResult) {
    let (id, name) = (row.id(), row.schedule.name());
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

/// Shows a time in the schedule's own zone.
fn shown(row: &ScheduleRow, at: DateTime<Utc>) -> String {
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    format!("{} ({})", moment(at, zone), zone.offset(at))
}

fn location(conversation: &ConversationId, place: &PlaceId) -> Location {
    Location { conversation: conversation.clone(), place: place.clone(), title: String::new() }
}
