//! Requests for approval wear no owner out: few wait at once, whoever makes them, and who asks beyond that reads why.

use selkie_playground::telegram::{ADA, GROUP, MessageView, PRIVATE};
use serde_json::json;

use crate::approvals::{Team, write};

/// People of the group; each of them asks for one thing.
const FIRST: i64 = 5001;
/// So many requests of others wait for one owner.
const MOST: i64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn many_people_put_few_requests_before_the_owner() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let telegram = team.world.telegram();
    for person in FIRST..=FIRST + MOST {
        telegram.add_person(person, &format!("Person {person}"));
    }
    for person in FIRST..FIRST + MOST {
        telegram.say(GROUP, person, &write("plan.txt", "tide"));
        let theirs = format!("(tg:{person})");
        let asks = |m: &MessageView| m.keyboard.is_some() && m.text.contains(&theirs);
        team.world.within("a request", telegram.wait_for(PRIVATE, asks)).await;
    }
    telegram.say(GROUP, FIRST + MOST, &write("plan.txt", "tide"));
    team.told("6 requests are waiting for the owner already").await;
    let shown = telegram.messages(ADA).into_iter().filter(|m| m.keyboard.is_some()).count();
    assert_eq!(shown, 6, "the owner hears nothing of the seventh");
    let states = team.states();
    assert_eq!(states.iter().filter(|state| *state == "open").count(), 6, "{states:?}");
    assert_eq!(states.last().map(String::as_str), Some("not_asked"), "{states:?}");
}
