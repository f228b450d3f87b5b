//! Whom the bot knows: noted from what people write, shown to whom it concerns, tidied by the owner, and never mixed up.

use std::fs;

use selkie_playground::Turn;
use selkie_playground::line_platform::{
    ADA as LINE_ADA, BOT_NAME, GRACE as LINE_GRACE, GROUP as LINE_GROUP,
};
use selkie_playground::slack::{
    ADA as SLACK_ADA, BOT as SLACK_BOT, CHANNEL, DM, GRACE as SLACK_GRACE,
};
use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView};
use serde_json::{Value, json};

use crate::support::line::Line;
use crate::support::world::World;

const ACTIVE: &str = "contacts/ACTIVE.md";
const NEW: i64 = -1_009_998;

fn file(world: &World) -> String {
    fs::read_to_string(world.home.state().join(ACTIVE)).unwrap_or_default()
}

/// Writes as an editor does: beside the file, then in its place.
fn edit(world: &World, change: impl Fn(&str) -> String) {
    let path = world.home.state().join(ACTIVE);
    let new = path.with_extension("new");
    fs::write(&new, change(&file(world))).expect("written");
    fs::rename(new, path).expect("in its place");
}

fn run(world: &World, arguments: &[&str]) -> String {
    let (code, out, err) = world.home.run(arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    out
}

fn listed(world: &World) -> Vec<Value> {
    let list: Value =
        serde_json::from_str(&run(world, &["contacts", "list", "--json"])).expect("JSON");
    assert_eq!(list["faults"], json!([]));
    list["contacts"].as_array().cloned().expect("a list")
}

fn ids(world: &World) -> Vec<String> {
    let mut ids: Vec<String> = listed(world)
        .iter()
        .map(|one| one["contact_id"].as_str().unwrap_or_default().to_owned())
        .collect();
    ids.sort();
    ids
}

async fn in_group(world: &World, person: i64, text: &str) -> String {
    world.ask_in(GROUP.chat, person, &format!("@selkie_demo_bot {text}")).await
}

async fn world() -> World {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world.telegram().add_person(GRACE, "Grace");
    world
}

/// Who writes is noted, who is only mentioned is not; what people write into the file stays.
#[tokio::test(flavor = "multi_thread")]
async fn who_writes_is_noted_and_hand_edits_stay() {
    let world = world().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    in_group(&world, GRACE, "what does @somebody_else say?").await;
    assert_eq!(ids(&world), ["tg:4711", "tg:4712"]);
    let text = file(&world);
    assert!(!text.contains("somebody_else"), "{text}");
    assert!(
        text.contains("tg_username: \"ada\"") && text.contains("tg_private_chat_id: \"4711\""),
        "{text}"
    );
    assert!(text.contains(&format!("tg_group_chat_ids: [\"{}\"]", GROUP.chat)), "{text}");
    edit(&world, |text| {
        text.replace("nickname: \"Grace\"", "nickname: \"Amazing Grace\" # Admiral")
    });
    assert!(daemon.stop().await.success());
    let _second = world.daemon();
    world.ask("hello again").await;
    in_group(&world, GRACE, "and again").await;
    let shown = run(&world, &["contacts", "show", "grace"]);
    assert!(shown.starts_with("Amazing Grace (tg:4712), in contacts/ACTIVE.md\n"), "{shown}");
    assert!(file(&world).contains("# Admiral"));
}

/// An owner alone hears of everybody, a group of the people in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_hears_of_its_own_people_alone() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    in_group(&world, GRACE, "hello").await;
    let own = world.ask("/contacts").await;
    assert!(own.contains("Ada Lovelace") && own.contains("Grace"), "{own}");
    let wrote = own.lines().filter(|line| line.contains("last wrote on 20"));
    assert_eq!(wrote.count(), 2, "{own}");
    let grace = world.ask("/contacts grace").await;
    let (ids, chats) = grace.split_once("chats: ").expect("a line of chats");
    assert!(!ids.contains("-100200300") && chats.contains("tg:-100200300"), "{grace}");
    let theirs = world.ask_in(GROUP.chat, GRACE, "/contacts@selkie_demo_bot").await;
    assert!(theirs.contains("Grace") && !theirs.contains("Ada"), "{theirs}");
    let [unmet, unknown] = ["ada", "zoe"].map(|name| format!("/contacts@selkie_demo_bot {name}"));
    let unmet = world.ask_in(GROUP.chat, GRACE, &unmet).await;
    let unknown = world.ask_in(GROUP.chat, GRACE, &unknown).await;
    assert_eq!(unmet, "I know nobody called ada here.");
    assert_eq!(unmet.replace("ada", "zoe"), unknown);
    in_group(&world, ADA, "here I am").await;
    let theirs = world.ask_in(GROUP.chat, GRACE, "/contacts@selkie_demo_bot ada").await;
    assert!(theirs.contains("Ada Lovelace"), "she has spoken here: {theirs}");
}

/// A name that somebody else has now is a contact of its own; the owner is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_answers_as_somebody_else_is_told_to_the_owner() {
    let mut world = World::offline().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    let taken = "# Active Contacts\n\n## Hopper\n```yaml\ncontact_id: \"tg:@grace\"\ntg_username: grace\ntg_user_id: 99\n```\n";
    fs::create_dir_all(world.home.state().join("contacts")).expect("a folder");
    fs::write(world.home.state().join(ACTIVE), taken).expect("written");
    let _daemon = world.daemon();
    in_group(&world, GRACE, "hello").await;
    let told = |m: &MessageView| m.from.is_bot && m.text.contains("now answers as");
    let told = world.within("the notice", world.telegram().wait_for(ADA, told)).await;
    let words = "tg:@grace now answers as tg:4712, and I have known it as tg:@grace";
    assert!(told.text.contains(words), "{}", told.text);
    assert_eq!(ids(&world), ["tg:4712", "tg:@grace"]);
    let merged = run(&world, &["contacts", "merge", "tg:4712", "tg:99"]);
    assert!(merged.contains("(tg:@grace), in contacts/ACTIVE.md\n"), "{merged}");
    assert!(merged.contains("merged_ids  [\"tg:4712\"]"), "{merged}");
    assert_eq!(ids(&world), ["tg:@grace"]);
    in_group(&world, GRACE, "and now?").await;
    assert_eq!(ids(&world), ["tg:@grace"], "it is them from now on");
    let undone = run(&world, &["undo", ACTIVE]);
    assert!(undone.starts_with("contacts/ACTIVE.md is as it was until 20"), "{undone}");
    assert!(
        undone.contains("Gone:\n") && undone.contains("  merged_ids: [\"tg:4712\"]\n"),
        "{undone}"
    );
    assert!(
        undone.contains("Back:\n") && undone.contains("  contact_id: \"tg:4712\"\n"),
        "{undone}"
    );
    assert_eq!(ids(&world), ["tg:4712", "tg:@grace"]);
}

/// A name of somebody of the group tells them, on each platform in its own way; nobody tells everybody.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_an_answer_is_a_mention() {
    let world = world().await;
    let _daemon = world.daemon();
    in_group(&world, GRACE, "hello").await;
    let message =
        world.telegram().say(GROUP.chat, ADA, "@selkie_demo_bot note: ask @Grace and @everyone");
    let said =
        world.within("an answer", world.telegram().wait_for_answer(GROUP.chat, message)).await;
    assert!(said.text.contains("@Grace") && said.text.contains("@everyone"), "{}", said.text);
    let mentioned: Vec<i64> =
        said.entities.iter().filter_map(|one| one["user"]["id"].as_i64()).collect();
    assert_eq!(mentioned, [GRACE], "{:?}", said.entities);
}

const MENTIONS: &str = "Ask @Grace, not @channel or @here: `@Grace` is {code}.";

#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_an_answer_is_a_mention_in_slack() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script_for("who brings tea?", vec![Turn::text(MENTIONS)]);
    let (slack, to) = (world.slack(), |text: &str| format!("<@{SLACK_BOT}> {text}"));
    let ts = slack.say(CHANNEL, SLACK_GRACE, &to("hello"));
    world.within("an answer", slack.wait_for_answer(CHANNEL, &ts)).await;
    let ts = slack.say(CHANNEL, SLACK_ADA, &to("who brings tea?"));
    let said = world.within("an answer", slack.wait_for_answer(CHANNEL, &ts)).await;
    let wanted = format!("Ask <@{SLACK_GRACE}>, not @channel or @here: `@Grace` is {{code}}.");
    assert_eq!(said.text, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_an_answer_is_a_mention_on_line() {
    let line = Line::start().await;
    let model = line.world.playground.model();
    model.script_for("who brings tea?", vec![Turn::text(MENTIONS)]);
    let hello = line.platform().say(LINE_GROUP, LINE_GRACE, &format!("{BOT_NAME} hello"));
    line.answer(LINE_GROUP, &hello).await;
    line.ask(LINE_GROUP, &format!("{BOT_NAME} who brings tea?")).await;
    let said = line.platform().calls_of("reply").pop().expect("a reply");
    let message = &said.body["messages"][0];
    assert_eq!((said.status, &message["type"]), (200, &json!("textV2")), "{message}");
    let told = &message["substitution"]["p1"]["mentionee"];
    assert_eq!(told, &json!({ "type": "user", "userId": LINE_GRACE }));
    assert!(
        message["text"].as_str().is_some_and(|text| text.starts_with("Ask {p1}, not @channel"))
    );
    assert!(
        message["text"].as_str().is_some_and(|text| text.ends_with("is {{code}}.")),
        "{message}"
    );
}

/// Who has left since cannot be told: the words come all the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_mentions_somebody_who_has_left_arrives() {
    let line = Line::start().await;
    let model = line.world.playground.model();
    model.script_for("who brings tea?", vec![Turn::text(MENTIONS)]);
    let hello = line.platform().say(LINE_GROUP, LINE_GRACE, &format!("{BOT_NAME} hello"));
    line.answer(LINE_GROUP, &hello).await;
    line.platform().leave(LINE_GROUP, LINE_GRACE);
    let said = line.ask(LINE_GROUP, &format!("{BOT_NAME} who brings tea?")).await;
    assert_eq!(said.text, "Ask @Grace, not @channel or @here: @Grace is {code}.");
    assert_eq!(line.platform().calls_of("reply").len(), 3, "once more, without");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_slack_are_noted_with_their_channels() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let ts = world.slack().say(DM, SLACK_ADA, "hello");
    world.within("an answer", world.slack().wait_for_answer(DM, &ts)).await;
    let all = listed(&world);
    let ada =
        all.iter().find(|one| one["fields"]["slack_user_id"] == json!(SLACK_ADA)).expect("Ada");
    assert_eq!(ada["fields"]["slack_dm_channel_id"], json!(DM));
    assert_eq!(ada["fields"]["channel"], "slack");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_line_are_noted() {
    let line = Line::offline().await;
    let _daemon = line.world.daemon();
    line.listening().await;
    line.ask(LINE_ADA, "hello").await;
    assert_eq!(ids(&line.world), [format!("line:{LINE_ADA}")]);
}

/// A group that becomes a supergroup takes along whose items are whose, and where people were met, over a kill.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_moves_takes_its_items_and_its_people_along() {
    let world = world().await;
    let mut daemon = world.daemon();
    let add = json!({ "action": "add", "content": "2099-12-24 18:00 Book the room", "people": [] });
    in_group(&world, GRACE, &format!("call todo_update {add}")).await;
    assert_eq!(ids(&world), ["tg:4712"]);
    world.telegram().migrate(GROUP.chat, NEW);
    let notice = world.telegram().wait_for(ADA, |m| m.text.contains("is now"));
    world.within("the notice", notice).await;
    daemon.kill();
    // As a crash leaves it that came before the files were changed.
    let todo = world.home.state().join("TODO.md");
    let text = fs::read_to_string(&todo).expect("items");
    let before = text.replace(&format!("tg:{NEW}"), &format!("tg:{}", GROUP.chat));
    fs::write(&todo, before).expect("written");
    daemon = world.daemon();
    let there = |text: &str| world.telegram().say(NEW, GRACE, &format!("@selkie_demo_bot {text}"));
    let seen = async || loop {
        let text = fs::read_to_string(&todo).unwrap_or_default();
        if text.contains(&format!("[ChatID](tg:{NEW}) | 2099-12-24")) {
            break;
        }
        tokio::task::yield_now().await;
    };
    world.within("the item under its new chat", seen()).await;
    let done = json!({ "action": "complete", "content": "room" });
    let message = there(&format!("call todo_update {done}"));
    let said = world.answer(NEW, message).await;
    assert!(said.contains(r#""done_added":1"#), "{said}");
    let shown = run(&world, &["contacts", "show", "tg:4712", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["fields"]["tg_group_chat_ids"], json!([NEW.to_string()]));
    assert!(daemon.stop().await.success());
}

/// The file tools reach the lists through their one writer: what cannot be read is refused with its place.
#[tokio::test(flavor = "multi_thread")]
async fn tools_change_the_lists_and_break_nothing() {
    let world = world().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    assert_eq!(ids(&world), ["tg:4711"]);
    let call =
        |tool: &str, args: Value| world.home.run(&["tools", "call", tool, &args.to_string()]);
    let path = "file_state_dir/contacts/ACTIVE.md";
    let name = "nickname: \"Ada Lovelace\"";
    let edit = |new: &str| json!({ "path": path, "old_string": name, "new_string": new });
    let before = file(&world);
    let (code, out, _) = call("edit_file", edit("nickname: [\"Ada"));
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("nothing was written, for contacts/ACTIVE.md could not be read then: lines "),
        "{out}"
    );
    assert_eq!(file(&world), before);
    let (code, out, _) = call("edit_file", edit("nickname: \"Countess\""));
    assert_eq!(code, 0, "{out}");
    assert!(run(&world, &["contacts", "show", "countess"]).starts_with("Countess (tg:4711)"));
    let (code, out, _) = call(
        "write_file",
        json!({ "path": "file_state_dir/TODO.md", "content": "- [ ] Buy milk\n", "mode": "append" }),
    );
    assert_eq!(code, 0, "{out}");
    let (code, out, _) = call(
        "write_file",
        json!({ "path": "file_state_dir/TODO.md", "content": "- [ ]Buy milk\n", "mode": "append" }),
    );
    assert_eq!((code, out.contains("could not be read then: line ")), (1, true), "{out}");
    let versions = run(&world, &["undo", ACTIVE, "--list"]);
    assert!(versions.lines().all(|line| line.contains("  until 20")), "{versions}");
}
