//! Senders who are not on the allow list: one hint for ever in a place, and an answer to who asks for their id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, NaiveDate, Utc};
use selkie_channel_core::Inbound;
use selkie_channel_core::locked;

use crate::delivery::account::Account;
use crate::delivery::outbox::Outbox;
use crate::domain::builtin::Builtin;
use crate::intake::hints::Hints;
use crate::intake::messages;

/// People and places remembered in memory before it begins anew.
const MANY: usize = 10_000;
/// So often a person, or the people of a place, are told their id in a day.
const TIMES: u32 = 3;

/// What senders who are not on the list were told, in this process.
#[derive(Default)]
pub(crate) struct UnlistedSenders {
    hints: Hints,
    told: Mutex<HashMap<String, (NaiveDate, u32)>>,
}

impl UnlistedSenders {
    /// Whether this message may deserve words: the first of its place, or a question for the id.
    pub(crate) fn deserves(&self, inbound: &Inbound, now: DateTime<Utc>) -> bool {
        let place = &inbound.place;
        if self.hints.may(place, now) {
            return true;
        }
        let person = format!("{} {}", place.account(), inbound.speaker.id);
        let today = now.date_naive();
        asks_for_id(inbound)
            && self.may(&person, today)
            && self.may(&place.full(), today)
            && self.hints.may_again(place, now)
    }

    /// Says how to be let in: once for ever in each place, and a few times a day to who asks.
    pub(crate) async fn hint(&self, outbox: &Arc<Outbox>, account: &Account, inbound: &Inbound) {
        tracing::info!(speaker = %inbound.speaker.id, place = %inbound.place, "not on the allow list");
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
    let command = inbound.command.as_ref().and_then(|command| Builtin::parse(&command.name));
    matches!(command, Some(Builtin::Id | Builtin::Start))
}

#[cfg(test)]
mod tests {
    use super::*;

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
