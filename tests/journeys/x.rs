//! X: posts and threads by `selkie say`, through the running daemon or without one, and what becomes of them
//! when the platform or the process fails in the middle.

use std::process::Stdio;

use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::x::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, CLIENT_ID, CONSUMER_KEY, CONSUMER_SECRET, REFRESH_TOKEN,
};
use selkie_playground::{Fault, FaultKind, XPlatform};
use serde_json::{Value, json};

use crate::support::once::said;
use crate::support::rows::{number, texts};
use crate::support::world::World;

/// The edges at which a post may be when the process dies.
const EDGES: [&str; 5] =
    ["after_said", "after_sending", "after_deliver", "after_receipt", "after_deliver:2"];

async fn world_with(login: Value) -> World {
    let mut world = World::start().await;
    let mut section = json!({ "base_url": world.playground.x_base_url(), "pace": "lifted" });
    let login = login.as_object().expect("keys").clone();
    section.as_object_mut().expect("keys").extend(login);
    world.home.set("x", section);
    world
}

async fn signing() -> World {
    world_with(json!({
        "consumer_key": CONSUMER_KEY, "consumer_secret": CONSUMER_SECRET,
        "access_token": ACCESS_TOKEN, "access_token_secret": ACCESS_TOKEN_SECRET,
    }))
    .await
}

/// `selkie say --to x:main TEXT`, off the runtime's threads: exit code and both outputs together.
async fn say(world: &World, text: &str) -> (i32, String) {
    let mut command = world.home.command(&["say", "--to", "x:main", text]);
    let running = tokio::task::spawn_blocking(move || {
        let output = command.stdin(Stdio::null()).output().expect("selkie runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let words = text(&output.stdout) + &text(&output.stderr);
        (output.status.code().unwrap_or(-1), words)
    });
    world.within("the command's end", running).await.expect("no panic")
}

/// A text of three posts that X takes for three.
fn long() -> String {
    (0..110).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
}

/// Each post goes on from the one before it, and all of the text stands there once.
fn is_thread(x: &XPlatform, text: &str) {
    let posts = x.posts();
    let links: Vec<_> = posts.iter().map(|post| post.reply_to.as_deref()).collect();
    let mut wanted = vec![None];
    wanted.extend(posts.iter().take(posts.len() - 1).map(|post| Some(post.id.as_str())));
    assert_eq!(links, wanted);
    let whole: Vec<&str> = posts.iter().map(|post| post.text.as_str()).collect();
    assert_eq!(whole.join(" "), text);
}

async fn up(world: &World) {
    let look = || number(&world.home, "SELECT 1").is_some();
    let is_up = |log: &str| log.contains("selkie is up") && look();
    world.within("a daemon", world.home.logged(0, is_up)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_goes_out_with_and_without_a_daemon_and_no_secret_leaves() {
    let world = signing().await;
    let (code, words) = say(&world, "**tea** is ready").await;
    let posts = world.playground.x().posts();
    let receipt = format!("x:main: sent, message {}\n", posts[0].id);
    assert!(code == 0 && words.starts_with(&receipt), "{code} {words}");
    assert_eq!(posts[0].text, "tea is ready");
    let daemon = world.daemon();
    up(&world).await;
    let (code, words) = say(&world, "cake too").await;
    assert_eq!(code, 0, "{words}");
    let (code, words) = say(&world, "cake too").await;
    assert_eq!(code, 1);
    assert!(words.contains("refused: X accepts the same text only once"), "{words}");
    assert!(daemon.stop().await.success());
    let (_, shown, _) = world.home.run(&["config", "show"]);
    for text in [world.home.log(), shown] {
        for secret in [CONSUMER_SECRET, ACCESS_TOKEN, ACCESS_TOKEN_SECRET] {
            assert!(!text.contains(secret), "a secret leaked");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_conversation_is_said_and_every_channel_can_be_spoken_through() {
    let world = signing().await;
    let (code, _, words) = world.home.run(&["say", "--to", "x:other", "hello"]);
    assert_eq!(code, 2);
    assert!(words.contains("is not a conversation") && words.contains("telegram, x"), "{words}");
    let (code, _, words) = world.home.run(&["say", "--to", "x:main", " "]);
    assert_eq!((code, words.contains("nothing in it")), (2, true), "{words}");
    let (code, words, _) = world.home.run(&["say", "--to", &format!("tg:{ADA}"), "from *home*"]);
    assert_eq!((code, words.starts_with("tg:4711: sent, message ")), (0, true), "{words}");
    assert_eq!(said(&world, PRIVATE), ["from home"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_resumes_at_the_post_that_failed() {
    let world = signing().await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::Html { status: 503 }).after(1));
    let (code, words) = say(&world, &long()).await;
    assert_eq!(code, 0, "{words}");
    is_thread(x, &long());
    assert_eq!(x.calls_of("tweets").len(), 4, "only the failed post was made again");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_a_refused_post_is_not_posted_loose() {
    let world = signing().await;
    let x = world.playground.x();
    let description = "You are not permitted to perform this action.".to_owned();
    x.fault(Fault::next("tweets", FaultKind::Refuse { code: 403, description }).after(1));
    let (code, words) = say(&world, &long()).await;
    assert_eq!(code, 1);
    assert!(words.contains("only the beginning was sent"), "{words}");
    assert_eq!(x.posts().len(), 1);
    let reasons = texts(&world.home, "SELECT coalesce(reason, '') FROM part ORDER BY id");
    assert!(
        reasons[2].starts_with("not sent alone: the part before it was refused"),
        "{reasons:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_found_on_the_timeline_and_a_lost_post_is_made_again() {
    let world = signing().await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::CutAfter));
    let (code, words) = say(&world, "there & https://example.com/x").await;
    assert_eq!((code, x.calls_of("tweets").len()), (0, 1), "{words}");
    x.fault(Fault::next("tweets", FaultKind::CutBefore));
    let (code, words) = say(&world, "not there").await;
    assert_eq!((code, x.calls_of("tweets").len()), (0, 3), "{words}");
    assert_eq!(x.posts().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doubt_that_the_timeline_does_not_resolve_is_told_once_and_nothing_is_repeated() {
    let world = signing().await;
    let daemon = world.daemon();
    up(&world).await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::CutAfter));
    let description = "CreditsDepleted".to_owned();
    x.fault(Fault::next("timeline", FaultKind::Refuse { code: 402, description }));
    let (code, words) = say(&world, "who knows").await;
    assert_eq!(code, 1);
    assert!(words.contains("nobody knows whether it arrived"), "{words}");
    let notice = world.telegram().wait_for(PRIVATE, |message| message.text.contains("who knows"));
    let notice = world.within("a notice", notice).await.text;
    assert!(notice.starts_with("I cannot tell whether this arrived on x"), "{notice}");
    assert_eq!(x.calls_of("tweets").len(), 1, "nothing is repeated");
    assert!(daemon.stop().await.success());
    assert_eq!(said(&world, PRIVATE).len(), 1, "told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_waited_for() {
    let world = signing().await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::TooMany { retry_after: 1 }));
    let (code, words) = say(&world, "in a moment").await;
    assert_eq!(code, 0, "{words}");
    let statuses: Vec<_> = x.calls_of("tweets").iter().map(|call| call.status).collect();
    assert_eq!(statuses, [Some(429), Some(201)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_refresh_token_is_kept_before_the_access_token_is_used() {
    let login = json!({ "client_id": CLIENT_ID, "refresh_token": REFRESH_TOKEN });
    let mut world = world_with(login).await;
    world.home.set("debug", json!({ "crash_at": "after_said" }));
    let dying = world.daemon();
    up(&world).await;
    // The words are stored and the process is gone before the delivery worker has them.
    say(&world, "renewed").await;
    dying.gone().await;
    world.home.set("debug", json!({}));
    // The next process renews and is killed while X holds its first call with the new token.
    let x = world.playground.x().clone();
    x.fault(Fault::next("tweets", FaultKind::Delay { ms: 3_600_000 }));
    let daemon = world.daemon();
    let held = x.wait_until(|x| x.calls_of("tweets").pop());
    world.within("the first call", held).await;
    let file = world.home.state().join("credentials/x/oauth2.json");
    let kept = std::fs::read_to_string(&file).expect("the kept tokens");
    assert!(kept.contains(&x.refresh_token()), "the successor is on the disk");
    daemon.kill();
    let daemon = world.daemon();
    let posted = x.wait_until(|x| x.posts().pop());
    assert_eq!(world.within("the post", posted).await.text, "renewed");
    assert_eq!(x.calls_of("token").len(), 1, "no refresh token was used twice");
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains(&x.refresh_token()), "a secret leaked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_edge_of_delivery_posts_everything_once() {
    for edge in EDGES {
        let mut world = signing().await;
        world.home.set("debug", json!({ "crash_at": edge }));
        let dying = world.daemon();
        up(&world).await;
        say(&world, &long()).await;
        world.within("the kill", dying.gone()).await;
        world.home.set("debug", json!({}));
        let daemon = world.daemon();
        let open = "SELECT count(*) FROM part WHERE open = 1";
        let settled = world.home.logged(0, |_| number(&world.home, open) == Some(0));
        world.within("a settled ledger", settled).await;
        is_thread(world.playground.x(), &long());
        let states = texts(&world.home, "SELECT DISTINCT state FROM part");
        assert_eq!(states, ["sent"], "{edge}");
        assert!(daemon.stop().await.success());
    }
}
