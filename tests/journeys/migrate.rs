//! A group becomes a supergroup: the bot goes on listening there, over restarts too, and the owner is
//! told once which id belongs into the config.

use selkie_playground::telegram::{ADA, GRACE, GROUP};

use crate::support::world::World;

const NEW: i64 = -1_009_999;

/// Grace, whom only the group's place on the allow list lets in, asks the bot and gets its answer.
async fn asks(world: &World, chat: i64, text: &str) -> String {
    let message = world.telegram().say(chat, GRACE, &format!("@selkie_demo_bot {text}"));
    world.answer(chat, message).await
}

fn notices(world: &World) -> usize {
    let told = world.telegram().messages(ADA);
    told.iter().filter(|m| m.from.is_bot && m.text.contains("is now")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migrated_group_is_heard_after_a_restart_and_remembers() {
    let world = World::start().await;
    let mut daemon = world.daemon();
    assert!(asks(&world, GROUP.chat, "one").await.contains("one"));
    world.telegram().migrate(GROUP.chat, NEW);
    let notice = world.telegram().wait_for(ADA, |m| m.text.contains("is now"));
    let notice = world.within("the notice", notice).await;
    assert!(notice.text.contains(&format!("\"tg:{NEW}\"")), "{}", notice.text);
    assert!(asks(&world, NEW, "two").await.contains("two"));
    for text in ["three", "four"] {
        assert!(daemon.stop().await.success());
        daemon = world.daemon();
        assert!(asks(&world, NEW, text).await.contains(text));
    }
    assert!(daemon.stop().await.success());
    assert_eq!(notices(&world), 1);
    let requests = world.playground.model().requests();
    let last = requests.last().expect("a request").body.to_string();
    for text in ["one", "two", "three", "four"] {
        assert!(last.contains(&format!("\\n{text}\"")), "{text} is not in {last}");
    }
}
