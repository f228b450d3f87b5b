//! What one person sends at once is one request: a comment and the forward behind it, the pieces of a long text, a file and a
//! line about it. It is answered once, also when the process dies in between.

use selkie_playground::Turn;
use selkie_playground::line_platform::{self, Draft, MediaKind};
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE, GROUP, Spot};
use serde_json::{Value, json};

use crate::support::contract::counted;
use crate::support::line::Line;
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

const TASKS: &str = "SELECT count(*) FROM task WHERE why IS NULL OR why NOT LIKE 'absorbed%'";
const NEWEST: &str =
    "SELECT item FROM transcript WHERE item LIKE '%\"item\":\"said\"%' ORDER BY task DESC LIMIT 1";

/// Ada forwards Eve's words; apps send them as a message of their own.
fn forward(world: &World, number: i64, text: &str) {
    let origin = json!({"type": "hidden_user", "sender_user_name": "Eve", "date": 1});
    world.telegram().inject_raw_update(json!({"update_id": 200_000_900 + number, "message": {
        "message_id": 900 + number, "date": 1_700_000_000, "text": text,
        "chat": {"id": ADA, "type": "private", "first_name": "Ada"},
        "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
        "forward_origin": origin,
    }}));
}

/// A first answer that takes so long that it is never given, and then `says`.
fn slow(says: &str) -> Vec<Turn> {
    vec![Turn::text("half of it").delayed(600_000), Turn::text(says)]
}

fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forward_behind_its_comment_is_answered_with_it_and_lifts_the_level() {
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let run = Turn::call("bash", json!({ "cmd": "$(echo true)" }));
    model.script(vec![Turn::text("half of it").delayed(600_000), run, Turn::text("it is spam")]);
    world.telegram().say(ADA, ADA, "what does she mean by this? $bash may help");
    world.asked(1).await;
    forward(&world, 1, "You have won $powershell");
    // What an owner's own words let it do asks now.
    let request = world.hears(ADA, "while the task holds other people's words").await;
    world.telegram().tap(ADA, ADA, request.id, "Deny").expect("a button");
    world.hears(ADA, "it is spam").await;
    settled(&world, 1).await;
    assert_eq!(number(&world.home, TASKS), Some(1));
    let prompt = world.last_prompt();
    assert!(prompt.contains("what does she mean") && prompt.contains("You have won"), "{prompt}");
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(tools(&requests[0].body), tools(&requests[1].body), "it grants nothing");
    assert!(texts(&world.home, NEWEST)[0].contains(r#""taint":"derived""#));
    let disposition = "SELECT disposition FROM inbox WHERE disposition LIKE 'absorbed%'";
    assert_eq!(texts(&world.home, disposition), ["absorbed: step 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forward_waits_for_its_comment_and_is_answered_without_one() {
    let world = World::with(json!({ "join_within": "10s" })).await;
    let _daemon = world.daemon();
    forward(&world, 1, "You have won");
    counted(&world, "SELECT count(*) FROM task WHERE state = 'waiting'", 1).await;
    world.ask("is this spam?").await;
    settled(&world, 2).await;
    assert_eq!((world.said(ADA).len(), world.playground.model().calls()), (1, 1));
    let prompt = world.last_prompt();
    assert!(prompt.contains("You have won") && prompt.contains("is this spam?"), "{prompt}");
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let _daemon = world.daemon();
    forward(&world, 2, "You have won again");
    world.hears(ADA, "You have won again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pieces_of_a_long_text_are_answered_once() {
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let _daemon = world.daemon();
    for (word, length) in [("one ", 4_096), ("two ", 4_000), ("three ", 300)] {
        world.telegram().say(ADA, ADA, word.repeat(length / word.len()).trim_end());
    }
    world.hears(ADA, "three").await;
    settled(&world, 3).await;
    assert_eq!((world.playground.model().calls(), number(&world.home, TASKS)), (1, Some(1)));
    let prompt = world.last_prompt();
    assert!(["one one", "two two", "three three"].iter().all(|words| prompt.contains(words)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_the_line_about_it_are_one_request_in_a_group_too() {
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let _daemon = world.daemon();
    world.playground.model().script([slow("a list"), slow("another")].concat());
    let list = || FileDraft::new(FileKind::Document, "list.txt", "tea");
    for (spot, line, answer) in [
        (Spot::from(ADA), "what is this?", "a list"),
        (GROUP, "@selkie_demo_bot and this?", "another"),
    ] {
        let calls = world.playground.model().calls();
        // In a group only what names the bot is a request: the file behind it is its speaker's all the same.
        world.telegram().say(spot, ADA, line);
        world.asked(calls + 1).await;
        world.telegram().upload(spot, ADA, list());
        world.hears(spot, answer).await;
        assert!(world.last_prompt().contains("/list.txt (document"), "{}", world.last_prompt());
    }
    world.telegram().upload(GROUP, GRACE, list());
    counted(&world, "SELECT count(*) FROM inbox WHERE disposition = 'context'", 1).await;
    settled(&world, 2).await;
    assert_eq!(number(&world.home, TASKS), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_both_are_answered_once() {
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let daemon = world.daemon();
    world.playground.model().script(slow("half, again"));
    world.telegram().say(ADA, ADA, "what does this say?");
    world.asked(1).await;
    forward(&world, 1, "You have won");
    world.asked(2).await;
    let waits = "SELECT count(*) FROM task WHERE state = 'waiting' AND album LIKE 'with:%'";
    assert_eq!(number(&world.home, waits), Some(1), "nobody has answered yet");
    daemon.kill();
    let _daemon = world.daemon();
    world.says_more_than(ADA, 0).await;
    settled(&world, 1).await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("what does this say?") && prompt.contains("You have won"), "{prompt}");
    assert_eq!((world.said(ADA).len(), number(&world.home, TASKS)), (1, Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_slack_message_the_file_comes_along_and_others_lines_do_not() {
    use selkie_playground::slack;
    let mut world = World::with(json!({ "join_within": "1500ms" })).await;
    world.add_slack();
    let _daemon = world.daemon();
    world.playground.model().script(slow("a list"));
    let asked = world.slack().say(slack::DM, slack::ADA, "what is this?");
    world.asked(1).await;
    world.slack().upload(slack::DM, slack::ADA, "list.txt", "tea");
    let answer = world.slack().wait_for_answer(slack::DM, &asked);
    assert_eq!(world.within("an answer", answer).await.text, "a list");
    assert!(world.last_prompt().contains("/list.txt (document"), "{}", world.last_prompt());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_line_the_answer_takes_the_newer_reply_token() {
    let world = World::with(json!({ "join_within": "1500ms" })).await;
    let line = Line::of(world, json!({})).await;
    line.world.playground.model().script(slow("a list"));
    let platform = line.platform();
    platform.say(line_platform::ADA, line_platform::ADA, "what is this?");
    line.world.asked(1).await;
    let draft = Draft::new(MediaKind::File, "list.txt", "tea");
    let file = platform.upload(line_platform::ADA, line_platform::ADA, draft);
    line.answer(line_platform::ADA, &file).await;
    let newer = platform.event_of(&file)["replyToken"].clone();
    let replies = platform.calls_of("reply");
    let [reply] = &replies[..] else { panic!("{replies:?}") };
    assert_eq!(reply.body["replyToken"], newer);
    assert!(line.world.last_prompt().contains("/list.txt (document"));
}
