//! Schedules and their times as people see them, on the command line and on pages.

use chrono::{DateTime, FixedOffset, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use super::outlook::{Outlook, outlook};
use super::post_view::{PostStands, PostUrl};
use super::words::moment;
use super::zone::Zone;
use selkie_domain::effort::Effort;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Budget, Misfire, OccurrenceState, ScheduleState, Terms};
use selkie_domain::span::Span;
use selkie_store::{DeliveryState, Occurrence, ScheduleRow};

/// A schedule as people see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct View {
    /// Its number.
    pub id: ScheduleId,
    /// Its title, or the beginning of its words.
    pub name: String,
    /// Where it stands.
    pub state: ScheduleState,
    /// Why it stands so; may be empty.
    pub why: String,
    /// When it comes due, in words.
    pub when: String,
    /// The zone of its times.
    pub zone: String,
    /// Its next times, in its zone.
    pub next: Vec<DateTime<FixedOffset>>,
    /// How often it comes due in the next 30 days.
    pub monthly: u64,
    /// What it comes to in the next 30 days, in words; empty in lists.
    pub forecast: String,
    /// The model profile it asks; the main route's where none is named.
    pub model: Option<String>,
    /// How hard it thinks, where the schedule says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// How many earlier tasks the model reads.
    pub history: u32,
    /// What it may use in a day.
    pub budget: Budget,
    /// Nothing comes before this moment.
    pub starts: Option<DateTime<FixedOffset>>,
    /// Nothing comes after this moment.
    pub until: Option<DateTime<FixedOffset>>,
    /// How often it comes due at the most.
    pub times: Option<u32>,
    /// The part of the day in which alone it comes due.
    pub active: Option<String>,
    /// How much later each time may come.
    pub jitter: Option<Span>,
    /// What becomes of missed times.
    pub misfire: Misfire,
    /// How late a missed time may be made up for; no end for what is never too late.
    pub lateness: Option<Span>,
    /// Where it speaks, or posts, as commands take it.
    pub to: String,
    /// Where a post was asked for: what becomes of it is told there.
    pub asked: Option<String>,
    /// What kind of thing it does.
    pub does: String,
    /// Its words.
    pub text: String,
    /// Whose it is.
    pub person: PersonId,
    /// How often it was carried out.
    pub fired: u32,
}

/// One time of a schedule as people see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Time {
    /// When, in the schedule's zone.
    pub at: DateTime<FixedOffset>,
    /// That zone.
    pub zone: String,
    /// For how many times it stands.
    pub times: u32,
    /// Where it stands: due, running, ran, skipped, failed.
    pub state: String,
    /// Why; may be empty.
    pub why: String,
    /// Its task.
    pub task: Option<i64>,
    /// Where what it said stands.
    pub delivered: Option<DeliveryState>,
    /// The post that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<PostStands>,
    /// When it was carried out.
    pub fired_at: DateTime<Utc>,
}

impl View {
    /// Shows a schedule as it stands at a moment.
    pub fn of(row: &ScheduleRow, now: DateTime<Utc>) -> Self {
        let Outlook { when, times: next, monthly, .. } = outlook(row, now);
        let schedule = &row.schedule;
        let Terms { starts, until, times, active, jitter, misfire, lateness, history, budget } =
            schedule.terms.clone();
        let zone = zone(row);
        let here = row.conversation.key().to_owned();
        let (to, asked) = match &schedule.action {
            Action::Post { to, .. } => (to.key().to_owned(), Some(here)),
            _ => (here, None),
        };
        Self {
            id: row.id(),
            name: schedule.name(),
            state: row.state,
            why: row.why.clone(),
            when,
            zone: schedule.zone.clone(),
            next,
            monthly,
            forecast: String::new(),
            model: schedule.action.model().map(str::to_owned),
            effort: schedule.action.choice().effort,
            history,
            budget,
            starts: starts.map(|at| zone.stamp(at)),
            until: until.map(|at| zone.stamp(at)),
            times,
            active,
            jitter: Some(jitter).filter(|jitter| !jitter.0.is_zero()),
            misfire,
            lateness: (!schedule.action.is_never_too_late()).then_some(lateness),
            to,
            asked,
            does: schedule.action.name().to_owned(),
            text: schedule.action.text().to_owned(),
            person: schedule.maker.person.clone(),
            fired: row.fired,
        }
    }

    /// Shows one of its moments as people read it.
    pub fn shown(&self, at: DateTime<FixedOffset>) -> String {
        in_zone(at, &self.zone)
    }
}

impl Time {
    /// Shows one time of a schedule, in its zone.
    pub fn of(time: Occurrence, row: &ScheduleRow, url: &PostUrl) -> Self {
        let post = match (&row.schedule.action, &time.delivered) {
            (Action::Post { to, .. }, Some(standing)) => Some(PostStands::of(standing, to, url)),
            _ => None,
        };
        let zone = zone(row);
        let why = match &time.state {
            OccurrenceState::Skipped { why } | OccurrenceState::Failed { why } => why.clone(),
            _ => String::new(),
        };
        Self {
            at: zone.stamp(time.at),
            zone: zone.name().to_owned(),
            times: time.times,
            state: time.state.name().to_owned(),
            why,
            task: time.task.map(|task| task.0),
            delivered: time.delivered,
            post,
            fired_at: time.fired_at,
        }
    }

    /// Shows when it was due as people read it.
    pub fn shown(&self) -> String {
        in_zone(self.at, &self.zone)
    }
}

fn zone(row: &ScheduleRow) -> Zone {
    Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC)
}

/// Shows a moment by the clocks of a zone.
pub fn in_zone(at: DateTime<FixedOffset>, zone: &str) -> String {
    moment(at.to_utc(), Zone::named(zone).unwrap_or(Zone::UTC))
}
