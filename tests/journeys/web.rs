//! The web: an inner address is refused with the reason, one that config opens is read.

use selkie_playground::Turn;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn only_what_config_opens_is_reached() {
    let open = json!({"guard": {"network": {"allow_private": ["127.0.0.1"]}}});
    for (sections, wanted) in [
        (json!({}), "private ip/localhost is not allowed by guard: 127.0.0.1 is this machine"),
        (open, "non-2xx status: "),
    ] {
        let world = World::with(sections).await;
        let _daemon = world.daemon();
        let url = format!("{}/nothing-here", world.playground.telegram_base_url());
        let turns = vec![Turn::call("url_fetch", json!({ "url": url })), Turn::text("asked")];
        world.playground.model().script(turns);
        assert!(world.ask("look").await.ends_with("asked"));
        assert!(world.last_prompt().contains(wanted), "{}", world.last_prompt());
    }
}
