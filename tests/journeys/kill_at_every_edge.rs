//! A real SIGKILL at every edge of the ledger, one message at a time, on each platform: whatever was being
//! done is done once, and only the edges between the mark and the receipt leave a doubt.

use std::time::Duration;

use futures_util::FutureExt as _;
use selkie_playground::slack::{self, SlackMessage};
use selkie_playground::telegram::{ADA, GROUP, PRIVATE};
use serde_json::json;

use crate::support::killing::{APPEND, Line, Room, Stage, at_every_edge, line};
use crate::support::once;
use crate::support::world::World;

use Room::{Group, Private};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_is_done_once() {
    at_every_edge(&TELEGRAM).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_on_slack_is_done_once() {
    at_every_edge(&SLACK).await;
}

const TELEGRAM: Stage = Stage {
    world: || World::offline().boxed(),
    say: |world, room, text| match (room, text.starts_with('/')) {
        (Private, _) => _ = world.telegram().say(PRIVATE, ADA, text),
        (Group, true) => _ = world.telegram().say(GROUP, ADA, text),
        (Group, false) => _ = world.telegram().say(GROUP, ADA, &format!("/ask {text}")),
    },
    said: |world, room| match room {
        Private => once::said(world, PRIVATE),
        Group => once::said(world, GROUP),
    },
    reactions: |world, text| {
        let messages = world.telegram().messages(PRIVATE);
        let message = messages.into_iter().find(|m| m.text == text).expect("the message");
        message.reactions.into_iter().map(|r| r.emoji).collect()
    },
    script: &[
        line(Private, "/start", &[&["Hello. Write to me"]]),
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

const SLACK: Stage = Stage {
    world: || slack_world().boxed(),
    say: |world, room, text| match (room, text.strip_prefix('/')) {
        (Private, Some(command)) => world.slack().slash(slack::DM, slack::ADA, command),
        (Private, None) => _ = world.slack().say(slack::DM, slack::ADA, text),
        (Group, _) => {
            let text = format!("<@{}> {text}", slack::BOT);
            world.slack().say(slack::CHANNEL, slack::ADA, &text);
        }
    },
    said: |world, room| {
        let channel = if room == Private { slack::DM } else { slack::CHANNEL };
        let ours = world.slack().messages(channel).into_iter().filter(SlackMessage::is_bots);
        ours.map(|message| shown(world, message)).collect()
    },
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
    line(Private, "/start", &[&["Hello. Write to me"]]),
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

async fn slack_world() -> World {
    let mut world = World::with_slack().await;
    world.home.set("llm", json!({ "provider": "offline" }));
    world.slack().set_redelivery(Duration::from_millis(500));
    world
}

fn shown(world: &World, message: SlackMessage) -> String {
    match message.files.first() {
        Some(file) => {
            let name = world.slack().file_name(file).unwrap_or_default();
            format!("[file {name}] {}", message.text)
        }
        None => message.text,
    }
}
