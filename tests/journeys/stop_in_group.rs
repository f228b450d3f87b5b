//! `/stop` in a group: somebody else is refused in clear words, the requester stops it, and a stop where
//! nothing runs any more says so.

use selkie_playground::Turn;
use selkie_playground::telegram::{GRACE, GROUP, LINUS};

use crate::support::rows::{settled, texts};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn only_who_asked_ends_it() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("too late").delayed(600_000)]);
    world.telegram().say(GROUP, GRACE, "@selkie_demo_bot hang");
    world.asked(1).await;
    let refused = world.ask_in(GROUP, LINUS, "/stop").await;
    assert_eq!(
        refused,
        "In a group, only my owner can use /stop, or the person whose request I am working on."
    );
    assert!(world.ask_in(GROUP, GRACE, "/stop").await.starts_with("Stopped."));
    settled(&world, 3).await;
    assert_eq!(world.ask_in(GROUP, GRACE, "/stop").await, "Nothing is running here.");
    assert_eq!(world.texts(GROUP).len(), 3, "the stopped task says nothing");
    assert_eq!(texts(&world.home, "SELECT state FROM task"), ["stopped"]);
}
