//! Schedules where speaking unasked is paid for: counted when one is made, passed over when nothing is left, refused
//! where it never happens.

use serde_json::{Value, json};

use selkie_playground::line_platform::{ADA, GROUP};
use selkie_playground::telegram;

use crate::support::line::{self, Line};
use crate::support::rows;
use crate::support::world::World;

const PASSED_OVER: &str = "SELECT count(*) FROM occurrence WHERE why IS NOT NULL";

/// A daemon on LINE, whose owner can be told elsewhere, too.
async fn started(more: Value) -> Line {
    let mut world = World::start().await;
    line::add(&mut world, more);
    let owners = [format!("line:{ADA}"), format!("tg:{}", telegram::ADA)];
    world.home.set("owners", json!(owners));
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_are_forecast_and_those_that_are_spent_are_told_elsewhere() {
    let line = started(json!({})).await;
    let run = |args: &[&str]| {
        let (code, out, err) = line.world.home.run(&[&["schedules"], args].concat());
        assert_eq!(code, 0, "{args:?}: {out}{err}");
        out
    };
    line.platform().set_quota(Some(10_000), 0);
    let add = ["add", "--every", "12h", "--say", "tea at five", "--to"];
    let group = run(&[&add[..], &[&format!("line:{GROUP}")]].concat());
    assert!(group.contains("180 of the messages that the platform counts each month"), "{group}");
    let person = run(&[&add[..], &[&format!("line:{ADA}")]].concat());
    assert!(person.contains("60 of the messages that the platform counts"), "{person}");
    line.platform().set_quota(Some(10_000), 10_000);
    let said = line.said(GROUP);
    run(&["run", "1"]);
    let told = line.world.hears(telegram::ADA, "I skipped schedule 1").await.text;
    assert!(told.contains("10000 of this month's 10000 messages are used"), "{told}");
    rows::delivered(&line.world, PASSED_OVER, 1).await;
    assert_eq!(line.said(GROUP), said);
    assert!(line.platform().calls_of("push").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_is_ever_pushed_no_schedule_is_made() {
    let line = started(json!({ "push": "never" })).await;
    let to = format!("line:{ADA}");
    let add = ["schedules", "add", "--every", "12h", "--say", "tea", "--to", &to];
    let (code, _, err) = line.world.home.run(&add);
    assert_eq!(code, 2);
    assert!(err.contains("line.push is never"), "{err}");
    let said = line.ask(ADA, "/remind in 1h tea").await.text;
    assert!(said.starts_with("There will be no reminder: what is said on LINE"), "{said}");
}
