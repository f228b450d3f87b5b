//! LINE: people, groups, and the economy of replies and pushes, from the webhook to the bubble.

use selkie_playground::line_platform::{
    ACCESS_TOKEN, ADA, BOT_NAME, GRACE, GROUP, LinePlatform, SECRET, Via,
};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::line::Line;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_answered_free_of_charge_and_no_secret_leaves() {
    let line = Line::start().await;
    let answer = line.ask(ADA, "good **morning**").await;
    assert!(answer.text.ends_with("\ngood morning"), "{}", answer.text);
    assert_eq!((answer.via, line.platform().used()), (Via::Reply, 0));
    let (_, out, _) = line.world.home.run(&["config", "show"]);
    assert!(line.daemon.stop().await.success());
    for text in [line.world.home.log(), out] {
        assert!(!text.contains(ACCESS_TOKEN) && !text.contains(SECRET), "a secret leaked");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_answered_when_the_bot_is_meant_and_spends_nothing_else() {
    let line = Line::start().await;
    let chatter = line.platform().say(GROUP, GRACE, "tea at five?");
    let answer = line.ask(GROUP, &format!("{BOT_NAME} when was tea?")).await;
    assert_eq!(answer.via, Via::Reply);
    assert!(answer.quote.is_some(), "in a group an answer quotes");
    assert_eq!(line.world.playground.model().requests().len(), 1);
    // Only when the next is answered has the daemon surely read what LINE said of the first.
    line.ask(GROUP, &format!("{BOT_NAME} and now?")).await;
    let again = line.platform().reply(GROUP, GRACE, &answer.id, "are you sure?");
    line.answer(GROUP, &again).await;
    assert_eq!(line.said(GROUP), 3);
    let to_chatter = line.platform().answers_to(GROUP, &chatter);
    assert!(to_chatter.is_empty(), "{to_chatter:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_lines_is_refused_and_what_comes_twice_is_answered_once() {
    let line = Line::start().await;
    let platform = line.platform();
    let event = platform.complete(ADA, Some(ADA), json!({ "type": "follow" }));
    let body = json!({ "destination": "U", "events": [event] }).to_string().into_bytes();
    let knock = async |body: &[u8], signature: Option<&str>| {
        platform.knock_raw("POST", body, signature).await.expect("an answer")
    };
    assert_eq!(knock(&body, Some("AAAA")).await, 401);
    let big = vec![b'x'; 1024 * 1024 + 1];
    assert_eq!(knock(&big, Some(&platform.sign(&big))).await, 413);
    let message = platform.say(ADA, ADA, "once");
    line.answer(ADA, &message).await;
    assert_eq!(platform.redeliver(&message).await.expect("an answer"), 200);
    let mut standby = platform.event_of(&message);
    standby["mode"] = json!("standby");
    standby["webhookEventId"] = json!("01STANDBY");
    assert_eq!(platform.knock(&[standby]).await.expect("an answer"), 200);
    line.ask(ADA, "twice").await;
    assert_eq!(line.said(ADA), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_one_reply_of_five_bubbles_and_pushes() {
    let line = Line::start().await;
    line.world.playground.model().script(vec![Turn::text("word ".repeat(6000))]);
    let message = line.platform().say(ADA, ADA, "tell me all");
    let vias: Vec<Via> = line.bubbles(ADA, &message, 7).await.iter().map(|m| m.via).collect();
    assert_eq!(vias, [[Via::Reply; 5].as_slice(), &[Via::Push; 2]].concat());
    assert_eq!(line.platform().calls_of("reply").len(), 1);
    assert_eq!(line.platform().used(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_reply_is_not_pushed_and_a_cut_push_arrives_once() {
    let line = Line::start().await;
    line.platform().fault(Fault::next("reply", FaultKind::CutAfter));
    line.ask(ADA, "one").await;
    line.ask(ADA, "two").await;
    assert_eq!(line.said(ADA), 2);
    assert!(line.platform().calls_of("push").is_empty());
    line.world.playground.model().script(vec![Turn::text("word ".repeat(6000))]);
    line.platform().fault(Fault::next("push", FaultKind::CutAfter));
    let message = line.platform().say(ADA, ADA, "tell me all");
    let twice = |l: &LinePlatform| (l.calls_of("push").len() == 2).then_some(());
    line.world.within("a second push", line.platform().wait_until(twice)).await;
    let pushes = line.platform().calls_of("push");
    assert_eq!(pushes[0].retry_key, pushes[1].retry_key);
    assert_eq!((pushes[0].status, pushes[1].status), (0, 409));
    assert_eq!(line.bubbles(ADA, &message, 7).await.len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_quota_is_told_to_the_owner_and_costs_nothing() {
    let line = Line::start().await;
    line.platform().set_quota(Some(100), 98);
    line.world.playground.model().script(vec![Turn::text("word ".repeat(6000))]);
    let message = line.platform().say(GROUP, ADA, &format!("{BOT_NAME} tell us all"));
    assert_eq!(line.bubbles(GROUP, &message, 5).await.len(), 5);
    // The owner is a single person: two messages are left for the notice.
    let look = |l: &LinePlatform| l.messages(ADA).into_iter().find(|m| m.from.is_none());
    let notice = line.world.within("a notice", line.platform().wait_until(look)).await;
    assert!(notice.text.contains("one per member"), "{}", notice.text);
    assert_eq!(line.platform().answers_to(GROUP, &message).len(), 5, "the rest was not pushed");
    let next = line.ask(GROUP, &format!("{BOT_NAME} still there?")).await;
    assert_eq!(next.via, Via::Reply, "replies are still free");
}
