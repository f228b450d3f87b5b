//! Senders who are not on the allow list: one hint for ever in a place, and an answer to who asks for their id.
//!
//! Room and tries are spent on words that are said, and on nothing else: whoever writes again and again has their code
//! already, and takes nobody else's.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{Audience, Inbound, PlaceId};

use crate::delivery::account::Account;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::hints::Hints;
use crate::intake::let_in::OwnerQuestions;
use crate::intake::messages;
use crate::intake::settings::Pairing;
use selkie_agent::prompt;
use selkie_domain::builtin::Builtin;
use selkie_domain::live::Live;
use selkie_domain::pairing;
use selkie_store::{PairingRequest, StrangersCode};

/// People and places remembered in memory before it begins anew.
const MANY: usize = 10_000;
/// So often a person, or the people of a place, are told their id in a day.
const TIMES: u32 = 3;
/// Characters of a name that an owner is shown.
const MAX_NAME: usize = 100;

/// What senders who are not on the list were told, in this process.
#[derive(Default)]
pub struct UnlistedSenders {
    hints: Hints,
    /// What becomes of them.
    pairing: Live<Pairing>,
    questions: OwnerQuestions,
    told: Mutex<HashMap<String, (NaiveDate, u32)>>,
    /// Who is being given a code.
    asking: Mutex<HashSet<String>>,
    turned_away: Mutex<TurnedAway>,
}

/// Whether somebody who is to have a code got no word, because many knock.
#[derive(Default)]
struct TurnedAway {
    /// The day of which that is known.
    day: Option<NaiveDate>,
    /// Nobody has asked for it since.
    is_new: bool,
}

/// Room for words to somebody, held until it is known whether they are said.
pub struct Turn<'a> {
    senders: &'a UnlistedSenders,
    place: PlaceId,
    /// Whose tries it takes.
    tries: Vec<String>,
    /// Who is given a code meanwhile.
    asks: Option<String>,
    outcome: Outcome,
}

/// What came of a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nobody knows whether there is anything to say: the message was not stored.
    Open,
    Said,
    /// It was said before.
    Known,
}

impl Turn<'_> {
    fn ends(mut self, is_said: bool) {
        self.outcome = if is_said { Outcome::Said } else { Outcome::Known };
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Self { senders, place, tries, asks, outcome } = self;
        if let Some(person) = asks {
            locked(&senders.asking).remove(person);
        }
        if *outcome == Outcome::Said {
            return;
        }
        senders.hints.give_back(place);
        if *outcome == Outcome::Open && tries.is_empty() {
            senders.hints.forget(place);
        }
        let mut told = locked(&senders.told);
        for who in tries.iter() {
            if let Some((_, times)) = told.get_mut(who) {
                *times = times.saturating_sub(1);
            }
        }
    }
}

impl UnlistedSenders {
    /// Gives strangers what config says.
    pub fn of(pairing: Live<Pairing>) -> Self {
        Self { pairing, ..Self::default() }
    }

    /// Looks in the ledger again who was told something: somebody who was let in may be a stranger again.
    pub(crate) fn forget_hints(&self) {
        self.hints.forget_all();
    }

    fn offers_code(&self, inbound: &Inbound) -> bool {
        // Who asks for their id is told it.
        let asks_id = command(inbound) == Some(Builtin::Id);
        *self.pairing.now() == Pairing::Ask && inbound.audience == Audience::Direct && !asks_id
    }

    /// Whether this message may deserve words: the first of its place, or a question for the id. Then there is room.
    pub fn turn(&self, inbound: &Inbound, now: DateTime<Utc>) -> Option<Turn<'_>> {
        let place = &inbound.place;
        let person = format!("{} {}", place.account(), inbound.speaker.id);
        let offers_code = self.offers_code(inbound);
        let asks = offers_code.then(|| person.clone());
        // Several of one person's messages come at once: one of them is answered.
        if asks.as_ref().is_some_and(|person| locked(&self.asking).contains(person)) {
            return None;
        }
        let is_new = offers_code && !self.hints.has_told(place);
        let tries = if self.hints.may(place, now) {
            Vec::new()
        } else {
            let tries = vec![person, place.full()];
            let may = || self.may(&tries, now.date_naive());
            let asks_again = asks_for_id(inbound) || offers_code;
            if is_new {
                self.turn_away(now.date_naive());
                return None;
            }
            if !asks_again || !self.hints.may_again(place, now, may) {
                return None;
            }
            tries
        };
        locked(&self.asking).extend(asks.clone());
        let place = place.clone();
        Some(Turn { senders: self, place, tries, asks, outcome: Outcome::Open })
    }

    fn turn_away(&self, today: NaiveDate) {
        let mut away = locked(&self.turned_away);
        if away.day != Some(today) {
            *away = TurnedAway { day: Some(today), is_new: true };
        }
    }

    /// Whether strangers are turned away whose codes an owner may wait for; once a day.
    pub fn has_begun_to_turn_away(&self) -> bool {
        std::mem::take(&mut locked(&self.turned_away).is_new)
    }

    /// Says how to be let in: once for ever in each place, and a few times a day to who asks.
    pub async fn hint(
        &self,
        context: &Context,
        outbox: &Arc<Outbox>,
        account: &Account,
        inbound: &Inbound,
        turn: Turn<'_>,
    ) {
        tracing::info!(speaker = %inbound.speaker.id, place = %inbound.place, "not on the allow list");
        let is_said = if self.offers_code(inbound) && context.accounts.is_person(inbound) {
            self.offer_code(context, outbox, inbound).await
        } else if context.owners.is_empty() {
            // Whoever writes to a bot without an owner may well be the one who sets it up.
            let (name, keys) = (account.channel.name, account.channel.allow_keys);
            self.say(outbox, inbound, &messages::not_allowed(inbound, name, keys)).await
        } else {
            let owner_hears = *self.pairing.now() == Pairing::Button;
            if owner_hears {
                self.tell_owner(context, outbox, account, inbound).await;
            }
            self.say(outbox, inbound, &messages::unknown(inbound, owner_hears)).await
        };
        turn.ends(is_said);
    }

    /// Asks the owner whether somebody is let in who has written in private, or says what would let a group in.
    async fn tell_owner(
        &self,
        context: &Context,
        outbox: &Arc<Outbox>,
        account: &Account,
        inbound: &Inbound,
    ) {
        let who = &inbound.speaker;
        if inbound.audience == Audience::Group {
            let channel = &account.channel;
            let key = format!("{}.{}", channel.name, channel.allow_keys.places);
            let place = &inbound.place;
            let who = prompt::person(&who.name, who.id.as_str());
            let title = prompt::person(&inbound.title, place.key());
            let text = messages::pairing::wrote_in_group(&who, &title, &key, place.key());
            return outbox.tell_owner(&format!("let-in:{}", place.full()), &text).await;
        }
        if !context.accounts.is_person(inbound) {
            return;
        }
        if let Some(request) = self.request(context, outbox, inbound, pairing::WAITS).await {
            self.questions.ask(context, outbox, &request).await;
        }
    }

    /// Says something once for ever in a place, and again to who asks for their id. Whether it was said.
    async fn say(&self, outbox: &Arc<Outbox>, inbound: &Inbound, text: &str) -> bool {
        let draft = || outbox.draft_to(inbound, text);
        let Some(first) = draft() else { return false };
        let place = inbound.place.full();
        if outbox.say_once(&format!("hint:{place}"), first).await {
            return true;
        }
        match draft().filter(|_| asks_for_id(inbound)) {
            Some(again) => outbox.say_once(&format!("hint:{place} {}", inbound.key), again).await,
            None => false,
        }
    }

    /// Gives the code that stands for them: once, however often they write while it is open. Whether it was said.
    async fn offer_code(&self, context: &Context, outbox: &Arc<Outbox>, inbound: &Inbound) -> bool {
        let request = self.request(context, outbox, inbound, pairing::LASTS).await;
        let Some(PairingRequest { code, .. }) = request else { return false };
        match outbox.draft_to(inbound, &messages::pairing::offered(&code)) {
            Some(draft) => {
                outbox.say_once(&format!("pairing:{}:{code}", inbound.speaker.id), draft).await
            }
            None => false,
        }
    }

    /// Opens the request of whoever writes, or finds the one that is open.
    async fn request(
        &self,
        context: &Context,
        outbox: &Arc<Outbox>,
        inbound: &Inbound,
        lasts: TimeDelta,
    ) -> Option<PairingRequest> {
        let Context { runtime, storage, .. } = context;
        let request = PairingRequest {
            person: inbound.speaker.id.clone(),
            name: inbound.speaker.name.chars().take(MAX_NAME).collect(),
            code: pairing::new_code(&*runtime.chance),
            until: runtime.now() + lasts,
        };
        let asked = storage.insist(|ledger| ledger.request_pairing(request.clone())).await;
        let StrangersCode { code, crowded } = asked.unwrap_or_default();
        if crowded {
            outbox.notice("pairing", &messages::pairing::crowded()).await;
        }
        code.map(|code| PairingRequest { code, ..request })
    }

    /// Takes a try of all of these, where each has one left.
    fn may(&self, all: &[String], today: NaiveDate) -> bool {
        let mut told = locked(&self.told);
        if told.len() >= MANY {
            told.clear();
        }
        let used = |who: &String| told.get(who).filter(|(day, _)| *day == today);
        if all.iter().any(|who| used(who).is_some_and(|(_, times)| *times >= TIMES)) {
            return false;
        }
        for who in all {
            let (day, times) = told.entry(who.clone()).or_insert((today, 0));
            if *day != today {
                (*day, *times) = (today, 0);
            }
            *times += 1;
        }
        true
    }
}

fn asks_for_id(inbound: &Inbound) -> bool {
    matches!(command(inbound), Some(Builtin::Id | Builtin::Start))
}

fn command(inbound: &Inbound) -> Option<Builtin> {
    inbound.command.as_ref().and_then(|command| Builtin::parse(&command.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;

    fn from(n: usize) -> Inbound {
        let said = testing::message(&format!("tg:{n}"), "hello");
        let place = PlaceId::new(said.place.account().clone(), format!("tg:{n}"));
        Inbound { place, ..said }
    }

    #[test]
    fn a_crowd_uses_up_nobody_elses_tries() {
        let unlisted = UnlistedSenders::of(Live::of(Pairing::Ask));
        let now = DateTime::UNIX_EPOCH;
        let says = |n: usize, now| {
            let turn = unlisted.turn(&from(n), now);
            turn.map(|turn| turn.ends(true)).is_some()
        };
        assert_eq!((0..20).filter(|n| says(*n, now)).count(), 20);
        assert!(!says(3, now) && !unlisted.has_begun_to_turn_away(), "who has a code needs none");
        assert_eq!((20..100).filter(|n| says(*n, now)).count(), 0);
        assert!(unlisted.has_begun_to_turn_away() && !unlisted.has_begun_to_turn_away());
        assert!((0..9).all(|_| !says(500, now)), "there is no room");
        assert!(says(500, now + chrono::TimeDelta::minutes(1)), "and none of it counted");
    }

    #[test]
    fn what_says_nothing_takes_nobodys_room_and_no_try() {
        let unlisted = UnlistedSenders::of(Live::of(Pairing::Ask));
        let now = DateTime::UNIX_EPOCH;
        let turn = |n| unlisted.turn(&from(n), now);
        turn(0).unwrap().ends(true);
        (0..99).for_each(|_| turn(0).unwrap().ends(false));
        // Those whose message was not stored are asked again.
        (1..99).for_each(|n| drop(turn(n).unwrap()));
        let said = (1..99).filter(|n| turn(*n).map(|turn| turn.ends(true)).is_some());
        assert_eq!(said.count(), 19);
    }

    #[test]
    fn of_messages_that_come_at_once_one_is_answered() {
        let unlisted = UnlistedSenders::of(Live::of(Pairing::Ask));
        let now = DateTime::UNIX_EPOCH;
        let batch: Vec<Inbound> = (0..30).flat_map(|n| (0..4).map(move |_| from(n))).collect();
        let turns: Vec<_> = batch.iter().filter_map(|said| unlisted.turn(said, now)).collect();
        let told: HashSet<_> = turns.iter().map(|turn| turn.place.full()).collect();
        assert_eq!((turns.len(), told.len()), (20, 20));
    }

    #[test]
    fn an_id_is_told_a_few_times_a_day() {
        let unlisted = UnlistedSenders::default();
        let day = NaiveDate::from_yo_opt(2026, 1).unwrap();
        let may = |who: &str, day| unlisted.may(&[who.to_owned()], day);
        let told = (0..9).filter(|_| may("tg:5", day)).count();
        assert_eq!(told, 3);
        assert!(may("tg:6", day));
        assert!(may("tg:5", day.succ_opt().unwrap()));
        (0..3).for_each(|_| _ = may("tg:8", day));
        let both = ["tg:7".to_owned(), "tg:8".to_owned()];
        assert!(!unlisted.may(&both, day), "one of them has none left");
        assert_eq!((0..9).filter(|_| may("tg:7", day)).count(), 3, "the other keeps its own");
    }
}
