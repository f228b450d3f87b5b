//! An owner who is asked on Telegram and in Slack: decided in one, the request is closed in both, and the next one arrives
//! in both. Slack knows a direct message by an id of its own.

use selkie_playground::slack::{ADA, DM, SlackMessage};
use selkie_playground::telegram::{GRACE, GROUP};
use serde_json::json;

use crate::approvals::{Team, write};

/// Waits for the request that stands in Ada's direct message as its `nth`.
async fn request(team: &Team, nth: usize) -> SlackMessage {
    // A request that is decided says what it was.
    let is_request = |text: &str| text.contains("May I ") || text.contains("whether I may ");
    let asks = |m: &SlackMessage| m.is_bots() && is_request(&m.text);
    let found =
        team.world.slack().wait_until(|slack| slack.messages(DM).into_iter().filter(asks).nth(nth));
    team.world.within("a request in Slack", found).await
}

/// Waits until a message says so and has no buttons any more.
async fn closed(team: &Team, ts: &str, words: &str) {
    let closed = |slack: &selkie_playground::Slack| {
        let mut messages = slack.messages(DM).into_iter();
        let told = messages.any(|m| m.ts == ts && m.text.contains(words));
        (told && slack.buttons(DM, ts).is_empty()).then_some(())
    };
    team.world.within("its outcome in Slack", team.world.slack().wait_until(closed)).await;
}

async fn team() -> Team {
    let mut team = Team::with(json!({})).await;
    team.world.add_slack();
    team
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_decided_elsewhere_is_closed_in_slack_and_the_next_request_arrives() {
    let team = team().await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    let first = team.asks().await;
    let shown = request(&team, 0).await;
    team.tap(&first, "Approve").await;
    closed(&team, &shown.ts, "✔ Approved by Ada Lovelace").await;
    team.told("write_file answered").await;
    // Another process knows the direct message as well.
    assert!(daemon.stop().await.success());
    let _second = team.world.daemon();
    team.world.telegram().say(GROUP, GRACE, &write("plan.txt", "ebb"));
    let shown = request(&team, 1).await;
    assert!(team.world.slack().tap(DM, &shown.ts, ADA, "Deny"), "it has buttons");
    closed(&team, &shown.ts, "✖ Denied by Ada").await;
    assert_eq!(team.states(), ["consumed", "denied"]);
}

/// An app that was made before the scope was asked for writes to the person's id, and learns from the answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_may_not_open_direct_messages_learns_where_it_wrote() {
    let team = team().await;
    team.world.slack().remove_scope("im:write");
    let _daemon = team.world.daemon();
    team.set_folder().await;
    for (nth, label) in ["Deny", "Approve"].into_iter().enumerate() {
        team.world.telegram().say(GROUP, GRACE, &write("plan.txt", "tide"));
        let shown = request(&team, nth).await;
        let asked = team.asked().await;
        team.tap(&asked, label).await;
        team.closed(&asked).await;
        closed(&team, &shown.ts, " by Ada Lovelace").await;
    }
}

/// A request whose delivery is refused at one address stands at the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_slack_does_not_take_stands_on_telegram() {
    let mut team = team().await;
    team.world.home.set("owners", json!(["tg:4711", "slack:T0PLAY:U0NOBODY"]));
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let asked = team.asks().await;
    let refused =
        |log: &str| log.contains("the platform will not take it") && log.contains("user_not_found");
    team.world.within("a word about Slack", team.world.home.logged(0, refused)).await;
    team.tap(&asked, "Approve").await;
    team.told("write_file answered").await;
    assert_eq!(team.states(), ["consumed"]);
}
