//! Files on Slack, both ways: read by tools, whole, also those of another workspace; refused in words.

use selkie_playground::slack::{ADA, DM};
use selkie_playground::{Slack, Turn};
use serde_json::json;

use crate::support::world::World;

/// The path by which the last prompt names a file.
fn told(world: &World) -> String {
    let prompt = world.last_prompt();
    let (_, rest) = prompt.rsplit_once("(file: ").unwrap_or_else(|| panic!("no file in {prompt}"));
    rest.split_once(" (").expect("a kind after the path").0.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_in_and_goes_out() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let slack = world.slack();
    for elsewhere in [false, true] {
        let ts = match elsewhere {
            false => slack.upload(DM, ADA, "tide.txt", "06:12 high"),
            true => slack.share_from_elsewhere(DM, ADA, "tide.txt", "06:12 high"),
        };
        world.within("an answer", slack.wait_for_answer(DM, &ts)).await;
        let path = told(&world);
        let back = json!({ "path": path, "filename": "back.txt", "caption": "**here**" });
        world.playground.model().script(vec![
            Turn::call("read_file", json!({ "path": path })),
            Turn::call("slack_send_file", back),
            Turn::text("sent"),
        ]);
        let ts = slack.say(DM, ADA, "read it and send it back");
        let done = |slack: &Slack| {
            let answers = slack.answers(DM, &ts);
            answers.iter().any(|m| m.text == "sent").then_some(answers)
        };
        let answers = world.within("the last word", slack.wait_until(done)).await;
        assert!(world.last_prompt().contains("06:12 high"), "{}", world.last_prompt());
        let file = &answers.iter().find(|m| !m.files.is_empty()).expect("a file").files[0];
        assert_eq!(slack.file(file).unwrap(), "06:12 high");
        assert_eq!(slack.file_name(file).as_deref(), Some("back.txt"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_scope_the_person_learns_why_there_is_no_file() {
    let world = World::with_slack().await;
    world.slack().remove_scope("files:read");
    let _daemon = world.daemon();
    let ts = world.slack().share_from_elsewhere(DM, ADA, "tide.txt", "06:12 high");
    world.within("an answer", world.slack().wait_for_answer(DM, &ts)).await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("missing_scope: the app needs files:read"), "{prompt}");
}
