//! Clocks that are set, and machines that sleep: what is due comes once, and the owner knows.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{ConversationId, Pace, PersonId, PlaceId};

use crate::clocks::Clocks;
use crate::flow::testing::{self, Fixture, account};
use crate::intake::settings::Settings;
use selkie_domain::facts::Trust;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Maker, OccurrenceState, Terms};
use selkie_domain::taint::Taint;
use selkie_schedule::alarm::ManualAlarm;
use selkie_schedule::book::ScheduleRequest;
use selkie_store::{Location, Schedules as _};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
/// A clock that leapt is distrusted for a minute.
const SETTLES: Duration = Duration::from_secs(61);

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A house at seven, whose owner is told something each morning at eight.
async fn morning() -> (Fixture, Arc<ManualAlarm>, ScheduleId) {
    let alarm = ManualAlarm::at(utc("2026-11-22T07:00:00Z"));
    let clocks = Clocks { clock: Arc::clone(&alarm) as _, alarm: Arc::clone(&alarm) as _ };
    let house = testing::desk_by(clocks, Settings::default(), Pace::LIFTED, None);
    house.begin().await;
    let wanted = ScheduleRequest {
        key: "call:1".to_owned(),
        location: Location {
            conversation: ConversationId::new(account(), "tg:1"),
            place: PlaceId::new(account(), "tg:1"),
            title: String::new(),
        },
        title: String::new(),
        when: "0 8 * * *".to_owned(),
        recurrence: None,
        zone: None,
        action: Action::Say { markdown: "good morning".to_owned() },
        maker: Maker {
            person: PersonId::new("tg:1"),
            name: String::new(),
            trust: Trust::Owner,
            taint: Taint::Clean,
            is_cleared: true,
        },
        terms: Terms::default(),
    };
    let row = house.flow.timetable.keep(wanted).await.unwrap();
    (house, alarm, row.id())
}

/// Waits until the schedule comes next at this time.
async fn comes_next(house: &Fixture, id: ScheduleId, at: &str) {
    let at = Some(utc(at));
    let comes = async {
        while house.ledger.schedule_of(id).await.unwrap().unwrap().next_at != at {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), comes).await.expect("its next time is set");
}

async fn said(house: &Fixture, count: usize) -> String {
    house.platform.wait_for(count).await[count - 1].1.clone()
}

#[tokio::test]
async fn back_two_days_and_forward_three_each_time_comes_once() {
    let (house, alarm, id) = morning().await;
    alarm.pass(HOUR);
    assert_eq!(said(&house, 1).await, "good morning");

    alarm.leap(TimeDelta::days(-2));
    assert!(said(&house, 2).await.contains("leapt back by 2 days"));
    alarm.pass(SETTLES);
    let told = said(&house, 3).await;
    assert!(told.contains("1 schedule went by it"), "{told}");
    assert!(told.contains("schedule 1 (good morning): next 2026-11-21 08:00 UTC"), "{told}");
    comes_next(&house, id, "2026-11-21T08:00:00Z").await;
    alarm.pass(DAY);
    assert_eq!(said(&house, 4).await, "good morning");
    comes_next(&house, id, "2026-11-22T08:00:00Z").await;
    alarm.pass(DAY);
    // This day has come already.
    comes_next(&house, id, "2026-11-23T08:00:00Z").await;

    alarm.leap(TimeDelta::days(3));
    assert!(said(&house, 5).await.contains("leapt forward by 3 days"));
    alarm.pass(SETTLES);
    assert_eq!(said(&house, 6).await, "good morning");
    comes_next(&house, id, "2026-11-26T08:00:00Z").await;
    let times = house.ledger.occurrences(id, 9).await.unwrap();
    let told = |state: &OccurrenceState| matches!(state, OccurrenceState::Skipped { .. });
    let times: Vec<_> =
        times.iter().map(|time| (time.at.format("%d").to_string(), told(&time.state))).collect();
    let day = |day: &str, skipped| (day.to_owned(), skipped);
    assert_eq!(times, [day("25", false), day("23", true), day("22", false), day("21", false)]);
    house.close().await;
}

#[tokio::test]
async fn a_machine_that_has_slept_says_what_is_not_too_late() {
    let (house, alarm, id) = morning().await;
    comes_next(&house, id, "2026-11-22T08:00:00Z").await;
    alarm.pass(2 * HOUR);
    let said = said(&house, 1).await;
    assert!(said.starts_with("good morning") && said.contains("I could not say it then"), "{said}");
    comes_next(&house, id, "2026-11-23T08:00:00Z").await;
    // Three days: nobody wants to hear it in the evening.
    alarm.pass(3 * DAY + 9 * HOUR);
    comes_next(&house, id, "2026-11-26T08:00:00Z").await;
    let times = house.ledger.occurrences(id, 9).await.unwrap();
    assert_eq!((times.len(), times[0].times), (2, 3), "{times:?}");
    assert_eq!(house.platform.arrived.borrow().len(), 1, "and no leap is told");
    house.close().await;
}
