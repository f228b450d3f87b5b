//! Posts on X, asked for in a chat: approved, scheduled, posted once whatever fails, and told where they were asked for.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use chrono::{DateTime, SecondsFormat};
use selkie_playground::telegram::{ADA, GRACE, MessageView, PRIVATE};
use selkie_playground::x::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, CONSUMER_KEY, CONSUMER_SECRET, NEXT_USER_BEARER, OTHER_USER,
    OTHER_USER_BEARER, USER, USER_BEARER,
};
use selkie_playground::{Fault, FaultKind, XPlatform};
use serde_json::{Value, json};

use crate::support::joined::joined;
use crate::support::rows::{number, texts};
use crate::support::terminal::AtTerminal;
use crate::support::world::World;

/// A world with an account on X, where owners post freely: what asks all the same is told by its own tests.
async fn world() -> World {
    let mut world = asking().await;
    world.home.set("approvals", json!({ "policy": [{ "trust": "owner", "allow": ["public"] }] }));
    world
}

/// The same, where each post needs approval.
async fn asking() -> World {
    let mut world = World::offline().await;
    let section = signing(&world);
    world.home.set("x", section);
    world
}

fn signing(world: &World) -> Value {
    json!({
        "base_url": world.playground.x_base_url(), "pace": "lifted",
        "consumer_key": CONSUMER_KEY, "consumer_secret": CONSUMER_SECRET,
        "access_token": ACCESS_TOKEN, "access_token_secret": ACCESS_TOKEN_SECRET,
    })
}

fn bearer(world: &World, token: &str) -> Value {
    json!({ "base_url": world.playground.x_base_url(), "pace": "lifted", "bearer_token": token })
}

fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(args);
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

fn refused(world: &World, args: &[&str]) -> String {
    failed(world, args, 1)
}

fn mistyped(world: &World, args: &[&str]) -> String {
    failed(world, args, 2)
}

fn failed(world: &World, args: &[&str], with: i32) -> String {
    let (code, out, err) = world.home.run(args);
    assert_eq!(code, with, "{args:?}: {out}{err}");
    err
}

fn tweets(world: &World) -> Vec<Value> {
    serde_json::from_str(&run(world, &["tweets", "list", "--json"])).expect("JSON")
}

/// Has schedule 1 come due now.
fn now(world: &World) {
    run(world, &["schedules", "run", "1"]);
}

/// Has schedule 1 come due while nothing runs, a minute ago.
fn a_minute_ago(world: &World) {
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = "SELECT schedule, created_at FROM schedule WHERE id = 1";
    let (text, made): (String, i64) = conn.query_row(sql, [], row).expect("a schedule");
    let at = made - 60_000;
    let mut schedule: Value = serde_json::from_str(&text).expect("JSON");
    let when = DateTime::from_timestamp_millis(at).expect("a moment");
    schedule["when"] = format!("at {}", when.to_rfc3339_opts(SecondsFormat::AutoSi, true)).into();
    schedule["terms"]["starts"] = Value::Null;
    let sql = "UPDATE schedule SET schedule = ?1, next_at = ?2 WHERE id = 1";
    conn.execute(sql, (schedule.to_string(), at)).expect("moved");
}

async fn posted(world: &World, posts: usize) {
    let there = |x: &XPlatform| (x.posts().len() >= posts).then_some(());
    world.within("the post", world.playground.x().wait_until(there)).await;
}

fn url(world: &World, post: usize) -> String {
    format!("https://x.com/i/web/status/{}", world.playground.x().posts()[post].id)
}

/// How often the bot has said something with these words.
fn said(world: &World, words: &str) -> usize {
    world.texts(ADA).iter().filter(|text| text.contains(words)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_post_goes_out_once_and_its_address_comes_back() {
    let world = world().await;
    let daemon = world.daemon();
    let made = world.ask("tweet daily at 08:00: Good morning!").await;
    assert!(made.starts_with("Schedule 1 posts to x:main: every day at 08:00"), "{made}");
    assert!(
        made.contains("; active.") && made.contains("X refuses a text that it has seen"),
        "{made}"
    );
    let listed = world.ask("my schedules").await;
    assert!(listed.contains("post to x:main: Good morning!"), "{listed}");
    now(&world);
    posted(&world, 1).await;
    assert_eq!(world.playground.x().posts()[0].text, "Good morning!");
    let told = world.hears(ADA, "Posted (schedule 1): ").await;
    assert!(told.text.ends_with(&url(&world, 0)), "{}", told.text);
    let states: Vec<Value> = tweets(&world).iter().map(|tweet| tweet["state"].clone()).collect();
    assert_eq!(states, ["scheduled", "posted"]);
    let list = run(&world, &["tweets", "list"]);
    assert!(
        list.contains(&url(&world, 0)) && list.starts_with("1  scheduled · every day"),
        "{list}"
    );
    assert!(run(&world, &["schedules", "list"]).contains("post to"), "schedules show it, too");
    assert!(daemon.stop().await.success());
    // A start tells nothing twice.
    let daemon = world.daemon();
    world.ask("my list").await;
    assert_eq!((said(&world, "Posted (schedule 1)"), world.playground.x().posts().len()), (1, 1));
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_posts_is_asked_with_the_whole_post_and_a_mention_asks_whatever_the_policy() {
    for (world, text) in [(asking().await, "tea is ready"), (world().await, "tea is ready, @ada")] {
        let _daemon = world.daemon();
        world.telegram().say(ADA, ADA, &format!("tweet: {text}"));
        let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
        let request = world.telegram().wait_for(PRIVATE, buttons);
        let request = world.within("a request", request).await;
        assert!(request.text.contains(text), "{}", request.text);
        let draft = tweets(&world).remove(0);
        assert_eq!(draft["state"], "draft");
        let open: Value =
            serde_json::from_str(&run(&world, &["approvals", "list", "--json"])).expect("JSON");
        assert_eq!(open[0]["conversation"], format!("tg:{ADA}"));
        assert_eq!(open[0]["asked"][0]["conversation"], format!("tg:{ADA}"));
        let until = open[0]["expires_at"].as_str().expect("a time");
        assert!(DateTime::parse_from_rfc3339(until).is_ok(), "{until}");
        assert!(draft["texts"][0].as_str().is_some_and(|shown| shown.contains(text)), "{draft}");
        assert!(world.playground.x().posts().is_empty(), "nothing is posted before");
        world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
        world.hears(ADA, "posted: https://x.com/i/web/status/").await;
        assert_eq!(world.playground.x().posts()[0].text, text);
        let states: Vec<Value> =
            tweets(&world).iter().map(|tweet| tweet["state"].clone()).collect();
        assert_eq!(states, ["posted"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_x_would_never_take_is_refused_before_anybody_is_asked() {
    let world = asking().await;
    let _daemon = world.daemon();
    let long = world.ask(&format!("tweet: {}", "a".repeat(281))).await;
    assert!(long.contains("it weighs 281 characters and 280 are the most"), "{long}");
    let late =
        world.ask("call twitter_schedule {\"text\":\"a\",\"time\":\"2020-01-01T08:00:00Z\"}").await;
    assert!(late.contains("is in the past"), "{late}");
    let zone =
        "call twitter_schedule {\"text\":\"a\",\"time\":\"08:00\",\"timezone\":\"Europe/Berln\"}";
    assert!(world.ask(zone).await.contains("Europe/Berlin"));
    let thread = json!({ "text": "a", "thread": ["b", "あ".repeat(141)] });
    let thread = world.ask(&format!("call twitter_post {thread}")).await;
    assert!(thread.contains("thread, post 2: it weighs 282"), "{thread}");
    assert!(world.playground.x().calls().is_empty());
    assert_eq!(number(&world.home, "SELECT count(*) FROM approval"), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_every_edge_a_time_is_posted_once_and_told_once() {
    for edge in [
        "before_accept",
        "after_accept",
        "after_sending",
        "after_deliver",
        "after_receipt",
        "after_sending:2",
    ] {
        let mut world = world().await;
        let daemon = world.daemon();
        let made = world.ask("tweet daily at 08:00: once").await;
        assert!(made.starts_with("Schedule 1"), "{made}");
        assert!(daemon.stop().await.success());
        a_minute_ago(&world);
        let nth = if edge.contains(':') { edge.to_owned() } else { format!("{edge}:1") };
        world.home.set("debug", json!({ "crash_at": nth }));
        let daemon = world.daemon();
        let gone = world.within("the kill", daemon.gone()).await;
        assert_eq!(gone.signal(), Some(9), "{edge}");
        world.home.set("debug", json!({}));
        let daemon = world.daemon();
        world.hears(ADA, "Posted (schedule 1)").await;
        assert_eq!(world.playground.x().posts().len(), 1, "{edge}");
        assert_eq!(said(&world, "Posted (schedule 1)"), 1, "{edge}");
        assert!(daemon.stop().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_and_a_limit_are_waited_out() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("tweet daily at 08:00: patience").await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::Html { status: 503 }).times(2));
    x.fault(Fault::next("tweets", FaultKind::TooMany { retry_after: 1 }));
    now(&world);
    world.hears(ADA, "Posted (schedule 1)").await;
    assert_eq!(x.posts().len(), 1);
    let statuses: Vec<_> = x.calls_of("tweets").iter().map(|call| call.status).collect();
    assert_eq!(statuses, [Some(503), Some(503), Some(429), Some(201)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_refusals_in_a_row_pause_the_series() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("tweet daily at 08:00: the same again").await;
    let x = world.playground.x();
    x.post_by_hand("the same again").expect("a post");
    for time in 1..=3 {
        now(&world);
        let enough = |_: &MessageView| said(&world, "Not posted (schedule 1)") == time;
        world.within("a refusal", world.telegram().wait_for(PRIVATE, enough)).await;
    }
    let told = world.hears(ADA, "I paused schedule 1").await;
    assert!(told.text.contains("X accepts the same text only once"), "{}", told.text);
    assert_eq!(said(&world, "I paused schedule 1"), 1);
    // Who lets it go on has it counted anew.
    run(&world, &["schedules", "resume", "1"]);
    now(&world);
    let again = |_: &MessageView| said(&world, "Not posted (schedule 1)") == 4;
    world.within("a refusal", world.telegram().wait_for(PRIVATE, again)).await;
    assert_eq!(said(&world, "I paused schedule 1"), 1);
    let edited = run(&world, &["tweets", "edit", "1", "--text", "something new"]);
    assert!(edited.contains("something new") && edited.contains("1  scheduled"), "{edited}");
    now(&world);
    world.hears(ADA, "Posted (schedule 1)").await;
    assert_eq!(x.posts().last().map(|post| post.text.clone()).as_deref(), Some("something new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_fault_of_the_words_pauses_no_series() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("tweet daily at 08:00: patience").await;
    let x = world.playground.x();
    for time in 1..=4 {
        let description = "CreditsDepleted".to_owned();
        x.fault(Fault::next("tweets", FaultKind::Refuse { code: 402, description }));
        now(&world);
        let refused = |_: &MessageView| said(&world, "Not posted (schedule 1)") == time;
        world.within("a refusal", world.telegram().wait_for(PRIVATE, refused)).await;
    }
    now(&world);
    world.hears(ADA, "Posted (schedule 1)").await;
    assert_eq!((said(&world, "I paused"), x.posts().len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_goes_on_at_the_post_that_failed() {
    let world = world().await;
    let _daemon = world.daemon();
    let x = world.playground.x();
    let quoted = x.post_by_hand("the news").expect("a post");
    x.fault(
        Fault::next("tweets", FaultKind::Refuse { code: 403, description: "Not now.".into() })
            .after(1),
    );
    let thread = json!({ "text": "one", "thread": ["two", "three"], "quote": quoted });
    let said = world.ask(&format!("call twitter_post {thread}")).await;
    assert!(said.contains("refused: ") && said.contains("Not now."), "{said}");
    assert_eq!(x.posts().len(), 2, "the first alone");
    let id = tweets(&world)[0]["id"].as_str().expect("an id").to_owned();
    run(&world, &["tweets", "retry", &id]);
    posted(&world, 4).await;
    let posts = x.posts();
    assert_eq!(posts[1].quote.as_deref(), Some(quoted.as_str()));
    let links: Vec<_> = posts[1..].iter().map(|post| post.reply_to.as_deref()).collect();
    assert_eq!(links, [None, Some(posts[1].id.as_str()), Some(posts[2].id.as_str())]);
    world.hears(ADA, "Posted as a thread of 3: ").await;
    assert!(refused(&world, &["tweets", "retry", &id]).contains("it was posted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doubt_is_told_and_a_retry_looks_before_it_posts() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("tweet daily at 08:00: who knows").await;
    let x = world.playground.x();
    let unreadable = || {
        let description = "CreditsDepleted".to_owned();
        Fault::next("timeline", FaultKind::Refuse { code: 402, description })
    };
    x.fault(Fault::next("tweets", FaultKind::CutAfter));
    x.fault(unreadable());
    now(&world);
    world.hears(ADA, "I cannot tell whether this was posted (schedule 1)").await;
    let list = tweets(&world);
    assert_eq!(list[1]["state"], "unclear", "{list:?}");
    let id = list[1]["id"].as_str().expect("an id").to_owned();
    x.fault(unreadable());
    let why = refused(&world, &["tweets", "retry", &id]);
    assert!(why.contains("the timeline does not tell"), "{why}");
    let found = run(&world, &["tweets", "retry", &id]);
    assert!(found.contains("posted") && found.contains(&url(&world, 0)), "{found}");
    assert_eq!(x.calls_of("tweets").len(), 1, "nothing was posted twice");
    assert_eq!(said(&world, "I cannot tell whether"), 1, "told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_bearer_is_the_same_account() {
    let mut world = world().await;
    let base = world.playground.x_base_url();
    let with = |token: &str| json!({ "base_url": base, "pace": "lifted", "bearer_token": token, "posts_a_month": 2 });
    world.home.set("x", with(USER_BEARER));
    let daemon = world.daemon();
    world.ask("tweet daily at 08:00: who knows").await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::CutAfter));
    let description = "CreditsDepleted".to_owned();
    x.fault(Fault::next("timeline", FaultKind::Refuse { code: 402, description }));
    now(&world);
    world.hears(ADA, "I cannot tell whether this was posted (schedule 1)").await;
    let id = tweets(&world)[1]["id"].as_str().expect("an id").to_owned();
    assert!(daemon.stop().await.success());
    world.home.set("x", with(NEXT_USER_BEARER));
    let _daemon = world.daemon();
    world.ask("my list").await;
    let found = run(&world, &["tweets", "retry", &id]);
    assert!(found.contains("posted") && found.contains(&url(&world, 0)), "{found}");
    run(&world, &["tweets", "edit", "1", "--text", "this one, too"]);
    now(&world);
    world.hears(ADA, "Posted (schedule 1): ").await;
    posted(&world, 2).await;
    let over = world.ask("tweet: a third").await;
    assert!(over.contains("the 2 posts of this month are used up"), "{over}");
}

/// What was approved for one account is posted by no other one, and nobody waits for it unknowing.
#[tokio::test(flavor = "multi_thread")]
async fn a_post_whose_login_is_gone_is_held_and_told_once() {
    let mut world = asking().await;
    world.home.set("approvals", json!({ "policy": [{ "allow": ["public"] }] }));
    world.home.set_key("telegram", "allowed_chat_ids", json!([format!("tg:{GRACE}")]));
    world.telegram().add_person(GRACE, "Grace Hopper");
    let daemon = world.daemon();
    world.ask("tweet at 08:00: for this account").await;
    let hers = world.telegram().say(GRACE, GRACE, "tweet daily at 08:00: every day");
    let made = world.answer(GRACE, hers).await;
    assert!(made.starts_with("Schedule 2"), "{made}");
    assert!(daemon.stop().await.success());
    a_minute_ago(&world);
    let section = bearer(&world, USER_BEARER);
    world.home.set("x", section);
    let daemon = world.daemon();
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(told.contains("approved for the account x:2244994945"), "{told}");
    assert!(told.contains("selkie schedules run 1 runs it"), "{told}");
    run(&world, &["schedules", "run", "2"]);
    world.hears(ADA, "selkie schedules resume 2 resumes it").await;
    world.hears(GRACE, "I paused schedule 2").await;
    let states = |world: &World| {
        let states = tweets(world).into_iter().map(|tweet| tweet["state"].clone());
        states.collect::<Vec<Value>>()
    };
    assert_eq!(states(&world), ["paused", "paused"]);
    let list = joined(&run(&world, &["tweets", "list"]));
    assert!(list.contains("not configured or switched off"), "{list}");
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    world.ask("my list").await;
    assert_eq!(said(&world, "I paused schedule"), 2, "each is told once");
    assert!(daemon.stop().await.success());
    assert!(world.playground.x().posts().is_empty());
    let section = signing(&world);
    world.home.set("x", section);
    let _daemon = world.daemon();
    world.ask("my things").await;
    now(&world);
    world.hears(ADA, "Posted (schedule 1): ").await;
    run(&world, &["schedules", "resume", "2"]);
    assert_eq!(states(&world), ["scheduled", "posted"], "what was posted waits no more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_under_way_to_an_account_that_is_gone_is_told_and_withdrawn() {
    let mut world = world().await;
    let daemon = world.daemon();
    world.ask("tweet daily at 08:00: on its way").await;
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::TooMany { retry_after: 900 }));
    now(&world);
    world.within("the call", x.wait_until(|x| x.calls_of("tweets").pop())).await;
    assert!(daemon.stop().await.success());
    let section = bearer(&world, USER_BEARER);
    world.home.set("x", section);
    let _daemon = world.daemon();
    let told = world.hears(ADA, "Not posted yet: it waits for the account").await.text;
    assert!(told.contains(USER) && told.contains("on its way"), "{told}");
    let list = tweets(&world);
    assert_eq!(list[1]["state"], "posting");
    assert!(list[1]["why"].as_str().is_some_and(|why| why.contains("not configured")), "{list:?}");
    run(&world, &["tweets", "cancel", list[1]["id"].as_str().expect("an id")]);
    assert_eq!(tweets(&world)[1]["state"], "withdrawn");
    assert!(world.playground.x().posts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_goes_out_by_the_account_that_it_was_approved_for() {
    let mut world = world().await;
    let [ours, renewed, others] =
        [USER_BEARER, NEXT_USER_BEARER, OTHER_USER_BEARER].map(|token| bearer(&world, token));
    world.home.set("x", ours);
    let daemon = world.daemon();
    world.ask("tweet at 08:00: once").await;
    world.ask("tweet daily at 08:00: every day").await;
    assert!(daemon.stop().await.success());
    a_minute_ago(&world);
    world.home.set("x", others);
    let daemon = world.daemon();
    let told = world.hears(ADA, "Not posted (schedule 1): ").await.text;
    let ids =
        format!("with the id {USER}, and the login (x.bearer_token) is of the id {OTHER_USER}");
    assert!(told.contains(&ids) && !told.contains("I paused"), "{told}");
    run(&world, &["schedules", "run", "2"]);
    world.hears(ADA, "I paused schedule 2: its posts were approved for another account").await;
    let list = tweets(&world);
    let states: Vec<&Value> = list.iter().map(|tweet| &tweet["state"]).collect();
    assert_eq!(states, ["paused", "refused", "refused"]);
    let id = list[2]["id"].as_str().expect("an id").to_owned();
    assert!(world.playground.x().posts().is_empty());
    assert!(daemon.stop().await.success());
    world.home.set("x", renewed);
    let _daemon = world.daemon();
    world.ask("my list").await;
    run(&world, &["tweets", "retry", &id]);
    world.hears(ADA, "Posted (schedule 1): ").await;
    run(&world, &["schedules", "resume", "2"]);
    run(&world, &["schedules", "run", "2"]);
    world.hears(ADA, "Posted (schedule 2): ").await;
    assert_eq!(world.playground.x().posts().len(), 2);
}

/// The account stands in what is asked, and a login that changes before the answer takes the approval with it.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_the_login_that_it_was_asked_for() {
    let mut world = asking().await;
    let [ours, others] = [USER_BEARER, OTHER_USER_BEARER].map(|token| bearer(&world, token));
    world.home.set("x", ours);
    let daemon = world.daemon();
    world.telegram().say(ADA, ADA, "tweet: for one account");
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.telegram().wait_for(PRIVATE, buttons);
    let request = world.within("a request", request).await;
    assert!(request.text.contains("· account: @selkie_demo"), "{}", request.text);
    assert!(daemon.stop().await.success());
    world.home.set("x", others);
    let _daemon = world.daemon();
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(ADA, "is not as it was").await;
    assert!(world.playground.x().posts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_has_so_many_posts_and_no_more() {
    let mut world = world().await;
    world.home.set_key("x", "posts_a_month", json!(2));
    let _daemon = world.daemon();
    assert!(world.ask("tweet: one").await.starts_with("posted: "));
    let thread = json!({ "text": "two", "thread": ["three"] });
    let over = world.ask(&format!("call twitter_post {thread}")).await;
    assert!(over.contains("the 2 posts of this month are used up (x.posts_a_month)"), "{over}");
    assert!(
        over.contains("the count starts over on 2") && over.contains("-01, 00:00 UTC"),
        "{over}"
    );
    assert!(world.ask("tweet: two").await.starts_with("posted: "), "one was left");
    let (code, _, err) = world.home.run(&["say", "--to", "x:main", "four"]);
    assert!(code == 1 && err.contains("used up"), "{err}");
    let refusal = |tweet: &Value| tweet["state"] == "refused";
    let list = tweets(&world);
    let id = list.iter().find(|tweet| refusal(tweet)).and_then(|tweet| tweet["id"].as_str());
    let why = refused(&world, &["tweets", "retry", id.expect("an id")]);
    assert!(why.contains("used up") && why.contains("-01, 00:00 UTC"), "{why}");
    assert!(tweets(&world).iter().any(refusal), "it stands as it stood");
    assert_eq!(world.playground.x().posts().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_are_changed_and_withdrawn_at_the_command_line() {
    let world = world().await;
    let daemon = world.daemon();
    world.ask("tweet at 08:00: draft").await;
    assert!(daemon.stop().await.success());
    let edited =
        ["tweets", "edit", "1", "--text", "new words", "--time", "09:30", "--recurrence", "daily"];
    let shown = run(&world, &edited);
    assert!(shown.contains("every day at 09:30") && shown.contains("new words"), "{shown}");
    let later = run(&world, &["tweets", "edit", "1", "--time", "10:15"]);
    assert!(later.contains("every day at 10:15"), "it comes as often as before: {later}");
    let hourly = run(&world, &["tweets", "edit", "1", "--time", "10:15", "--recurrence", "hourly"]);
    assert!(hourly.contains("every hour at minute 15"), "{hourly}");
    let once = run(&world, &["tweets", "edit", "1", "--time", "10:15", "--recurrence", "once"]);
    assert!(once.contains(" · once on "), "{once}");
    assert!(run(&world, &["tweets", "edit", "1", "--time", "11:15"]).contains(" · once on "));
    let listed = run(&world, &["schedules", "show", "1"]);
    let where_to = format!("post to x:main, asked for in tg:{ADA}: new words");
    assert!(listed.contains(&where_to), "{listed}");
    let shown: Value =
        serde_json::from_str(&run(&world, &["tweets", "show", "1", "--json"])).expect("JSON");
    let next = shown["next"][0].as_str().expect("a time");
    assert!(DateTime::parse_from_rfc3339(next).is_ok(), "{shown}");
    assert_eq!(shown["asked"], format!("tg:{ADA}"));
    let kept = texts(&world.home, "SELECT schedule FROM schedule");
    assert!(kept[0].contains("new words") && !kept[0].contains("draft"), "{kept:?}");
    let long = "a".repeat(281);
    assert!(
        mistyped(&world, &["tweets", "edit", "1", "--text", &long]).contains("280 are the most")
    );
    assert!(
        mistyped(&world, &["tweets", "edit", "p1", "--text", "x"]).contains("not a scheduled post")
    );
    assert!(mistyped(&world, &["tweets", "edit", "1", "--time", "noon"]).contains("takes 08:00"));
    assert!(mistyped(&world, &["tweets", "retry", "1"]).contains("takes p12"));
    assert!(refused(&world, &["tweets", "show", "p9"]).contains("there is no post"));
    for none in [&["show", "9"][..], &["cancel", "9"], &["edit", "9", "--text", "x"]] {
        let why = refused(&world, &[&["tweets"], none].concat());
        assert!(why.contains("there is no post \"9\": `selkie tweets list`"), "{none:?}: {why}");
    }
    run(&world, &["tweets", "cancel", "1"]);
    let list = tweets(&world);
    assert_eq!(
        (list.len(), &list[0]["id"], &list[0]["state"]),
        (1, &"1".into(), &"withdrawn".into())
    );
    let shown = run(&world, &["tweets", "list"]);
    assert!(shown.contains("withdrawn") && shown.contains("new words"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_posted_is_neither_changed_nor_withdrawn() {
    let world = world().await;
    let daemon = world.daemon();
    world.ask("tweet at 08:00: first words").await;
    assert!(daemon.stop().await.success());
    a_minute_ago(&world);
    let x = world.playground.x();
    x.fault(Fault::next("tweets", FaultKind::Delay { ms: 3_600_000 }));
    let _daemon = world.daemon();
    world.within("the call", x.wait_until(|x| x.calls_of("tweets").pop())).await;
    let list = tweets(&world);
    let post = list.iter().find(|tweet| tweet["state"] == "posting").expect("it is posted");
    let post = post["id"].as_str().expect("an id").to_owned();
    for args in [
        &["tweets", "edit", "1", "--text", "other words"][..],
        &["tweets", "edit", "1", "--text", "other words", "--time", "09:00"],
        &["tweets", "cancel", "1"],
        &["tweets", "cancel", &post],
        &["schedules", "remove", "1"],
    ] {
        let why = refused(&world, args);
        assert!(why.contains("is being posted"), "{args:?}: {why}");
    }
    let told = world.ask("call cron {\"action\":\"remove\",\"id\":\"1\"}").await;
    assert!(told.contains("is being posted"), "{told}");
    let kept = texts(&world.home, "SELECT schedule FROM schedule WHERE state = 'ended'");
    assert!(kept.len() == 1 && kept[0].contains("first words"), "{kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_account_the_tools_say_what_is_missing() {
    let world = World::offline().await;
    let why = run(&world, &["tools", "why", "twitter_post"]);
    assert!(why.contains("there is no account to post with: the section x"), "{why}");
    for asked in ["tweet: hello", "tweet daily at 08:00: hello"] {
        let (_, out, _) = world.home.run(&["ask", asked]);
        assert!(out.contains("there is no account to post with: the section x"), "{out}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_books_calls_by_hand_schedule_a_post_and_show_it() {
    let world = asking().await;
    let page = include_str!("../../src/docs/posts.md");
    let calls = page.lines().filter_map(|line| line.strip_prefix("selkie tools call "));
    let calls: Vec<(&str, &str)> = calls
        .filter_map(|call| {
            let (name, rest) = call.split_once(" '")?;
            let (arguments, _) = rest.rsplit_once('\'')?;
            (name.starts_with("twitter") || name == "cron").then_some((name, arguments))
        })
        .collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    for ((name, arguments), says) in
        calls.into_iter().zip(["Schedule 1 posts to x:main", "post to x:main: Good morning!"])
    {
        let at_terminal = world.home.command(&["tools", "call", name, arguments]);
        let ended = AtTerminal::start(at_terminal).ended();
        let (status, shown) = world.within("the end of the call", ended).await;
        assert!(status.success() && shown.contains(says), "{shown}");
    }
    assert!(run(&world, &["schedules", "list"]).contains("every day at 08:00"));
    let in_a_pipe = refused(&world, &["tools", "call", "twitter_post", "{\"text\":\"now\"}"]);
    assert!(in_a_pipe.is_empty(), "the answer says it");
    // What the preview says is what happens, and what to do instead works.
    for preview in [&["--preview"][..], &[]] {
        let call = [&["tools", "call"], preview, &["twitter_post", "{\"text\":\"now\"}"]].concat();
        let ended = AtTerminal::start(world.home.command(&call)).ended();
        let (status, shown) = world.within("the end of the call", ended).await;
        assert!(!status.success() && shown.contains("a call by hand sends nothing"), "{shown}");
    }
    assert!(world.playground.x().posts().is_empty());
    run(&world, &["say", "--to", "x:main", "now"]);
    assert_eq!(world.playground.x().posts().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_daemon_the_command_line_posts_after_a_yes() {
    let world = asking().await;
    let mut terminal = AtTerminal::start(world.home.command(&["ask", "tweet: by hand"]));
    world.within("a question", terminal.shows("Approve it? [y/N]")).await;
    terminal.types("y\n");
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(status.success() && shown.contains("posted: https://x.com/"), "{shown}");
    assert_eq!(world.playground.x().posts()[0].text, "by hand");
    let mut later = AtTerminal::start(world.home.command(&["ask", "tweet at 08:00: and later"]));
    world.within("a question", later.shows("Approve it? [y/N]")).await;
    later.types("y\n");
    let (_, shown) = world.within("the end of ask", later.ended()).await;
    assert!(shown.contains("Schedule 1 posts to x:main"), "{shown}");
    let list = joined(&run(&world, &["schedules", "list"]));
    assert!(list.contains(&format!("post to x:main, asked for in tg:{ADA}: and later")), "{list}");
    for asked in ["tweet: in a pipe", "tweet at 08:00: in a pipe"] {
        let (_, out, _) = world.home.run(&["ask", asked]);
        assert!(out.contains("without a terminal, where nobody can be asked"), "{out}");
    }
    assert_eq!(world.playground.x().posts().len(), 1);
}

/// Nothing but a post goes to a public place: neither when it is made nor when an older schedule comes due.
#[tokio::test(flavor = "multi_thread")]
async fn no_schedule_speaks_in_public() {
    let world = asking().await;
    for does in ["--prompt", "--say", "--remind"] {
        let add = ["schedules", "add", "--in", "1h", does, "good news", "--to", "x:main"];
        let why = mistyped(&world, &add);
        assert!(why.contains("x:main is public: nothing but posts goes there"), "{why}");
    }
    run(&world, &["say", "--to", "x:main", "said by hand"]);
    run(&world, &["schedules", "add", "--in", "1h", "--say", "good news"]);
    // As a version that did not ask has left it.
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let public = "UPDATE schedule SET
                      conversation = (SELECT id FROM conversation WHERE key = 'x:main')";
    assert_eq!(conn.execute(public, []).expect("moved"), 1);
    drop(conn);
    let daemon = world.daemon();
    world.ask("hello").await;
    now(&world);
    world.hears(ADA, "nothing but posts goes there").await;
    assert!(daemon.stop().await.success());
    assert_eq!(world.playground.x().posts().len(), 1);
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01 and pixels";

/// Has Ada's chat work in a folder with a picture, `cat.png`.
async fn a_picture(world: &World) -> PathBuf {
    let folder = world.home.folder().join("pictures");
    std::fs::create_dir(&folder).expect("a folder");
    let picture = folder.join("cat.png");
    std::fs::write(&picture, PNG).expect("a picture");
    let set = world.ask(&format!("/workspace {}", folder.display())).await;
    assert!(set.starts_with("From now on"), "{set}");
    picture
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_post_has_the_pictures_that_were_approved() {
    let world = asking().await;
    let daemon = world.daemon();
    let picture = a_picture(&world).await;
    let call =
        json!({ "text": "look", "time": "08:00", "recurrence": "daily", "pictures": ["cat.png"] });
    world.telegram().say(ADA, ADA, &format!("call twitter_schedule {call}"));
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.telegram().wait_for(PRIVATE, buttons);
    let request = world.within("a request", request).await;
    assert!(request.text.contains("cat.png (PNG image, 1×1 pixels, 35 bytes)"), "{}", request.text);
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(ADA, "Schedule 1 posts to x:main").await;
    let list = joined(&run(&world, &["tweets", "list"]));
    assert!(list.contains("scheduled") && list.contains("look (1 picture)"), "{list}");
    let shown = run(&world, &["tweets", "show", "1"]);
    assert!(shown.contains("[picture] cat.png") && shown.contains("asked for in tg:"), "{shown}");
    assert!(shown.contains("selkie tweets cancel 1 removes it"), "{shown}");
    // Another picture in its place, days later: what was approved is posted.
    std::fs::write(&picture, "no picture").expect("changed");
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    world.ask("my list").await;
    now(&world);
    world.hears(ADA, "Posted (schedule 1): ").await;
    let posts = world.playground.x().posts();
    assert_eq!((posts.len(), posts[0].pictures.len()), (1, 1));
    assert_eq!(posts[0].pictures[0].content, PNG);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_changed_before_its_approval_is_not_posted() {
    let world = asking().await;
    let _daemon = world.daemon();
    let picture = a_picture(&world).await;
    let call = json!({ "text": "look", "pictures": ["cat.png"] });
    world.telegram().say(ADA, ADA, &format!("call twitter_post {call}"));
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.telegram().wait_for(PRIVATE, buttons);
    let request = world.within("a request", request).await;
    std::fs::write(&picture, [PNG, b"!"].concat()).expect("changed");
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(ADA, "is not as it was").await;
    assert!(world.playground.x().posts().is_empty());
}
