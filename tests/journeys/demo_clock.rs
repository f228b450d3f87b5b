//! A demo's clock is moved: what is due on the way comes in its order, each time once, as it will on the day.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::demo::Demo;
use crate::support::http::{Events, get, post};

/// Times are read in a zone that is named.
const BERLIN: (&str, &str) = ("TZ", "Europe/Berlin");

fn said(arguments: &[&str]) -> String {
    let (code, out, errors) = Demo::run_with(&[&["demo", "--say"], arguments].concat(), &[BERLIN]);
    assert_eq!((code, &*errors), (0, ""), "{out}");
    out
}

#[test]
fn tomorrow_comes_at_once_and_the_schedule_with_it_once() {
    let out = said(&["every day at 08:00 tell me my list", "--then", "+1d"]);
    let (made, came) = out.split_once("\nAt ").expect("a stop");
    assert!(made.starts_with("Schedule 1 in tg:"), "{out}");
    assert!(came.contains("08:00 Europe/Berlin\nThis chat's list is empty"), "{out}");
    assert_eq!(out.matches("This chat's list is empty").count(), 1, "{out}");
}

#[test]
fn several_moves_pass_every_due_time_in_between_in_order() {
    let list =
        "every day at 08:00 tell me my list\nevery day at 07:30 think about fish\nnote: milk";
    let out = said(&[list, "--then", "tomorrow 09:00", "--then", "next", "--then", "08:00"]);
    let stops: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("At ")).collect();
    let times: Vec<&str> = stops.iter().filter_map(|stop| stop.split(' ').nth(1)).collect();
    let both = ["07:30", "08:00"];
    // Before the last of them today's come, too, as far as they are still to come.
    let all = [both, both, both].concat();
    assert!(times.len() >= 4 && all.ends_with(&times), "{out}");
    assert!(stops.is_sorted(), "{out}");
    let lists = times.iter().filter(|time| **time == "08:00").count();
    assert_eq!(out.matches("1. milk").count(), lists, "{out}");
    let none = said(&["hello", "--then", "+2h"]);
    assert!(none.ends_with("nothing came due\n"), "{none}");
}

#[test]
fn a_daily_post_is_taken_each_day_and_told_at_its_own_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.yaml");
    let policy = "approvals: { policy: [{ trust: owner, allow: [public] }] }\n";
    std::fs::write(&config, policy).expect("a config");
    let config = config.to_str().expect("a path");
    let post = "tweet daily at 08:00: Good morning!";
    let out = said(&[post, "--config", config, "--then", "+1d", "--then", "+1d"]);
    let stops: Vec<&str> = out.split("\nAt ").skip(1).collect();
    assert_eq!(stops.len(), 2, "{out}");
    let told = |stop: &&str| stop.contains("Posted (schedule 1): https://x.com/");
    assert!(stops.iter().all(told), "{out}");
}

#[test]
fn other_platforms_live_in_the_same_time() {
    for place in ["line:user", "slack:dm"] {
        let out = said(&["in 20h my list", "--in", place, "--then", "+1d"]);
        assert!(out.contains("This chat's list is empty"), "{place}: {out}");
    }
}

#[test]
fn whatever_is_due_on_the_way_comes_in_its_order() {
    let out = said(&["in 2h my list\nask me: tea or coffee?", "--then", "+2d"]);
    let (list, gone) = (out.find("This chat's list is empty"), out.find("No answer within 1d"));
    assert!(list.is_some() && list < gone, "the question has its end, too: {out}");
}

#[test]
fn times_at_which_nothing_is_said_are_one_piece() {
    let config = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
    let heartbeat = "heartbeat: {enabled: true, every: 1h, first_after: 1h}\n";
    std::fs::write(config.path(), heartbeat).expect("a config");
    let path = config.path().to_str().expect("a path");
    let out = said(&["in 5h my list", "--then", "+12h", "--config", path]);
    let pieces: Vec<&str> = out.split("nothing was said here, ").skip(1).collect();
    assert!(pieces.len() == 2 && out.matches("nothing was said").count() == 2, "{out}");
    assert!(out.contains("\nFrom ") && out.contains("This chat's list is empty"), "{out}");
}

#[test]
fn what_is_no_time_is_refused_before_anything_starts() {
    for (to, says) in [("soon", "takes +1d"), ("+2y", "takes +1d"), ("2020-01-01 08:00", "past")] {
        let (code, out, errors) = Demo::run(&["demo", "--say", "hello", "--then", to]);
        assert_eq!((code, &*out), (2, ""), "{to}: {errors}");
        assert!(errors.contains("--then") && errors.contains(says), "{to}: {errors}");
        assert!(errors.matches("takes").count() <= 1, "said once: {errors}");
    }
    let (code, out, errors) = Demo::run(&["demo", "--say", "/selkie help"]);
    assert_eq!((code, &*out), (2, ""), "{errors}");
    let says = "is a command as slack:dm has it: in telegram:private write --say \"/help\", or add --in slack:dm";
    assert!(errors.contains(says), "{errors}");
    let (code, _, errors) = Demo::run(&["demo", "--then", "+1d"]);
    assert!(code == 2 && errors.contains("--say"), "{errors}");
}

#[test]
fn the_page_moves_the_clock_step_by_step() {
    let demo = Demo::start_with(&[BERLIN]);
    let at: SocketAddr = demo.url().trim_start_matches("http://").parse().expect("an address");
    let shows = get(at, "/api/clock").json();
    assert_eq!(shows["zone"], "Europe/Berlin");
    let refused = post(at, "/api/clock", &json!({ "to": "yesterday" }));
    assert_eq!(refused.status, 400);
    assert!(refused.json()["error"].as_str().is_some_and(|why| why.contains("takes +1d")));
    let nothing = post(at, "/api/clock", &json!({ "to": "next" }));
    assert!(nothing.json()["error"].as_str().is_some_and(|why| why.contains("nothing is to come")));
    let mut events = Events::open(at, "/api/events");
    let chat = "/api/chats/telegram:private";
    let say = post(at, &format!("{chat}/say"), &json!({ "text": "in 20h my list" }));
    assert_eq!(say.status, 200);
    events.until(|event| {
        event["message"]["text"].as_str().is_some_and(|text| text.starts_with("Schedule 1"))
    });
    let moved = post(at, "/api/clock", &json!({ "to": "next" })).json();
    assert_eq!((&moved["due"], moved["error"].as_str()), (&json!(true), None), "{moved}");
    let messages = get(at, &format!("{chat}/messages")).json();
    let answer = messages.as_array().and_then(|all| all.last()).expect("a message");
    assert!(answer["text"].as_str().is_some_and(|text| text.contains("list is empty")), "{answer}");
    let day = |value: &Value| value.as_str().and_then(|at| at.split('T').next()).map(str::to_owned);
    let between = chrono::DateTime::parse_from_rfc3339(moved["now"].as_str().expect("a time"));
    let before = chrono::DateTime::parse_from_rfc3339(shows["now"].as_str().expect("a time"));
    let ahead = between.expect("a time") - before.expect("a time");
    assert!(ahead >= chrono::TimeDelta::hours(19), "{ahead}");
    assert!(answer["at"].as_str().is_some(), "{answer}");
    assert_eq!(day(&answer["at"]), day(&moved["now"]), "the platform's dates move, too");
}
