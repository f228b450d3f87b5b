//! Answers while they are written, by Slack's own streams: pieces in a thread, stopped and taken over by the whole answer;
//! where Slack refuses, ends or loses one, the message is changed as elsewhere, and no word is lost or doubled.

use std::time::Duration;

use selkie_playground::slack::{self, ADA, BOT, CHANNEL, DM, SlackMessage, Stream};
use selkie_playground::{Fault, FaultKind, ScriptedCall, Turn};
use serde_json::json;

use crate::support::rows;
use crate::support::world::World;

const PIECES: [&str; 4] = ["The water", " will come", " at four", " and go at ten."];
const WHOLE: &str = "The water will come at four and go at ten.";

async fn world(stream: &str) -> World {
    let mut world = World::with_slack().await;
    let progress =
        json!({ "status": "off", "stream": stream, "stream_after": "1ms", "every": "1ms" });
    world.home.set("progress", progress);
    world
}

/// A question in the channel, and its answer's beginning.
struct Begun {
    asked: String,
    first: SlackMessage,
}

async fn begun(world: &World) -> Begun {
    let asked = world.slack().say(CHANNEL, ADA, &format!("<@{BOT}> when is the tide?"));
    world.playground.model().write_on(1);
    let waiting = world.slack().wait_for_answer(CHANNEL, &asked);
    let first = world.within("the beginning", waiting).await;
    Begun { asked, first }
}

impl Begun {
    /// Waits until the answer is this, in the message that showed its beginning and in no other.
    async fn becomes(&self, world: &World, text: &str) -> SlackMessage {
        let whole = world.slack().wait_until(|slack| {
            let answers = slack.answers(CHANNEL, &self.asked);
            let grows = |m: &SlackMessage| m.stream == Some(Stream::Open);
            answers.iter().any(|m| m.text == text && !grows(m)).then_some(answers)
        });
        let mut answers = world.within(text, whole).await;
        assert_eq!(answers.len(), 1, "one message: {answers:?}");
        assert_eq!(answers[0].ts, self.first.ts, "the same one");
        answers.remove(0)
    }
}

/// The pieces that Slack was given, in order.
fn pieces(world: &World) -> Vec<String> {
    let given = |method| world.slack().calls(method);
    let calls = ["chat.startStream", "chat.appendStream", "chat.stopStream"].map(given).concat();
    calls.iter().filter_map(|call| Some(call.get("markdown_text")?.as_str()?.to_owned())).collect()
}

async fn called(world: &World, method: &str, times: usize) {
    let waiting = world.slack().wait_until(|slack| (slack.counted(method) >= times).then_some(()));
    world.within(method, waiting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_a_thread_grows_by_what_is_new() {
    let world = world("auto").await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let begun = begun(&world).await;
    assert_eq!(begun.first.stream, Some(Stream::Open), "{:?}", begun.first);
    assert!(WHOLE.starts_with(&begun.first.text), "{}", begun.first.text);
    model.write_on(1);
    called(&world, "chat.appendStream", 1).await;
    model.write_on(2);
    let whole = begun.becomes(&world, WHOLE).await;
    assert_eq!(whole.stream, Some(Stream::Ended));
    assert_eq!(pieces(&world).concat(), WHOLE, "each word once");
    let start = &world.slack().calls("chat.startStream")[0];
    assert_eq!(start["recipient_user_id"], ADA);
    assert_eq!(start["recipient_team_id"], slack::TEAM);
    for method in ["chat.postMessage", "chat.update"] {
        assert_eq!(world.slack().counted(method), 0, "prose needs no {method}");
    }
    daemon.stop().await;
    let left = rows::number(&world.home, "SELECT count(*) FROM streamed_message");
    assert_eq!(left, Some(0), "nothing is left to take away");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_reads_otherwise_is_set_when_it_is_whole() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(["The water", " will come", " at **four**", ", <@U0GRACE>."])]);
    let begun = begun(&world).await;
    model.write_on(3);
    begun.becomes(&world, "The water will come at *four*, &lt;@U0GRACE&gt;.").await;
    assert_eq!(world.slack().counted("chat.update"), 1);
    assert!(!pieces(&world).concat().contains("<@"), "nobody is called by a piece");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_message_is_streamed_in_a_thread_alone() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let (model, slack) = (world.playground.model(), world.slack());
    let root = slack.say(DM, ADA, "when is the tide?");
    for is_thread in [false, true] {
        let asked = match is_thread {
            true => slack.reply(DM, ADA, &root, "and in this thread?"),
            false => root.clone(),
        };
        model.script(vec![Turn::paced(PIECES)]);
        model.write_on(1);
        let first = world.within("the beginning", slack.wait_for_answer(DM, &asked)).await;
        assert_eq!(first.stream, is_thread.then_some(Stream::Open));
        model.write_on(3);
        let whole = slack.wait_until(|slack| {
            let answers = slack.answers(DM, &asked);
            answers.iter().any(|m| m.text == WHOLE && m.ts == first.ts).then_some(())
        });
        world.within("the answer", whole).await;
    }
    let starts = slack.calls("chat.startStream");
    assert_eq!(starts.len(), 1);
    assert!(starts[0].get("recipient_user_id").is_none(), "it has one reader: {starts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_slack_takes_no_stream_the_message_is_edited_and_that_is_logged_once() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let refused = FaultKind::Refuse { code: 200, description: "unknown_method".into() };
    world.slack().fault(Fault::next("chat.startStream", refused).times(1_000));
    for _ in 0..2 {
        model.script(vec![Turn::paced(PIECES)]);
        let begun = begun(&world).await;
        assert_eq!(begun.first.stream, None);
        model.write_on(3);
        begun.becomes(&world, WHOLE).await;
    }
    assert_eq!(world.slack().counted("chat.startStream"), 1, "it is not tried again for a while");
    assert_eq!(world.home.log().matches("Slack streams no answers here").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_slack_has_ended_is_edited_from_then_on() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let begun = begun(&world).await;
    assert!(world.slack().end_stream(CHANNEL, &begun.first.ts, Stream::Ended));
    model.write_on(1);
    called(&world, "chat.update", 1).await;
    model.write_on(2);
    begun.becomes(&world, WHOLE).await;
    assert_eq!(world.slack().counted("chat.startStream"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_wrote_that_failed_is_replaced() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let failing = Turn::Paced {
        pieces: PIECES[..3].iter().map(|piece| (*piece).to_owned()).collect(),
        calls: Vec::new(),
        breaks: true,
    };
    model.script(vec![failing, Turn::paced(["It comes", " in at", " five", " today."])]);
    let begun = begun(&world).await;
    model.write_on(2 + 4);
    begun.becomes(&world, "It comes in at five today.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_before_a_call_give_way_to_the_answer() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let call = ScriptedCall { name: "todo_write".into(), arguments: r#"{"todos":[]}"#.into() };
    let looks = Turn::Paced {
        pieces: vec!["The water".into(), " will".into(), " be up soon: I look.".into()],
        calls: vec![call],
        breaks: false,
    };
    model.script(vec![looks, Turn::text(WHOLE)]);
    let begun = begun(&world).await;
    model.write_on(2);
    begun.becomes(&world, WHOLE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_leaves_one_message_that_the_next_life_finishes() {
    let world = world("auto").await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let begun = begun(&world).await;
    let noted = async {
        let counts = "SELECT count(message) FROM streamed_message";
        while rows::number(&world.home, counts) != Some(1) {
            tokio::task::yield_now().await;
        }
    };
    world.within("the message's id", noted).await;
    daemon.kill();
    assert_eq!(begun.first.stream, Some(Stream::Open));
    model.script(vec![Turn::text(WHOLE)]);
    let _daemon = world.daemon();
    begun.becomes(&world, WHOLE).await;
    assert_eq!(world.slack().counted("chat.startStream"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_end_is_unclear_doubles_no_word() {
    for method in ["chat.appendStream", "chat.stopStream"] {
        let world = world("auto").await;
        let _daemon = world.daemon();
        let model = world.playground.model();
        model.script(vec![Turn::paced(PIECES)]);
        let begun = begun(&world).await;
        world.slack().fault(Fault::next(method, FaultKind::CutAfter));
        model.write_on(1);
        // What cannot be appended is edited from then on.
        called(&world, "chat.appendStream", 1).await;
        model.write_on(2);
        begun.becomes(&world, WHOLE).await;
        assert!(world.slack().counted(method) > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_beginning_whose_confirmation_was_lost_is_taken_over() {
    for lost in [FaultKind::CutAfter, FaultKind::Garbage] {
        let world = world("auto").await;
        let _daemon = world.daemon();
        let model = world.playground.model();
        model.script(vec![Turn::paced(PIECES)]);
        world.slack().fault(Fault::next("chat.startStream", lost));
        let begun = begun(&world).await;
        assert_eq!(begun.first.stream, Some(Stream::Open));
        model.write_on(3);
        begun.becomes(&world, WHOLE).await;
        assert_eq!(world.slack().counted("chat.startStream"), 1);
    }
}

/// The process dies before it knows where the message stands: the next life finds it by its words.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_before_the_beginning_is_confirmed_leaves_one_message() {
    let world = world("auto").await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    world.slack().fault(Fault::next("chat.startStream", FaultKind::CutAfter));
    // Whoever asks where it stands is told nothing for as long as the process lives.
    world.slack().fault(
        Fault::next(
            "conversations.replies",
            FaultKind::Refuse { code: 500, description: "internal_error".to_owned() },
        )
        .times(100),
    );
    let begun = begun(&world).await;
    let counts = "SELECT count(part) FROM streamed_message WHERE message IS NULL";
    assert_eq!(rows::number(&world.home, counts), Some(1));
    daemon.kill();
    world.slack().clear_faults();
    model.script(vec![Turn::text(WHOLE)]);
    let _daemon = world.daemon();
    begun.becomes(&world, WHOLE).await;
    assert_eq!(world.slack().counted("chat.startStream"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_beginning_that_may_not_be_looked_for_stays_beside_the_answer_and_that_is_logged_once()
 {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    world.slack().remove_scope("channels:history");
    for _ in 0..2 {
        model.script(vec![Turn::paced(PIECES)]);
        world.slack().fault(Fault::next("chat.startStream", FaultKind::CutAfter));
        let begun = begun(&world).await;
        model.write_on(3);
        let whole = world.slack().wait_until(|slack| {
            let answers = slack.answers(CHANNEL, &begun.asked);
            answers.iter().any(|m| m.text == WHOLE && m.ts != begun.first.ts).then_some(())
        });
        world.within("the answer", whole).await;
    }
    assert_eq!(world.home.log().matches("Slack does not show the thread").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_elsewhere_keeps_no_beginning_back() {
    let mut world = world("auto").await;
    // Only where a pace is kept does anything give way to speech.
    world.home.set_key("slack", "pace", json!("platform"));
    let mut daemon = world.daemon();
    let model = world.playground.model();
    world.slack().fault(Fault::next("chat.postMessage", FaultKind::TooMany { retry_after: 600 }));
    // What comes in one piece has no beginning: the answer itself is limited.
    model.script(vec![Turn::paced(["In ten minutes."])]);
    model.write_on(1);
    let held = world.slack().say(DM, ADA, "and when is dinner?");
    // A call that is refused changes nothing in Slack that could be waited for.
    let limited = async {
        while world.slack().counted("chat.postMessage") == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    world.within("the limited answer", limited).await;
    for is_restarted in [false, true] {
        if is_restarted {
            daemon.stop().await;
            daemon = world.daemon();
        }
        model.script(vec![Turn::paced(PIECES)]);
        let begun = begun(&world).await;
        assert_eq!(begun.first.stream, Some(Stream::Open), "{:?}", begun.first);
        model.write_on(3);
        begun.becomes(&world, WHOLE).await;
    }
    assert!(world.slack().answers(DM, &held).is_empty(), "what is limited waits");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_before_a_stop_stays_and_says_so() {
    let world = world("auto").await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let begun = begun(&world).await;
    world.slack().reply(CHANNEL, ADA, &begun.asked, &format!("<@{BOT}> /stop"));
    let stays = world.slack().wait_until(|slack| {
        let answers = slack.answers(CHANNEL, &begun.asked);
        let first = answers.iter().find(|m| m.ts == begun.first.ts)?;
        first.text.contains("(stopped)").then_some(())
    });
    world.within("the end of the beginning", stays).await;
    assert_eq!(world.slack().counted("chat.stopStream"), 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_hidden_across_the_borders_of_pieces() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let secret = ["The water", " will", " bring sk-playgr", "ound-key-123456", "7890 in hand."];
    model.script(vec![Turn::paced(secret)]);
    let begun = begun(&world).await;
    for _ in 0..4 {
        model.write_on(1);
    }
    begun.becomes(&world, "The water will bring [redacted] in hand.").await;
    let methods = ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"];
    let calls = methods.map(|method| world.slack().calls(method)).concat();
    assert!(calls.iter().all(|call| !call.to_string().contains("sk-play")), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_off_is_off() {
    let world = world("off").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    model.write_on(4);
    let asked = world.slack().say(CHANNEL, ADA, &format!("<@{BOT}> when is the tide?"));
    let answer = world.within("the answer", world.slack().wait_for_answer(CHANNEL, &asked)).await;
    assert_eq!((answer.text.as_str(), answer.stream), (WHOLE, None));
    assert_eq!(world.slack().counted("chat.startStream"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stop_under_a_stream_ends_the_task_and_keeps_what_is_written() {
    let world = world("auto").await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(vec![Turn::paced(PIECES)]);
    let begun = begun(&world).await;
    assert!(world.slack().end_stream(CHANNEL, &begun.first.ts, Stream::StoppedByPerson));
    model.write_on(1);
    let stopped = world.slack().wait_until(|slack| {
        let answers = slack.answers(CHANNEL, &begun.asked);
        answers.iter().any(|m| m.text.contains("stopped")).then_some(answers)
    });
    let answers = world.within("what is left of it", stopped).await;
    assert_eq!((answers.len(), &answers[0].ts), (1, &begun.first.ts), "{answers:?}");
    assert!(answers[0].text.starts_with("The water"), "{}", answers[0].text);
    rows::settled(&world, 1).await;
    assert_eq!(rows::texts(&world.home, "SELECT state FROM task"), ["stopped"]);
}
