//! A talkative group, with the stand-in as the deciding model: the bot joins in where it has something to
//! say, and another group stays strict.

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn it_joins_in_where_it_has_something_to_say() {
    let mut world = World::offline().await;
    let group = format!("tg:{}", GROUP.chat);
    world.home.set("groups", json!({ group: { "group_trigger_mode": "talkative" } }));
    let _daemon = world.daemon();
    let telegram = world.telegram();
    telegram.say(GROUP, GRACE, "selkie is a nice name");
    telegram.say(GROUP, GRACE, "Does anybody know the tide?");
    let answer = world.hears(GROUP, "“Does anybody know the tide?”").await;
    assert_eq!(answer.reply_to, None, "no strong impulse");
    let keen = telegram.say(GROUP, GRACE, "does anybody know the moon!");
    let answer = world.hears(GROUP, "the moon").await;
    assert_eq!(answer.reply_to, Some(keen));
    assert_eq!(world.texts(GROUP).len(), 2, "being meant is not what counts here");
    world.ask("in private as ever").await;
    assert_eq!(world.said(ADA).len(), 1);
}
