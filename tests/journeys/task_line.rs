//! One line of the log tells a task from its message to its receipt, and no word of anybody.

use serde_json::{Value, json};

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_one_line_without_words() {
    let logging = json!({ "level": "info", "format": "json" });
    let world = World::with(json!({ "llm": { "provider": "offline" }, "logging": logging })).await;
    let daemon = world.daemon();
    world.ask("note: buy milk").await;
    world.home.logged(0, |log| log.contains("a task has ended")).await;
    assert!(daemon.stop().await.success());
    let log = world.home.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("a task has ended")).collect();
    let [line] = lines.as_slice() else { panic!("{log}") };
    let line: Value = serde_json::from_str(line).expect("JSON");
    let fields = &line["fields"];
    assert_eq!((&line["level"], &fields["channel"]), (&json!("INFO"), &json!("telegram")));
    assert_eq!((&fields["conversation"], &fields["task"]), (&json!("tg:4711"), &json!("1")));
    assert_eq!((&fields["outcome"], &fields["sent"]), (&json!("done"), &json!("sent")));
    assert_eq!((&fields["model_calls"], &fields["tool_calls"]), (&json!(3), &json!(2)));
    assert_eq!(fields["tools"], "todo_read,todo_write");
    for count in
        ["wait_ms", "model_ms", "tool_ms", "send_ms", "tokens_in", "tokens_out", "cost_usd"]
    {
        assert!(fields[count].is_number(), "{count}: {fields}");
    }
    assert!(!log.contains("milk"), "{log}");
}
