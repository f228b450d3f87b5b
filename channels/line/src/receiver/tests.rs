//! The receiver against the emulated platform.

use std::sync::atomic::Ordering;

use selkie_channel_core::{
    AddressReason, AttachmentKind, Audience, Body, Channel, Choice, CredentialCheck, Delivery,
    Inbound, ListenEnd, Outbound, Question, Redactor, What,
};
use selkie_playground::line_platform::{ADA, BOT, Draft, GRACE, GROUP, LINUS, MediaKind, ROOM};
use selkie_playground::{Fault, FaultKind};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::testkit::{Guest, TestInbox, Told};

/// Runs a story beside a listening receiver.
async fn heard<F: Future<Output = ()>>(channel: &Channel, story: impl FnOnce(Told) -> F) {
    heard_by(channel, |_, told| story(told)).await;
}

async fn heard_by<F: Future<Output = ()>>(
    channel: &Channel,
    story: impl FnOnce(std::sync::Arc<TestInbox>, Told) -> F,
) {
    let (inbox, told) = TestInbox::new();
    let inbox = std::sync::Arc::new(inbox);
    let stop = CancellationToken::new();
    let receiver = channel.receiver.as_ref().unwrap();
    let story = async {
        story(std::sync::Arc::clone(&inbox), told).await;
        stop.cancel();
    };
    let (end, ()) = tokio::join!(receiver.listen(&*inbox, stop.clone()), story);
    assert_eq!(end, ListenEnd::Stopped);
}

async fn next(told: &mut Told) -> Inbound {
    let mut batch = told.batches.recv().await.unwrap();
    assert_eq!(batch.len(), 1);
    batch.remove(0)
}

#[tokio::test]
async fn a_person_is_heard_with_a_right_to_answer() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let id = guest.line().say(ADA, ADA, "good morning (moon)");
        let inbound = next(&mut told).await;
        assert_eq!(inbound.conversation.key(), format!("line:{ADA}"));
        assert_eq!(inbound.speaker.id.as_str(), format!("line:{ADA}"));
        assert_eq!(
            (inbound.addressed, inbound.audience),
            (AddressReason::Direct, Audience::Direct)
        );
        assert_eq!(inbound.text, "good morning (moon)");
        assert_eq!(inbound.message.unwrap().as_str(), id);
        assert_eq!(inbound.order, inbound.at.timestamp_millis());
        let window = inbound.reply_window.unwrap();
        assert_eq!(((window.until - inbound.at).num_seconds(), window.calls), (50, 1));
        assert!(inbound.key.starts_with("e:01PLAY"), "{}", inbound.key);
    })
    .await;
}

#[tokio::test]
async fn in_groups_the_text_tells_whether_the_bot_is_meant() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        line.say(GROUP, ADA, "tea?");
        let plain = next(&mut told).await;
        assert_eq!((plain.addressed, plain.audience), (AddressReason::No, Audience::Group));
        line.say(GROUP, ADA, "😀 @selkie what time");
        let meant = next(&mut told).await;
        assert_eq!(
            (meant.addressed, meant.text.as_str()),
            (AddressReason::Mention, "😀 what time")
        );
        line.say(ROOM, GRACE, "@selkie /help me");
        let command = next(&mut told).await;
        assert_eq!(command.addressed, AddressReason::Mention);
        assert_eq!(command.command.unwrap().name, "help");
    })
    .await;
}

#[tokio::test]
async fn a_quote_of_the_bot_means_it_and_a_quote_of_others_does_not() {
    let guest = Guest::new().await;
    let sender = std::sync::Arc::clone(&guest.channel.sender);
    let news = Outbound::text(guest.conversation(GROUP), "news");
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        let Delivery::Sent(receipt) = sender.deliver(&sender.render(&news)[0]).await else {
            panic!()
        };
        line.reply(GROUP, ADA, receipt.message.unwrap().as_str(), "really?");
        let quoting = next(&mut told).await;
        assert_eq!(quoting.addressed, AddressReason::Reply);
        let quote = quoting.quote.unwrap();
        assert_eq!((quote.text.as_str(), quote.ours), ("news", true));
        let said = line.say(GROUP, LINUS, "a secret");
        next(&mut told).await;
        line.reply(GROUP, ADA, &said, "oh");
        let quoting = next(&mut told).await;
        let quote = quoting.quote.unwrap();
        assert_eq!((quoting.addressed, quote.ours), (AddressReason::No, false));
        assert_eq!(quote.text, "a secret");
        line.unsend(GROUP, LINUS, &said);
        let unsent = next(&mut told).await;
        assert_eq!((unsent.what, unsent.message.unwrap().as_str()), (What::Unsent, said.as_str()));
        line.reply(GROUP, ADA, &said, "again");
        assert_eq!(next(&mut told).await.quote.unwrap().text, "", "taken back is forgotten");
    })
    .await;
}

#[tokio::test]
async fn a_quoted_picture_comes_along_until_it_is_taken_back() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        let sent = line.upload(GROUP, LINUS, Draft::new(MediaKind::Image, "", "pixels"));
        let picture = next(&mut told).await.attachments;
        line.reply(GROUP, ADA, &sent, "what is this?");
        let quoting = next(&mut told).await;
        assert_eq!(quoting.quote.unwrap().attachments, picture);
        assert!(quoting.attachments.is_empty(), "it is another message's");
        line.unsend(GROUP, LINUS, &sent);
        next(&mut told).await;
        line.reply(GROUP, ADA, &sent, "and now?");
        assert!(next(&mut told).await.quote.unwrap().attachments.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_answer_in_a_group_quotes_the_question() {
    let guest = Guest::new().await;
    let sender = std::sync::Arc::clone(&guest.channel.sender);
    heard(&guest.channel, async |mut told| {
        let id = guest.line().say(GROUP, ADA, "@selkie hi");
        let inbound = next(&mut told).await;
        let answer = Outbound::text(inbound.conversation, "hello")
            .quoting(inbound.message)
            .within(inbound.reply_window);
        sender.deliver(&sender.render(&answer)[0]).await;
        assert_eq!(guest.line().wait_for_answer(GROUP, &id).await.quote, Some(id));
    })
    .await;
}

#[tokio::test]
async fn comings_and_goings_open_and_close() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        guest.line().open(ADA);
        assert_eq!(next(&mut told).await.what, What::Opened);
        guest.line().close(ADA);
        assert!(matches!(next(&mut told).await.what, What::Closed { .. }));
        guest.line().close(GROUP);
        let left = next(&mut told).await;
        assert!(matches!(left.what, What::Closed { reason } if reason.contains("group")));
        guest.line().open(GROUP);
        assert_eq!(next(&mut told).await.what, What::Opened);
        guest.line().postback(ADA, ADA, "buy=1");
        let foreign = next(&mut told).await;
        assert!(matches!(foreign.what, What::Other { .. }), "a button of somebody else");
        guest.line().postback(ADA, ADA, "/status");
        assert_eq!(next(&mut told).await.command.unwrap().name, "status");
    })
    .await;
}

#[tokio::test]
async fn a_tap_brings_its_question_and_a_right_to_answer() {
    let guest = Guest::new().await;
    let sender = std::sync::Arc::clone(&guest.channel.sender);
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        line.say(GROUP, ADA, "@selkie tea?");
        let asked = next(&mut told).await;
        let choice = |id: &str, label: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        let question = Question {
            key: "k1".to_owned(),
            markdown: "Which?".to_owned(),
            choices: vec![choice("a", "Green"), choice("b", "Black")],
            free_text: false,
            placeholder: String::new(),
        };
        let said = Outbound::new(asked.conversation, Body::Question(question));
        sender.deliver(&sender.render(&said.within(asked.reply_window))[0]).await;
        let message = line.messages(GROUP).pop().unwrap();
        assert_eq!(message.text, "Which?\n\n1. Green\n2. Black");
        let words = line.tap(GROUP, GRACE, &message.id, "Black").unwrap();
        let tap = next(&mut told).await;
        let window = tap.reply_window.unwrap();
        let handle = window.token.clone();
        let (question, choice) = ("k1".to_owned(), "b".to_owned());
        assert_eq!(tap.what, What::Tap { question, choice, handle: handle.clone() });
        assert_eq!(tap.speaker.id.as_str(), format!("line:{GRACE}"));
        let text = "That was asked of Ada.".to_owned();
        let answer = Outbound::new(tap.conversation, Body::TapAnswer { handle, text });
        sender.deliver(&sender.render(&answer)[0]).await;
        assert_eq!(line.wait_for_answer(GROUP, &words).await.text, "That was asked of Ada.");
        assert_eq!(line.used(), 0);
        sender.deliver(&sender.render(&answer)[0]).await;
        assert!(line.calls_of("push").is_empty(), "words for a tap are never pushed");
    })
    .await;
}

#[tokio::test]
async fn one_strange_event_costs_its_neighbours_nothing_and_standby_asks_nothing() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        let message = |id: &str| json!({ "type": "message", "message": { "type": "text", "id": id, "text": id } });
        let good = line.complete(ADA, Some(ADA), message("1"));
        let strange = json!({ "type": 7, "source": ["x"] });
        let unknown = line.complete(ADA, Some(ADA), json!({ "type": "dance" }));
        let mut standby = line.complete(ADA, Some(ADA), message("2"));
        standby["mode"] = json!("standby");
        standby["replyToken"] = json!("t");
        let events = [strange, good, unknown, standby, json!("text")];
        assert_eq!(line.knock_when_open(&events).await, 200);
        let batch = told.batches.recv().await.unwrap();
        assert_eq!(batch.len(), 5);
        assert!(matches!(batch[0].what, What::Unparsed { .. }));
        assert_eq!((batch[1].text.as_str(), &batch[1].what), ("1", &What::Message));
        assert!(matches!(&batch[2].what, What::Unparsed { raw } if raw.contains("dance")));
        assert_eq!(batch[3].what, What::Other { name: "standby".to_owned() });
        assert_eq!(batch[3].reply_window, None);
        let keys: std::collections::BTreeSet<_> = batch.iter().map(|i| &i.key).collect();
        assert_eq!(keys.len(), 5, "{keys:?}");
    })
    .await;
}

#[tokio::test]
async fn only_what_is_signed_small_and_posted_is_taken() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        assert_eq!(line.knock_when_open(&[]).await, 200, "the console's Verify");
        let body = json!({ "destination": BOT, "events": [{}] }).to_string().into_bytes();
        let signature = line.sign(&body);
        let knock = async |method: &str, body: &[u8], signature: Option<&str>| {
            line.knock_raw(method, body, signature).await.unwrap()
        };
        assert_eq!(knock("POST", &body, None).await, 401);
        assert_eq!(knock("POST", &body, Some("bm90IGl0")).await, 401);
        assert_eq!(knock("POST", &body, Some("%%%")).await, 401);
        let mut other = body.clone();
        other.push(b' ');
        assert_eq!(knock("POST", &other, Some(&signature)).await, 401);
        assert_eq!(knock("GET", &body, Some(&signature)).await, 405);
        let big = vec![b' '; 1024 * 1024 + 1];
        assert_eq!(knock("POST", &big, Some(&line.sign(&big))).await, 413);
        assert_eq!(knock("POST", b"{", Some(&line.sign(b"{"))).await, 400);
        assert!(told.batches.try_recv().is_err(), "nothing of it was stored");
        let other = json!({ "destination": LINUS, "events": [{}] }).to_string().into_bytes();
        assert_eq!(knock("POST", &other, Some(&line.sign(&other))).await, 421, "for another bot");
        assert!(told.batches.try_recv().is_err(), "nothing of it was stored");
        assert_eq!(knock("POST", &body, Some(&signature)).await, 200);
    })
    .await;
}

#[tokio::test]
async fn what_is_not_stored_is_not_taken_and_comes_again_under_the_same_key() {
    let guest = Guest::new().await;
    heard_by(&guest.channel, async |inbox, mut told| {
        let line = guest.line();
        line.set_redelivery(false);
        inbox.broken.store(true, Ordering::SeqCst);
        assert_eq!(line.knock_when_open(&[json!({ "type": "follow" })]).await, 500);
        inbox.broken.store(false, Ordering::SeqCst);
        let id = line.say(ADA, ADA, "hello");
        let first = next(&mut told).await;
        assert_eq!(line.redeliver(&id).await.unwrap(), 200);
        let second = next(&mut told).await;
        assert_eq!(first.key, second.key);
        let window = |inbound: Inbound| inbound.reply_window.unwrap();
        let (first, second) = (window(first), window(second));
        assert_eq!(first.token, second.token);
        assert!(second.until > first.until, "its minute begins when it is received");
    })
    .await;
}

#[tokio::test]
async fn files_are_fetched_when_they_are_ready() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        let line = guest.line();
        let receiver = guest.channel.receiver.as_ref().unwrap();
        let send = |draft| line.upload(ADA, ADA, draft);
        let fetch = async |inbound: &Inbound, sink: &mut Vec<u8>| {
            receiver.fetch(&inbound.attachments[0], 1_000_000, sink).await
        };
        send(Draft { preparing: 1, ..Draft::new(MediaKind::Video, "", "film") });
        let inbound = next(&mut told).await;
        assert_eq!(inbound.attachments[0].kind, AttachmentKind::Video);
        let mut sink = Vec::new();
        assert_eq!(fetch(&inbound, &mut sink).await, Ok(4));
        assert_eq!(sink, b"film");
        send(Draft::new(MediaKind::File, "notes.txt", "tea"));
        let inbound = next(&mut told).await;
        assert_eq!(
            (inbound.attachments[0].name.as_str(), inbound.attachments[0].size),
            ("notes.txt", Some(3))
        );
        assert_eq!(fetch(&inbound, &mut Vec::new()).await, Ok(3));
        line.fault(Fault::next("content", FaultKind::Html { status: 500 }));
        assert_eq!(fetch(&inbound, &mut Vec::new()).await, Ok(3), "its server's trouble passes");
        send(Draft { failed: true, ..Draft::new(MediaKind::Audio, "", "x") });
        let why = fetch(&next(&mut told).await, &mut Vec::new()).await.unwrap_err();
        assert!(why.contains("could not prepare"), "{why}");
        send(Draft::new(MediaKind::Image, "", vec![0; 1001]));
        let why = fetch(&next(&mut told).await, &mut Vec::new()).await.unwrap_err();
        assert!(why.contains("too big"), "{why}");
        line.fault(Fault::next(
            "content",
            FaultKind::Refuse { code: 404, description: "gone".into() },
        ));
        send(Draft::new(MediaKind::Image, "", "x"));
        let why = fetch(&next(&mut told).await, &mut Vec::new()).await.unwrap_err();
        assert!(why.contains("no longer has"), "{why}");
    })
    .await;
}

#[tokio::test]
async fn what_is_quoted_is_looked_up_when_a_restart_has_forgotten_it() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        guest.line().reply(GROUP, ADA, crate::testkit::STORED, "are you sure?");
        let inbound = next(&mut told).await;
        let quote = inbound.quote.unwrap();
        assert_eq!((quote.text.as_str(), quote.ours), ("forty-two", true));
        assert_eq!(inbound.addressed, AddressReason::Reply);
    })
    .await;
}

#[tokio::test]
async fn the_first_message_after_a_start_has_its_names() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        guest.line().say(GROUP, ADA, "hello");
        let inbound = next(&mut told).await;
        assert_eq!((inbound.speaker.name.as_str(), inbound.title.as_str()), ("Ada", "Tea room"));
        guest.line().say(GROUP, ADA, "again");
        assert_eq!(next(&mut told).await.speaker.name, "Ada");
        assert_eq!(guest.line().calls_of("member").len(), 1, "a name is asked for once");
        // Who cannot be asked about quickly speaks without a name.
        guest.line().fault(Fault::next("profile", FaultKind::Delay { ms: 60_000 }));
        guest.line().say(GRACE, GRACE, "hello");
        assert_eq!(next(&mut told).await.speaker.name, "");
    })
    .await;
}

#[tokio::test]
async fn a_tap_on_somebody_elses_button_asks_nothing_of_the_bot() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        guest.line().postback(ADA, ADA, "action=buy&item=7");
        let inbound = next(&mut told).await;
        assert!(matches!(inbound.what, What::Other { .. }), "{:?}", inbound.what);
        assert!(inbound.reply_window.is_none());
    })
    .await;
}

#[tokio::test]
async fn stickers_and_places_are_words() {
    let guest = Guest::new().await;
    heard(&guest.channel, async |mut told| {
        guest.line().sticker(ADA, ADA, &["happy", "yay"]);
        assert_eq!(next(&mut told).await.text, "[sticker: happy, yay]");
        guest.line().location(ADA, ADA, "Pier");
        assert_eq!(next(&mut told).await.text, "[location: Pier; 1 Quay; 58.9, -3.3]");
    })
    .await;
}

#[tokio::test]
async fn the_owner_is_told_of_a_refused_token_and_hearing_goes_on() {
    let guest = Guest::new().await;
    guest.line().fault(Fault::next("info", FaultKind::Unauthorized));
    heard(&guest.channel, async |mut told| {
        let (key, text) = told.notices.recv().await.unwrap();
        assert_eq!(key, "line-token");
        assert!(text.contains("line.channel_access_token_file"), "{text}");
        guest.line().say(ADA, ADA, "still there?");
        assert_eq!(next(&mut told).await.text, "still there?");
    })
    .await;
}

#[tokio::test]
async fn a_taken_port_is_told_like_any_refusal() {
    let guest = Guest::new().await;
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port();
    let channel = crate::testkit::channel(&guest.playground, port, Redactor::default());
    let (inbox, _told) = TestInbox::new();
    let end = channel.receiver.as_ref().unwrap().listen(&inbox, CancellationToken::new()).await;
    let ListenEnd::Refused(why) = end else { panic!("{end:?}") };
    assert!(why.contains(&port.to_string()) && why.contains("line.webhook_listen"), "{why}");
}

#[tokio::test]
async fn a_token_is_tried_alone_and_line_tells_where_it_calls() {
    let guest = Guest::new().await;
    let check = async |guest: &Guest| guest.channel.sender.check_credential().await;
    assert_eq!(check(&guest).await, CredentialCheck::Taken);
    let other = json!({ "channel_access_token": "another-token-that-line-does-not-know" });
    let refused = check(&Guest::with(other).await).await;
    let begins = "LINE rejects the access token (401: ";
    assert!(
        matches!(&refused, CredentialCheck::Refused(why) if why.starts_with(begins)),
        "{refused:?}"
    );
    guest.line().set_webhook("https://bot.example/line/webhook");
    let reached = guest.channel.receiver.as_ref().unwrap().reached_at().await;
    assert_eq!(reached, Ok(vec!["https://bot.example/line/webhook".to_owned()]));
    guest.line().fault(Fault::next("info", FaultKind::Html { status: 503 }));
    assert_eq!(check(&guest).await, CredentialCheck::Unknown);
}
