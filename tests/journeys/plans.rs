//! A plan is one message that is edited while the work goes on, and stays as it stood at the end.

use selkie_playground::telegram::{self, PRIVATE};
use selkie_playground::{Slack, slack};
use serde_json::json;

use crate::support::world::World;

const LEFT: [&str; 3] = ["look", "cook", "eat"];

async fn world() -> World {
    let sections = json!({
        "llm": { "provider": "offline" }, "progress": { "after": "1ms", "every": "1ms" },
    });
    let mut world = World::with(sections).await;
    world.add_slack();
    world
}

/// Plans, and then runs a command that ends when the file is there.
fn wish(world: &World) -> String {
    let path = world.home.folder().join("go");
    let cmd = format!("while [ ! -e {} ]; do sleep 0.02; done", path.display());
    format!("plan: look > cook > eat, then call bash {}", json!({ "cmd": cmd }))
}

fn let_go(world: &World) {
    std::fs::write(world.home.folder().join("go"), "").expect("a file");
}

/// Whether a text is the plan while its first step is being done.
fn is_going_on(text: &str) -> bool {
    text.contains("⏳ look\n◻ cook\n◻ eat") && text.contains("running a command")
}

fn is_left(text: &str) -> bool {
    text.contains(&LEFT.map(|step| format!("◻ {step}")).join("\n")) && !text.contains('⏳')
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_in_one_message() {
    let world = world().await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, telegram::ADA, &wish(&world));
    let seen = world.telegram().wait_for(PRIVATE, |m| is_going_on(&m.text));
    let plan = world.within("the plan", seen).await;
    let_go(&world);
    let answered = world.telegram().wait_for(PRIVATE, |m| m.text.starts_with("The plan:"));
    world.within("the answer", answered).await;
    let left = world.telegram().wait_for(PRIVATE, |m| m.id == plan.id && is_left(&m.text));
    world.within("the plan as it stands", left).await;
    assert_eq!(world.texts(PRIVATE).len(), 2, "the plan and the answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_in_one_message_on_slack() {
    let world = world().await;
    let _daemon = world.daemon();
    world.slack().say(slack::DM, slack::ADA, &wish(&world));
    let shown = async |fits: &dyn Fn(&slack::SlackMessage) -> bool| {
        let look = |s: &Slack| s.messages(slack::DM).into_iter().find(|m| m.is_bots() && fits(m));
        world.within("a message", world.slack().wait_until(look)).await
    };
    let plan = shown(&|m| is_going_on(&m.text)).await;
    let_go(&world);
    shown(&|m| m.text.starts_with("The plan:")).await;
    shown(&|m| m.ts == plan.ts && is_left(&m.text)).await;
    let said = world.slack().messages(slack::DM).iter().filter(|m| m.is_bots()).count();
    assert_eq!(said, 2, "the plan and the answer");
}
