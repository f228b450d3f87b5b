//! An answer with a table is a table on the platforms that have them.

use selkie_playground::Turn;
use selkie_playground::slack::{BOT, CHANNEL, GRACE};
use selkie_playground::telegram::ADA;

use crate::support::world::World;

const ANSWER: &str = "So it is:\n\n| tea | minutes |\n|---|--:|\n| green | 2 |\n\nand \\(2 < 3\\).";

#[tokio::test(flavor = "multi_thread")]
async fn on_telegram_it_is_a_rich_message() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text(ANSWER)]);
    let answer = world.ask("how long does tea take?").await;
    assert_eq!(answer, "So it is:\ntea | minutes\ngreen | 2\nand 2 < 3.");
    world.playground.model().script(vec![Turn::text("as I said")]);
    world.telegram().reply(ADA, ADA, 2, "really?");
    world.hears(ADA, "as I said").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("| green | 2 |"), "the history has the answer as it was: {prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_slack_it_stands_between_its_words() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text(ANSWER)]);
    let ts = world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> how long does tea take?"));
    let answer = world.within("an answer", world.slack().wait_for_answer(CHANNEL, &ts)).await;
    let blocks = answer.blocks.expect("blocks");
    let kinds = blocks.as_array().unwrap().iter().map(|block| block["type"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["section", "markdown", "section"]);
    assert!(answer.text.contains("green |       2"), "for notifications: {}", answer.text);
}
