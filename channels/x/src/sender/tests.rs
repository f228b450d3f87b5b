//! The sender against the emulated platform.

use chrono::TimeDelta;
use selkie_channel_core::{
    Body, CredentialCheck, Delivery, Lookup, MessageRef, Outbound, Part, Post, PostPicture,
    PostedBy,
};
use selkie_playground::x::{
    APP_BEARER, BEARER_WITHOUT_MEDIA, CLIENT_ID, NEXT_USER_BEARER, REFRESH_TOKEN, USER, USER_BEARER,
};
use selkie_playground::{Fault, FaultKind};
use serde_json::json;

use crate::refusal::of_account;
use crate::testkit::{Guest, now};

fn id(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Sent(receipt) => receipt.message.as_ref().unwrap().as_str().to_owned(),
        other => panic!("not sent: {other:?}"),
    }
}

fn note(delivery: &Delivery) -> Option<&str> {
    match delivery {
        Delivery::Sent(receipt) => receipt.note.as_deref(),
        other => panic!("not sent: {other:?}"),
    }
}

fn refused(delivery: Delivery) -> String {
    match delivery {
        Delivery::Refused { reason, closed: false } => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn every_login_posts() {
    for guest in [
        Guest::signing().await,
        Guest::renewing().await,
        Guest::with(json!({ "bearer_token": USER_BEARER })).await,
    ] {
        let delivery = guest
            .channel
            .sender
            .deliver(&guest.part("tea & *cake*: https://a.example/?b=c d"))
            .await;
        let posts = guest.x().posts();
        assert_eq!(
            (posts[0].id.clone(), posts[0].text.as_str()),
            (id(&delivery), "tea & cake: https://a.example/?b=c d")
        );
    }
}

/// What was approved for one account is not posted by another one; the same account with another login posts it, and
/// so does one that X does not tell of.
#[tokio::test]
async fn a_post_is_for_the_account_that_it_was_approved_for() {
    let guest = Guest::with(json!({ "bearer_token": USER_BEARER })).await;
    let login = guest.channel.sender.login().unwrap();
    let again = Guest::with(json!({ "bearer_token": NEXT_USER_BEARER })).await;
    assert_ne!(Some(&login), again.channel.sender.login().as_ref());
    let part = |guest: &Guest, text: &str, login: &str, id: Option<&str>| {
        let by = PostedBy { login: login.to_owned(), id: id.map(str::to_owned) };
        let post = Post { texts: vec![text.to_owned()], by: Some(by), ..Post::default() };
        let outbound = Outbound::new(guest.conversation(), Body::Post(post)).said(now());
        guest.channel.sender.render(&outbound).remove(0)
    };
    let why = refused(guest.channel.sender.deliver(&part(&guest, "a", "of old", Some("99"))).await);
    let says = format!(
        "another account: that with the id 99, and the login (x.bearer_token) is of the id {USER} now"
    );
    assert!(why.contains(&says) && of_account(&why), "{why}");
    let doubted = part(&guest, "a", "of old", Some("99"));
    assert!(matches!(guest.channel.sender.lookup(&doubted).await, Lookup::Unknown));
    assert!(guest.x().posts().is_empty());
    assert_eq!(guest.x().calls_of("me").len(), 1, "asked once");
    for (guest, login, known, asks) in [
        (&again, &*login, Some(USER), 1),
        (&again, "of old", None, 1),
        (&guest, &*login, Some(USER), 1),
    ] {
        id(&guest
            .channel
            .sender
            .deliver(&part(guest, &format!("{login}{known:?}"), login, known))
            .await);
        assert_eq!(guest.x().calls_of("me").len(), asks, "{login}");
    }
    let untold = Guest::with(json!({ "bearer_token": USER_BEARER })).await;
    let description = "Forbidden".to_owned();
    untold.x().fault(Fault::next("me", FaultKind::Refuse { code: 403, description }));
    id(&untold.channel.sender.deliver(&part(&untold, "b", "of old", Some("99"))).await);
    let signing = Guest::signing().await;
    assert_eq!(signing.channel.sender.posts_as().await.as_deref(), Some(USER));
    assert!(signing.x().calls_of("me").is_empty(), "the token tells it");
    for _ in 0..2 {
        assert_eq!(signing.channel.sender.handle().await.as_deref(), Some("@selkie_demo"));
    }
    assert_eq!(signing.x().calls_of("me").len(), 1, "asked once");
}

#[tokio::test]
async fn a_thread_goes_on_from_its_receipts() {
    let guest = Guest::signing().await;
    let words: String = (0..90).map(|n| format!("word{n} ")).collect();
    let parts = guest.parts(&words);
    let mut before: Option<String> = None;
    for part in &parts {
        let part = match &before {
            Some(before) => guest.channel.sender.following(part, &MessageRef::new(before.as_str())),
            None => part.clone(),
        };
        before = Some(id(&guest.channel.sender.deliver(&part).await));
    }
    let posts = guest.x().posts();
    let links: Vec<_> = posts.iter().map(|post| post.reply_to.clone()).collect();
    assert_eq!(links, [None, Some(posts[0].id.clone()), Some(posts[1].id.clone())]);
}

#[tokio::test]
async fn a_doubt_is_resolved_by_the_timeline() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    for (text, fault, arrived) in [
        ("there & here https://example.com/x", FaultKind::CutAfter, true),
        ("not there", FaultKind::CutBefore, false),
        ("half an answer", FaultKind::Truncate, true),
        ("a gateway", FaultKind::Html { status: 503 }, false),
    ] {
        let part = guest.part(text);
        guest.x().fault(Fault::next("tweets", fault));
        assert!(matches!(sender.deliver(&part).await, Delivery::Unclear { .. }), "{text}");
        match sender.lookup(&part).await {
            Lookup::Sent(receipt) => {
                assert!(arrived, "{text}");
                let last = guest.x().posts().pop().unwrap();
                assert_eq!(receipt.message, Some(MessageRef::new(last.id.as_str())));
            }
            Lookup::NotSent => assert!(!arrived, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(guest.x().calls_of("me").len(), 1, "who we are is asked once");
}

#[tokio::test]
async fn an_answer_that_names_no_post_proves_nothing() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    let ids = [json!(""), json!("../../tweets"), json!("9".repeat(21)), json!(17), json!(null)];
    for (n, id) in ids.into_iter().enumerate() {
        let part = guest.part(&format!("tea {n}"));
        guest.x().answer_next("tweets", json!({ "data": { "id": id, "text": "tea" } }));
        let delivery = sender.deliver(&part).await;
        assert!(matches!(delivery, Delivery::Unclear { .. }), "{id}: {delivery:?}");
        assert!(matches!(sender.lookup(&part).await, Lookup::Sent(_)), "the timeline has it");
    }
}

#[tokio::test]
async fn what_cannot_be_read_on_a_timeline_is_not_taken_for_missing() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    let part = guest.part("where am I");
    let other = json!({ "id": "1990000000000000000", "text": "another" });
    for answer in [
        json!({ "data": [other, { "text": "where am I" }], "meta": { "result_count": 2 } }),
        json!({ "data": [{ "id": "12", "text": "where am I" }], "meta": { "result_count": 1 } }),
        json!({ "data": [{ "id": "1990000000000000001" }], "meta": { "result_count": 1 } }),
        json!({ "data": "none" }),
        json!({}),
    ] {
        guest.x().answer_next("timeline", answer.clone());
        assert_eq!(sender.lookup(&part).await, Lookup::Unknown, "{answer}");
    }
    guest.x().answer_next("timeline", json!({ "data": [other], "meta": { "result_count": 1 } }));
    assert_eq!(sender.lookup(&part).await, Lookup::NotSent);
}

#[tokio::test]
async fn a_timeline_that_cannot_be_read_proves_nothing() {
    let guest = Guest::signing().await;
    let part = guest.part("where am I");
    for code in [402, 403] {
        let description = "CreditsDepleted".to_owned();
        guest.x().fault(Fault::next("timeline", FaultKind::Refuse { code, description }));
        assert_eq!(guest.channel.sender.lookup(&part).await, Lookup::Unknown);
    }
    guest.x().fault(Fault::next("timeline", FaultKind::TooMany { retry_after: 900 }));
    assert_eq!(guest.channel.sender.lookup(&part).await, Lookup::Unknown);
    let timeless = Outbound::text(guest.conversation(), "no time");
    let timeless = guest.channel.sender.render(&timeless).remove(0);
    assert_eq!(guest.channel.sender.lookup(&timeless).await, Lookup::Unknown);
    assert_eq!(guest.channel.sender.marked(&part), part, "nothing goes out twice on a doubt");
}

#[tokio::test]
async fn a_duplicate_proves_the_first_attempt_and_nothing_else() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    let part = guest.part("once");
    guest.x().fault(Fault::next("tweets", FaultKind::CutAfter));
    assert!(matches!(sender.deliver(&part).await, Delivery::Unclear { .. }));
    let again = sender.deliver(&part).await;
    assert!(note(&again).unwrap().contains("taken it before"));
    assert_eq!(id(&again), guest.x().posts()[0].id);
    // Said once more, it is nobody's first attempt.
    let reason = refused(sender.deliver(&guest.part("once")).await);
    assert!(reason.starts_with("X accepts the same text only once"), "{reason}");
    // Nor does a process that knows of no earlier post take its receipt for its own.
    let (part, fresh) = (guest.part("once"), guest.again());
    let reason = refused(fresh.sender.deliver(&part).await);
    assert!(reason.starts_with("X accepts the same text only once"), "{reason}");
    // A timeline that cannot be read leaves open whose the words are, until it can.
    let part = guest.part("twice");
    guest.x().fault(Fault::next("tweets", FaultKind::CutAfter));
    assert!(matches!(sender.deliver(&part).await, Delivery::Unclear { .. }));
    guest.x().fault(Fault::next("timeline", FaultKind::TooMany { retry_after: 900 }));
    assert!(matches!(sender.deliver(&part).await, Delivery::Unclear { .. }));
    let Lookup::Sent(receipt) = sender.lookup(&part).await else { panic!("it stands there") };
    let posts = guest.x().posts();
    assert_eq!((posts.len(), receipt.message), (2, Some(MessageRef::new(posts[1].id.as_str()))));
}

#[tokio::test]
async fn a_duplicate_of_an_older_post_proves_nothing_and_is_not_tried_for_ever() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    guest.x().post_by_hand("good morning").unwrap();
    let said = now() + TimeDelta::seconds(10);
    let part = Outbound::text(guest.conversation(), "good morning").said(said);
    let part = sender.render(&part).remove(0);
    guest.x().fault(Fault::next("tweets", FaultKind::CutBefore));
    assert!(matches!(sender.deliver(&part).await, Delivery::Unclear { .. }));
    assert_eq!(sender.lookup(&part).await, Lookup::NotSent);
    let Delivery::Unclear { why } = sender.deliver(&part).await else { panic!("no proof") };
    assert!(why.contains("not provably from this post"), "{why}");
    for _ in 0..2 {
        assert_eq!(sender.lookup(&part).await, Lookup::Unknown, "it is not posted once more");
    }
    assert_eq!(guest.x().posts().len(), 1);
}

#[tokio::test]
async fn a_limit_is_waited_for_until_the_moment_it_ends() {
    let guest = Guest::signing().await;
    guest.x().fault(Fault::next("tweets", FaultKind::TooMany { retry_after: 70 }));
    let delivery = guest.channel.sender.deliver(&guest.part("later")).await;
    let Delivery::Retry { after, account: true, .. } = delivery else { panic!("{delivery:?}") };
    assert!((69..=71).contains(&after.as_secs()), "{after:?}");
}

#[tokio::test]
async fn logins_that_do_not_post_are_explained() {
    let guest = Guest::with(json!({ "bearer_token": APP_BEARER })).await;
    let app = refused(guest.channel.sender.deliver(&guest.part("a")).await);
    let guest = Guest::with(json!({ "bearer_token": "revoked-token" })).await;
    let revoked = refused(guest.channel.sender.deliver(&guest.part("a")).await);
    let guest = Guest::with(json!({ "client_id": CLIENT_ID, "refresh_token": "used-up" })).await;
    let used = refused(guest.channel.sender.deliver(&guest.part("a")).await);
    insta::assert_snapshot!([app, revoked, used].join("\n"), @"
    X accepts no post with an app's own bearer token (Unsupported Authentication: Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].): give a user's login instead of x.bearer_token, either x.consumer_key, x.consumer_secret, x.access_token and x.access_token_secret, or x.client_id and x.refresh_token (scopes tweet.read, tweet.write, users.read, media.write, offline.access)
    X refuses the login (Unauthorized): make a new one in X's developer console, put it into x.bearer_token, and start selkie again
    X refuses the login (Value passed for the token was invalid.): make a new one in X's developer console, put it into x.client_id and x.refresh_token, and start selkie again
    ");
}

#[tokio::test]
async fn pictures_are_refused_and_nothing_is_called() {
    let guest = Guest::signing().await;
    let photo = Body::Photo { path: "/x/cat.png".to_owned(), caption: None };
    let part = guest.channel.sender.render(&Outbound::new(guest.conversation(), photo)).remove(0);
    assert!(refused(guest.channel.sender.deliver(&part).await).contains("X takes no files"));
    assert!(guest.x().calls().is_empty());
}

#[tokio::test]
async fn a_token_is_renewed_when_it_ends_and_its_successor_outlives_the_process() {
    let login = json!({ "client_id": CLIENT_ID, "refresh_token": REFRESH_TOKEN });
    let mut guest = Guest::renewing().await;
    id(&guest.channel.sender.deliver(&guest.part("one")).await);
    id(&guest.channel.sender.deliver(&guest.part("two")).await);
    assert_eq!(guest.x().calls_of("token").len(), 1, "a token that lives is used");
    guest.x().end_access_tokens();
    id(&guest.channel.sender.deliver(&guest.part("three")).await);
    assert_eq!(guest.x().calls_of("token").len(), 2);
    guest.restart(login);
    id(&guest.channel.sender.deliver(&guest.part("four")).await);
    assert_eq!(guest.x().calls_of("token").len(), 2, "the kept token is used");
    let hidden = guest.redactor.clean(&guest.x().refresh_token());
    assert_eq!(hidden, "[redacted]");
}

#[tokio::test]
async fn two_posts_at_once_renew_once() {
    let guest = Guest::renewing().await;
    guest.x().fault(Fault::next("token", FaultKind::Delay { ms: 50 }));
    let (one, two) = (guest.part("one"), guest.part("two"));
    let sender = &guest.channel.sender;
    let (one, two) = tokio::join!(sender.deliver(&one), sender.deliver(&two));
    assert_ne!(id(&one), id(&two));
    assert_eq!(guest.x().calls_of("token").len(), 1);
}

#[tokio::test]
async fn a_successor_that_cannot_be_kept_is_not_used() {
    let guest = Guest::renewing().await;
    // A file where the folder should be: no disk takes the token.
    std::fs::write(guest.home.path().join("channels"), "").unwrap();
    let delivery = guest.channel.sender.deliver(&guest.part("one")).await;
    assert!(matches!(delivery, Delivery::Retry { .. }), "{delivery:?}");
    assert!(guest.x().posts().is_empty() && guest.x().calls_of("tweets").is_empty());
    std::fs::remove_file(guest.home.path().join("channels")).unwrap();
    id(&guest.channel.sender.deliver(&guest.part("one")).await);
    assert_eq!(guest.x().calls_of("token").len(), 1, "the token in hand is kept now, and used");
}

#[tokio::test]
async fn a_server_that_is_not_there_has_taken_nothing() {
    let guest = Guest::signing().await;
    let part = guest.part("hello");
    let sender = std::sync::Arc::clone(&guest.channel.sender);
    guest.playground.stop().await;
    assert!(matches!(sender.deliver(&part).await, Delivery::Retry { account: true, .. }));
}

/// A post with pictures that stand in the guest's home.
fn pictured(guest: &Guest, files: &[(&str, &str, &[u8])]) -> Part {
    let pictures = files.iter().map(|(name, mime, bytes)| {
        let path = guest.home.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
        PostPicture {
            path: path.to_string_lossy().into_owned(),
            name: (*name).to_owned(),
            mime: (*mime).to_owned(),
            bytes: bytes.len() as u64,
            sha256: digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    });
    let post =
        Post { texts: vec!["look".to_owned()], pictures: pictures.collect(), ..Post::default() };
    let outbound = Outbound::new(guest.conversation(), Body::Post(post)).said(now());
    guest.channel.sender.render(&outbound).remove(0)
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and pixels";
const JPEG: &[u8] = b"\xff\xd8\xff and pixels";

#[tokio::test]
async fn every_login_posts_pictures() {
    let mut moving = b"GIF89a".to_vec();
    moving.resize(2_500_000, 7);
    for guest in [
        Guest::signing().await,
        Guest::renewing().await,
        Guest::with(json!({ "bearer_token": USER_BEARER })).await,
    ] {
        let part = pictured(&guest, &[("a.png", "image/png", PNG), ("b.jpg", "image/jpeg", JPEG)]);
        let delivery = guest.channel.sender.deliver(&part).await;
        let posts = guest.x().posts();
        assert_eq!(id(&delivery), posts[0].id);
        let shown: Vec<_> = posts[0].pictures.iter().map(|p| p.content.clone()).collect();
        assert_eq!(shown, [PNG, JPEG]);
        guest.x().clear_posts();
        let part = pictured(&guest, &[("c.gif", "image/gif", &moving)]);
        let delivery = guest.channel.sender.deliver(&part).await;
        assert_eq!(id(&delivery), guest.x().posts()[0].id);
        assert_eq!(guest.x().posts()[0].pictures[0].content, moving, "in three pieces");
    }
}

#[tokio::test]
async fn a_doubt_about_an_upload_is_tried_again_and_publishes_nothing() {
    let guest = Guest::signing().await;
    let sender = &guest.channel.sender;
    let part = pictured(&guest, &[("a.png", "image/png", PNG)]);
    for (method, fault) in [
        ("upload", FaultKind::CutAfter),
        ("append", FaultKind::Html { status: 503 }),
        ("finalize", FaultKind::Truncate),
        ("append", FaultKind::TooMany { retry_after: 9 }),
    ] {
        guest.x().fault(Fault::next(method, fault));
        let delivery = sender.deliver(&part).await;
        assert!(
            matches!(delivery, Delivery::Retry { account: true, .. }),
            "{method}: {delivery:?}"
        );
        assert!(guest.x().posts().is_empty(), "{method}");
    }
    assert!(matches!(sender.deliver(&part).await, Delivery::Sent(_)));
    // A post with pictures is known again on the timeline.
    let guest = Guest::signing().await;
    let part = pictured(&guest, &[("a.png", "image/png", PNG)]);
    guest.x().fault(Fault::next("tweets", FaultKind::CutAfter));
    assert!(matches!(guest.channel.sender.deliver(&part).await, Delivery::Unclear { .. }));
    assert!(matches!(guest.channel.sender.lookup(&part).await, Lookup::Sent(_)));
}

#[tokio::test]
async fn a_picture_that_cannot_go_is_refused_with_what_to_do() {
    let guest = Guest::with(json!({ "bearer_token": BEARER_WITHOUT_MEDIA })).await;
    let sender = &guest.channel.sender;
    let mut said = Vec::new();
    let part = pictured(&guest, &[("a.png", "image/png", PNG)]);
    said.push(refused(sender.deliver(&part).await));
    std::fs::write(guest.home.path().join("a.png"), JPEG).unwrap();
    said.push(refused(sender.deliver(&part).await));
    std::fs::remove_file(guest.home.path().join("a.png")).unwrap();
    said.push(refused(sender.deliver(&part).await));
    let guest = Guest::signing().await;
    let part = pictured(&guest, &[("a.png", "image/png", JPEG)]);
    said.push(refused(guest.channel.sender.deliver(&part).await));
    insta::assert_snapshot!(said.join("\n"), @"
    X does not let this login upload pictures (Forbidden: You are not permitted to perform this action.): a login of OAuth 2.0 needs the scope media.write. Authorize the app again with it and put what it gives into x.bearer_token
    the picture a.png is not the one that was approved: ask for the post again
    the picture a.png is gone (No such file or directory (os error 2)): ask for the post again
    X does not take the picture a.png: Invalid Request: The media could not be processed: InvalidMedia.
    ");
    assert!(guest.x().posts().is_empty());
}

#[tokio::test]
async fn a_login_is_tried_alone_and_one_that_is_renewed_is_left_alone() {
    let check = async |guest: Guest| guest.channel.sender.check_credential().await;
    assert_eq!(check(Guest::signing().await).await, CredentialCheck::Taken);
    assert_eq!(check(Guest::renewing().await).await, CredentialCheck::Unknown);
    let stranger =
        Guest::with(json!({ "bearer_token": "a-bearer-that-x-does-not-know-at-all" })).await;
    let refused = check(stranger).await;
    let begins = "X refuses the login (401: ";
    assert!(
        matches!(&refused, CredentialCheck::Refused(why) if why.starts_with(begins)),
        "{refused:?}"
    );
}
