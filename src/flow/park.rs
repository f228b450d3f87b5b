//! A run that waits for a person: its question is stored with the park, and seen off when nobody answered.

use selkie_channel_core::{Body, Outbound};

use crate::agent::Asks;
use crate::domain::crash::CrashPoint;
use crate::domain::happening::Happening;
use crate::domain::question::{Given, Person};
use crate::domain::task::ParkedOn;
use crate::flow::answer::{Answers, Onward, quote};
use crate::flow::desk::after;
use crate::flow::remains::Remains;
use crate::flow::{hold, limits, questions};
use crate::store::{Advance, Asked, Claimed, Committed, Draft};

/// What came of a park.
pub(super) enum Parked {
    /// It waits, or another owner has it.
    Yes(Box<Onward>),
    /// A person stopped the task before it could ask.
    Stopped,
    /// There is nobody here, or no way to ask.
    NobodyToAsk,
}

impl Answers {
    /// Parks a task on its question: question, message and end of the claim in one.
    pub(super) async fn park(&self, claimed: &Claimed, asks: Asks, hand_over: bool) -> Parked {
        let desk = &self.desk;
        let Some((person, draft)) = person(claimed).zip(self.question(claimed, &asks)) else {
            return Parked::NobodyToAsk;
        };
        let Asks { key, ask, append, header, usage } = asks;
        let now = desk.clock.now();
        let hand_over = hand_over && !desk.is_draining();
        let expires_at = after(now, ask.within);
        let on = ParkedOn::Question { key: key.clone() };
        let wake_at = Some(expires_at);
        let ask = Some(Box::new(Asked { key, person, ask, expires_at, draft }));
        limits::used(desk, claimed, usage);
        let park = Advance::Park { append, header, on, ask, wake_at, usage, hand_over, now };
        let committed = desk.insist(|| desk.ledger.commit(&claimed.claim, park.clone())).await;
        desk.crash.hit(CrashPoint::AfterPark);
        match committed {
            Some(Committed::Ended { queued, next, usage }) => {
                queued.into_iter().for_each(|queued| desk.send(queued));
                desk.happenings.tell(|| Happening::Ended {
                    conversation: claimed.conversation.clone(),
                    task: claimed.claim.task,
                    state: "parked".to_owned(),
                    usage,
                });
                Parked::Yes(Box::new(Onward { next: next.map(|next| *next), wake_at }))
            }
            Some(Committed::Continue { .. }) => Parked::Stopped,
            None if !desk.stop.work.is_cancelled() => {
                // No repetition mends it.
                self.bury(Remains::of(claimed)).await;
                Parked::Yes(Box::default())
            }
            Some(Committed::Lost) | None => Parked::Yes(Box::default()),
        }
    }

    /// Takes the buttons off a question that nobody has answered in time.
    pub(super) async fn close_expired(&self, claimed: &Claimed) {
        let Some(settled) = &claimed.settled else { return };
        let question = &settled.question;
        if question.given != Some(Given::Expired) {
            return;
        }
        let line = questions::outcome(&question.ask, question.given.as_ref());
        questions::close(&self.desk, question.clone(), &line, None).await;
    }

    fn question(&self, claimed: &Claimed, asks: &Asks) -> Option<Draft> {
        let conversation = &claimed.conversation;
        let question = questions::asked(&self.desk, conversation, &asks.key, &asks.ask);
        let outbound = Outbound::new(conversation.clone(), Body::Question(question));
        let (quote, window) = (quote(claimed), hold::right(&self.desk, claimed));
        self.desk.rendered(outbound.quoting(quote).within(window))
    }
}

/// Who is asked: whose message the task answers.
fn person(claimed: &Claimed) -> Option<Person> {
    let id = claimed.facts.speaker.clone()?;
    let speakers = claimed.heard.iter().map(|(_, inbound)| &inbound.speaker);
    let name = speakers.filter(|s| s.id == id).map(|s| s.name.clone()).next();
    Some(Person { id, name: name.unwrap_or_default() })
}
