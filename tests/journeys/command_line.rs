//! The command line beside a daemon and without one: the same answers, the same exit codes.

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::{Value, json};

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn trace_tells_the_chain_with_a_daemon_and_without() {
    let world = World::start().await;
    let daemon = world.daemon();
    let message = world.telegram().say(ADA, ADA, "trace me");
    world.answer(ADA, message).await;
    // A receipt is written behind the answer: the next answer comes after it.
    world.ask("and this").await;
    let beside = world.trace(&message.to_string());
    assert!(daemon.stop().await.success());
    let alone = world.trace(&message.to_string());
    assert_eq!(beside, alone);
    let chain = &alone[0];
    assert_eq!(chain["inbound"]["text"], "trace me");
    assert_eq!(chain["task"]["state"], "done", "{chain:#}");
    let part = &chain["outbounds"][0]["parts"][0];
    assert_eq!(part["state"], "sent", "{chain:#}");
    assert!(!part["receipt"].is_null(), "{chain:#}");
    let (code, out, _) = world.home.run(&["trace", &message.to_string()]);
    assert_eq!(code, 0);
    for word in ["inbox ", "Task ", "done", "sent", "trace me"] {
        assert!(out.contains(word), "{word} is missing in:\n{out}");
    }
    let (code, out, err) = world.home.run(&["trace", "no-such-message"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("nothing is known about \"no-such-message\""), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_streams_progress_and_prints_the_answer_with_a_daemon_and_without() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let spoken = world.telegram().counted("sendMessage");
    asks(&world);
    assert!(daemon.stop().await.success());
    asks(&world);
    assert_eq!(world.telegram().counted("sendMessage"), spoken, "a terminal is no chat");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_in_the_terminal_is_known_until_a_reset_and_traced() {
    let world = World::start().await;
    let ask = |text: &str| {
        let (code, _, err) = world.home.run(&["ask", text]);
        assert_eq!(code, 0, "{err}");
        world.playground.model().requests().last().expect("a request").body.to_string()
    };
    ask("the teapot is blue");
    assert!(ask("which colour?").contains("the teapot is blue"));
    let (code, out, _) = world.home.run(&["trace", "1"]);
    assert_eq!(code, 0);
    for word in ["cause ask:", "Words of", "\"the teapot is blue\"", "Task 1", "done", "sent"] {
        assert!(out.contains(word), "{word} is missing in:\n{out}");
    }
    ask("/reset");
    assert!(!ask("and now?").contains("the teapot is blue"));
}

/// One question that is answered, for people and for scripts, and one that fails.
fn asks(world: &World) {
    let turns = || vec![Turn::call("think", json!({"thought": "hm"})), Turn::text("forty-two")];
    let model = world.playground.model();
    model.script(turns());
    let (code, out, err) = world.home.run(&["ask", "what is six by seven?"]);
    assert_eq!((code, out.as_str()), (0, "forty-two\n"), "{err}");
    assert!(err.contains("→ think"), "{err}");
    model.script(turns());
    let (code, out, _) = world.home.run(&["ask", "again", "--json"]);
    let lines: Vec<Value> =
        out.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect();
    assert_eq!((code, lines.last()), (0, Some(&json!({"ended": "done"}))), "{out}");
    assert!(lines.contains(&json!({"said": "forty-two"})), "{out}");
    model.script(vec![Turn::refuse(401, "no such key")]);
    let (code, out, err) = world.home.run(&["ask", "without a key"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(out.matches("refuses the key").count(), 1, "{out}");
    // Beside the log, which is open to its depths here.
    assert!(!err.contains("selkie: "), "what is wrong is said once: {err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_by_hand_with_a_daemon_and_without() {
    let world = World::offline().await;
    let todo = r#"{"todos": [{"id": "1", "title": "by hand", "status": "pending"}]}"#;
    let call = ["tools", "call", "todo_write", todo, "todo_read", "{}"];
    let (code, alone, err) = world.home.run(&call);
    assert_eq!((code, alone.matches("by hand").count()), (0, 2), "{alone}{err}");
    let daemon = world.daemon();
    world.ask("hello").await;
    let (code, beside, _) = world.home.run(&call);
    assert_eq!((code, beside.as_str()), (0, alone.as_str()));
    let (code, out, err) = world.home.run(&["tools", "call", "todo_write", "{}"]);
    assert_eq!((code, out.as_str(), err.as_str()), (1, "todos is required\n", ""));
    let both = ["tools", "call", "todo_write", "{}", "todo_read", "{}"];
    assert!(world.home.run(&both).2.contains("todo_write failed"), "of several it is named");
    let hidden = ["tools", "call", "--in", "telegram:group", "--json", "read_file"];
    let (code, out, err) = world.home.run(&[&hidden[..], &[r#"{"path": "/etc/hosts"}"#]].concat());
    assert_eq!(code, 1, "{out}{err}");
    let answers: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answers[0]["is_error"], true, "{answers}");
    let (code, _, err) = world.home.run(&["tools", "call", "todo_read", "{not json"]);
    assert_eq!(code, 2, "{err}");
    drop(daemon);
}
