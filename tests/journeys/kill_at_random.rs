//! Kills at random moments under a steady stream of messages: nothing is lost, nothing is said twice
//! but with its mark, every chat stays in order.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

use crate::support::killing::Kept;
use crate::support::once::{marks, said};
use crate::support::rows::{settled, texts};
use crate::support::world::World;

const KILLS: u32 = 15;
const CHATS: i64 = 10;
const SEED: u64 = 20_261_120;
/// The messages whose answer stayed in doubt.
const DOUBTFUL: &str = "FROM part p JOIN outbound o ON o.id = p.outbound
    JOIN inbox i ON i.task = o.task WHERE p.state = 'unclear'";
/// The most lines a daemon logs before it dies: from the first line of its start to the middle of a round.
const MAX_LINES: usize = 150;

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_messages_outlives_every_kill() {
    outlives_every_kill(Kept::InFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_messages_over_postgresql_outlives_every_kill() {
    outlives_every_kill(Kept::InPostgres).await;
}

async fn outlives_every_kill(kept: Kept) {
    let world = World::start().await;
    let mut chance = StdRng::seed_from_u64(SEED);
    let chats: Vec<i64> = (1..=CHATS).map(|n| 9_000 + n).collect();
    for chat in &chats {
        world.telegram().add_person(*chat, &format!("Person {chat}"));
    }
    let mut world = world;
    let text = match kept {
        Kept::InFile => "i.inbound ->> '$.text'",
        Kept::InPostgres => "i.inbound::JSON ->> 'text'",
    };
    if let Kept::InPostgres = kept {
        world.home.keep_in_postgres();
    }
    let telegram = json!({
        "bot_token": selkie_playground::telegram::TOKEN,
        "base_url": world.playground.telegram_base_url(),
        "allowed_chat_ids": ["*"],
        "pace": "lifted",
    });
    world.home.set("telegram", telegram);
    // They write faster than people do.
    world.home.set("limits", json!({ "person": { "messages_per_minute": 0 } }));
    let mut spoken: Vec<Vec<String>> = vec![Vec::new(); chats.len()];
    let mut total = 0;
    for kill in 0..KILLS {
        let daemon = world.daemon();
        let from = world.home.log().len();
        let lines = chance.random_range(5..MAX_LINES);
        for (chat, spoken) in chats.iter().zip(&mut spoken) {
            for n in 0..chance.random_range(1..4) {
                let text = format!("message {kill}.{n} of {chat}.");
                world.telegram().say(*chat, *chat, &text);
                spoken.push(text);
                total += 1;
            }
        }
        tokio::select! {
            () = world.home.logged(from, |log| log.lines().count() >= lines) => {}
            () = settled(&world, total) => {}
        }
        daemon.kill();
    }
    let _last = world.daemon();
    settled(&world, total).await;
    // Killed while it was sent, and again while it was repeated: nobody can say whether it arrived, and once more
    // might be once too often. The ledger says so, and the log. Two kills in a row can leave one in each chat.
    let doubtful = texts(&world.home, &format!("SELECT {text} {DOUBTFUL}"));
    assert!(doubtful.len() <= KILLS as usize, "{doubtful:?}");
    let mut marked = 0;
    for (chat, spoken) in chats.iter().zip(&spoken) {
        let said = said(&world, *chat);
        let arrived = |text: &str| said.iter().any(|line| line.contains(text));
        let known = |text: &&String| arrived(text) || !doubtful.contains(text);
        let expected: Vec<Vec<&str>> =
            spoken.iter().filter(known).map(|text| vec![text.as_str()]).collect();
        marked += marks(&said, &expected);
    }
    // One part of each chat can be on its way when the process dies, and no more.
    assert!(marked <= chats.len() * KILLS as usize, "{marked} marked of {total}");
    println!("{total} messages, {KILLS} kills, {marked} marked, {} in doubt", doubtful.len());
}
