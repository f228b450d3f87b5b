//! The list of what people want done: each conversation its own, reminders of what has a time, and what people write into
//! the file themselves.

use std::fs;

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;

use crate::support::joined::joined;
use crate::support::rows::texts;
use crate::support::world::World;

/// What the group is called.
const TITLE: &str = "Tea room";
const STATES: &str = "SELECT state FROM schedule ORDER BY id";

fn file(world: &World, name: &str) -> String {
    fs::read_to_string(world.home.state().join(name)).unwrap_or_default()
}

fn add(content: &str) -> String {
    let args = json!({ "action": "add", "content": content, "people": [] });
    format!("call todo_update {args}")
}

fn complete(words: &str) -> String {
    format!("call todo_update {}", json!({ "action": "complete", "content": words }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_and_an_owner_see_their_own() {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let added = world.ask(&add("Buy a ring")).await;
    assert!(added.contains(r#""open_count":1"#), "{added}");
    let mention = |words: String| format!("@selkie_demo_bot {words}");
    let there = world.ask_in(GROUP.chat, GRACE, &mention(add("Book the room"))).await;
    assert!(
        there.contains(r#""open_count":1"#) && there.contains(r#""chat_id":"tg:-100200300""#),
        "{there}"
    );
    let none = world.ask_in(GROUP.chat, GRACE, &mention(complete("ring"))).await;
    assert!(none.contains("no matching todo item in TODO.md"), "{none}");
    let listed = world.ask("/todos").await;
    assert!(listed.contains(&format!("Book the room ({})", TITLE)), "by its name: {listed}");
    let (code, listed, err) = world.home.run(&["todos", "list"]);
    assert!(code == 0 && listed.contains(&format!("Book the room  {}", TITLE)), "{listed}{err}");
    let none = world.ask_in(GROUP.chat, GRACE, &mention("finished: taxes".to_owned())).await;
    assert_eq!(none, "Nothing on the list fits that: /todos shows what is on it.");
    let done = world.ask(&complete("room")).await;
    assert!(done.contains(r#""done_added":1"#), "an owner alone sees all: {done}");
    assert!(file(&world, "TODO.md").contains(" | Buy a ring\n"));
    assert!(file(&world, "TODO.DONE.md").contains("[ChatID](tg:-100200300) | Book the room\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_with_a_time_is_said_then_and_a_done_one_is_not() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let added = world.ask(&add("2099-12-24 18:00 Call Mei")).await;
    assert!(added.contains("set for ") && added.contains("2099"), "{added}");
    let listed = world.ask("/todos").await;
    assert!(
        listed.contains("\n• 2099-12-24 18:00 ") && listed.ends_with(": Call Mei (Ada Lovelace)"),
        "{listed}"
    );
    let added = world.ask(&add("2099-12-24 19:00 Light the candles")).await;
    assert!(added.contains("set for "), "{added}");
    let over = world.ask(&add("2020-12-24 18:00 Call Bo")).await;
    assert!(over.contains("none: 2020-12-24 18:00 is over"), "{over}");
    assert_eq!(texts(&world.home, STATES), ["active", "active"]);
    world.ask(&complete("candles")).await;
    assert_eq!(texts(&world.home, STATES), ["active", "removed"]);
    let (code, _, err) = world.home.run(&["schedules", "run", "1"]);
    assert_eq!(code, 0, "{err}");
    world.hears(ADA, "Call Mei").await;
}

/// The list never shows another time than that at which the reminder comes.
#[tokio::test(flavor = "multi_thread")]
async fn reminders_of_items_follow_the_clocks_of_their_chat() {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let mention = format!("@selkie_demo_bot {}", add("2099-12-24 19:00 Light the candles"));
    world.ask_in(GROUP.chat, GRACE, &mention).await;
    world.ask(&add("2099-12-24 18:00 Call Mei")).await;
    world.ask("/remind at 2099-12-24 20:00 sing").await;
    let times = "SELECT strftime('%H:%M', next_at / 1000, 'unixepoch') FROM schedule ORDER BY id";
    assert_eq!(texts(&world.home, times), ["19:00", "18:00", "20:00"]);
    let set = world.ask("/timezone Asia/Tokyo").await;
    assert!(set.contains("the to-do list now mean this zone"), "{set}");
    let moved = |to: [&'static str; 3]| {
        let home = &world.home;
        async move {
            while texts(home, times) != to {
                tokio::task::yield_now().await;
            }
        }
    };
    world.within("the reminder by other clocks", moved(["19:00", "09:00", "20:00"])).await;
    let due = || {
        let (_, listed, _) = world.home.run(&["todos", "list", "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        let times = listed["todos"].as_array().into_iter().flatten();
        times.map(|item| item["due"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let of_each = ["2099-12-24T18:00:00+09:00", "2099-12-24T19:00:00Z"];
    assert_eq!(due(), of_each, "Grace's is told by the clocks that she meant");
    world.ask_in(GROUP.chat, ADA, "/timezone@selkie_demo_bot America/Lima").await;
    world.within("the group's reminder, too", moved(["00:00", "09:00", "20:00"])).await;
    assert_eq!(due()[1], "2099-12-24T19:00:00-05:00");
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_people_write_get_a_reminder_or_one_line() {
    let world = World::offline().await;
    {
        let daemon = world.daemon();
        world.ask("hello").await;
        assert!(daemon.stop().await.success());
    }
    let items = "- [ ] 2099-12-24 18:00 Call Mei\n- [ ] 2020-01-01 08:00 Pay Bo\n- [ ] 2020-01-02 08:00 Pay Zoe\n";
    let text = file(&world, "TODO.md") + items;
    fs::write(world.home.state().join("TODO.md"), &text).unwrap();
    let daemon = world.daemon();
    let line = "Already overdue in TODO.md when I first saw it, so I send no reminder: “2020-01-0";
    world.hears(ADA, line).await;
    assert_eq!(texts(&world.home, STATES), ["active"]);
    assert_eq!(file(&world, "TODO.md"), text, "what people wrote is not touched");
    assert!(daemon.stop().await.success());
    fs::write(world.home.state().join("TODO.md"), text.replace("- [ ] 2099", "- [x] 2099"))
        .unwrap();
    let _daemon = world.daemon();
    let withdrawn = async {
        while texts(&world.home, STATES) != ["removed"] {
            tokio::task::yield_now().await;
        }
    };
    world.within("the reminder's end", withdrawn).await;
}

/// What only an owner can have written stands before their messages, and in no other conversation.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_reads_its_own_items_and_whom_an_owner_names() {
    let mut world = World::start().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    let contacts = world.home.state().join("contacts");
    fs::create_dir_all(&contacts).expect("a folder");
    let grace =
        format!("## Grace\n\n```yaml\ncontact_id: tg:{GRACE}\nnickname: Grace\nkind: human\n```\n");
    fs::write(contacts.join("ACTIVE.md"), format!("# Active Contacts\n\n{grace}")).expect("a file");
    let todo = "# TODO Work In Progress (WIP)\n\n- [ ] [Created](2026-03-04 08:15) | Buy a ring\n";
    let _daemon = world.daemon();
    world.ask("/status").await;
    fs::write(world.home.state().join("TODO.md"), todo).expect("a file");
    world.ask("is Grace coming?").await;
    let prompt = world.last_prompt();
    assert!(
        prompt.contains("- Buy a ring") && prompt.contains(&format!("- Grace: tg:{GRACE}")),
        "{prompt}"
    );
    world.ask_in(GROUP.chat, GRACE, "@selkie_demo_bot is Grace coming?").await;
    let prompt = world.last_prompt();
    assert!(!prompt.contains("Buy a ring") && !prompt.contains("may mean"), "{prompt}");
    let listed = world.ask("/todos").await;
    assert!(listed.contains("Buy a ring"), "{listed}");
    let none = world.ask_in(GROUP.chat, GRACE, "/todos@selkie_demo_bot").await;
    assert!(none.starts_with("TODO.md has nothing for this chat."), "{none}");
    let (code, out, err) = world.home.run(&["todos", "list", "--json"]);
    assert_eq!(code, 0, "{err}");
    let all: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(all["todos"][0]["text"], "Buy a ring");
}

/// One doubtful item is counted, and takes nothing from the owner's own: those stand before their messages in full.
#[tokio::test(flavor = "multi_thread")]
async fn an_owners_item_stands_in_full_beside_a_strangers_that_is_counted() {
    let mut world = World::start().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let model = world.playground.model();
    let adding = |content: &str| {
        let args = json!({ "action": "add", "content": content, "people": [] });
        vec![Turn::call("todo_update", args), Turn::text("noted")]
    };
    model.script(adding("Buy a ring"));
    world.ask("put the ring on my list").await;
    model.script(adding("Send the keys of the house to Eve"));
    world.ask_in(GROUP.chat, GRACE, "@selkie_demo_bot put the keys on the list").await;
    world.ask("what is there to do?").await;
    let prompt = world.last_prompt();
    assert!(
        prompt.contains("- Buy a ring") && prompt.contains("(and 1 open item more)"),
        "{prompt}"
    );
    assert!(!prompt.contains("keys of the house"), "{prompt}");
}

/// A second copy, also when the item itself is done: it is the group's still. And where nobody knows any more, all of it is
/// nobody's until the owner says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_groups_item_stays_the_groups_also_without_a_note() {
    let mut world = World::start().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let item = "Water the plants and send the keys of the house to Eve at noon";
    let args = json!({ "action": "add", "content": item, "people": [] });
    world.playground.model().script(vec![Turn::call("todo_update", args), Turn::text("noted")]);
    world.ask_in(GROUP.chat, GRACE, "@selkie_demo_bot put it on the list").await;
    let list = world.home.state().join("TODO.md");
    let text = file(&world, "TODO.md") + &format!("- [ ] {item}\n- [ ] Sail home\n");
    fs::write(&list, &text).expect("a file");
    world.ask("what is there to do?").await;
    let prompt = world.last_prompt();
    assert!(
        prompt.contains("- Sail home") && prompt.contains("(and 2 open items more)"),
        "{prompt}"
    );
    assert!(!prompt.contains("of the house"), "{prompt}");
    // The item is done, and its copy stands there alone.
    fs::write(&list, format!("- [ ] {item}\n- [ ] Sail home\n")).expect("a file");
    world.ask("and now?").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("- Sail home") && !prompt.contains("Water the plants"), "{prompt}");
    fs::remove_file(world.home.state().join("kept/TODO.md/said")).expect("a note");
    fs::write(&list, "- [ ] Sail home\n- [ ] Feed the cat\n").expect("a file");
    world.ask("and now?").await;
    let prompt = world.last_prompt();
    assert!(
        prompt.contains("(2 open items not shown here") && !prompt.contains("Sail"),
        "{prompt}"
    );
    let (_, listed, _) = world.home.run(&["todos", "list"]);
    assert!(joined(&listed).contains("run selkie todos trust"), "{listed}");
    let (code, shown, err) = world.home.run(&["todos", "trust"]);
    assert_eq!(code, 2, "{err}");
    assert!(
        shown.contains("  Sail home\n  Feed the cat\n") && err.contains("--yes"),
        "{shown}{err}"
    );
    let (code, trusted, err) = world.home.run(&["todos", "trust", "--yes"]);
    assert!(trusted.ends_with("2 items: taken as your own words.\n"), "{trusted}{err}");
    assert_eq!(code, 0);
    // Without a change of the list.
    world.ask("and now?").await;
    assert!(world.last_prompt().contains("- Sail home"), "{}", world.last_prompt());
    let (_, listed, _) = world.home.run(&["todos", "list"]);
    assert!(listed.contains("Sail home") && !listed.contains("trust"), "{listed}");
}

/// With a stand-in model that knows words: one in common is none.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_finished_is_what_is_named() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask(&add("Call the dentist")).await;
    world.ask(&add("Pay the rent")).await;
    for other in ["finished: wash the car", "finished: pay Grace back"] {
        let none = world.ask(other).await;
        assert_eq!(none, "Nothing on the list fits that: /todos shows what is on it.", "{other}");
    }
    let done = world.ask("finished: the dentist").await;
    assert!(done.starts_with("Done: Call the dentist."), "{done}");
    world.ask("remember that I sing").await;
    assert_eq!(world.ask("what do you know about me?").await, "I remember:\n\n• I sing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_folder_that_was_mistyped_is_not_made_by_a_look() {
    let world = World::start().await;
    let nowhere = world.home.folder().join("nowhere");
    let somewhere = world.home.folder().join("somewhere");
    std::fs::create_dir(&somewhere).expect("a folder");
    for (folder, what) in [
        (&nowhere, "todos"),
        (&somewhere, "todos"),
        (&somewhere, "contacts"),
        (&nowhere, "sessions"),
        (&somewhere, "memory"),
        (&nowhere, "schedules"),
        (&somewhere, "pair"),
        (&nowhere, "tweets"),
        (&somewhere, "approvals"),
    ] {
        let folder = folder.to_str().expect("a path");
        let (code, out, err) = world.home.run(&[what, "list", "--state", folder]);
        assert_eq!((code, out.as_str()), (1, ""), "{what}: {err}");
        assert!(err.contains("selkie has not used the state folder"), "{what}: {err}");
    }
    assert_eq!(std::fs::read_dir(&somewhere).expect("a folder").count(), 0, "nothing is put there");
    assert!(!nowhere.exists());
}
