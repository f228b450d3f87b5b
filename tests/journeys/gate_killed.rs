//! A real SIGKILL when the gate has decided, and when its decision is stored: the line is answered once.

use std::os::unix::process::ExitStatusExt;

use selkie_playground::telegram::{GRACE, GROUP};
use serde_json::json;

use crate::support::rows::{number, settled};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_passed_is_answered_once() {
    for point in ["after_gate", "after_judged"] {
        let mut world = World::offline().await;
        world.home.set("group_trigger_mode", json!("smart"));
        world.home.set("debug", json!({ "crash_at": point }));
        let dying = world.daemon();
        world.telegram().say(GROUP, GRACE, "selkie, the tide?");
        let status = world.within("the death", dying.gone()).await;
        assert_eq!(status.signal(), Some(9), "{point}: {status}");
        world.home.set("debug", json!({}));
        let _second = world.daemon();
        settled(&world, 1).await;
        let said = world.texts(GROUP);
        assert_eq!(said.len(), 1, "{point}: {said:?}");
        assert!(said[0].contains("the tide?"), "{point}: {said:?}");
        assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(1), "{point}");
    }
}
