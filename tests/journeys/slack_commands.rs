//! `/selkie …`: carried out once, answered to the person alone in a channel, aside where the bot is not.

use std::time::Duration;

use selkie_playground::slack::{ADA, BOT, CHANNEL, DM, GRACE, LINUS};
use selkie_playground::{Slack, Turn};
use serde_json::json;

use crate::support::rows::number;
use crate::support::world::World;

async fn whispered(world: &World, channel: &str, user: &str, text: &str) {
    let shown = |slack: &Slack| {
        slack
            .whispers(channel, user)
            .iter()
            .any(|whisper| whisper.text.contains(text))
            .then_some(())
    };
    world.within(&format!("a whisper of {text:?}"), world.slack().wait_until(shown)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_a_channel_is_between_the_person_and_the_bot() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    world.slack().slash(CHANNEL, GRACE, "id");
    whispered(&world, CHANNEL, GRACE, "This place").await;
    world.slack().slash(CHANNEL, GRACE, "");
    whispered(&world, CHANNEL, GRACE, "/selkie status").await;
    assert!(world.slack().messages(CHANNEL).is_empty(), "nobody else sees it");
    world.slack().slash(CHANNEL, GRACE, "ask what now?");
    let answered = |slack: &Slack| {
        slack.messages(CHANNEL).into_iter().find(|message| message.text.contains("what now?"))
    };
    world.within("an answer that all see", world.slack().wait_until(answered)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_there_is_not_is_answered_with_those_that_are() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    world.slack().slash(CHANNEL, GRACE, "hello there");
    whispered(&world, CHANNEL, GRACE, "There is no command `hello`").await;
    whispered(&world, CHANNEL, GRACE, "/selkie status").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_a_channel_stops_what_runs_in_its_threads_and_says_what() {
    let world = World::with_slack().await;
    world.playground.model().script(vec![Turn::text("too late").delayed(600_000)]);
    let _daemon = world.daemon();
    world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> count all the tea leaves"));
    world.asked(1).await;
    world.slack().slash(CHANNEL, LINUS, "stop");
    whispered(&world, CHANNEL, LINUS, "or the person whose request").await;
    world.slack().slash(CHANNEL, GRACE, "status");
    whispered(&world, CHANNEL, GRACE, "In threads here I work on:").await;
    world.slack().slash(CHANNEL, GRACE, "stop");
    whispered(&world, CHANNEL, GRACE, "Stopped, also in threads here").await;
    let stopped = "SELECT count(*) FROM task WHERE stop > 0 OR state = 'stopped'";
    assert_eq!(number(&world.home, stopped), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_by_a_mention_in_the_channel_stops_what_runs_in_its_threads() {
    let world = World::with_slack().await;
    world.playground.model().script(vec![Turn::text("too late").delayed(600_000)]);
    let _daemon = world.daemon();
    world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> count all the tea leaves"));
    world.asked(1).await;
    let said = async |text: &str| {
        let shown = |slack: &Slack| {
            slack.messages(CHANNEL).into_iter().find(|m| m.text.contains(text) && m.user == BOT)
        };
        world.within(&format!("{text:?}"), world.slack().wait_until(shown)).await
    };
    world.slack().say(CHANNEL, LINUS, &format!("<@{BOT}> /stop"));
    said("or the person whose request").await;
    world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> /stop"));
    let told = said("Stopped, also in threads here").await;
    assert!(told.text.contains("count all the tea leaves"), "{}", told.text);
    let stopped = "SELECT count(*) FROM task WHERE stop > 0 OR state = 'stopped'";
    assert_eq!(number(&world.home, stopped), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_bot_is_not_the_person_is_answered_aside() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    world.slack().slash("C0ELSE", ADA, "ask anybody there?");
    whispered(&world, "C0ELSE", ADA, "anybody there?").await;
    world.slack().slash("C0ELSE", ADA, "id");
    whispered(&world, "C0ELSE", ADA, "This place").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_comes_again_resets_once() {
    let mut world = World::with_slack().await;
    world.slack().set_redelivery(Duration::from_millis(300));
    world.home.set("debug", json!({ "crash_at": "after_accept:1" }));
    let dying = world.daemon();
    world.slack().slash(DM, ADA, "reset");
    assert!(!dying.gone().await.success());
    world.home.set("debug", json!({}));
    let _daemon = world.daemon();
    let fresh = |slack: &Slack| {
        let said = slack.messages(DM).into_iter().filter(|m| m.text.contains("A fresh start"));
        (said.count() == 1 && slack.envelopes() == (1, 0)).then_some(())
    };
    world.within("one fresh start, acknowledged", world.slack().wait_until(fresh)).await;
    let epoch = "SELECT epoch FROM conversation WHERE key = 'slack:T0PLAY:D0ADA'";
    assert_eq!(number(&world.home, epoch), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_at_the_command_line_speaks_where_the_owner_last_wrote() {
    let mut world = World::with_slack().await;
    world.home.set("owners", json!([format!("slack:T0PLAY:{ADA}"), "tg:1"]));
    let _daemon = world.daemon();
    let hello = world.slack().say(DM, ADA, "is the daemon there?");
    world.within("an answer", world.slack().wait_for_answer(DM, &hello)).await;
    let (code, out, err) = world.home.run(&["schedules", "add", "--in", "1h", "--say", "tea"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = world.home.run(&["schedules", "list", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(&format!("slack:T0PLAY:{DM}")), "{out}");
}
