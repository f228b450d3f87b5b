//! Reminders that were said: done or said again by a tap or in words, by whom they are for, each once over kills.

use std::os::unix::process::ExitStatusExt as _;

use selkie_playground::line_platform::{ADA as LINE_ADA, LinePlatform};
use selkie_playground::slack::{ADA as SLACK_ADA, DM};
use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView};
use selkie_playground::{Slack, Spot};
use serde_json::json;

use crate::support::line::Line;
use crate::support::rows::{delivered, number, settled, texts};
use crate::support::world::World;

/// How a schedule that says a reminder again is counted.
const AGAIN: &str = "SELECT count(*) FROM schedule WHERE key LIKE '%#snooze'";
const SETTLED: &str = "SELECT settled FROM occurrence WHERE settled IS NOT NULL";

/// Waits for a reminder with its buttons.
async fn reminded(world: &World, spot: impl Into<Spot>, text: &str) -> MessageView {
    let fits = |m: &MessageView| m.from.is_bot && m.keyboard.is_some() && m.text == text;
    world.within("a reminder with buttons", world.telegram().wait_for(spot, fits)).await
}

async fn revised(world: &World, spot: impl Into<Spot>, message: i64) -> MessageView {
    let fits = |m: &MessageView| m.id == message && m.edited;
    world.within("a changed message", world.telegram().wait_for(spot, fits)).await
}

/// Taps a button and returns what the person reads.
async fn tap(world: &World, who: Tapper, message: i64, label: &str) -> String {
    let Tapper { chat, person } = who;
    let query = world.telegram().tap(chat, person, message, label).expect("a button");
    world.within("an answer to the tap", world.telegram().tap_answer(&query)).await
}

/// Presses a button that may have gone.
async fn press(world: &World, data: &str, message: i64) -> String {
    let query = world.telegram().press(ADA, ADA, message, data);
    world.within("an answer to the tap", world.telegram().tap_answer(&query)).await
}

#[derive(Clone, Copy)]
struct Tapper {
    chat: i64,
    person: i64,
}

const ADA_IN_PRIVATE: Tapper = Tapper { chat: ADA, person: ADA };

fn data(message: &MessageView, button: usize) -> String {
    let rows = message.keyboard.as_ref().and_then(|rows| rows.as_array()).expect("buttons");
    let mut all = rows.iter().filter_map(|row| row.as_array()).flatten();
    let data = all.nth(button).and_then(|button| button["callback_data"].as_str());
    data.expect("data").to_owned()
}

/// What somebody asks for in words is a reminder like any other: said as it is, late rather than never, by no model.
#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_that_was_asked_for_in_words_has_its_buttons() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let made = world.ask("remind me in 10 seconds to open the window").await;
    assert!(made.contains("Schedule 1") && !made.contains("model call"), "{made}");
    reminded(&world, ADA, "open the window").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_says_that_a_reminder_is_done() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.telegram().say(ADA, ADA, "/remind in 1s the kettle");
    let said = reminded(&world, ADA, "the kettle").await;
    assert_eq!(tap(&world, ADA_IN_PRIVATE, said.id, "Done").await, "");
    let shown = revised(&world, ADA, said.id).await;
    assert_eq!((shown.text.as_str(), shown.keyboard), ("the kettle\n\n✔ Done", None));
    let late = press(&world, &data(&said, 1), said.id).await;
    assert_eq!(late, "Already answered: ✔ Done");
    assert_eq!(number(&world.home, AGAIN), Some(0));
    let never = press(&world, "1:done:r63t1a3185c50fa", said.id).await;
    assert_eq!(never, "This button no longer works.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_has_a_reminder_said_again_once() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.telegram().say(ADA, ADA, "/remind in 1s the kettle");
    let said = reminded(&world, ADA, "the kettle").await;
    assert_eq!(tap(&world, ADA_IN_PRIVATE, said.id, "In 10 minutes").await, "");
    let shown = revised(&world, ADA, said.id).await;
    assert!(shown.text.starts_with("the kettle\n\n⏰ again "), "{}", shown.text);
    for button in [0, 1] {
        let late = press(&world, &data(&said, button), said.id).await;
        assert!(late.starts_with("Already answered: ⏰ again "), "{late}");
    }
    assert_eq!(number(&world.home, AGAIN), Some(1));
    let (code, _, err) = world.home.run(&["schedules", "run", "2"]);
    assert_eq!(code, 0, "{err}");
    let next = |m: &MessageView| m.id > said.id && m.keyboard.is_some() && m.text == "the kettle";
    let next = world.within("it again", world.telegram().wait_for(ADA, next)).await;
    assert_eq!(tap(&world, ADA_IN_PRIVATE, next.id, "Done").await, "");
    assert_eq!(revised(&world, ADA, next.id).await.text, "the kettle\n\n✔ Done");
}

/// A button counts under its own message, and from people who are still on the list.
#[tokio::test(flavor = "multi_thread")]
async fn a_tap_elsewhere_or_by_who_was_taken_off_the_list_settles_nothing() {
    let mut world = World::with_allowed(json!([GRACE])).await;
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    world.telegram().say(GRACE, GRACE, "/remind in 1s tea");
    let tea = reminded(&world, GRACE, "tea").await;
    world.telegram().say(GRACE, GRACE, "/remind in 1s rum");
    let rum = reminded(&world, GRACE, "rum").await;
    settled(&world, 2).await;
    let press = async |world: &World, button: &str, message: i64| {
        let query = world.telegram().press(GRACE, GRACE, message, button);
        world.within("an answer to the tap", world.telegram().tap_answer(&query)).await
    };
    let (again, done) = (data(&tea, 1), data(&tea, 0));
    for message in [rum.id, 9_999_999] {
        assert_eq!(press(&world, &again, message).await, "This button no longer works.");
    }
    assert!(daemon.stop().await.success());
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    let _second = world.daemon();
    for button in [again, done] {
        let told = press(&world, &button, tea.id).await;
        assert_eq!(told, "This button works only for people whom my owner has let in.");
    }
    assert_eq!(number(&world.home, AGAIN), Some(0));
    assert!(texts(&world.home, SETTLED).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_only_who_made_it_answers_a_reminder() {
    let world = World::with_allowed(json!([GROUP.chat, GRACE])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    world.telegram().say(GROUP.chat, GRACE, "/remind in 1s tea");
    let said = reminded(&world, GROUP.chat, "tea").await;
    let foreign = tap(&world, Tapper { chat: GROUP.chat, person: ADA }, said.id, "Done").await;
    assert_eq!(foreign, "This reminder is for Grace.");
    let others = world.ask_in(GROUP.chat, ADA, "/remind done").await;
    assert_eq!(others, "I have not reminded you of anything here.");
    assert!(texts(&world.home, SETTLED).is_empty());
    let own = tap(&world, Tapper { chat: GROUP.chat, person: GRACE }, said.id, "Done").await;
    assert_eq!(own, "");
    assert_eq!(revised(&world, GROUP.chat, said.id).await.text, "tea\n\n✔ Done");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_settle_the_newest_reminder_too() {
    let world = World::start().await;
    let _daemon = world.daemon();
    assert_eq!(world.ask("/remind done").await, "I have not reminded you of anything here.");
    world.telegram().say(ADA, ADA, "/remind in 1s the kettle");
    let said = reminded(&world, ADA, "the kettle").await;
    let wrong = world.ask("/remind snooze soon").await;
    assert!(wrong.contains("is not a length of time"), "{wrong}");
    let later = world.ask("/remind snooze 2d").await;
    assert!(later.starts_with("⏰ again on ") && later.ends_with(": the kettle"), "{later}");
    let shown = revised(&world, ADA, said.id).await;
    assert!(shown.text.contains("⏰ again on ") && shown.keyboard.is_none(), "{}", shown.text);
    let twice = world.ask("/remind done").await;
    assert!(
        twice.starts_with("The last reminder here has already been answered (⏰ again"),
        "{twice}"
    );
    assert_eq!(number(&world.home, AGAIN), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_every_edge_a_tap_makes_one_reminder() {
    for edge in ["before_answer", "after_answer"] {
        let mut world = World::start().await;
        let daemon = world.daemon();
        world.telegram().say(ADA, ADA, "/remind in 1s the kettle");
        let said = reminded(&world, ADA, "the kettle").await;
        assert!(daemon.stop().await.success());
        world.home.set("debug", json!({ "crash_at": format!("{edge}:1") }));
        world.telegram().tap(ADA, ADA, said.id, "In 10 minutes").expect("a button");
        assert_eq!(world.daemon().gone().await.signal(), Some(9), "{edge}");
        world.home.set("debug", json!({}));
        let _daemon = world.daemon();
        let shown = revised(&world, ADA, said.id).await;
        assert!(shown.text.starts_with("the kettle\n\n⏰ again "), "{edge}: {}", shown.text);
        assert_eq!(number(&world.home, AGAIN), Some(1), "{edge}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_slack_a_reminder_has_buttons_too() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let hello = world.slack().say(DM, SLACK_ADA, "is the daemon there?");
    world.within("an answer", world.slack().wait_for_answer(DM, &hello)).await;
    let to = format!("slack:T0PLAY:{DM}");
    let add = ["schedules", "add", "--in", "1s", "--remind", "the kettle", "--to", &to];
    let (code, out, err) = world.home.run(&add);
    assert_eq!(code, 0, "{out}{err}");
    let shown = async |text: &str| {
        let look = |slack: &Slack| {
            slack.messages(DM).into_iter().find(|m| m.is_bots() && m.text.starts_with(text))
        };
        world.within(text, world.slack().wait_until(look)).await
    };
    let said = shown("the kettle").await;
    let labels: Vec<String> =
        world.slack().buttons(DM, &said.ts).into_iter().map(|button| button.label).collect();
    assert_eq!(labels, ["Done", "In 10 minutes"]);
    // Made at the command line, it is the first owner's: in the private chat whoever is there answers it.
    assert!(world.slack().tap(DM, &said.ts, SLACK_ADA, "In 10 minutes"));
    let closed = shown("the kettle\n\n⏰ again ").await;
    assert_eq!(closed.ts, said.ts);
    assert!(world.slack().buttons(DM, &said.ts).is_empty(), "the buttons are gone");
    assert_eq!(number(&world.home, AGAIN), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_message_cannot_be_changed_a_tap_and_words_settle_a_reminder() {
    let line = Line::start().await;
    let to = format!("line:{LINE_ADA}");
    let add = ["schedules", "add", "--in", "1s", "--remind", "the kettle", "--to", &to];
    let (code, out, err) = line.world.home.run(&add);
    assert_eq!(code, 0, "{out}{err}");
    delivered(&line.world, "SELECT count(*) FROM occurrence", 1).await;
    let shown = "the kettle\n\nSettle it with /remind done or /remind snooze 20m.";
    let fits = |l: &LinePlatform| l.messages(LINE_ADA).into_iter().find(|m| m.text == shown);
    let said = line.world.within("a reminder", line.platform().wait_until(fits)).await;
    let labels: Vec<&str> = said.buttons.iter().map(|button| button.label.as_str()).collect();
    assert_eq!(labels, ["Done", "In 10 minutes"]);
    let tap = line.platform().tap(LINE_ADA, LINE_ADA, &said.id, "Done").expect("a button");
    assert_eq!(line.answer(LINE_ADA, &tap).await.text, "✔ Done");
    assert_eq!(line.platform().calls_of("push").len(), 1, "the reminder alone is paid");
    let (code, out, err) = line.world.home.run(&add);
    assert_eq!(code, 0, "{out}{err}");
    delivered(&line.world, "SELECT count(*) FROM occurrence", 2).await;
    let again = line.ask(LINE_ADA, "/remind snooze 20m").await;
    assert!(
        again.text.starts_with("⏰ again ") && again.text.ends_with(": the kettle"),
        "{again:?}"
    );
    assert_eq!(number(&line.world.home, AGAIN), Some(1));
}
