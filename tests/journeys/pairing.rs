//! Pairing: a code that `selkie pair` prints makes an owner of whoever sends it in private, for good; three wrong ones
//! close it.

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;

use crate::support::world::World;

/// Makes a code at the command line.
fn code(world: &World) -> String {
    let (status, out, err) = world.home.run(&["pair"]);
    assert_eq!(status, 0, "{out}{err}");
    let line = out.lines().find_map(|line| line.trim().strip_prefix("pair "));
    line.expect("a line with the code").to_owned()
}

async fn nobodys() -> World {
    let world = World::with(json!({ "owners": [] })).await;
    world.telegram().add_person(GRACE, "Grace");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_makes_an_owner_who_stays_one_until_taken_back() {
    let world = nobodys().await;
    // Made before the daemon is there: the store holds it.
    let code = code(&world);
    let daemon = world.daemon();
    let paired = world.ask(&format!("pair {code}")).await;
    assert!(paired.contains("You are paired") && paired.contains("tg:4711"), "{paired}");
    assert!(world.ask("hello").await.ends_with("hello"));
    let again = world.ask_in(GRACE, GRACE, &format!("/pair {code}")).await;
    assert!(again.contains("No pairing code is open"), "it works once: {again}");
    assert!(daemon.stop().await.success());

    let daemon = world.daemon();
    assert!(world.ask("still there?").await.ends_with("still there?"));
    assert_eq!(world.home.run(&["pair", "list"]).1, "tg:4711\n");
    let second = self::code(&world);
    world.ask_in(GRACE, GRACE, &format!("/pair {}", second.to_uppercase())).await;
    let told = world.hears(ADA, "is an owner now").await.text;
    assert!(told.contains("Grace") && told.contains("selkie pair remove tg:4712"), "{told}");
    assert_eq!(world.home.run(&["pair", "remove", "tg:4712"]).0, 0);
    let (status, _, why) = world.home.run(&["pair", "remove", "tg:4712"]);
    assert!(status == 1 && why.contains("was not paired"), "{why}");
    let calls = world.playground.model().calls();
    let hint = world.ask_in(GRACE, GRACE, "hello?").await;
    assert!(hint.contains("allowed_chat_ids"), "{hint}");
    assert_eq!(world.playground.model().calls(), calls, "she is asked about no more");
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains(&code), "a code is nothing for a log");
}

#[tokio::test(flavor = "multi_thread")]
async fn three_wrong_codes_close_it_and_a_group_pairs_nobody() {
    let world = nobodys().await;
    let daemon = world.daemon();
    let code = code(&world);
    world.telegram().say(GROUP, GRACE, &format!("/pair@selkie_demo_bot {code}"));
    for left in ["You have 2 more tries", "one more try", "no more are read"] {
        let wrong = world.ask_in(GRACE, GRACE, "/pair zz9zzz").await;
        assert!(wrong.contains(left), "{wrong}");
    }
    let late = world.ask(&format!("/pair {code}")).await;
    assert!(late.contains("No pairing code is open"), "{late}");
    assert_eq!(world.home.run(&["pair", "list"]).1, "Nobody was paired.\n");
    let next = self::code(&world);
    assert!(world.ask(&format!("/pair {next}")).await.contains("You are paired"));
    assert!(daemon.stop().await.success());
}
