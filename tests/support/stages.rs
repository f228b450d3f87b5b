//! The platforms of the stories.

use std::process::Stdio;
use std::time::Duration;

use futures_util::FutureExt as _;
use selkie_playground::slack::{self, SlackMessage};
use selkie_playground::telegram::{ADA, GROUP, PRIVATE};
use selkie_playground::{line_platform, x};
use serde_json::json;

use crate::support::stage::{Room, Stage};
use crate::support::world::World;
use crate::support::{line, once};

use Room::{Group, Private};

pub const TELEGRAM: Stage = Stage {
    name: "telegram",
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
};

pub const SLACK: Stage = Stage {
    name: "slack",
    world: || slack_world().boxed(),
    say: |world, room, text| match (room, text.strip_prefix('/')) {
        (Private, Some(command)) => _ = world.slack().slash(slack::DM, slack::ADA, command),
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
};

pub const LINE: Stage = Stage {
    name: "line",
    world: || line_world().boxed(),
    say: |world, room, text| {
        let named = format!("{} {text}", line_platform::BOT_NAME);
        let text = if room == Group && !text.starts_with('/') { &named } else { text };
        world.playground.line().say(line_chat(room), line_platform::ADA, text);
    },
    said: |world, room| {
        let messages = world.playground.line().messages(line_chat(room)).into_iter();
        messages.filter(|message| message.from.is_none()).map(|message| message.text).collect()
    },
};

/// It only speaks, and in one room.
pub const X: Stage = Stage {
    name: "x",
    world: || x_world().boxed(),
    say: |world, _, text| {
        let mut command = world.home.command(&["say", "--to", "x:main", text]);
        command.stdin(Stdio::null());
        // Its end is not waited for: it ends when the post has, or with the daemon.
        std::thread::spawn(move || command.output().expect("selkie runs"));
    },
    said: |world, _| world.playground.x().posts().into_iter().map(|post| post.text).collect(),
};

fn line_chat(room: Room) -> &'static str {
    if room == Private { line_platform::ADA } else { line_platform::GROUP }
}

async fn line_world() -> World {
    let mut world = World::offline().await;
    line::add(&mut world, json!({}));
    world
}

async fn x_world() -> World {
    let mut world = World::offline().await;
    let section = json!({
        "base_url": world.playground.x_base_url(), "pace": "lifted",
        "consumer_key": x::CONSUMER_KEY, "consumer_secret": x::CONSUMER_SECRET,
        "access_token": x::ACCESS_TOKEN, "access_token_secret": x::ACCESS_TOKEN_SECRET,
    });
    world.home.set("x", section);
    world
}

async fn slack_world() -> World {
    let mut world = World::with_slack().await;
    world.home.set("llm", json!({ "provider": "offline" }));
    world.slack().set_redelivery(Duration::from_secs(1));
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
