//! Schedules of the config: they come, change and go with the file, and what became of them stays while their words do.

use serde_json::{Value, json};

use selkie_playground::telegram::ADA;

use crate::support::rows;
use crate::support::world::World;

const FIRED: &str = "SELECT count(*) FROM occurrence";

fn list(world: &World, args: &[&str]) -> Vec<Value> {
    let all = [&["schedules", "list", "--json"], args].concat();
    let (code, out, err) = world.home.run(&all);
    assert_eq!(code, 0, "{out}{err}");
    serde_json::from_str(&out).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn they_change_and_go_with_the_file_and_keep_what_became_of_them() {
    let mut world = World::start().await;
    let tea =
        json!({ "id": "tea", "every": "1h", "say": "tea is ready", "to": format!("tg:{ADA}") });
    let news =
        json!({ "id": "news", "cron": "0 8 * * *", "timezone": "Asia/Tokyo", "prompt": "news" });
    world.home.set("schedules", json!([tea, news]));
    let daemon = world.daemon();
    world.ask("hello").await;
    let made = list(&world, &[]);
    let names: Vec<&Value> = made.iter().map(|view| &view["name"]).collect();
    assert!(
        made.len() == 2 && names.contains(&&json!("tea")) && names.contains(&&json!("news")),
        "{made:?}"
    );
    let (code, _, err) = world.home.run(&["schedules", "remove", "1"]);
    assert!(code == 1 && err.contains("comes from the config"), "{err}");
    assert_eq!(world.home.run(&["schedules", "run", "1"]).0, 0);
    world.hears(ADA, "tea is ready").await;
    rows::delivered(&world, FIRED, 1).await;
    assert_eq!(world.home.run(&["schedules", "pause", "2"]).0, 0);
    assert!(daemon.stop().await.success());
    // The same words: nothing begins anew.
    let daemon = world.daemon();
    world.ask("are you there?").await;
    let same = list(&world, &[]);
    let of = |views: &[Value], name: &str| views.iter().find(|view| view["name"] == name).cloned();
    let before = of(&made, "tea").expect("tea");
    let after = of(&same, "tea").expect("tea");
    assert_eq!(
        (&after["id"], &after["fired"], &after["next"]),
        (&before["id"], &json!(1), &before["next"])
    );
    assert_eq!(of(&same, "news").expect("news")["state"], "paused");
    assert!(daemon.stop().await.success());
    // Other words: it begins anew; one that has gone is taken away.
    let later =
        json!({ "id": "tea", "every": "2h", "say": "tea is cold", "to": format!("tg:{ADA}") });
    world.home.set("schedules", json!([later]));
    let daemon = world.daemon();
    world.ask("and now?").await;
    let other = list(&world, &[]);
    assert_eq!(other.len(), 1, "{other:?}");
    let other = &other[0];
    assert_eq!((&other["fired"], &other["text"]), (&json!(0), &json!("tea is cold")));
    assert!(daemon.stop().await.success());
    world.home.set("schedules", json!([]));
    let _daemon = world.daemon();
    world.ask("are you still there?").await;
    assert!(list(&world, &[]).is_empty());
    assert_eq!(list(&world, &["--all"]).len(), 2, "their history is kept");
}
