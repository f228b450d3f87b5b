//! Questions, edits and answers to taps of the real channel against the strict platform: nothing of it is
//! refused that should arrive, and what is gone harms nothing.

use std::sync::Arc;

use chrono::DateTime;
use selkie_channel_core::{
    Body, BuildContext, Channel, Choice, ConversationId, Delivery, MessageRef, Outbound, Question,
    Redactor, tls,
};
use selkie_playground::telegram::{ADA, GROUP, MessageView, PRIVATE, TOKEN, TOPIC};
use selkie_playground::{Options, Pace, Playground, Spot};
use serde_json::json;

use crate::support::world::World;

struct Desk {
    playground: Playground,
    channel: Channel,
}

impl Desk {
    async fn open() -> Self {
        let options = Options { pace: Pace::Lifted, ..Options::default() };
        let playground = Playground::start(options).await.expect("a free port");
        let section = json!({ "bot_token": TOKEN, "base_url": playground.telegram_base_url(), "pace": "lifted" });
        let context = BuildContext {
            tls: tls::client_config(rustls::RootCertStore::empty).expect("a TLS configuration"),
            redactor: Redactor::default(),
            user_agent: "selkie/test".to_owned(),
            cache_dir: "/nonexistent".into(),
            state_dir: "/nonexistent".into(),
            now: Arc::new(|| DateTime::UNIX_EPOCH),
        };
        let channel = (selkie_telegram::kit().build)(section, context).expect("a good section");
        Self { playground, channel: channel.expect("a channel") }
    }

    fn conversation(&self, spot: Spot) -> ConversationId {
        let key = match spot.thread {
            Some(thread) => format!("tg:{}:{thread}", spot.chat),
            None => format!("tg:{}", spot.chat),
        };
        ConversationId::new(self.channel.account.clone(), key)
    }

    /// Says it; what came of its last part.
    async fn say(&self, spot: Spot, body: Body) -> Delivery {
        let outbound = Outbound::new(self.conversation(spot), body);
        let mut last = None;
        for part in self.channel.sender.render(&outbound) {
            last = Some(self.channel.sender.deliver(&part).await);
        }
        last.expect("something to say")
    }

    async fn ask(&self, spot: Spot, question: Question) -> MessageView {
        let Delivery::Sent(receipt) = self.say(spot, Body::Question(question)).await else {
            panic!("a question was refused")
        };
        let id: i64 = receipt.message.expect("an id").as_str().parse().expect("a number");
        let said = self.playground.telegram().messages(spot);
        said.into_iter().find(|message| message.id == id).expect("the message")
    }
}

fn question(choices: usize) -> Question {
    let choice = |n: usize| Choice {
        id: format!("c{n}"),
        label: format!("{n}: a label that is much too long for any button on a phone 🦭"),
        description: format!("what {n} means"),
    };
    Question {
        key: "k".repeat(24),
        markdown: "**Which** of them?".to_owned(),
        choices: (0..choices).map(choice).collect(),
        free_text: false,
        placeholder: String::new(),
    }
}

fn is_refused(delivery: &Delivery) -> bool {
    matches!(delivery, Delivery::Refused { closed: false, .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_keyboard_arrives_and_every_button_can_be_tapped() {
    let desk = Desk::open().await;
    for spot in [PRIVATE, GROUP, TOPIC] {
        for count in [1, 3, 100] {
            let asked = desk.ask(spot, question(count)).await;
            let rows = asked.keyboard.expect("a keyboard");
            let rows = rows.as_array().expect("rows").iter();
            assert_eq!(rows.flat_map(|row| row.as_array().expect("a row")).count(), count);
        }
        let asked = desk.ask(spot, question(101)).await;
        assert_eq!(asked.keyboard, None, "more than a keyboard holds is asked in numbers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_revised_and_withdrawn_as_often_as_it_takes() {
    let desk = Desk::open().await;
    let asked = desk.ask(GROUP, question(2)).await;
    let message = MessageRef::new(asked.id.to_string());
    let markdown = "**Which** of them? — *the first*".to_owned();
    let revision = Body::Revision { message: message.clone(), markdown, question: None };
    for _ in 0..2 {
        let delivery = desk.say(GROUP, revision.clone()).await;
        assert!(matches!(delivery, Delivery::Sent(_)), "{delivery:?}");
        let revised = desk.playground.telegram().messages(GROUP).pop().expect("the message");
        assert_eq!((revised.text.as_str(), revised.keyboard), ("Which of them? — the first", None));
    }
    for _ in 0..2 {
        let delivery = desk.say(GROUP, Body::Withdrawal { message: message.clone() }).await;
        assert!(matches!(delivery, Delivery::Sent(_)), "{delivery:?}");
    }
    assert!(is_refused(&desk.say(GROUP, revision).await), "it is not there any more");
    let tap = Body::TapAnswer { handle: "4711".to_owned(), text: "nobody tapped".to_owned() };
    assert!(is_refused(&desk.say(GROUP, tap).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_asked_for_and_that_question_stays_as_it_is() {
    let desk = Desk::open().await;
    let open = Question { free_text: true, placeholder: "a name".to_owned(), ..question(0) };
    let asked = desk.ask(GROUP, open).await;
    let message = MessageRef::new(asked.id.to_string());
    let revision = Body::Revision { message, markdown: "answered".to_owned(), question: None };
    assert!(is_refused(&desk.say(GROUP, revision).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_told_why_a_tool_is_hidden_when_the_command_names_the_bot() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let why = world.ask_in(GROUP, ADA, "/tools@selkie_demo_bot why bash").await;
    assert!(why.contains("bash") && why.contains("hidden in groups"), "{why}");
    world.telegram().say(GROUP, ADA, "/tools@another_bot why bash");
    let next = world.ask_in(GROUP, ADA, "@selkie_demo_bot hello").await;
    assert!(next.contains("hello"), "{next}");
    assert_eq!(world.said(GROUP).len(), 2, "a command for another bot is none of ours");
}
