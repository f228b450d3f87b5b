//! Answers while they are written: at the terminal piece by piece, in a chat as one message that is edited, which the
//! whole answer takes over, whatever happens in between.

use selkie_playground::slack::{self, BOT, CHANNEL};
use selkie_playground::telegram::{ADA, GROUP, MessageView, PRIVATE};
use selkie_playground::{Fault, FaultKind, ScriptedCall, Turn};
use serde_json::json;

use crate::support::terminal::AtTerminal;
use crate::support::world::World;

const PIECES: [&str; 4] = ["The water", " will come", " at four", " and go at ten."];
const WHOLE: &str = "The water will come at four and go at ten.";

async fn world() -> World {
    World::with(json!({ "progress": { "status": "off", "stream_after": "1ms", "every": "1ms" } }))
        .await
}

/// Ada asks, and the beginning of the answer is there.
async fn begun(world: &World) -> MessageView {
    world.telegram().say(ADA, ADA, "when is the tide?");
    world.asked(1).await;
    world.playground.model().write_on(1);
    world.hears(PRIVATE, "The water will").await
}

/// Waits until the first message of the bot says this and nothing else.
async fn says(world: &World, text: &str) -> MessageView {
    let whole = |m: &MessageView| m.text == text;
    world.within(text, world.telegram().wait_for(PRIVATE, whole)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_one_message_that_grows() {
    let world = world().await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let first = begun(&world).await;
    model.write_on(1);
    world.hears(PRIVATE, "will come at four …").await;
    model.write_on(2);
    let last = says(&world, WHOLE).await;
    assert_eq!((last.id, world.texts(PRIVATE).len()), (first.id, 1), "one message");
    assert_eq!(world.telegram().counted("sendMessage"), 1);
    // What is kept says what was said, once.
    let trace = world.trace("1");
    assert!(json!(trace).to_string().contains(WHOLE), "{trace:?}");
    daemon.stop().await;
    assert_eq!(left(&world), 0, "nothing is left to take away");
}

/// How many messages are noted as standing.
fn left(world: &World) -> i64 {
    crate::support::rows::number(&world.home, "SELECT count(*) FROM streamed_message").unwrap_or(-1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_goes_on_in_further_messages() {
    let world = world().await;
    let _daemon = world.daemon();
    let long = "All about tides. ".repeat(400);
    let pieces = ["The water", " will come.\n\n", &long, "\n\nThe end."];
    let model = world.playground.model();
    model.script(vec![Turn::paced(pieces)]);
    let first = begun(&world).await;
    model.write_on(3);
    world.hears(PRIVATE, "The end.").await;
    let said = world.said(PRIVATE);
    assert!(said.len() > 1 && said[0].id == first.id, "{}", said.len());
    assert!(said[0].text.starts_with("The water will come."));
    assert!(said.iter().all(|m| !m.text.contains('…')), "nothing says that it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_leaves_one_message_that_the_next_life_finishes() {
    let world = world().await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let first = begun(&world).await;
    let noted = async {
        while crate::support::rows::number(
            &world.home,
            "SELECT count(message) FROM streamed_message",
        ) != Some(1)
        {
            tokio::task::yield_now().await;
        }
    };
    world.within("the message's id", noted).await;
    daemon.kill();
    model.script(vec![Turn::text(WHOLE)]);
    let _daemon = world.daemon();
    let last = says(&world, WHOLE).await;
    assert_eq!((last.id, world.texts(PRIVATE).len()), (first.id, 1), "one message");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_wrote_that_failed_is_replaced() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let failing = Turn::Paced {
        pieces: PIECES[..3].iter().map(|piece| (*piece).to_owned()).collect(),
        calls: Vec::new(),
        breaks: true,
    };
    model.script(vec![failing, Turn::text("It comes in at five.")]);
    let first = begun(&world).await;
    model.write_on(2);
    let last = says(&world, "It comes in at five.").await;
    assert_eq!((last.id, world.texts(PRIVATE).len()), (first.id, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn words_before_a_call_give_way_to_the_answer() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let call = ScriptedCall { name: "todo_write".into(), arguments: r#"{"todos":[]}"#.into() };
    let looks = Turn::Paced {
        pieces: vec!["The water".into(), " will".into(), " be up soon: I look.".into()],
        calls: vec![call],
        breaks: false,
    };
    model.script(vec![looks, Turn::text(WHOLE)]);
    let first = begun(&world).await;
    model.write_on(2);
    let last = says(&world, WHOLE).await;
    assert_eq!((last.id, world.texts(PRIVATE).len()), (first.id, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_somebody_has_deleted_is_sent_anew() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    begun(&world).await;
    // Telegram's words for a message that is gone.
    let gone = "Bad Request: message to edit not found";
    let refused = FaultKind::Refuse { code: 400, description: gone.into() };
    world.telegram().fault(Fault::next("editMessageText", refused).times(1_000));
    model.write_on(1);
    let refused = async {
        while world.telegram().counted("editMessageText") == 0 {
            tokio::task::yield_now().await;
        }
    };
    world.within("a refused edit", refused).await;
    model.write_on(2);
    says(&world, WHOLE).await;
    let mut events = world.telegram().subscribe();
    let gone = async {
        while world.texts(PRIVATE).len() > 1 {
            events.recv().await.expect("the playground lives");
        }
    };
    world.within("the end of what cannot be changed", gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_before_a_stop_stays_and_says_so() {
    let world = world().await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    begun(&world).await;
    world.telegram().say(ADA, ADA, "/stop");
    world.hears(PRIVATE, "Stopped").await;
    world.hears(PRIVATE, "(stopped)").await;
    daemon.stop().await;
    assert_eq!(left(&world), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_hidden_across_the_borders_of_pieces() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let pieces = ["The water", " will", " bring sk-playgr", "ound-key-123456", "7890 in hand."];
    model.script(vec![Turn::paced(pieces)]);
    begun(&world).await;
    for _ in 0..3 {
        model.write_on(1);
    }
    model.write_on(1);
    says(&world, "The water will bring [redacted] in hand.").await;
    let calls = world.telegram().calls();
    assert!(calls.iter().all(|call| !call.params.to_string().contains("sk-play")), "{calls:?}");
}

/// What marks take apart in what a model writes, the platform puts together.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_marks_take_apart_is_hidden_across_the_borders_of_pieces() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let pieces = [
        "The water",
        " will",
        " bring sk-play**gr",
        "ound-k**[ey-12](https",
        "://x.example)34567890 in hand.",
    ];
    model.script(vec![Turn::paced(pieces)]);
    begun(&world).await;
    for _ in 0..3 {
        model.write_on(1);
    }
    model.write_on(1);
    says(&world, "The water will bring [redacted] in hand.\n\nhttps://x.example").await;
    let calls = world.telegram().calls();
    let shows =
        |params: &str| ["sk-", "play", "ground", "ey-12"].iter().any(|part| params.contains(part));
    assert!(calls.iter().all(|call| !shows(&call.params.to_string())), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_it_answers_whoever_asked() {
    let world = world().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let asked = world.telegram().say(GROUP, ADA, "@selkie_demo_bot when is the tide?");
    world.asked(1).await;
    model.write_on(1);
    world.hears(GROUP, "The water will").await;
    model.write_on(3);
    let whole = world.hears(GROUP, WHOLE).await;
    assert_eq!((whole.text.as_str(), whole.reply_to), (WHOLE, Some(asked)));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_slack_it_is_one_message_too_and_anew_when_that_is_gone() {
    let mut world = World::with_slack().await;
    let progress = json!({ "status": "off", "stream_after": "1ms", "every": "1ms" });
    world.home.set("progress", progress);
    let _daemon = world.daemon();
    let (model, slack) = (world.playground.model(), world.slack());
    for is_gone in [false, true] {
        model.script(vec![Turn::paced(PIECES)]);
        let asked = slack.say(CHANNEL, slack::ADA, &format!("<@{BOT}> when is the tide?"));
        model.write_on(1);
        let first = world.within("the beginning", slack.wait_for_answer(CHANNEL, &asked)).await;
        assert!(first.text.starts_with("The water"), "{}", first.text);
        if is_gone {
            slack.delete(CHANNEL, &first.ts);
        }
        model.write_on(3);
        let whole = slack.wait_until(|slack| {
            let answers = slack.answers(CHANNEL, &asked);
            answers.iter().any(|m| m.text == WHOLE).then_some(answers)
        });
        let answers = world.within("the whole answer", whole).await;
        assert_eq!((answers.len(), answers[0].ts != first.ts), (1, is_gone));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_off_is_off() {
    let world = World::with(json!({
        "progress": { "status": "off", "stream": "off", "stream_after": "1ms", "every": "1ms" },
    }))
    .await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    world.telegram().say(ADA, ADA, "when is the tide?");
    model.write_on(4);
    says(&world, WHOLE).await;
    assert_eq!(world.telegram().counted("editMessageText"), 0);
}

/// At a terminal, beside a daemon or alone.
async fn reads_along(world: &World) {
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let mut terminal = AtTerminal::start(world.home.command(&["ask", "when is the tide?"]));
    world.within("the first token", terminal.shows("The water")).await;
    model.write_on(1);
    let shown = world.within("the second token", terminal.shows("will come")).await;
    assert!(!shown.contains("at four"), "{shown}");
    model.write_on(3);
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(status.success() && shown.contains(WHOLE), "{shown}");
    assert_eq!(shown.matches("The water").count(), 1, "nothing is printed twice: {shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_every_token_as_it_comes() {
    let world = world().await;
    reads_along(&world).await;
    let before = world.home.log().len();
    let _daemon = world.daemon();
    let up = |log: &str| log.contains("selkie is up");
    world.within("the start", world.home.logged(before, up)).await;
    reads_along(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_at_a_terminal_is_followed_by_the_whole_answer() {
    let world = world().await;
    let model = world.playground.model();
    let failing = Turn::Paced { pieces: vec!["The wa".into()], calls: Vec::new(), breaks: true };
    model.script(vec![failing, Turn::text(WHOLE)]);
    let mut terminal = AtTerminal::start(world.home.command(&["ask", "when is the tide?"]));
    world.within("the first token", terminal.shows("The w")).await;
    model.write_on(1);
    let (status, shown) = world.within("the end of ask", terminal.ended()).await;
    assert!(status.success() && shown.contains(WHOLE), "{shown}");
    assert!(shown.contains("the model failed and begins its answer again"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_the_answer_alone() {
    let world = world().await;
    let model = world.playground.model();
    let call = ScriptedCall { name: "todo_write".into(), arguments: r#"{"todos":[]}"#.into() };
    let looks = || Turn::Calls { text: "Let me look.".into(), calls: vec![call.clone()] };
    model.script(vec![looks(), Turn::text(WHOLE)]);
    let (code, out, err) = world.home.run(&["ask", "when is the tide?"]);
    assert_eq!((code, out.as_str()), (0, format!("{WHOLE}\n").as_str()), "{err}");
    model.script(vec![looks(), Turn::text(WHOLE)]);
    let (code, out, err) = world.home.run(&["ask", "when is the tide?", "--stream"]);
    assert_eq!((code, out.as_str()), (0, format!("Let me look.\n{WHOLE}\n").as_str()), "{err}");
}
