//! A call that asks first, at a terminal: y makes it, anything else does not; in a pipe it is refused with the reason.

use std::fs;

use serde_json::json;

use crate::support::terminal::AtTerminal;
use crate::support::world::World;

const ASKED: &str = "add to plan.txt: tea at four";

/// A world in which the command line asks before it changes files.
async fn world() -> World {
    World::with(json!({
        "llm": { "provider": "offline" },
        "approvals": { "policy": [{ "place": "cli", "ask": ["write"] }] },
    }))
    .await
}

/// Asks at a terminal, types this at the question, and returns what was shown.
async fn asked(world: &World, typed: &str) -> String {
    let mut terminal = AtTerminal::start(world.home.command(&["ask", ASKED]));
    let shown = world.within("a question", terminal.shows("Approve it? [y/N]")).await;
    assert!(shown.contains("May I create "), "{shown}");
    assert!(shown.contains("tea at four"), "the whole call: {shown}");
    assert!(!shown.contains('`') && !shown.contains("cli:local"), "{shown}");
    assert!(shown.contains("(no answer within 5 minutes counts as no)"), "{shown}");
    assert_eq!(wrote(world), None, "nothing is done before");
    terminal.types(typed);
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(status.success(), "{shown}");
    shown
}

fn wrote(world: &World) -> Option<String> {
    fs::read_to_string(world.home.folder().join("plan.txt")).ok()
}

async fn answers(world: &World) {
    for typed in ["n\n", "\n", "perhaps\nmaybe\n"] {
        let shown = asked(world, typed).await;
        assert!(!shown.contains("Added to plan.txt."), "{typed:?}: {shown}");
        assert!(
            shown.contains("You said no.") && !shown.contains("cli:local"),
            "{typed:?}: {shown}"
        );
        let again = shown.contains("Please answer y or n.");
        assert_eq!(again, typed.starts_with("perhaps"), "{typed:?}: {shown}");
        assert_eq!(wrote(world), None, "{typed:?}");
    }
    let shown = asked(world, "certainly\ny\n").await;
    assert!(shown.contains("Added to plan.txt."), "{shown}");
    assert_eq!(wrote(world).as_deref(), Some("tea at four\n"), "once");
    fs::remove_file(world.home.folder().join("plan.txt")).expect("a file");
}

fn is_refused_in_a_pipe(world: &World) {
    let (_, out, err) = world.home.run(&["ask", ASKED]);
    assert!(out.contains("without a terminal, where nobody can be asked"), "{out}{err}");
    assert_eq!(wrote(world), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_asks_is_asked_at_the_terminal_and_refused_in_a_pipe() {
    let world = world().await;
    answers(&world).await;
    is_refused_in_a_pipe(&world);
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    answers(&world).await;
    is_refused_in_a_pipe(&world);
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_model_is_away_the_terminal_says_what_is_waited_for() {
    // Nothing listens there.
    let endpoint = "http://127.0.0.1:9/v1";
    let world =
        World::with(json!({ "llm": { "endpoint": endpoint, "model": "m", "api_key": "k" } })).await;
    let mut terminal = AtTerminal::start(world.home.command(&["ask", "hello"]));
    let waits = "waiting for the model to answer";
    world.within("a sign of life", terminal.shows(waits)).await;
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(!status.success(), "{shown}");
    assert!(shown.contains("\r\u{1b}[2K"), "it goes when there is more to say: {shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_is_closed_at_the_question_allows_nothing() {
    let world = world().await;
    let mut terminal = AtTerminal::start(world.home.command(&["ask", ASKED]));
    world.within("a question", terminal.shows("Approve it? [y/N]")).await;
    // Ctrl-D at the beginning of a line.
    terminal.types("\u{4}");
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(!status.success(), "{shown}");
    assert!(shown.contains("the task is stopped"), "{shown}");
    assert_eq!(wrote(&world), None);
}
