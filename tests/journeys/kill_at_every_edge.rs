//! A real SIGKILL at every edge of the ledger, one message at a time, on each platform: whatever was being
//! done is done once, and only the edges between the mark and the receipt leave a doubt.

use selkie_playground::slack;
use selkie_playground::telegram::PRIVATE;

use crate::support::killing::{APPEND, Kept, Line, Play, at_every_edge, line};
use crate::support::stage::Room;
use crate::support::stages;

use Room::{Group, Private};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_is_done_once() {
    at_every_edge(&TELEGRAM, Kept::InFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_over_postgresql_is_done_once() {
    at_every_edge(&TELEGRAM, Kept::InPostgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_on_slack_is_done_once() {
    at_every_edge(&SLACK, Kept::InFile).await;
}

const TELEGRAM: Play = Play {
    stage: &stages::TELEGRAM,
    reactions: |world, text| {
        let messages = world.telegram().messages(PRIVATE);
        let message = messages.into_iter().find(|m| m.text == text).expect("the message");
        message.reactions.into_iter().map(|r| r.emoji).collect()
    },
    script: &[
        line(Private, "/start", &[&["Hello! Write to me"]]),
        line(Private, "hello there", &[&["“hello there”"]]),
        line(Private, APPEND, &[&["write_file answered", "outcome unknown"]]),
        line(Private, "send me notes.txt", &[&["[file notes.txt]"], &["Sent: notes.txt."]]),
        line(Private, "react with 👍", &[&["Reacted with 👍."]]),
        line(Group, "note: tea", &[&["Noted: tea (1)."]]),
        line(Private, "/reset", &[&["A fresh start"]]),
        line(Private, r#"call read_file {"path": "notes.txt"}"#, &[&["read_file answered"]]),
        line(
            Private,
            "send me notes.txt, then react with 🔥",
            &[&["[file notes.txt]"], &["Sent: notes.txt.\nReacted with 🔥."]],
        ),
        line(Group, "/id", &[&["This place"]]),
        line(Private, "/status", &[&["Nothing is running"]]),
        line(Group, "tell me my list", &[&["tea"]]),
        line(Private, "last words", &[&["“last words”"]]),
    ],
    reacted: &[("react with 👍", "👍"), ("send me notes.txt, then react with 🔥", "🔥")],
    private_key: "tg:4711",
};

const SLACK: Play = Play {
    stage: &stages::SLACK,
    reactions: |world, text| {
        let messages = world.slack().messages(slack::DM);
        let message = messages.into_iter().find(|m| m.text == text).expect("the message");
        message.reactions.into_iter().map(|(name, _)| name).collect()
    },
    script: SLACK_SCRIPT,
    reacted: &[("react with eyes", "eyes"), ("send me notes.txt, then react with tada", "tada")],
    private_key: "slack:T0PLAY:D0ADA",
};

const SLACK_SCRIPT: &[Line] = &[
    line(Private, "/start", &[&["Hello! Write to me"]]),
    line(Private, "hello there", &[&["“hello there”"]]),
    line(Private, APPEND, &[&["write_file answered", "outcome unknown"]]),
    line(Private, "send me notes.txt", &[&["[file notes.txt]"], &["Sent: notes.txt."]]),
    line(Private, "react with eyes", &[&["Reacted with eyes."]]),
    line(Group, "note: tea", &[&["Noted: tea (1)."]]),
    line(Private, "/reset", &[&["A fresh start"]]),
    line(Private, r#"call read_file {"path": "notes.txt"}"#, &[&["read_file answered"]]),
    line(
        Private,
        "send me notes.txt, then react with tada",
        &[&["[file notes.txt]"], &["Sent: notes.txt.\nReacted with tada."]],
    ),
    line(Group, "/id", &[&["This place"]]),
    line(Private, "/status", &[&["Nothing is running"]]),
    line(Group, "tell me my list", &[&["tea"]]),
    line(Private, "last words", &[&["“last words”"]]),
];
