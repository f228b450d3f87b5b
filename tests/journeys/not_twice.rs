//! What works on foreign bytes in the daemon's own process is not done again when the daemon died over it;
//! what had not begun is.

use std::os::unix::process::ExitStatusExt;

use selkie::domain::crash::CrashPoint;
use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_was_running_when_the_daemon_died_is_not_run_again() {
    for (point, again) in [(CrashPoint::AfterCallsStored, true), (CrashPoint::AfterTool, false)] {
        let mut world = World::start().await;
        world.home.set("debug", json!({ "crash_at": point.name() }));
        let call = json!({"pattern": "nothing-has-this"});
        let turns = vec![Turn::call("grep", call), Turn::text("searched")];
        world.playground.model().script(turns);
        let message = world.telegram().say(ADA, ADA, "search");
        let status = world.daemon().gone().await;
        assert_eq!(status.signal(), Some(9));
        world.home.set("debug", json!({}));
        let _daemon = world.daemon();
        assert!(world.answer(ADA, message).await.ends_with("searched"));
        let prompt = world.last_prompt();
        let told = prompt.contains("interrupted: the program ended while grep ran");
        assert_eq!(told, !again, "{}: {prompt}", point.name());
    }
}
