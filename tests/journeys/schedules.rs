//! What is done later: kept over restarts, carried out once, told where it belongs, and passed over with a reason.

use std::os::unix::process::ExitStatusExt as _;

use chrono::{DateTime, SecondsFormat};
use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::{Value, json};

use crate::support::rows;
use crate::support::world::World;

/// Counts the times that were carried out or passed over.
const FIRED: &str = "SELECT count(*) FROM occurrence";

/// Runs a command that has to go well.
fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(args);
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

fn history(world: &World, id: &str) -> Vec<Value> {
    let out = run(world, &["schedules", "history", id, "--json"]);
    serde_json::from_str(&out).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn words_and_prompts_come_due_beside_a_daemon_and_each_once() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let add = ["schedules", "add", "--in", "1s"];
    run(&world, &[&add[..], &["--say", "time to go home"]].concat());
    run(&world, &[&add[..], &["--prompt", "what is new?", "--title", "News"]].concat());
    world.hears(ADA, "time to go home").await;
    world.hears(ADA, "what is new?").await;
    rows::delivered(&world, FIRED, 2).await;
    let requests = world.playground.model().requests();
    let prompts =
        requests.iter().filter(|request| request.body.to_string().contains("what is new?"));
    assert_eq!(prompts.count(), 1, "fixed words ask no model, and a prompt asks once");
    let asked = requests.last().expect("a request").body.to_string();
    assert!(
        asked.contains("schedule 2 (News) came due at") && asked.contains("NOTHING"),
        "{asked}"
    );
    assert!(asked.contains("time to go home"), "the bot's own words are in its history: {asked}");
    assert!(daemon.stop().await.success());
    for id in ["1", "2"] {
        let times = history(&world, id);
        assert_eq!(times.len(), 1, "{times:?}");
        assert_eq!(times[0]["state"], "ran", "{times:?}");
        assert_eq!(times[0]["delivered"]["standing"], "delivered", "{times:?}");
    }
    let all = run(&world, &["schedules", "list", "--all"]);
    assert_eq!(all.matches("ended").count(), 2, "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_told_and_a_reminder_still_said() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let at = "2020-01-01T08:00:00Z";
    let (code, _, err) = world.home.run(&["schedules", "add", "--at", at, "--say", "late"]);
    assert_eq!(code, 2);
    assert!(err.contains("is in the past"), "{err}");
    run(&world, &["schedules", "add", "--in", "1s", "--say", "made alone"]);
    run(&world, &["schedules", "add", "--in", "1h", "--say", "too late"]);
    run(&world, &["schedules", "add", "--in", "1h", "--remind", "better late"]);
    two_days_ago(&world, &[2, 3]);
    let daemon = world.daemon();
    world.hears(ADA, "made alone").await;
    let reminder = world.hears(ADA, "better late").await;
    assert!(reminder.text.contains("I could not say it then"), "{}", reminder.text);
    rows::delivered(&world, FIRED, 3).await;
    assert!(daemon.stop().await.success());
    let passed = history(&world, "2");
    assert_eq!(passed[0]["state"], "skipped", "{passed:?}");
    assert!(passed[0]["why"].as_str().is_some_and(|why| why.contains("too late")), "{passed:?}");
    assert!(world.texts(ADA).iter().all(|text| text != "too late"));
}

/// Has what is to come in an hour come two days ago: nothing runs meanwhile.
fn two_days_ago(world: &World, ids: &[i64]) {
    const DAYS: i64 = 2 * 86_400_000;
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    for id in ids {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let sql = "SELECT schedule, next_at FROM schedule WHERE id = ?1";
        let (text, at): (String, i64) = conn.query_row(sql, [id], row).expect("a schedule");
        let mut schedule: Value = serde_json::from_str(&text).expect("JSON");
        let when = DateTime::from_timestamp_millis(at - DAYS).expect("a moment");
        schedule["when"] =
            format!("at {}", when.to_rfc3339_opts(SecondsFormat::AutoSi, true)).into();
        let sql = "UPDATE schedule SET schedule = ?2, next_at = ?3 WHERE id = ?1";
        conn.execute(sql, (id, schedule.to_string(), at - DAYS)).expect("moved");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_nothing_shows_nothing_and_leaves_no_turn() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let spoken = world.telegram().counted("sendMessage");
    world.playground.model().script(vec![Turn::text("`NOTHING`.")]);
    run(&world, &["schedules", "add", "--in", "1s", "--prompt", "anything new?"]);
    rows::delivered(&world, FIRED, 1).await;
    assert_eq!(world.telegram().counted("sendMessage"), spoken);
    world.ask("what did you do?").await;
    let asked = world.playground.model().requests().last().expect("a request").body.to_string();
    assert!(!asked.contains("anything new?") && !asked.contains("NOTHING"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_makes_lists_and_cancels_schedules_in_a_chat() {
    let world = World::offline().await;
    let daemon = world.daemon();
    let made = world.ask("every day at 08:00 tell me my list").await;
    assert!(made.starts_with("Schedule 1 in") && made.contains("every day at 08:00"), "{made}");
    let listed = world.ask("my schedules").await;
    assert!(listed.contains("tell me my list"), "{listed}");
    assert!(daemon.stop().await.success());
    let (code, _, err) = world.home.run(&["schedules", "run", "1"]);
    assert!(code == 1 && err.contains("selkie is not running"), "{err}");
    let list = run(&world, &["schedules", "list"]);
    assert!(list.starts_with("1 · every day at 08:00"), "{list}");
    let _daemon = world.daemon();
    world.ask("is the daemon there?").await;
    run(&world, &["schedules", "run", "1"]);
    world.hears(ADA, "list is empty").await;
    run(&world, &["schedules", "pause", "1"]);
    let paused = world.ask("my schedules").await;
    assert!(paused.contains("paused"), "{paused}");
    assert!(world.ask("cancel 1").await.contains("Removed schedule 1"));
    assert!(world.ask("cancel 1").await.contains("there is no schedule 1 here"));
    assert!(run(&world, &["schedules", "list"]).starts_with("There are no schedules."));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_every_edge_a_time_is_carried_out_once() {
    for edge in ["before_accept", "after_accept", "after_claim", "before_finish", "after_finish"] {
        let mut world = World::start().await;
        // What is made alone comes due at the first start, before anything else.
        run(&world, &["schedules", "add", "--in", "1s", "--say", "once"]);
        world.home.set("debug", json!({ "crash_at": format!("{edge}:1") }));
        let daemon = world.daemon();
        assert_eq!(daemon.gone().await.signal(), Some(9), "{edge}");
        world.home.set("debug", json!({}));
        let _daemon = world.daemon();
        world.hears(ADA, "once").await;
        rows::delivered(&world, FIRED, 1).await;
        // One that may have left before the kill goes out once more, marked.
        let said = world.texts(ADA).into_iter().filter(|text| text.contains("once")).count();
        assert_eq!(said, 1, "{edge}");
    }
}

/// A process that serves one terminal makes schedules like any other, and leaves what is due to a daemon.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_daemon_the_command_line_makes_schedules_and_passes_nothing_over() {
    let world = World::offline().await;
    let ask = |text: &str| run(&world, &["ask", text]);
    let made = ask("every day at 08:00 tell me my list");
    assert!(made.contains(&format!("Schedule 1 in tg:{ADA}: every day at 08:00")), "{made}");
    run(&world, &["schedules", "add", "--cron", "* * * * *", "--say", "it was due"]);
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    // The minute that has begun.
    let due = "UPDATE schedule SET next_at = created_at / 60000 * 60000 WHERE id = 2";
    assert_eq!(conn.execute(due, []).expect("moved"), 1);
    drop(conn);
    assert!(ask("my schedules").contains("tell me my list"));
    assert!(history(&world, "2").is_empty(), "it waits for a daemon");
    assert!(ask("cancel 1").contains("Removed schedule 1"));
    let _daemon = world.daemon();
    world.hears(ADA, "it was due").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_set_is_shown() {
    let world = World::start().await;
    let add = [
        "schedules",
        "add",
        "--cron",
        "0 8 * * 1-5",
        "--tz",
        "Europe/Berlin",
        "--title",
        "News",
        "--prompt",
        "Look at the news\nand tell me",
        "--until",
        "2090-12-24T17:00:00Z",
        "--times",
        "7",
        "--active",
        "7:00-22:00",
        "--jitter",
        "10m",
        "--misfire",
        "all",
        "--lateness",
        "1h",
        "--history",
        "2",
        "--budget-calls",
        "9",
    ];
    run(&world, &add);
    let shown = run(&world, &["schedules", "show", "1"]);
    for says in [
        "not after 2090-12-24 18:00 Europe/Berlin; 7 times at most; only 07:00-22:00; starts up to 10m later each time",
        "catches up on each missed time if it is at most 1h late",
        "reads 2 earlier tasks; at most 9 model calls and $5.00 a day",
        "   prompt: Look at the news\n   and tell me\n",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let json: Value =
        serde_json::from_str(&run(&world, &["schedules", "show", "1", "--json"])).expect("JSON");
    assert_eq!(json["to"], format!("tg:{ADA}"));
    assert_eq!(json["until"], "2090-12-24T18:00:00+01:00");
    for next in json["next"].as_array().expect("times") {
        let at = chrono::DateTime::parse_from_rfc3339(next.as_str().expect("a time"));
        assert_eq!(at.expect("RFC 3339").to_rfc3339(), next.as_str().unwrap_or_default());
    }
    run(&world, &["schedules", "add", "--in", "1h", "--remind", "tea"]);
    let reminder = run(&world, &["schedules", "show", "2"]);
    assert!(reminder.ends_with("\n   catches up on a missed time, however late\n"), "{reminder}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_names_what_is_taken() {
    let world = World::start().await;
    let refused = |args: &[&str]| {
        let (code, out, err) = world.home.run(&[&["schedules"], args].concat());
        // What was typed is wrong, or it does not fit what is there.
        let expected = if args[0] == "add" { 2 } else { 1 };
        assert_eq!(code, expected, "{args:?}: {out}{err}");
        err
    };
    for (args, says) in [
        (&["add", "--cron", "0 0 31 2 *", "--say", "x"][..], "never"),
        (&["add", "--cron", "61 * * * *", "--say", "x"], "minute"),
        (&["add", "--every", "5s", "--say", "x"], "one minute to one year"),
        (&["add", "--at", "8", "--say", "x"], "takes 08:00"),
        (&["add", "--at", "08:00", "--tz", "Europe/Berln", "--say", "x"], "Europe/Berlin"),
        (&["add", "--in", "1h", "--say", " "], "needs words"),
        (
            &["add", "--in", "1h", "--say", "x", "--to", "nowhere"],
            "not a conversation of a channel",
        ),
        (&["add", "--in", "1h", "--say", "x", "--misfire", "never"], "takes skip, once, all"),
        (&["add", "--in", "1h", "--say", "x", "--active", "8-22"], "--active"),
        (&["add", "--at", "08:00", "--tz", "", "--say", "x"], "time zone"),
        (&["add", "--every", "1h", "--say", "x", "--jitter", "100d"], "takes up to 1d"),
        (&["add", "--every", "1h", "--say", "x", "--jitter", "1h"], "takes less than that"),
        (&["add", "--every", "1h", "--say", "x", "--lateness", "10000d"], "takes up to 31d"),
        (&["add", "--cron", "*/0 * * * *", "--say", "x"], "a step of 0"),
        (&["add", "--every", "1h", "--say", "x", "--jitter", "soon"], "takes 90s, 10m, 2h, 1d"),
        (&["add", "--every", "1h", "--say", "x", "--until", "noon"], "takes 2026-12-24T18:00:00"),
        (&["add", "--every", "1h", "--say", "x", "--times", "0"], "takes 1 or more"),
        (&["add", "--every", "1h", "--prompt", "x", "--budget-usd", "-1"], "takes 0.5, 5"),
        (&["add", "--every", "1h", "--prompt", "x", "--model", "huge"], "(takes default)"),
        (&["add", "--every", "1h", "--prompt", "x", "--history", "17"], "takes 0 to 16"),
        (&["add", "--at", "2020-12-24 18:00", "--say", "x"], "in the past"),
        (&["add", "--every", "1h"], "--prompt, --say and --remind"),
        (&["add", "--say", "x"], "--cron"),
        (&["remove", "7"], "there is no schedule 7"),
    ] {
        let err = refused(args);
        assert!(err.contains(says), "{args:?}: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_zone_data_sets_next_times_anew_at_the_next_start() {
    let world = World::start().await;
    run(&world, &["schedules", "add", "--cron", "0 8 * * *", "--tz", "Asia/Tokyo", "--say", "tea"]);
    let next = || {
        let list: Vec<Value> =
            serde_json::from_str(&run(&world, &["schedules", "list", "--json"])).expect("JSON");
        list[0]["next"][0].as_str().expect("a time").to_owned()
    };
    let before = next();
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let other = "UPDATE schedule SET next_at = next_at + 3600000; UPDATE meta SET zones = '1999z'";
    conn.execute_batch(other).expect("another version's");
    drop(conn);
    assert_ne!(next(), before);
    let daemon = world.daemon();
    world.ask("hello").await;
    assert_eq!(next(), before);
    assert!(daemon.stop().await.success());
    let log = world.home.log();
    assert!(log.contains("come due at different times: the zone data"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_is_whole_at_the_command_line_and_says_in_a_chat_what_it_leaves_out() {
    let world = World::start().await;
    run(&world, &["schedules", "add", "--cron", "0 8 * * *", "--say", "tea"]);
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let copies = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
        INSERT INTO schedule (key, conversation, person, state, next_at, schedule, created_at)
        SELECT 'copy' || i, conversation, person, state, next_at, schedule, created_at FROM schedule, n";
    conn.execute_batch(copies).expect("copies");
    drop(conn);
    let lists_all =
        || run(&world, &["schedules", "list"]).matches(" · every day at 08:00 ").count();
    assert_eq!(lists_all(), 251, "without a daemon");
    let _daemon = world.daemon();
    world.ask("hello").await;
    assert_eq!(lists_all(), 251, "through the daemon");
    world.telegram().say(ADA, ADA, "/schedules");
    world.hears(ADA, "and 51 more schedules").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_books_commands_make_and_list_schedules() {
    let world = World::start().await;
    let lines = include_str!("../../src/docs/schedules.md").lines();
    let commands: Vec<&str> =
        lines.filter_map(|line| line.strip_prefix("selkie schedules ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        // What stands in quotes is one word, what stands behind a hash is said to people.
        let pieces = command.split('"').enumerate();
        let words: Vec<&str> = pieces
            .flat_map(|(n, piece)| match n % 2 {
                1 => vec![piece],
                _ => piece.split_whitespace().take_while(|word| *word != "#").collect(),
            })
            .collect();
        run(&world, &[&["schedules"], &words[..]].concat());
    }
    let list = run(&world, &["schedules", "list"]);
    assert!(
        list.contains("Monday to Friday at 08:00") && list.contains("Time to go home"),
        "{list}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_clock_that_was_years_ahead_has_dated_is_brought_back_at_the_next_start() {
    const FIVE_YEARS: i64 = 5 * 365 * 86_400_000;
    let world = World::start().await;
    let add = ["schedules", "add", "--tz", "Asia/Tokyo"];
    run(&world, &[&add[..], &["--cron", "0 8 * * *", "--say", "tea"]].concat());
    run(&world, &[&add[..], &["--every", "1h", "--say", "stretch"]].concat());
    let next = || {
        let list = run(&world, &["schedules", "list", "--json"]);
        let list: Vec<Value> = serde_json::from_str(&list).expect("JSON");
        list.iter()
            .map(|row| row["next"][0].as_str().expect("a time").to_owned())
            .collect::<Vec<_>>()
    };
    let before = next();
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let ahead = "UPDATE schedule SET created_at = created_at + ?1, next_at = next_at + ?1";
    conn.execute(ahead, [FIVE_YEARS]).expect("dated");
    let row = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let text =
        conn.query_row("SELECT schedule FROM schedule WHERE id = 2", [], row).expect("a row");
    let mut schedule: Value = serde_json::from_str(&text).expect("JSON");
    let when = schedule["when"].as_str().expect("an interval").to_owned();
    let (every, anchor) = when.split_once(" from ").expect("an anchor");
    let anchor: DateTime<chrono::Utc> = anchor.parse().expect("a moment");
    let anchor = anchor + chrono::TimeDelta::milliseconds(FIVE_YEARS);
    let anchor = anchor.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    schedule["when"] = format!("{every} from {anchor}").into();
    let sql = "UPDATE schedule SET schedule = ?1 WHERE id = 2";
    conn.execute(sql, [schedule.to_string()]).expect("dated");
    drop(conn);
    assert!(next().iter().all(|at| !before.contains(at)), "{:?}", next());
    let daemon = world.daemon();
    let told = world.hears(ADA, "This machine's clock was ahead").await.text;
    assert!(told.contains("2 schedules went by it"), "{told}");
    let named = |at: &String| told.contains(&format!(": next {} {}", &at[..10], &at[11..16]));
    assert!(told.contains("schedule 1 (tea)") && before.iter().all(named), "{told} {before:?}");
    world.ask("hello").await;
    assert_eq!(next(), before, "the hour, too, is counted as it was");
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    world.ask("hello again").await;
    assert!(daemon.stop().await.success());
    let times = world.texts(ADA).iter().filter(|text| text.contains("was ahead")).count();
    assert_eq!(times, 1, "it is told once");
}

/// What cannot be meant is refused by its flag, with what it takes.
#[tokio::test(flavor = "multi_thread")]
async fn flags_that_go_with_nothing_are_refused_by_name() {
    let world = World::offline().await;
    for (flags, says) in [
        (&["--in", "1h", "--say", "x", "--model", "zero"][..], "--model goes with --prompt"),
        (&["--in", "1h", "--say", "x", "--history", "2"], "--history goes with --prompt"),
        (&["--in", "1h", "--remind", "x", "--budget-usd", "2"], "--budget-usd goes with --prompt"),
        (&["--in", "1h", "--say", "x", "--times", "3"], "3 times is not taken for one time"),
        (&["--every", "0s", "--say", "x"], "\"every 0s\" is not taken: an interval is one minute"),
        (
            &["--cron", "0 9 * * *", "--until", "2020-01-01T00:00:00Z", "--say", "x"],
            "is over (takes a later time)",
        ),
        (
            &["--at", "2099-01-01 10:00", "--active", "08:00-09:00", "--say", "x"],
            "never comes due within its bounds",
        ),
    ] {
        let to = ["--to", "tg:4711"];
        let (code, out, err) = world.home.run(&[&["schedules", "add"], flags, &to].concat());
        assert!(code == 2 && err.contains(says), "{flags:?}: {out}{err}");
    }
    assert_eq!(world.home.run(&["schedules", "list", "--json"]).1.trim(), "[]");
}
