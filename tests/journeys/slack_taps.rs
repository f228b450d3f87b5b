//! A tap on a button: through the real socket into a row, acknowledged then, stored once.

use selkie_playground::Slack;
use selkie_playground::slack::{CHANNEL, GRACE};
use serde_json::{Value, json};

use crate::support::rows::texts;
use crate::support::world::World;

/// The taps that are stored: question, choice, speaker, conversation.
const TAPS: &str =
    "SELECT concat_ws(' ', inbound ->> '$.what.question', inbound ->> '$.what.choice',
        inbound ->> '$.speaker.id', inbound ->> '$.conversation')
    FROM inbox WHERE inbound ->> '$.what.kind' = 'tap' ORDER BY id";

fn button(action_id: &str, label: &str) -> Value {
    json!({ "type": "button", "action_id": action_id, "value": "yes",
        "text": { "type": "plain_text", "text": label } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_is_a_row_before_it_is_acknowledged() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let slack = world.slack();
    let root = slack.say(CHANNEL, GRACE, "a thread");
    let buttons = [button("selkie:q7:0", "Yes"), button("other", "Other")];
    let post = json!({
        "channel": CHANNEL, "thread_ts": root, "text": "Really?",
        "blocks": [{ "type": "actions", "elements": buttons }],
    });
    let posted = slack.as_bot("chat.postMessage", &post).unwrap();
    let ts = posted["ts"].as_str().unwrap();
    assert!(slack.tap(CHANNEL, ts, GRACE, "Yes") && slack.tap(CHANNEL, ts, GRACE, "Other"));
    let acknowledged = slack.wait_until(|slack| (slack.envelopes() == (3, 0)).then_some(()));
    world.within("three acknowledgements", acknowledged).await;
    let stored = texts(&world.home, TAPS);
    let thread = format!("slack:T0PLAY:{CHANNEL}:{root}");
    assert_eq!(stored.len(), 2, "{stored:?}");
    // Two envelopes are taken side by side: either may be stored first.
    let ours = stored.iter().find(|tap| tap.starts_with("q7 yes slack:T0PLAY:U0GRACE "));
    assert!(ours.is_some_and(|tap| tap.ends_with(&thread)), "{stored:?}");
    let told = |slack: &Slack| (slack.whispers(CHANNEL, GRACE).len() == 2).then_some(());
    world.within("a word about both", slack.wait_until(told)).await;
    let whisper = slack.whispers(CHANNEL, GRACE).remove(0);
    assert_eq!(whisper.thread, Some(root), "where the buttons stand");
    let foreign = stored.iter().find(|tap| tap.trim_start().starts_with("slack:T0PLAY:U0GRACE"));
    assert!(foreign.is_some(), "none of ours: {stored:?}");
}
