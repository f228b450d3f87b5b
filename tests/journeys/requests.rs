//! Requests for approval wear no owner out: few wait at once, whoever makes them, and who asks beyond that reads why;
//! an owner mutes a person or a group with one tap.

use selkie_playground::telegram::{ADA, GRACE, GROUP, LINUS, MessageView, PRIVATE};
use serde_json::json;

use crate::approvals::{Team, write};
use crate::support::joined::joined;

/// People of the group; each of them asks for one thing.
const FIRST: i64 = 5001;
/// So many requests of others wait for one owner.
const MAX: i64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn many_people_put_few_requests_before_the_owner() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let telegram = team.world.telegram();
    for person in FIRST..=FIRST + MAX {
        telegram.add_person(person, &format!("Person {person}"));
    }
    for person in FIRST..FIRST + MAX {
        telegram.say(GROUP, person, &write("plan.txt", "tide"));
        let theirs = format!("(tg:{person})");
        let asks = |m: &MessageView| m.keyboard.is_some() && m.text.contains(&theirs);
        team.world.within("a request", telegram.wait_for(PRIVATE, asks)).await;
    }
    telegram.say(GROUP, FIRST + MAX, &write("plan.txt", "tide"));
    team.told("6 requests are waiting for the owner already").await;
    let shown = telegram.messages(ADA).into_iter().filter(|m| m.keyboard.is_some()).count();
    assert_eq!(shown, 6, "the owner hears nothing of the seventh");
    let states = team.states();
    assert_eq!(states.iter().filter(|state| *state == "open").count(), 6, "{states:?}");
    assert_eq!(states.last().map(String::as_str), Some("not_asked"), "{states:?}");
}

/// Somebody asks, and the owner is sent the request.
async fn asks(team: &Team, person: i64) -> MessageView {
    let telegram = team.world.telegram();
    telegram.say(GROUP, person, &write("plan.txt", "tide"));
    let theirs = format!("(tg:{person})");
    let asks = |m: &MessageView| m.keyboard.is_some() && m.text.contains(&theirs);
    team.world.within("a request", telegram.wait_for(PRIVATE, asks)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tap_mutes_a_group_and_a_word_lifts_it() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = asks(&team, GRACE).await;
    let told = team.tap(&request, "Mute this group").await;
    assert!(told.contains("Denied by Ada Lovelace") && told.contains("muted for a day"), "{told}");
    let (_, code) = request.text.rsplit_once("mute group ").expect("a code");
    let code = &code[..6];
    let telegram = team.world.telegram();
    telegram.say(GROUP, LINUS, &write("plan.txt", "tide"));
    team.told("the owner takes no requests from here for now").await;
    let (_, listed, _) = team.world.home.run(&["approvals", "list"]);
    let lifts = format!("unmute {code} lifts that");
    assert!(joined(&listed).contains(&lifts), "{listed}");
    let lifted = team.world.ask(&format!("unmute {code}")).await;
    assert_eq!(lifted, "These requests reach you again.");
    asks(&team, LINUS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_who_was_asked_mutes() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = asks(&team, GRACE).await;
    let (_, code) = request.text.rsplit_once("mute group ").expect("a code");
    let words = format!("@selkie_demo_bot mute {}", &code[..6]);
    team.world.ask_in(GROUP, LINUS, &words).await;
    assert_eq!(team.states(), ["open"]);
    let told = team.tap(&request, "Mute this person").await;
    assert!(told.contains("muted for a day"), "{told}");
    team.world.telegram().say(GROUP, GRACE, &write("plan.txt", "tide"));
    team.told("the owner takes no requests for this person for now").await;
    asks(&team, LINUS).await;
}
