//! The sender against the emulated platform.

use chrono::{DateTime, TimeDelta};
use selkie_channel_core::{Body, Delivery, Lookup, Outbound, Part, ReplyWindow, UnpromptedCost};
use selkie_playground::line_platform::{ADA, GROUP, LineMessage, Via};
use selkie_playground::{Fault, FaultKind};

use crate::testkit::Guest;

/// Ada says something; gives her message and the answer's parts.
fn asked(guest: &Guest, chat: &str, answer: &str) -> (String, Vec<Part>) {
    let message = guest.line().say(chat, ADA, "hello");
    let event = guest.line().event_of(&message);
    let token = event["replyToken"].as_str().unwrap().to_owned();
    let at = DateTime::from_timestamp_millis(event["timestamp"].as_i64().unwrap()).unwrap();
    let until = at + TimeDelta::seconds(50);
    let window = ReplyWindow { token, until, calls: 1, hold_at: None };
    let outbound = Outbound::text(guest.conversation(chat), answer).within(Some(window));
    (message, guest.channel.sender.render(&outbound))
}

fn pushed(guest: &Guest, chat: &str, text: &str) -> Part {
    let at = guest.now();
    let outbound = Outbound::text(guest.conversation(chat), text).numbered(7).said(at);
    guest.channel.sender.render(&outbound).remove(0)
}

fn said(guest: &Guest, chat: &str) -> Vec<LineMessage> {
    guest.line().messages(chat).into_iter().filter(|m| m.from.is_none()).collect()
}

fn note(delivery: &Delivery) -> Option<&str> {
    match delivery {
        Delivery::Sent(receipt) => receipt.note.as_deref(),
        other => panic!("not sent: {other:?}"),
    }
}

fn refused(delivery: Delivery) -> String {
    match delivery {
        Delivery::Refused { reason, .. } => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn the_first_part_is_a_free_reply_and_the_rest_are_pushes() {
    let guest = Guest::new().await;
    let (_, parts) = asked(&guest, ADA, &"word ".repeat(6000));
    let mut receipts = Vec::new();
    for part in &parts {
        match guest.channel.sender.deliver(part).await {
            Delivery::Sent(receipt) => receipts.push(receipt),
            other => panic!("not sent: {other:?}"),
        }
    }
    assert!(receipts.iter().all(|receipt| receipt.note.is_none()));
    let ids = receipts.iter().flat_map(|receipt| receipt.message.iter().chain(&receipt.also));
    let ids: Vec<&str> = ids.map(|id| id.as_str()).collect();
    let messages = said(&guest, ADA);
    assert_eq!(ids, messages.iter().map(|m| m.id.as_str()).collect::<Vec<_>>(), "all are kept");
    let vias: Vec<Via> = said(&guest, ADA).iter().map(|m| m.via).collect();
    assert_eq!(vias, [[Via::Reply; 5].as_slice(), &[Via::Push; 2]].concat());
    assert_eq!(guest.line().calls_of("reply").len(), 1, "five bubbles are one call");
    assert_eq!(guest.line().used(), 1, "two bubbles to one person cost one message");
}

#[tokio::test]
async fn a_reply_that_was_cut_after_its_effect_is_never_pushed() {
    let guest = Guest::new().await;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.line().fault(Fault::next("reply", FaultKind::CutAfter));
    let delivery = guest.channel.sender.deliver(&parts[0]).await;
    assert!(note(&delivery).unwrap().starts_with("presumed delivered"));
    assert_eq!(said(&guest, ADA).len(), 1);
    assert!(guest.line().calls_of("push").is_empty());
}

#[tokio::test]
async fn a_yes_that_names_no_message_is_a_doubt_that_token_and_key_resolve() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.line().fault(Fault::next("reply", FaultKind::Bare));
    let delivery = sender.deliver(&parts[0]).await;
    assert!(note(&delivery).unwrap().starts_with("presumed delivered"));
    assert!(guest.line().calls_of("push").is_empty());
    guest.line().fault(Fault::next("push", FaultKind::Bare));
    let push = sender.deliver(&pushed(&guest, ADA, "news")).await;
    assert!(note(&push).unwrap().contains("accepted it before"));
    assert_eq!((said(&guest, ADA).len(), guest.line().used()), (2, 1));
}

#[tokio::test]
async fn a_reply_that_was_cut_before_its_effect_goes_out_with_the_same_token() {
    let guest = Guest::new().await;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.line().fault(Fault::next("reply", FaultKind::CutBefore));
    assert_eq!(note(&guest.channel.sender.deliver(&parts[0]).await), None);
    assert_eq!(said(&guest, ADA).len(), 1);
    assert_eq!(guest.line().used(), 0);
}

#[tokio::test]
async fn an_unclear_reply_is_looked_up_by_its_token() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.line().fault(Fault::next("reply", FaultKind::Html { status: 502 }).times(3));
    assert!(matches!(sender.deliver(&parts[0]).await, Delivery::Unclear { .. }));
    assert!(matches!(sender.lookup(&parts[0]).await, Lookup::Sent(r) if r.note.is_none()));
    assert!(matches!(sender.lookup(&parts[0]).await, Lookup::Sent(r) if r.note.is_some()));
    assert_eq!(said(&guest, ADA).len(), 1);
}

/// What takes the place of a part that can never be sent as it is.
fn instead(delivery: Delivery) -> Part {
    match delivery {
        Delivery::Instead { part, .. } => *part,
        other => panic!("not another part: {other:?}"),
    }
}

const LOST: FaultKind = FaultKind::Html { status: 503 };

#[tokio::test]
async fn a_dead_token_becomes_a_push() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let (_, parts) = asked(&guest, ADA, "late");
    guest.line().expire_tokens();
    let push = instead(sender.deliver(&parts[0]).await);
    assert!(push.repeatable, "what is stored says that the next attempt is a push");
    assert!(guest.line().calls_of("push").is_empty());
    assert_eq!(note(&sender.deliver(&push).await), None);
    assert_eq!((said(&guest, ADA)[0].via, said(&guest, ADA)[0].text.as_str()), (Via::Push, "late"));
}

#[tokio::test]
async fn a_lost_reply_is_asked_about_while_its_token_lives_and_pushed_marked_after() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.line().fault(Fault::next("reply", LOST).times(6));
    assert!(matches!(sender.deliver(&parts[0]).await, Delivery::Unclear { .. }));
    assert!(matches!(sender.lookup(&parts[0]).await, Lookup::Later { .. }));
    guest.line().expire_tokens();
    guest.pass(62);
    assert_eq!(sender.lookup(&parts[0]).await, Lookup::Unknown, "an old token proves nothing");
    let marked = sender.marked(&parts[0]);
    assert_eq!(note(&sender.deliver(&marked).await), None);
    let said = said(&guest, ADA).remove(0);
    assert_eq!((said.text.as_str(), said.via), ("(possibly repeated)\nonce", Via::Push));
}

#[tokio::test]
async fn a_token_that_dies_while_the_reply_is_lost_leaves_it_unclear() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let (_, parts) = asked(&guest, ADA, "once");
    guest.pass(62);
    guest.line().fault(Fault::next("reply", FaultKind::CutAfter));
    assert!(matches!(sender.deliver(&parts[0]).await, Delivery::Unclear { .. }), "not presumed");
}

#[tokio::test]
async fn what_is_worth_no_push_is_left_when_it_is_in_doubt() {
    let guest = Guest::with(serde_json::json!({ "push": "never" })).await;
    let (_, parts) = asked(&guest, ADA, "once");
    assert_eq!(guest.channel.sender.marked(&parts[0]), parts[0]);
}

#[tokio::test]
async fn buttons_that_are_not_taken_are_left_off() {
    let guest = Guest::new().await;
    let (_, mut parts) = asked(&guest, ADA, "tea?");
    let item = |label: &str| serde_json::json!({ "label": label, "data": "q:k:1", "display": "x" });
    parts[0].call["buttons"] =
        serde_json::json!({ "form": "quick", "items": [item("a label of 21 letters")] });
    assert_eq!(note(&guest.channel.sender.deliver(&parts[0]).await), None);
    let said = said(&guest, ADA).remove(0);
    assert_eq!((said.text.as_str(), said.via, said.buttons.len()), ("tea?", Via::Reply, 0));
}

#[tokio::test]
async fn without_pushes_a_dead_token_is_told() {
    let guest = Guest::with(serde_json::json!({ "push": "never" })).await;
    let (_, parts) = asked(&guest, ADA, "late");
    guest.line().expire_tokens();
    let reason = refused(guest.channel.sender.deliver(&parts[0]).await);
    assert!(reason.contains("line.push is never"), "{reason}");
    assert!(guest.line().calls_of("push").is_empty());
}

#[tokio::test]
async fn a_push_is_repeated_under_its_key_and_arrives_once() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let part = pushed(&guest, ADA, "news");
    guest.line().fault(Fault::next("push", FaultKind::CutAfter));
    assert!(note(&sender.deliver(&part).await).unwrap().contains("accepted it before"));
    assert_eq!((said(&guest, ADA).len(), guest.line().used()), (1, 1));
    let other = pushed(&guest, ADA, "more news");
    guest.line().fault(Fault::next("push", LOST).times(6));
    assert!(matches!(sender.deliver(&other).await, Delivery::Unclear { .. }));
    assert!(matches!(sender.lookup(&other).await, Lookup::Later { .. }));
    assert!(matches!(sender.lookup(&other).await, Lookup::Sent(_)));
    assert!(matches!(sender.lookup(&other).await, Lookup::Sent(r) if r.note.is_some()));
    assert_eq!((said(&guest, ADA).len(), guest.line().used()), (2, 2));
}

#[tokio::test]
async fn a_push_that_used_up_the_month_is_recognised_by_its_key() {
    let guest = Guest::new().await;
    let part = pushed(&guest, GROUP, "news");
    guest.line().set_quota(Some(100), 97);
    assert_eq!(note(&guest.channel.sender.deliver(&part).await), None);
    assert!(matches!(guest.channel.sender.lookup(&part).await, Lookup::Sent(_)));
    let never = pushed(&guest, GROUP, "other news");
    assert_eq!(guest.channel.sender.lookup(&never).await, Lookup::NotSent);
}

#[tokio::test]
async fn a_key_that_line_has_forgotten_proves_nothing() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let part = pushed(&guest, ADA, "news");
    sender.deliver(&part).await;
    guest.pass(24 * 3600);
    assert_eq!(sender.lookup(&part).await, Lookup::Lapsed);
    assert_eq!(guest.line().calls_of("push").len(), 1);
    sender.deliver(&sender.marked(&part)).await;
    assert_eq!(said(&guest, ADA).pop().unwrap().text, "(possibly repeated)\nnews");
}

#[tokio::test]
async fn a_group_push_is_forecast_and_an_empty_quota_is_told() {
    let guest = Guest::new().await;
    guest.line().set_quota(Some(100), 98);
    let reason = refused(guest.channel.sender.deliver(&pushed(&guest, GROUP, "news")).await);
    insta::assert_snapshot!(reason, @"LINE's monthly limit: it would cost 3 messages, one per member, and 98 of this month's 100 messages are used; replies are still free");
    assert!(guest.line().calls_of("push").is_empty(), "nothing was spent");
    guest.line().set_quota(Some(100), 100);
    let reason = refused(guest.channel.sender.deliver(&pushed(&guest, ADA, "news")).await);
    insta::assert_snapshot!(reason, @"LINE's monthly limit of messages is reached; replies are still free");
    guest.line().set_quota(None, 1_000_000);
    assert_eq!(note(&guest.channel.sender.deliver(&pushed(&guest, GROUP, "news")).await), None);
}

#[tokio::test]
async fn limits_and_tokens_make_it_wait_and_a_group_that_left_closes() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let part = pushed(&guest, ADA, "news");
    guest.line().fault(Fault::next("push", FaultKind::TooMany { retry_after: 7 }));
    let Delivery::Retry { after, account: false, .. } = sender.deliver(&part).await else {
        panic!()
    };
    assert_eq!(after.as_secs(), 7);
    let Delivery::Retry { after, .. } = sender.deliver(&part).await else { panic!() };
    assert!(after.as_secs() <= 7);
    assert_eq!(guest.line().calls_of("push").len(), 1, "not before its time");
    let (_, parts) = asked(&guest, ADA, "in time");
    assert_eq!(note(&sender.deliver(&parts[0]).await), None, "replies have a limit of their own");
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    guest.line().fault(Fault::next("push", FaultKind::Unauthorized));
    assert!(matches!(sender.deliver(&part).await, Delivery::Retry { account: true, .. }));
    guest.line().close(GROUP);
    let left = sender.deliver(&pushed(&guest, GROUP, "news")).await;
    assert!(matches!(left, Delivery::Refused { closed: true, .. }), "{left:?}");
}

#[tokio::test]
async fn a_reply_in_doubt_waits_out_anothers_limit_and_loses_no_try() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let ((_, ours), (_, theirs)) = (asked(&guest, ADA, "once"), asked(&guest, GROUP, "late"));
    guest.line().fault(Fault::next("reply", FaultKind::Html { status: 500 }));
    // Longer than both of its repetitions.
    guest.line().fault(Fault::next("reply", FaultKind::TooMany { retry_after: 3 }));
    let others = async {
        let one = guest.line().wait_until(|line| line.calls_of("reply").into_iter().next());
        one.await;
        let limited = sender.deliver(&theirs[0]).await;
        (limited, sender.held(&theirs[0]), sender.held(&pushed(&guest, ADA, "news")))
    };
    let (ours, (limited, held, push)) = tokio::join!(sender.deliver(&ours[0]), others);
    assert!(matches!(limited, Delivery::Retry { .. }), "{limited:?}");
    assert!(held.is_some_and(|rest| rest.as_secs() < 3) && push.is_none(), "{held:?}, {push:?}");
    assert_eq!(note(&ours), None, "it went out on its own token");
    assert_eq!(guest.line().calls_of("reply").len(), 3);
    assert!(guest.line().calls_of("push").is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_has_taken_nothing() {
    let guest = Guest::new().await;
    let (_, parts) = asked(&guest, ADA, "hello");
    let sender = std::sync::Arc::clone(&guest.channel.sender);
    guest.playground.stop().await;
    assert!(matches!(sender.deliver(&parts[0]).await, Delivery::Retry { account: true, .. }));
}

#[tokio::test]
async fn the_loading_animation_is_shown_once_until_something_is_said() {
    let guest = Guest::new().await;
    let sender = &guest.channel.sender;
    let typing = Outbound::new(guest.conversation(ADA), Body::Typing);
    let part = sender.render(&typing).remove(0);
    for _ in 0..3 {
        assert!(matches!(sender.deliver(&part).await, Delivery::Sent(_)));
    }
    assert_eq!(guest.line().calls_of("loading").len(), 1);
    sender.deliver(&pushed(&guest, ADA, "news")).await;
    sender.deliver(&part).await;
    let statuses: Vec<u16> = guest.line().calls_of("loading").iter().map(|c| c.status).collect();
    assert_eq!(statuses, [202, 202]);
}

#[tokio::test]
async fn a_part_of_another_version_is_refused_in_words() {
    let guest = Guest::new().await;
    let mut part = pushed(&guest, ADA, "news");
    part.call = serde_json::json!({ "kind": "flex" });
    assert!(refused(guest.channel.sender.deliver(&part).await).contains("cannot read"));
}

#[tokio::test]
async fn what_is_said_unasked_is_counted_spent_or_never() {
    let guest = Guest::new().await;
    let unasked = async |guest: &Guest, chat: &str| {
        guest.channel.sender.unasked(&guest.conversation(chat)).await
    };
    guest.line().set_quota(Some(100), 97);
    assert_eq!(unasked(&guest, GROUP).await, UnpromptedCost::Counted(3));
    assert_eq!(unasked(&guest, ADA).await, UnpromptedCost::Counted(1));
    guest.line().set_quota(Some(100), 98);
    let UnpromptedCost::Spent(why) = unasked(&guest, GROUP).await else {
        panic!("they are used up")
    };
    insta::assert_snapshot!(why, @"LINE's monthly limit: it would cost 3, and 98 of this month's 100 messages are used");
    guest.line().set_quota(None, 1_000_000);
    assert_eq!(unasked(&guest, GROUP).await, UnpromptedCost::Counted(3));
    let silent = Guest::with(serde_json::json!({ "push": "never" })).await;
    let UnpromptedCost::Never(why) = unasked(&silent, ADA).await else { panic!("it never pushes") };
    assert!(why.contains("line.push is never"), "{why}");
    assert!(silent.line().calls_of("push").is_empty());
}
