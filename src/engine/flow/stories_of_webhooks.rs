//! Webhooks beside a clock: the same words are one call for a day, and a hook that may not speak says so.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use selkie_channel_core::Pace;
use selkie_hooks::{Content, Deliveries as _, Delivery, Receipt, Refusal, Settings as Hooks};
use serde_json::json;

use crate::clocks::Clocks;
use crate::flow::testing::{self, Fixture};
use crate::intake::settings::Settings;
use selkie_domain::facts::{Trigger, Trust};
use selkie_domain::ids::TaskId;
use selkie_domain::taint::Taint;
use selkie_schedule::alarm::ManualAlarm;
use selkie_store::read::Reader as _;

const HOUR: Duration = Duration::from_secs(3_600);

async fn evening() -> (Fixture, Arc<ManualAlarm>) {
    let at: DateTime<Utc> = "2026-11-22T23:30:00Z".parse().unwrap();
    let alarm = ManualAlarm::at(at);
    let clocks = Clocks { clock: Arc::clone(&alarm) as _, alarm: Arc::clone(&alarm) as _ };
    let house = testing::desk_by(clocks, Settings::default(), Pace::LIFTED, None);
    house.begin().await;
    (house, alarm)
}

/// A call that says "done", of a hook that speaks there, as it comes on a day.
fn call(to: &str, day: &str, day_before: Option<&str>) -> Delivery {
    let hook = json!({ "secret": "0123456789abcdef", "words": "done", "to": to });
    let hooks: Hooks = serde_json::from_value(json!({ "hooks": { "job": hook } })).unwrap();
    Delivery {
        hook: hooks.endpoints().remove(0),
        id: format!("hash@{day}"),
        day_before: day_before.map(|day| format!("hash@{day}")),
        event: String::new(),
        content: Content::Words("done".to_owned()),
    }
}

#[tokio::test]
async fn the_same_words_are_one_call_for_a_day_also_over_midnight() {
    let (house, alarm) = evening().await;
    let hooks = house.flow.webhooks();
    let first = hooks.deliver(call("tg:1", "22", Some("21"))).await.unwrap();
    assert!(first.is_new);
    house.platform.wait_for(1).await;
    alarm.pass(HOUR);
    let over = hooks.deliver(call("tg:1", "23", Some("22"))).await;
    assert_eq!(over, Ok(Receipt { is_new: false, ..first }), "it is tomorrow, and no day later");
    alarm.pass(23 * HOUR);
    let later = hooks.deliver(call("tg:1", "23", Some("22"))).await.unwrap();
    assert!(later.is_new && later.task != first.task);
    let said = house.platform.wait_for(2).await;
    assert_eq!(said.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["done", "done"]);
    let facts = house.ledger.task(TaskId(first.task)).await.unwrap().unwrap().facts;
    assert_eq!((facts.trigger, facts.trust), (Trigger::Webhook, Trust::Allowed));
    assert_eq!((facts.taint, facts.speaker), (Taint::Raw, None));
}

#[tokio::test]
async fn a_hook_that_may_not_speak_is_refused_and_its_owner_is_told_once() {
    let (house, _alarm) = evening().await;
    let hooks = house.flow.webhooks();
    for _ in 0..2 {
        assert_eq!(hooks.deliver(call("tg:-77", "22", None)).await, Err(Refusal::Unavailable));
    }
    let said = house.platform.wait_for(1).await;
    let told = &said[0].1;
    assert!(told.contains("the webhook job") && told.contains("is on no list"), "{told}");
    assert_eq!(said.len(), 1);
}
