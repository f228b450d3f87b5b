//! Sockets of one app: two of ours share the events; a second program's wait, and it says so.

use selkie_playground::slack::{ADA, APP_TOKEN, BOT_TOKEN, CHANNEL, DM};
use serde_json::json;

use crate::support::daemon::Home;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn two_sockets_share_the_events_and_nothing_is_heard_twice() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let slack = world.slack();
    let both = slack.wait_until(|slack| (slack.sockets().0 == 2).then_some(()));
    world.within("two sockets", both).await;
    for n in 0..6 {
        let ts = slack.say(DM, ADA, &format!("message {n}"));
        world.within("an answer", slack.wait_for_answer(DM, &ts)).await;
        assert_eq!(slack.answers(DM, &ts).len(), 1);
    }
    assert_eq!(slack.sockets().1, 2, "never more than the settings say");
    assert_eq!(world.playground.model().calls(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_program_with_the_token_waits_and_says_so() {
    let world = World::with_slack().await;
    let first = world.daemon();
    let slack = world.slack();
    let both = slack.wait_until(|slack| (slack.sockets().0 == 2).then_some(()));
    world.within("two sockets", both).await;
    let other = Home::new(json!({
        "owners": [format!("slack:T0PLAY:{ADA}")],
        "llm": { "provider": "offline" },
        "slack": {
            "bot_token": BOT_TOKEN, "app_token": APP_TOKEN,
            "base_url": world.playground.slack_base_url(),
            "allowed_channel_ids": [CHANNEL], "pace": "lifted",
        },
    }));
    let _second = other.start();
    let told = |slack: &selkie_playground::Slack| {
        slack.messages(DM).into_iter().find(|m| m.text.contains("Another program listens"))
    };
    world.within("a word to the owner", slack.wait_until(told)).await;
    let ts = slack.say(DM, ADA, "who answers?");
    let answer = world.within("an answer", slack.wait_for_answer(DM, &ts)).await;
    assert!(answer.text.contains("who answers?"), "the first one's model repeats: {}", answer.text);
    assert!(first.stop().await.success());
    let taken_over = slack.wait_until(|slack| (slack.sockets().0 == 2).then_some(()));
    world.within("the second one's sockets", taken_over).await;
    let ts = slack.say(DM, ADA, "and now?");
    world.within("an answer", slack.wait_for_answer(DM, &ts)).await;
}
