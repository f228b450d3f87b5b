//! Every channel keeps the contract of all channels.

use futures_util::FutureExt as _;
use selkie_playground::telegram::TOKEN;
use selkie_playground::{Fault, FaultKind, line_platform as line, slack, x};

use crate::support::contract::{Contract, Doubt, Hearing, TakingBack, holds};
use crate::support::rows::{HEARD, number};
use crate::support::stage::Room;
use crate::support::stages;

/// What makes the stand-in say twelve thousand characters.
const LONG: (&str, usize) = ("long 12000", 12_000);
/// Parts that the rows know to be there twice, perhaps.
const REPEATED: &str = "SELECT count(*) FROM part WHERE repeated = 1";
const EDGES: &[&str] = &["after_accept", "after_claim", "after_model", "after_finish"];
/// Where nobody can be asked, an answer that was to leave at once is in doubt when its task has ended.
const TELEGRAM_EDGES: &[&str] = &["after_accept", "after_claim", "after_model", "before_finish"];

#[tokio::test(flavor = "multi_thread")]
async fn telegram_keeps_the_contract() {
    holds(&TELEGRAM).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slack_keeps_the_contract() {
    holds(&SLACK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn line_keeps_the_contract() {
    holds(&LINE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x_keeps_the_contract() {
    holds(&X).await;
}

/// What is cut off is sent again with the mark: Telegram lets nobody look.
static TELEGRAM: Contract = Contract {
    stage: &stages::TELEGRAM,
    hearing: Some(Hearing {
        unacknowledged: |world| world.telegram().pending_updates(),
        refuses: "updates are not acknowledged",
        in_order: true,
        // Met by the poll after the next message: that message's batch comes again.
        again: |world| {
            world.telegram().fault(Fault::next("getUpdates", FaultKind::Redeliver));
            std::future::ready(()).boxed()
        },
        taking_back: None,
    }),
    arrived: HEARD,
    call: "sendMessage",
    calls: |world| usize::try_from(world.telegram().counted("sendMessage")).expect("a count"),
    fault: |world, fault| world.telegram().fault(fault),
    refusal: |description| FaultKind::Refuse { code: 400, description },
    doubt: Doubt {
        copies: 2,
        marked: 1,
        resolved: |world| number(&world.home, REPEATED) == Some(1),
    },
    long: LONG,
    holds: (4096, utf16),
    secrets: &[TOKEN],
    edges: TELEGRAM_EDGES,
};

/// The channel's history tells what became of a lost result.
static SLACK: Contract = Contract {
    stage: &stages::SLACK,
    hearing: Some(Hearing {
        unacknowledged: |world| world.slack().envelopes().1,
        refuses: "events are not acknowledged",
        // Each comes again by itself, over any socket.
        in_order: false,
        again: |world| {
            let messages = world.slack().messages(slack::DM);
            let newest = messages.iter().rev().find(|message| !message.is_bots());
            world.slack().redeliver(slack::DM, &newest.expect("a message").ts);
            let slack = world.slack();
            let taken = slack.wait_until(|slack| (slack.envelopes() == (2, 0)).then_some(()));
            world.within("an acknowledgement of the repetition", taken).boxed()
        },
        taking_back: Some(TakingBack {
            says: |world, room, text| match room {
                Room::Private => world.slack().say(slack::DM, slack::ADA, text),
                Room::Group => {
                    let text = format!("<@{}> {text}", slack::BOT);
                    world.slack().say(slack::CHANNEL, slack::ADA, &text)
                }
            },
            sends: |world, name, text| {
                world.slack().upload(slack::DM, slack::ADA, name, text.to_owned())
            },
            takes_back: |world, room, message| {
                let channel = if room == Room::Private { slack::DM } else { slack::CHANNEL };
                let event = world.slack().delete(channel, message).expect("a message");
                world.slack().repeat(&event);
            },
        }),
    }),
    arrived: HEARD,
    call: "chat.postMessage",
    calls: |world| world.slack().counted("chat.postMessage"),
    fault: |world, fault| world.slack().fault(fault),
    refusal: |description| FaultKind::Refuse { code: 200, description },
    doubt: Doubt {
        copies: 1,
        marked: 0,
        resolved: |world| world.slack().counted("conversations.history") > 0,
    },
    long: LONG,
    holds: (4000, utf16),
    secrets: &[slack::BOT_TOKEN, slack::APP_TOKEN],
    edges: EDGES,
};

/// A reply token works once: used again, it tells that the lost reply has arrived.
static LINE: Contract = Contract {
    stage: &stages::LINE,
    hearing: Some(Hearing {
        unacknowledged: |world| world.playground.line().pending_events(),
        refuses: "a webhook was not stored",
        in_order: true,
        again: |world| {
            let line = world.playground.line();
            let messages = line.messages(line::ADA);
            let newest = messages.into_iter().rev().find(|message| message.from.is_some());
            let id = newest.expect("a message").id;
            async move { assert_eq!(line.redeliver(&id).await.expect("an answer"), 200) }.boxed()
        },
        taking_back: Some(TakingBack {
            says: |world, room, text| match room {
                Room::Private => world.playground.line().say(line::ADA, line::ADA, text),
                Room::Group => {
                    let text = format!("{} {text}", line::BOT_NAME);
                    world.playground.line().say(line::GROUP, line::ADA, &text)
                }
            },
            sends: |world, name, text| {
                let file = line::Draft::new(line::MediaKind::File, name, text.to_owned());
                world.playground.line().upload(line::ADA, line::ADA, file)
            },
            takes_back: |world, room, message| {
                let chat = if room == Room::Private { line::ADA } else { line::GROUP };
                let platform = world.playground.line();
                let event = platform.unsend(chat, line::ADA, message);
                platform.repeat(&event);
            },
        }),
    }),
    arrived: HEARD,
    call: "reply",
    calls: |world| world.playground.line().calls_of("reply").len(),
    fault: |world, fault| world.playground.line().fault(fault),
    refusal: |description| FaultKind::Refuse { code: 400, description },
    doubt: Doubt {
        copies: 1,
        marked: 0,
        resolved: |world| {
            let tokens: Vec<_> = world.playground.line().calls_of("reply");
            let same =
                tokens.iter().all(|call| call.body["replyToken"] == tokens[0].body["replyToken"]);
            tokens.len() == 2 && same && world.playground.line().calls_of("push").is_empty()
        },
    },
    long: LONG,
    holds: (5000, utf16),
    secrets: &[line::ACCESS_TOKEN, line::SECRET],
    edges: EDGES,
};

/// It only speaks; the timeline tells what became of a lost result.
static X: Contract = Contract {
    stage: &stages::X,
    hearing: None,
    arrived: "SELECT count(DISTINCT outbound) FROM part",
    call: "tweets",
    calls: |world| world.playground.x().calls_of("tweets").len(),
    fault: |world, fault| world.playground.x().fault(fault),
    refusal: |description| FaultKind::Refuse { code: 403, description },
    doubt: Doubt {
        copies: 1,
        marked: 0,
        resolved: |world| {
            let x = world.playground.x();
            x.calls_of("tweets").len() == 1 && !x.calls_of("timeline").is_empty()
        },
    },
    long: (LINES, LINES.len()),
    // Plain letters weigh one each.
    holds: (280, utf16),
    secrets: &[x::CONSUMER_SECRET, x::ACCESS_TOKEN, x::ACCESS_TOKEN_SECRET],
    edges: &["after_said"],
};

/// More than one post holds.
const LINES: &str = "\
Line 1 tells of the tide, which comes in the morning and goes at noon
Line 2 tells of the wind, which comes from the west and brings the rain
Line 3 tells of the seals, who lie on the skerry until the water is high
Line 4 tells of the boats, which wait in the harbour for a better day
Line 5 tells of the lamp, which is lit in the evening and put out at dawn
Line 6 tells of the kettle, which is never far from the fire
Line 7 tells of the end, which is here";

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}
