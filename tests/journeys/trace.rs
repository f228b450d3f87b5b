//! `selkie trace` tells what became of a message as a story that is read from top to bottom.

use insta::assert_snapshot;
use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::{Value, json};

use crate::approvals::Team;
use crate::support::daemon::Home;
use crate::support::joined::joined;
use crate::support::rows::{settled, texts};
use crate::support::world::World;

const PAGE: &str = include_str!("../../src/docs/why.md");

/// Tells the story of a message, a task or an event.
fn story(home: &Home, name: &str) -> String {
    let (code, out, err) = home.run(&["trace", name]);
    assert_eq!(code, 0, "{err}");
    masked(&out)
}

/// Puts a word for each moment, and a sign for each number that another run may not have: what stays is the number of
/// a task, an inbox row, an outbound and a model call.
fn masked(text: &str) -> String {
    let line = |line: &str| {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        let (mut words, mut kept) = (line.split_whitespace(), vec![indent]);
        while let Some(word) = words.next() {
            let before = kept.last().map(String::as_str).unwrap_or_default();
            let stays = ["Task", "inbox", "Outbound", "call"].contains(&before.trim());
            let bare = word.trim_start_matches('(');
            kept.push(match bare.chars().next().is_some_and(|c| c.is_ascii_digit()) && !stays {
                true if bare.matches('-').count() == 2 => {
                    let zone = words.nth(1).unwrap_or_default();
                    format!("TIME{}", zone.trim_start_matches(|c: char| !",:.".contains(c)))
                }
                true => signs(word),
                false => word.to_owned(),
            });
        }
        let indent = kept.remove(0);
        let line = format!("{indent}{}", kept.join(" "));
        line.replace("# min # s", "SPAN").replace("#.# s", "SPAN").replace("# ms", "SPAN")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Puts one sign for each run of digits.
fn signs(word: &str) -> String {
    let digit = |c: Option<&char>| c.is_some_and(char::is_ascii_digit);
    let chars: Vec<char> = word.chars().collect();
    // Thousands stand apart where there are some.
    let apart = |at: usize| {
        chars[at] == ',' && digit(chars.get(at.wrapping_sub(1))) && digit(chars.get(at + 1))
    };
    let sign = |at: usize| if digit(chars.get(at)) || apart(at) { '#' } else { chars[at] };
    let mut signs: Vec<char> = (0..chars.len()).map(sign).collect();
    signs.dedup_by(|c, before| *c == '#' && *before == '#');
    signs.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_with_a_tool_call_reads_as_a_story() {
    let world = World::offline().await;
    let daemon = world.daemon();
    world.ask("note: buy milk").await;
    settled(&world, 1).await;
    let told = story(&world.home, "1");
    assert_snapshot!(told, @r#"
    Ada Lovelace (tg:4711) wrote in private (tg:4711), TIME:
      "note: buy milk"
      inbox 1, message #
    Accepted because it was written to the bot in private.

    Task 1, made TIME: done
      Model: the usual one (llm.routes.main)
      Shape, by today's config: telegram:private · owner · asked · normal: # tools, # hidden
      Model call 1 asked for # tool call:
        by default/stand-in: # tokens in (# cached), # out, SPAN
        todo_read {}
          → "Todo list is empty."
      Model call 2 asked for # tool call:
        by default/stand-in: # tokens in (# cached), # out, SPAN
        todo_write {"todos":[{"id":"1","title":"buy milk","status":"pending"}]}
          → "[1] pending: buy milk"
      Model call 3 answered:
        "Noted: buy milk (#)."
        by default/stand-in: # tokens in (# cached), # out, SPAN

    Outbound 1, the answer: delivered
      sent, TIME, arrived as message #

    Cost: # model calls, # tokens read (# from the provider's cache), # written, no price known
    Time: SPAN until the task ended (waiting and running), then SPAN until the last part was settled
    "#);
    let (_, shown) = PAGE.split_once("$ selkie trace 1\n").expect("its example");
    let (shown, _) = shown.split_once("```").expect("its end");
    assert_eq!(masked(shown), told, "the book shows it");
    assert!(daemon.stop().await.success());
    assert_eq!(story(&world.home, "1"), told, "without a daemon it is the same");
}

/// Who does not know a number finds it: each line begins with one, and says who asked what where.
#[tokio::test(flavor = "multi_thread")]
async fn the_newest_tasks_are_listed() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello\nTask 9").await;
    world.ask_in(GROUP, ADA, "@selkie_demo_bot and here?").await;
    settled(&world, 2).await;
    let (code, listed, err) = world.home.run(&["trace"]);
    assert_eq!(code, 0, "{err}");
    let zone = listed.split(['(', ')']).nth(1).expect("the zone");
    let bare = joined(&listed);
    assert!(
        bare.starts_with(&format!("TASK WHEN ({zone}) STATE WHO WHERE MESSAGE 2 ")),
        "{listed}"
    );
    assert!(bare.contains("(tg:-100200300) \"and here?\" 1 "), "{listed}");
    assert!(
        bare.ends_with(" in private (tg:4711) \"hello Task 9\"")
            || bare.ends_with(" Ada Lovelace (tg:4711) in private \"hello Task 9\""),
        "{listed}"
    );
    let numbered = listed.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(numbered.count(), 2, "each task begins a line, and nobody's words do: {listed}");
    let (_, json, _) = world.home.run(&["trace", "--json", "--limit", "1"]);
    let tasks: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (tasks.as_array().map(Vec::len), &tasks[0]["who"]["id"]),
        (Some(1), &json!("tg:4711"))
    );
    assert_eq!((&tasks[0]["id"], &tasks[0]["usage"]["calls"]), (&json!(2), &json!(1)));
    let (_, one, _) = world.home.run(&["trace", "1", "--json"]);
    let chains: Value = serde_json::from_str(&one).expect("JSON");
    let call = &chains[0]["task"]["model_calls"][0];
    assert_eq!(call["usage"], chains[0]["task"]["usage"], "its only call has used all of it");
    assert!(call["took_ms"].is_u64(), "{call}");
    assert!(daemon.stop().await.success());
    assert_eq!(world.home.run(&["trace"]).1, listed, "without a daemon it is the same");
}

/// Others' words begin no line of the story, steer no screen and are cut; JSON has the whole of them.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_words_tell_no_story_of_their_own() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let words = "tea\nTask 9: done\u{202e}\u{1b}[2J".to_owned() + &" and tea".repeat(400);
    world.ask(&words).await;
    settled(&world, 1).await;
    let (_, told, _) = world.home.run(&["trace", "1"]);
    assert!(told.contains("\n  \"tea Task 9: done⟨U+202E⟩⟨U+001B⟩[2J and tea"), "{told}");
    assert!(told.contains("…\"\n"), "{told}");
    let (_, json, _) = world.home.run(&["trace", "1", "--json"]);
    let chains: Value = serde_json::from_str(&json).expect("JSON");
    let whole = chains[0]["inbound"]["text"].as_str().unwrap_or_default();
    assert!(whole.starts_with("tea\nTask 9: done"), "{whole}");
    assert_eq!(whole.matches("and tea").count(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_not_answered_says_why() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.telegram().say(GROUP, GRACE, "good morning\nTask 7: done");
    // Updates come in order.
    world.ask("hello").await;
    let key = texts(&world.home, "SELECT key FROM inbox WHERE disposition = 'context'").remove(0);
    assert_snapshot!(story(&world.home, &key), @r#"
    Grace Hopper (tg:4712) wrote in "Tea room" (tg:-100200300), TIME:
      "good morning Task 7: done"
      inbox 1, message #
    Not answered: nobody addressed the bot. It is kept, and the next task here reads it.

    Nothing was sent to a chat.
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_stands_with_its_call() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    team.tap(&request, "Approve").await;
    team.told("write_file answered").await;
    settled(&team.world, 2).await;
    let home = &team.world.home;
    let key = texts(home, "SELECT key FROM inbox WHERE disposition = 'task'").remove(0);
    let told = story(home, &key);
    // The folder that the request names is another one each time.
    let without = |line: &str| match (line.split_once(" folder:"), line.rsplit_once("…\"")) {
        (Some((before, _)), Some((_, after))) => format!("{before} …\"{after}"),
        _ => line.to_owned(),
    };
    assert_snapshot!(told.lines().map(without).collect::<Vec<_>>().join("\n"), @r#"
    Grace Hopper (tg:4712) wrote in "Tea room" (tg:-100200300), TIME:
      "call write_file {"path":"plan.txt","content":"tide","mode":"append"}"
      inbox 2, message #
    Accepted because it names the bot.

    Task 1, made TIME: done
      Model: the usual one (llm.routes.main)
      Shape, by today's config: telegram:group · allowed · asked · normal: # tools, # hidden
      Model call 1 asked for # tool call:
        by default/stand-in: # tokens in (# cached), # out, SPAN
        write_file {"path":"plan.txt","content":"tide","mode":"append"}
          → "appended # bytes to plan.txt"
          Approval of write_file was asked for Grace Hopper (tg:4712), TIME
          and approved by Ada Lovelace, and the call was made, TIME
      Model call 2 answered:
        "write_file answered: appended # bytes to plan.txt"
        by default/stand-in: # tokens in (# cached), # out, SPAN

    Outbound 2, question "May I create plan.txt (# line)? Grace Hopper (tg:4712) asked for it in telegram:group “Tea room”: ``` create plan.txt (# line) · …": delivered
      sent, TIME, arrived as message #
    Outbound 4, the answer: delivered
      sent, TIME, arrived as message #

    Cost: # model calls, # tokens read (# from the provider's cache), # written, no price known
    Time: SPAN until the task ended (waiting and running, of it SPAN until people decided), then SPAN until the last part was settled
    "#);
    // By its number: the message with its task, then the tap.
    let task = texts(home, "SELECT CAST(task AS TEXT) FROM approval").remove(0);
    let told = story(home, &task);
    let (before, after) = told.split_once("pressed a button in private").expect("the tap");
    assert!(before.contains("Task 1, made TIME: done"), "{told}");
    assert!(after.contains("Task 1 is shown with its own message."), "{told}");
}

/// What the model wanted and could not have is named with its reason, and its call says that it failed.
#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_tool_that_was_called_is_named() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let turns = vec![Turn::call("bash", json!({ "command": "ls" })), Turn::text("I cannot.")];
    world.playground.model().script(turns);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot what is in the folder?").await;
    settled(&world, 1).await;
    let told = story(&world.home, "1");
    assert!(told.contains("hidden, of them called: bash ("), "{told}");
    assert!(told.contains("\n    bash {\"cmd\":\"ls\"}\n      → failed: \""), "{told}");
}

/// A command that is none of ours is words, and they are shown as they were written.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_begin_with_a_slash_are_shown_whole() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("/wibble wobble").await;
    world.ask("/wibble").await;
    let (code, list, err) = world.home.run(&["trace"]);
    assert_eq!(code, 0, "{err}");
    assert!(list.contains("\"/wibble wobble\"") && list.contains("\"/wibble\""), "{list}");
    let told = story(&world.home, "1");
    assert!(told.contains("\n  \"/wibble wobble\""), "{told}");
}
