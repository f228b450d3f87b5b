//! The owner forgets a person at the command line: what goes is shown first, all of it goes, and nobody else's does.

use selkie_playground::telegram::{ADA, GRACE};
use serde_json::{Value, json};

use crate::support::rows::number;
use crate::support::world::World;

/// Everything that people and selkie have said, and what is remembered.
const WORDS: &str = "SELECT (SELECT count(*) FROM inbox WHERE inbound LIKE '%jasmine%')
    + (SELECT count(*) FROM transcript WHERE item LIKE '%jasmine%')
    + (SELECT count(*) FROM memory_piece WHERE text LIKE '%jasmine%')";

/// Everything that could name her.
const NAMES: &str = "SELECT (SELECT count(*) FROM conversation WHERE title LIKE '%Grace%')
    + (SELECT count(*) FROM met WHERE name LIKE '%Grace%' OR username LIKE '%grace%')
    + (SELECT count(*) FROM inbox WHERE inbound LIKE '%Grace%')
    + (SELECT count(*) FROM task WHERE facts LIKE '%Grace%' OR header LIKE '%Grace%')
    + (SELECT count(*) FROM task_words WHERE name LIKE '%Grace%')
    + (SELECT count(*) FROM transcript WHERE item LIKE '%Grace%')
    + (SELECT count(*) FROM outbound WHERE body LIKE '%Grace%')
    + (SELECT count(*) FROM rendered WHERE text LIKE '%Grace%')
    + (SELECT count(*) FROM question WHERE person_name LIKE '%Grace%')
    + (SELECT count(*) FROM schedule WHERE schedule LIKE '%Grace%')
    + (SELECT count(*) FROM whereabouts WHERE place LIKE '%Grace%')
    + (SELECT count(*) FROM pairing_request WHERE name LIKE '%Grace%')";

/// When something last happened in her chat.
const LAST: &str = "SELECT last_at FROM conversation WHERE key = 'tg:4712'";

/// What tools have answered.
const READ: &str =
    r#"SELECT count(*) FROM transcript WHERE item LIKE '{"item":"answered"%jasmine%'"#;

const HER_CHAT: &str = "SELECT id FROM conversation WHERE key = 'tg:4712'";

/// The task of her first message.
const HER_FIRST_TASK: &str = "SELECT min(t.id) FROM task t JOIN conversation c ON c.id = t.conversation WHERE c.key = 'tg:4712'";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_forgotten_beside_a_running_selkie() {
    forgets(World::offline().await, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_forgotten_while_selkie_is_stopped() {
    forgets(World::offline().await, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_forgotten_in_a_database() {
    let mut world = World::offline().await;
    world.home.keep_in_postgres();
    forgets(world, true).await;
}

/// A stranger is heard, and not answered by any task: what they wrote is exported and forgotten all the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_no_task_has_answered_is_exported_and_forgotten() {
    let mut world = World::offline().await;
    world.home.set("pairing", json!("off"));
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    world.ask("hello").await;
    world.ask_in(GRACE, GRACE, "I like jasmine").await;
    world.ask("/id").await;
    let export = |id: &str, more: &[&str]| {
        let (code, out, error) = world.home.run(&[&["export", id], more].concat());
        assert_eq!(code, 0, "{error}");
        out
    };
    let read = export("tg:4712", &[]);
    assert!(read.contains("I like jasmine") && read.contains("not on the allow list"), "{read}");
    let own = export("tg:4711", &["--format", "json"]);
    let own: Value = serde_json::from_str(&own).expect("json");
    let said = own["messages"].as_array().expect("messages");
    assert_eq!((said.len(), &said[0]["text"]), (4, &json!("hello")), "{own:#}");
    assert_eq!((&said[2]["text"], said[2].get("unanswered")), (&json!("/id"), None), "{own:#}");
    assert_eq!(said[3]["cause"], "the answer to a command", "{own:#}");
    let (code, out, error) = world.home.run(&["forget", "tg:4712", "--yes"]);
    assert!(code == 0 && out.contains("1 message"), "{out}{error}");
    assert_eq!(number(&world.home, WORDS), Some(0));
    let (code, _, error) = world.home.run(&["forget", "tg:4712", "--yes"]);
    assert!(code == 1 && error.contains("nothing is kept of tg:4712"), "{error}");
    // What a name could mean to a search finds nobody.
    let (code, _, error) = world.home.run(&["forget", "tg:471%", "--yes"]);
    assert_eq!(code, 1, "{error}");
    assert!(daemon.stop().await.success());
}

/// An owner has looked into her chat, and she has sent a file there.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_read_of_a_chat_and_its_files_go_with_it() {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GRACE]));
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    world.ask_in(GRACE, GRACE, "say jasmine").await;
    let read = world.ask(r#"call sessions_history {"session_id": "tg:4712"}"#).await;
    assert!(read.contains("jasmine"), "{read}");
    assert_eq!(number(&world.home, READ), Some(1));
    let row = number(&world.home, HER_CHAT).expect("a chat");
    let folders = [row, row + 1_000].map(|row| world.home.cache().join(format!("c{row}/in")));
    for folder in &folders {
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join("photo.jpg"), "jasmine").expect("a file");
    }
    let (code, _, error) = world.home.run(&["forget", "Grace", "--yes"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(number(&world.home, READ), Some(0));
    let left = folders.map(|folder| folder.join("photo.jpg").exists());
    assert_eq!(left, [false, true]);
    assert!(daemon.stop().await.success());
}

async fn forgets(mut world: World, runs: bool) {
    world.home.set_key("telegram", "allowed_chat_ids", json!([GRACE]));
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    world.ask("remember that I like oolong").await;
    world.ask_in(GRACE, GRACE, "remember that I like jasmine").await;
    assert!(number(&world.home, WORDS).is_some_and(|words| words > 2));
    world.ask_in(GRACE, GRACE, "every day at 08:00 tell me my list").await;
    let (_, listed, _) = world.home.run(&["sessions", "list"]);
    assert!(listed.contains("tg:4712") && listed.contains("Grace"), "{listed}");
    let spoke_at = number(&world.home, LAST);
    let asked = number(&world.home, HER_FIRST_TASK).expect("a task");
    let daemon = match runs {
        true => Some(daemon),
        false => {
            assert!(daemon.stop().await.success());
            None
        }
    };
    let (code, out, error) = world.home.run(&["forget", "Grace"]);
    assert!(code == 2 && error.contains("add --yes"), "{out}{error}");
    assert!(out.contains("the contact Grace") && out.contains("2 messages"), "{out}");
    assert!(out.contains("` removes it"), "{out}");
    assert!(number(&world.home, WORDS).is_some_and(|words| words > 2), "it asks first");
    let (code, out, error) = world.home.run(&["forget", "Grace", "--yes", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(told["schedules"].as_array().map(Vec::len), Some(1), "{told}");
    let (_, traced, _) = world.home.run(&["trace", &asked.to_string()]);
    assert!(traced.contains("(the words are not kept)"), "{traced}");
    assert!(traced.contains("What was sent because of it is not kept"), "{traced}");
    let last = number(&world.home, LAST);
    assert_eq!(last, spoke_at, "a chat is no younger for being forgotten");
    assert_eq!((&told["forgotten"], &told["goes_on"]), (&true.into(), &false.into()), "{told}");
    assert_eq!(number(&world.home, WORDS), Some(0));
    assert_eq!(number(&world.home, NAMES), Some(0), "what is kept does not name her");
    let (_, listed, _) = world.home.run(&["sessions", "list"]);
    assert!(listed.contains("tg:4712") && !listed.contains("Grace"), "{listed}");
    let folder = world.home.state();
    for file in ["contacts/ACTIVE.md", "contacts/INACTIVE.md"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("a file");
        assert!(!text.contains("Grace"), "{text}");
    }
    let kept = "SELECT count(*) FROM inbox WHERE inbound LIKE '%oolong%'";
    assert_eq!(number(&world.home, kept), Some(1), "nobody else is forgotten");
    let (code, _, error) = world.home.run(&["forget", "Nobody", "--yes"]);
    assert_eq!(code, 1, "{error}");
    let said = world.said(GRACE).len();
    if let Some(daemon) = daemon {
        // She writes again, and is somebody new.
        world.ask_in(GRACE, GRACE, "hello").await;
        assert_eq!(world.said(GRACE).len(), said + 1, "nothing was said to her meanwhile");
        assert!(daemon.stop().await.success());
    }
    assert_eq!(world.said(ADA).len(), 1);
}
