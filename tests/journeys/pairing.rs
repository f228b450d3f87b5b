//! Pairing: a code that `selkie pair` prints makes an owner of whoever sends it in private, for good, whoever
//! else guesses.

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
    assert!(again.contains("This code does not work"), "it works once: {again}");
    assert!(daemon.stop().await.success());

    let daemon = world.daemon();
    assert!(world.ask("still there?").await.ends_with("still there?"));
    assert_eq!(world.home.run(&["pair", "list"]).1, "tg:4711  owner  paired\n");
    let second = self::code(&world);
    world.ask_in(GRACE, GRACE, &format!("/pair {}", second.to_uppercase())).await;
    let told = world.hears(ADA, "is an owner now").await.text;
    assert!(told.contains("Grace") && told.contains("selkie pair remove tg:4712"), "{told}");
    assert_eq!(world.home.run(&["pair", "remove", "tg:4712"]).0, 0);
    let (status, _, why) = world.home.run(&["pair", "remove", "tg:4712"]);
    assert!(status == 1 && why.contains("was not paired"), "{why}");
    let calls = world.playground.model().calls();
    let hint = world.ask_in(GRACE, GRACE, "hello?").await;
    assert!(hint.contains("whom my owner knows"), "{hint}");
    assert_eq!(world.playground.model().calls(), calls, "she is asked about no more");
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains(&code), "a code is nothing for a log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_guesses_close_nothing_and_tell_nothing_and_a_group_pairs_nobody() {
    let world = nobodys().await;
    let daemon = world.daemon();
    let none_open = world.ask_in(GRACE, GRACE, "/pair zz9zzzzz").await;
    let code = code(&world);
    world.telegram().say(GROUP, GRACE, &format!("/pair@selkie_demo_bot {code}"));
    for _ in 0..4 {
        let wrong = world.ask_in(GRACE, GRACE, "/pair zz9zzzzz").await;
        assert_eq!(wrong, none_open, "whether one is open is not told");
    }
    let last = world.ask_in(GRACE, GRACE, "/pair zz9zzzzz").await;
    assert!(last.contains("one wrong code too many"), "{last}");
    let (_, nobody, _) = world.home.run(&["pair", "list"]);
    assert!(nobody.starts_with("Nobody owns the bot yet"), "{nobody}");
    // A chat is no person: it takes nobody's code.
    let chat = json!({ "id": -100_555, "type": "channel", "title": "News" });
    let fields = json!({ "text": format!("pair {code}"), "sender_chat": chat });
    world.telegram().share(ADA, ADA, fields);
    world.telegram().say(ADA, ADA, &format!("/pair {code}"));
    world.hears(ADA, "You are paired").await;
    assert_eq!(world.home.run(&["pair", "list"]).1, "tg:4711  owner  paired\n");
    assert!(daemon.stop().await.success());
}

/// A world whose strangers get codes; Ada owns it.
async fn asking() -> World {
    let world = World::with(json!({ "pairing": "ask" })).await;
    world.telegram().add_person(GRACE, "Grace");
    world
}

fn offered(text: &str) -> String {
    assert!(text.contains("I do not know you yet"), "{text}");
    let (_, rest) = text.split_once("/pair ").expect("how it is approved");
    rest.chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_let_in_by_the_owners_word_and_stays() {
    let world = asking().await;
    let daemon = world.daemon();
    let code = offered(&world.ask_in(GRACE, GRACE, "hello?").await);
    world.telegram().say(GRACE, GRACE, "hello??");
    world.telegram().say(GRACE, GRACE, &format!("/pair {code}"));
    world.hears(GRACE, "This code does not work").await;
    assert_eq!(world.playground.model().calls(), 0, "a stranger lets nobody in");
    let (_, list, _) = world.home.run(&["pair", "list"]);
    assert!(list.contains("tg:4712") && list.contains("Grace") && !list.contains(&code), "{list}");
    let wrong = world.ask("/pair zz9zzzzz").await;
    assert!(wrong.contains("2 of 3 tries"), "{wrong}");
    let done = world.ask(&format!("/pair {code}")).await;
    assert!(done.contains("Grace (tg:4712) is let in"), "{done}");
    world.hears(GRACE, "You are let in").await;
    assert!(world.ask_in(GRACE, GRACE, "hello").await.ends_with("hello"));
    assert_eq!(world.texts(GRACE).iter().filter(|t| t.contains("do not know you")).count(), 1);
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    assert!(world.ask_in(GRACE, GRACE, "and now?").await.ends_with("and now?"));
    let (_, list, _) = world.home.run(&["pair", "list"]);
    let [config, paired] = ["owner    named in the config\n", "allowed  paired\n"];
    assert!(
        list.starts_with("tg:4711 ") && list.contains(config) && list.ends_with(paired),
        "{list}"
    );
    assert_eq!(world.home.run(&["pair", "remove", "tg:4712"]).0, 0);
    let again = offered(&world.ask_in(GRACE, GRACE, "still?").await);
    let (status, out, err) = world.home.run(&["pair", "approve", &again]);
    assert!(status == 0 && out.contains("Grace (tg:4712) is let in."), "{out}{err}");
    // She is told that she is let in, too, by now or later.
    world.telegram().say(GRACE, GRACE, "once more");
    world.hears(GRACE, "once more").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn three_wrong_words_of_the_owner_close_what_strangers_ask() {
    let world = asking().await;
    let daemon = world.daemon();
    let code = offered(&world.ask_in(GRACE, GRACE, "hello?").await);
    for _ in 0..3 {
        let (status, _, why) = world.home.run(&["pair", "approve", "zz9zzzzz"]);
        assert!(status == 1 && why.contains("nobody who is waiting"), "{why}");
    }
    let (status, _, why) = world.home.run(&["pair", "approve", &code]);
    assert!(status == 1 && why.contains("nobody is waiting to be let in"), "{why}");
    let (status, _, why) = world.home.run(&["pair", "approve", "Grace"]);
    assert!(status == 2 && why.contains("is not a pairing code"), "{why}");
    world.telegram().say(GROUP, GRACE, "@selkie_demo_bot hello");
    assert!(world.ask("hello").await.ends_with("hello"));
    assert!(daemon.stop().await.success());
}

/// A crowd keeps a friend waiting, and the owner hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn the_owner_hears_that_a_crowd_keeps_strangers_waiting() {
    let world = asking().await;
    let daemon = world.daemon();
    for person in 6_000..6_030 {
        world.telegram().add_person(person, "Somebody");
        world.telegram().say(person, person, "let me in");
    }
    world.hears(ADA, "Many strangers are writing to me at once").await;
    world.telegram().say(6_000, 6_000, "and now?");
    assert!(world.ask("hello").await.ends_with("hello"), "it goes on");
    let told = world.texts(ADA).iter().filter(|text| text.contains("Many strangers")).count();
    assert_eq!(told, 1);
    assert!(daemon.stop().await.success());
}
