//! An owner is asked by two buttons whether somebody is let in who has written to the bot.

use std::sync::{Arc, Mutex};

use chrono::NaiveDate;
use selkie_channel_core::{Body, Choice, Inbound, Question, locked};

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::messages::pairing as messages;
use crate::intake::pairing::welcome;
use selkie_agent::prompt;
use selkie_domain::pairing;
use selkie_store::{PairingRequest, StoreError};

/// Begins the name of its question; the code follows.
const KEY: &str = "letin";
const LET_IN: &str = "in";
const IGNORE: &str = "ignore";
/// So many are asked about in a day; then the owner reads once that there are more.
const MAX_A_DAY: u32 = 5;

/// How many an owner was asked about today.
#[derive(Default)]
pub struct OwnerQuestions {
    today: Mutex<(NaiveDate, u32)>,
}

impl OwnerQuestions {
    /// Asks the owner about somebody, once for their request; returns whether they are, or were, asked.
    pub async fn ask(&self, context: &Context, outbox: &Arc<Outbox>, request: &PairingRequest) {
        let key = format!("let-in:{}:{}", request.person, request.code);
        let who = prompt::person(&request.name, request.person.as_str());
        if !self.has_room(context.runtime.now().date_naive()) {
            outbox.notice("let-in", messages::MORE_HAVE_WRITTEN).await;
            return;
        }
        let choice = |id: &str, label: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        let question = Question {
            key: format!("{KEY}{}", request.code),
            markdown: messages::wrote(&who),
            choices: vec![choice(LET_IN, "Let in"), choice(IGNORE, "Ignore")],
            free_text: false,
            placeholder: String::new(),
        };
        outbox.ask_owner(&key, Body::Question(question)).await;
    }

    fn has_room(&self, today: NaiveDate) -> bool {
        let mut counted = locked(&self.today);
        if counted.0 != today {
            *counted = (today, 0);
        }
        counted.1 += 1;
        counted.1 <= MAX_A_DAY
    }
}

/// Reads whose code a button has; `None` for a button of another kind.
pub fn code(key: &str) -> Option<String> {
    key.strip_prefix(KEY).and_then(pairing::read)
}

/// Does what an owner has tapped; returns what they read.
///
/// # Errors
/// When the store does not answer: the row is carried out later.
pub async fn tap(
    context: &Context,
    outbox: &Arc<Outbox>,
    inbound: &Inbound,
    code: &str,
    choice: &str,
) -> Result<String, StoreError> {
    let lets_in = choice == LET_IN;
    let Some(request) = context.storage.ledger.settle_pairing(code, lets_in).await? else {
        return Ok(messages::TOO_LATE.to_owned());
    };
    let PairingRequest { person, name, .. } = &request;
    if lets_in {
        welcome(context, outbox, person, code).await;
    }
    let who = prompt::person(name, person.as_str());
    let outcome = if lets_in { messages::is_in(&who) } else { messages::is_ignored(&who) };
    if let Some(message) = inbound.message.clone() {
        let body = Body::Revision { message, markdown: outcome.clone(), question: None };
        if let Some(draft) = outbox.draft_of(&inbound.conversation, body) {
            outbox.say_once(&format!("let-in:{person}:{code}:{choice}"), draft).await;
            return Ok(String::new());
        }
    }
    Ok(outcome)
}
