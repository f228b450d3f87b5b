//! Isolation through the real worker: conversations whose steps interleave, each with tools that bind chat,
//! message, list and files. Nobody sees anything of another's.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, MessageView};
use serde_json::json;

use crate::support::world::World;

/// Every step takes so long that all conversations are at the same step before the next begins.
const STEP_MS: u64 = 400;

/// What the person with this number never shares.
fn secret(person: i64) -> String {
    format!("secret-{person}-word")
}

/// Seven steps, each of which binds something of its conversation.
fn turns(person: i64) -> Vec<Turn> {
    let word = secret(person);
    let list = json!({"todos": [{"id": "1", "title": word, "status": "pending"}]});
    let steps = [
        Turn::call("todo_write", list),
        Turn::call("write_file", json!({"path": "mine.txt", "content": word})),
        Turn::call("message_react", json!({"emoji": "👍"})),
        Turn::call("todo_read", json!({})),
        Turn::call("read_file", json!({"path": "mine.txt"})),
        Turn::call("telegram_send_file", json!({"path": "mine.txt"})),
        Turn::text(format!("done with {word}")),
    ];
    steps.map(|turn| turn.delayed(STEP_MS)).into()
}

async fn interleave(people: &[i64]) {
    let world =
        World::with(json!({"worker": {"max_concurrency": 64}, "owners": owners(people)})).await;
    for person in people {
        world.telegram().add_person(*person, "Someone");
        world.playground.model().script_for(&secret(*person), turns(*person));
    }
    let _daemon = world.daemon();
    world.ask("is anybody there?").await;
    let asked: Vec<(i64, i64)> = people
        .iter()
        .map(|p| (*p, world.telegram().say(*p, *p, &format!("keep {}", secret(*p)))))
        .collect();
    for (person, _) in &asked {
        world.hears(*person, &format!("done with {}", secret(*person))).await;
    }
    for (person, message) in &asked {
        sees_only_its_own(&world, *person, *message, people);
    }
    steps_were_mixed(&world, people);
    assert_eq!(world.malformed(), Vec::<String>::new());
    assert_eq!(world.playground.model().turns_left(), 0);
}

fn owners(people: &[i64]) -> Vec<String> {
    people.iter().chain([&ADA]).map(|p| format!("tg:{p}")).collect()
}

fn sees_only_its_own(world: &World, person: i64, message: i64, people: &[i64]) {
    let own = secret(person);
    let prompts: Vec<_> = world.prompts().into_iter().filter(|p| p.contains(&own)).collect();
    assert_eq!(prompts.len(), 7, "{person} takes seven steps");
    let others = people.iter().filter(|p| **p != person);
    for other in others.map(|p| secret(*p)) {
        assert!(!prompts.iter().any(|p| p.contains(&other)), "{person} read {other}");
    }
    let last = prompts.last().expect("prompts");
    for sign in [format!("pending: {own}"), format!("1 | {own}"), "reacted with".to_owned()] {
        assert!(last.contains(&sign), "{person}: no {sign:?} in {last}");
    }
    let chat = world.telegram().messages(person);
    let reacted: Vec<i64> = chat.iter().filter(|m| !m.reactions.is_empty()).map(|m| m.id).collect();
    assert_eq!(reacted, [message], "{person}'s reaction");
    let files: Vec<String> = chat.iter().filter_map(|m| bytes(world, m)).collect();
    assert_eq!(files, std::slice::from_ref(&own), "{person}'s file");
    assert_eq!(world.texts(person).last(), Some(&format!("done with {own}")));
}

fn bytes(world: &World, message: &MessageView) -> Option<String> {
    let id = message.file.as_ref()?.url.rsplit('/').next()?.to_owned();
    let (_, bytes) = world.telegram().file(&id)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Somebody else's step stands between the first and the last of everybody's.
fn steps_were_mixed(world: &World, people: &[i64]) {
    let prompts = world.prompts();
    for person in people {
        let own = secret(*person);
        let first = prompts.iter().position(|p| p.contains(&own)).expect("a first step");
        let last = prompts.iter().rposition(|p| p.contains(&own)).expect("a last step");
        let between = prompts[first..=last].iter().filter(|p| !p.contains(&own)).count();
        assert!(between >= 3, "{person} was alone: the test has proven nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_conversations_at_once_know_nothing_of_each_other() {
    interleave(&[5001, 5002]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_conversations_at_once_know_nothing_of_each_other() {
    interleave(&(6001..=6020).collect::<Vec<_>>()).await;
}

/// Messages that each person writes.
const MESSAGES: usize = 10;

/// Two thousand tasks: each conversation remembers and wants done something of its own.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_remembered_and_to_be_done_stays_with_its_conversation() {
    let people: Vec<i64> = (7001..=7200).collect();
    let high = json!({ "messages_per_minute": 100_000, "calls_per_day": 100_000 });
    let mut world = World::with(json!({
        "worker": { "max_concurrency": 64 },
        "limits": { "person": high, "conversation": high, "everybody": high },
        "while_busy": "queue",
    }))
    .await;
    world.home.set_key("telegram", "allowed_chat_ids", json!(people));
    for person in &people {
        let own = secret(*person);
        world.telegram().add_person(*person, "Someone");
        let todo = json!({ "action": "add", "content": format!("do {own}"), "people": [] });
        let mut turns = vec![
            Turn::call("memory_write", json!({ "text": format!("likes {own}") })),
            Turn::call("todo_update", todo),
        ];
        turns.extend((0..MESSAGES).map(|n| Turn::text(format!("{n} {own}"))));
        world.playground.model().script_for(&own, turns);
    }
    let _daemon = world.daemon();
    for n in 0..MESSAGES {
        for person in &people {
            world.telegram().say(*person, *person, &format!("{n}: {}", secret(*person)));
        }
        for person in &people {
            world.hears(*person, &format!("{n} {}", secret(*person))).await;
        }
    }
    let prompts = world.prompts();
    // The newest that the model server keeps.
    assert!(prompts.len() >= people.len() * MESSAGES, "{}", prompts.len());
    for prompt in &prompts {
        let whose: std::collections::BTreeSet<&str> =
            prompt.split("secret-").skip(1).map(|rest| &rest[..4]).collect();
        assert_eq!(whose.len(), 1, "{whose:?} in one prompt");
    }
    for person in &people {
        let own = secret(*person);
        let last = prompts.iter().rfind(|prompt| prompt.contains(&own)).expect("a prompt");
        assert!(last.contains(&format!("- likes {own}")), "{last}");
        assert!(last.contains(&format!("- do {own}")), "{last}");
        let said = world.texts(*person);
        assert!(
            said.iter().all(|text| !text.contains("secret-") || text.contains(&own)),
            "{said:?}"
        );
    }
}
