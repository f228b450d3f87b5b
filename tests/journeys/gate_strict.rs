//! A strict group in which nobody means the bot: nothing is said and nothing is spent.

use selkie_playground::telegram::{GRACE, GROUP, LINUS};

use crate::support::rows::number;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_and_nothing_is_spent() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    for text in ["good morning", "does selkie know when tea is?", "@grace do you?"] {
        telegram.say(GROUP, GRACE, text);
        telegram.say(GROUP, LINUS, text);
    }
    // Six lines were heard when the next message is answered: updates come in order.
    world.ask("hello").await;
    assert_eq!(world.playground.model().calls(), 1, "the private question's own");
    assert!(world.texts(GROUP).is_empty(), "{:?}", world.texts(GROUP));
    assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(1));
    assert_eq!(number(&world.home, "SELECT sum(calls) FROM task"), Some(1));
    let context = "SELECT count(*) FROM inbox WHERE disposition = 'context'";
    assert_eq!(number(&world.home, context), Some(6));
}
