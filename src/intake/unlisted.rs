//! Senders who are not on the allow list: one hint for ever in a place, and an answer to who asks for their id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, NaiveDate, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{Audience, Inbound};

use crate::delivery::account::Account;
use crate::delivery::outbox::Outbox;
use crate::domain::builtin::Builtin;
use crate::domain::live::Live;
use crate::domain::pairing;
use crate::intake::hints::Hints;
use crate::intake::messages;
use crate::intake::settings::Pairing;
use crate::store::{PairingRequest, StrangersCode};

/// People and places remembered in memory before it begins anew.
const MANY: usize = 10_000;
/// So often a person, or the people of a place, are told their id in a day.
const TIMES: u32 = 3;
/// Characters of a name that an owner is shown.
const LONGEST_NAME: usize = 100;

/// What senders who are not on the list were told, in this process.
#[derive(Default)]
pub(crate) struct UnlistedSenders {
    hints: Hints,
    /// Strangers in private get a code by which an owner can let them in.
    pairing: Live<Pairing>,
    told: Mutex<HashMap<String, (NaiveDate, u32)>>,
}

impl UnlistedSenders {
    /// Gives strangers what config says.
    pub(crate) fn of(pairing: Live<Pairing>) -> Self {
        Self { pairing, ..Self::default() }
    }

    fn offers_code(&self, inbound: &Inbound) -> bool {
        // Who asks for their id is told it.
        let asks_id = command(inbound) == Some(Builtin::Id);
        *self.pairing.now() == Pairing::Ask && inbound.audience == Audience::Direct && !asks_id
    }

    /// Whether this message may deserve words: the first of its place, or a question for the id.
    pub(crate) fn deserves(&self, inbound: &Inbound, now: DateTime<Utc>) -> bool {
        let place = &inbound.place;
        if self.hints.may(place, now) {
            return true;
        }
        let person = format!("{} {}", place.account(), inbound.speaker.id);
        let today = now.date_naive();
        let tries = || self.may(&person, today) && self.may(&place.full(), today);
        (asks_for_id(inbound) || self.offers_code(inbound))
            && self.hints.may_again(place, now, tries)
    }

    /// Says how to be let in: once for ever in each place, and a few times a day to who asks.
    pub(crate) async fn hint(&self, outbox: &Arc<Outbox>, account: &Account, inbound: &Inbound) {
        tracing::info!(speaker = %inbound.speaker.id, place = %inbound.place, "not on the allow list");
        if self.offers_code(inbound) && outbox.accounts.is_person(inbound) {
            self.offer_code(outbox, inbound).await;
            return;
        }
        let (name, keys) = (account.channel.name, account.channel.allow_keys);
        let text = messages::not_allowed(inbound, name, keys, !outbox.owners.is_empty());
        let draft = || outbox.draft_to(inbound, &text);
        let Some(first) = draft() else { return };
        let place = inbound.place.full();
        let said = outbox.say_once(&format!("hint:{place}"), first).await;
        if said || !asks_for_id(inbound) {
            return;
        }
        if let Some(again) = draft() {
            outbox.say_once(&format!("hint:{place} {}", inbound.key), again).await;
        }
    }

    /// Gives the code that stands for them: once, however often they write while it is open.
    async fn offer_code(&self, outbox: &Arc<Outbox>, inbound: &Inbound) {
        let (runtime, storage) = (&outbox.runtime, &outbox.storage);
        let request = PairingRequest {
            person: inbound.speaker.id.clone(),
            name: inbound.speaker.name.chars().take(LONGEST_NAME).collect(),
            code: pairing::new_code(&*runtime.chance),
            until: runtime.now() + pairing::LASTS,
        };
        let asked = storage.insist(|| storage.ledger.request_pairing(request.clone())).await;
        let StrangersCode { code, crowded } = asked.unwrap_or_default();
        if crowded {
            outbox.notice("pairing", &messages::pairing::crowded()).await;
        }
        let Some(code) = code else { return };
        if let Some(draft) = outbox.draft_to(inbound, &messages::pairing::offered(&code)) {
            outbox.say_once(&format!("pairing:{}:{code}", inbound.speaker.id), draft).await;
        }
    }

    fn may(&self, who: &str, today: NaiveDate) -> bool {
        let mut told = locked(&self.told);
        if told.len() >= MANY {
            told.clear();
        }
        let (day, times) = told.entry(who.to_owned()).or_insert((today, 0));
        if *day != today {
            (*day, *times) = (today, 0);
        }
        *times += 1;
        *times <= TIMES
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
    use selkie_channel_core::PlaceId;

    use super::*;
    use crate::daemon::flow::testing;

    #[test]
    fn a_crowd_uses_up_nobody_elses_tries() {
        let unlisted = UnlistedSenders::of(Live::of(Pairing::Ask));
        let now = DateTime::UNIX_EPOCH;
        let deserves = |n: usize, now| {
            let said = testing::message(&format!("tg:{n}"), "hello");
            let place = PlaceId::new(said.place.account().clone(), format!("tg:{n}"));
            unlisted.deserves(&Inbound { place, ..said }, now)
        };
        assert_eq!((0..100).filter(|n| deserves(*n, now)).count(), 20);
        assert!((0..9).all(|_| !deserves(500, now)), "there is no room");
        assert!(deserves(500, now + chrono::TimeDelta::minutes(1)), "and none of it counted");
    }

    #[test]
    fn an_id_is_told_a_few_times_a_day() {
        let unlisted = UnlistedSenders::default();
        let day = NaiveDate::from_yo_opt(2026, 1).unwrap();
        let told = (0..9).filter(|_| unlisted.may("tg:5", day)).count();
        assert_eq!(told, 3);
        assert!(unlisted.may("tg:6", day));
        assert!(unlisted.may("tg:5", day.succ_opt().unwrap()));
    }
}
