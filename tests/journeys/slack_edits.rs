//! Edits in a channel: one that adds the bot's name asks it; links that are shown and messages taken away do not.

use selkie_playground::slack::{ADA, BOT, CHANNEL};

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_adds_the_name_is_answered_once() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let slack = world.slack();
    let ts = slack.say(CHANNEL, ADA, "tea?");
    slack.unfurl(CHANNEL, &ts);
    slack.edit(CHANNEL, &ts, &format!("<@{BOT}> tea?"));
    let answer = world.within("an answer", slack.wait_for_answer(CHANNEL, &ts)).await;
    assert!(answer.text.contains("tea?"), "{}", answer.text);
    slack.edit(CHANNEL, &ts, &format!("<@{BOT}> tea and cake?"));
    let gone = slack.say(CHANNEL, ADA, "never mind");
    slack.delete(CHANNEL, &gone);
    // Two events each for the edits that name the bot, one for everything else.
    let quiet = slack.wait_until(|slack| (slack.envelopes() == (8, 0)).then_some(()));
    world.within("all acknowledgements", quiet).await;
    let next = slack.say(CHANNEL, ADA, &format!("<@{BOT}> still there?"));
    world.within("an answer", slack.wait_for_answer(CHANNEL, &next)).await;
    assert_eq!(slack.answers(CHANNEL, &ts).len(), 1);
    assert_eq!(world.playground.model().calls(), 2);
}
