//! LINE: what a person takes back is nowhere any more, and is not answered.

use selkie_playground::Turn;
use selkie_playground::line_platform::{ADA, BOT_NAME, GROUP};

use crate::support::line::Line;
use crate::support::rows::{number, texts};

const SECRET_WORD: &str = "xylophone";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_back_is_not_answered_and_not_kept() {
    let line = Line::start().await;
    let platform = line.platform();
    line.world.playground.model().script(vec![Turn::text("one").delayed(1500)]);
    let first = platform.say(ADA, ADA, "something slow");
    // It waits behind the first one.
    let second = platform.say(ADA, ADA, SECRET_WORD);
    platform.unsend(ADA, ADA, &second);
    line.answer(ADA, &first).await;
    // One that was answered, and a quote of it.
    let asked = platform.say(GROUP, ADA, &format!("{BOT_NAME} what is a {SECRET_WORD}?"));
    line.answer(GROUP, &asked).await;
    let quoting = platform.reply(GROUP, ADA, &asked, &format!("{BOT_NAME} more of that"));
    line.answer(GROUP, &quoting).await;
    platform.unsend(GROUP, ADA, &asked);
    line.ask(GROUP, &format!("{BOT_NAME} still there?")).await;
    assert!(platform.answers_to(ADA, &second).is_empty(), "it was taken back before its turn");
    let home = &line.world.home;
    for sql in [
        "SELECT inbound FROM inbox",
        "SELECT item FROM transcript WHERE item LIKE '%\"item\":\"heard\"%'",
    ] {
        let kept: Vec<_> =
            texts(home, sql).into_iter().filter(|text| text.contains(SECRET_WORD)).collect();
        assert!(kept.is_empty(), "{sql}: {kept:?}");
    }
    let withdrawn = "SELECT count(*) FROM task WHERE why = 'its message was taken back'";
    assert_eq!(number(home, withdrawn), Some(1));
}
