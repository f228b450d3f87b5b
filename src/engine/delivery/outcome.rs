//! What the ledger is told of one attempt, and what the delivery worker does next. Pure.

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{Delivery, Lookup, Sender};

use crate::delivery::moments::after;
use crate::delivery::rate_limiter::MAX_PENALTY;
use selkie_domain::span::Span;
use selkie_store::{DuePart, Outcome};

/// The longest wait of our own making between two attempts.
const MAX_BACKOFF: TimeDelta = TimeDelta::minutes(5);

/// What came of an attempt.
#[derive(Debug)]
pub struct AttemptOutcome {
    /// For the ledger.
    pub outcome: Outcome,
    /// The part as it is tried again; absent when it is settled.
    pub again: Option<DuePart>,
    /// Who is held back besides.
    pub penalty: Option<Penalty>,
}

/// Who is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalty {
    /// The whole account, not this place alone.
    pub account: bool,
    pub(crate) until: DateTime<Utc>,
}

/// When it is, and what chance says.
#[derive(Clone, Copy)]
pub struct Moment {
    pub(crate) now: DateTime<Utc>,
    /// In `0.0..1.0`: spreads retries.
    pub unit: f64,
    pub(crate) unclear_after: Span,
}

/// Judges a delivery.
pub fn of_delivery(
    delivery: Delivery,
    due: DuePart,
    sender: &dyn Sender,
    moment: Moment,
) -> AttemptOutcome {
    let settled = |outcome| AttemptOutcome { outcome, again: None, penalty: None };
    let Moment { now, unit, unclear_after } = moment;
    match delivery {
        Delivery::Sent(receipt) => settled(Outcome::Sent(receipt)),
        Delivery::Refused { reason, closed } => settled(Outcome::Refused { reason, close: closed }),
        Delivery::Retry { after, why, account } => {
            let asked = TimeDelta::from_std(after).unwrap_or(MAX_PENALTY).min(MAX_PENALTY);
            let at = now + asked.max(backoff(due.attempts, unit));
            let penalty = Some(Penalty { account, until: now + asked });
            let again = Some(DuePart {
                attempts: due.attempts + 1,
                not_before: Some(at),
                unclear: false,
                ..due
            });
            AttemptOutcome { outcome: Outcome::Retry { at, why }, again, penalty }
        }
        Delivery::Moved { to } => {
            let part = sender.readdressed(&due.part, &to);
            if part == due.part {
                let reason = format!("its place has moved to {to}, where it was sent already");
                return settled(Outcome::Refused { reason, close: false });
            }
            let again = DuePart { part: part.clone(), not_before: None, unclear: false, ..due };
            let outcome = Outcome::Moved { to, part: Box::new(part) };
            AttemptOutcome { outcome, again: Some(again), penalty: None }
        }
        Delivery::Instead { part, why } => {
            let again = DuePart { part: (*part).clone(), not_before: None, unclear: false, ..due };
            let outcome = Outcome::Instead { part, why };
            AttemptOutcome { outcome, again: Some(again), penalty: None }
        }
        Delivery::Unclear { why } => {
            let decide_at = after(now, unclear_after);
            let again = DuePart {
                attempts: due.attempts + 1,
                not_before: Some(decide_at),
                unclear: true,
                ..due
            };
            let outcome = Outcome::Unclear { decide_at, why };
            AttemptOutcome { outcome, again: Some(again), penalty: None }
        }
    }
}

/// Judges what the platform knows of an unclear part: what set a state is set again, an answer to who
/// asked goes out once more with a mark, everything else is left. A doubt outlives the part's time: what
/// may have arrived is never called expired.
pub fn of_lookup(
    lookup: Lookup,
    due: DuePart,
    sender: &dyn Sender,
    moment: Moment,
) -> AttemptOutcome {
    let now = moment.now;
    let over = due.expires_at.is_some_and(|at| at <= now);
    let settled = |outcome| AttemptOutcome { outcome, again: None, penalty: None };
    let retry = |due: DuePart, why: &str| AttemptOutcome {
        outcome: Outcome::Retry { at: now, why: why.to_owned() },
        again: Some(DuePart { not_before: None, unclear: false, ..due }),
        penalty: None,
    };
    match lookup {
        Lookup::Sent(receipt) => settled(Outcome::Sent(receipt)),
        Lookup::NotSent => retry(due, "the platform says it never arrived"),
        Lookup::Unknown | Lookup::Later { .. } | Lookup::Lapsed if over => {
            settled(Outcome::LeftUnclear)
        }
        Lookup::Later { after, at_most, why } => {
            let delta = |span| TimeDelta::from_std(span).unwrap_or(TimeDelta::days(1));
            let patience = delta(after).max(backoff(due.attempts, moment.unit));
            let decide_at = now + at_most.map_or(patience, |most| patience.min(delta(most)));
            let attempts = due.attempts + 1;
            let again = DuePart { attempts, not_before: Some(decide_at), unclear: true, ..due };
            let outcome = Outcome::Unclear { decide_at, why };
            AttemptOutcome { outcome, again: Some(again), penalty: None }
        }
        Lookup::Unknown if due.part.repeatable => retry(due, "repeating it is harmless"),
        Lookup::Unknown | Lookup::Lapsed if due.answer || due.part.asks => {
            let mut part = sender.marked(&due.part);
            if part == due.part {
                // The channel repeats nothing on a doubt, or it went out marked already.
                return settled(Outcome::LeftUnclear);
            }
            // Once: the repeated part is nothing that may be repeated.
            part.asks = false;
            let again = DuePart {
                part: part.clone(),
                not_before: None,
                unclear: false,
                answer: false,
                ..due
            };
            let outcome = Outcome::Repeat(Box::new(part));
            AttemptOutcome { outcome, again: Some(again), penalty: None }
        }
        Lookup::Unknown | Lookup::Lapsed => settled(Outcome::LeftUnclear),
    }
}

/// Half a second, doubled with every attempt, spread by up to a half.
fn backoff(attempts: u32, unit: f64) -> TimeDelta {
    let base = TimeDelta::milliseconds(500 << attempts.min(12)).min(MAX_BACKOFF);
    base + TimeDelta::milliseconds((base.num_milliseconds() as f64 * 0.5 * unit) as i64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use selkie_channel_core::{PlaceId, Receipt};

    use super::*;
    use crate::flow::testing;
    use crate::terminal::channel::Terminal;

    fn moment() -> Moment {
        Moment { now: DateTime::UNIX_EPOCH, unit: 0.0, unclear_after: Span::seconds(30) }
    }

    fn judge(delivery: Delivery) -> AttemptOutcome {
        of_delivery(delivery, testing::due(1), &Terminal::default(), moment())
    }

    #[test]
    fn an_unclear_part_rests_before_it_is_decided() {
        let verdict = judge(Delivery::Unclear { why: "cut".to_owned() });
        let again = verdict.again.unwrap();
        assert!(again.unclear);
        assert_eq!(again.not_before, Some(DateTime::UNIX_EPOCH + TimeDelta::seconds(30)));
    }

    #[test]
    fn an_answer_is_repeated_once_and_a_message_to_others_never() {
        let sender = testing::platform();
        let lookup = |due| of_lookup(Lookup::Unknown, due, &sender, moment());
        let first = lookup(DuePart { unclear: true, answer: true, ..testing::due(1) });
        assert!(matches!(first.outcome, Outcome::Repeat(_)));
        let second = lookup(first.again.unwrap());
        assert_eq!(second.outcome, Outcome::LeftUnclear);
        assert!(second.again.is_none());
        let mut request = DuePart { unclear: true, ..testing::due(1) };
        request.part.asks = true;
        let first = lookup(request);
        assert!(matches!(first.outcome, Outcome::Repeat(_)), "whom it asks must see it");
        assert_eq!(lookup(first.again.unwrap()).outcome, Outcome::LeftUnclear);
        let mut state = testing::due(2);
        (state.answer, state.part.repeatable) = (false, true);
        assert!(matches!(lookup(state).outcome, Outcome::Retry { .. }));
    }

    #[test]
    fn a_channel_that_marks_nothing_repeats_nothing() {
        let due = DuePart { unclear: true, answer: true, ..testing::due(1) };
        let verdict = of_lookup(Lookup::Unknown, due, &Terminal::default(), moment());
        assert_eq!(verdict.outcome, Outcome::LeftUnclear);
        assert!(verdict.again.is_none());
    }

    #[test]
    fn what_lost_its_harmless_repetition_goes_out_marked_or_stays_unclear() {
        let sender = testing::platform();
        let mut due = DuePart { unclear: true, answer: true, ..testing::due(1) };
        due.part.repeatable = true;
        let lapsed = |due| of_lookup(Lookup::Lapsed, due, &sender, moment());
        assert!(matches!(lapsed(due.clone()).outcome, Outcome::Repeat(_)));
        due.answer = false;
        assert_eq!(lapsed(due).outcome, Outcome::LeftUnclear);
    }

    #[test]
    fn what_cannot_be_asked_now_is_asked_again_until_its_time_is_over() {
        let sender = testing::platform();
        let due = DuePart { unclear: true, answer: true, ..testing::due(1) };
        let later = || Lookup::Later {
            after: Duration::from_secs(2),
            at_most: None,
            why: "503".to_owned(),
        };
        let again = of_lookup(later(), due, &sender, moment()).again.unwrap();
        assert!(again.unclear && again.answer);
        assert_eq!(again.not_before, Some(DateTime::UNIX_EPOCH + TimeDelta::seconds(2)));
        let tried = DuePart { attempts: 12, ..again.clone() };
        let mortal = Lookup::Later {
            after: Duration::from_secs(2),
            at_most: Some(Duration::from_secs(9)),
            why: "503".to_owned(),
        };
        let last = of_lookup(mortal, tried, &sender, moment()).again.unwrap();
        assert_eq!(last.not_before, Some(DateTime::UNIX_EPOCH + TimeDelta::seconds(9)));
        let over = DuePart { expires_at: Some(DateTime::UNIX_EPOCH), ..again };
        assert_eq!(of_lookup(later(), over, &sender, moment()).outcome, Outcome::LeftUnclear);
    }

    #[test]
    fn an_unclear_part_is_never_called_expired() {
        let sender = testing::platform();
        let mut due = DuePart { unclear: true, answer: true, ..testing::due(1) };
        due.expires_at = Some(DateTime::UNIX_EPOCH);
        due.part.repeatable = true;
        let verdict = of_lookup(Lookup::Unknown, due, &sender, moment());
        assert_eq!(verdict.outcome, Outcome::LeftUnclear);
    }

    #[test]
    fn another_call_takes_the_place_of_one_that_can_never_be_made() {
        let part = Box::new(testing::due(2).part);
        let verdict = judge(Delivery::Instead { part: part.clone(), why: "dead".to_owned() });
        assert_eq!(verdict.again.unwrap().part, *part);
        assert!(matches!(verdict.outcome, Outcome::Instead { .. }));
    }

    #[test]
    fn a_moved_place_is_followed_once() {
        let to = PlaceId::new(testing::account(), "tg:-1009");
        let verdict = judge(Delivery::Moved { to: to.clone() });
        let again = verdict.again.unwrap();
        assert_eq!(again.part.conversation.key(), "tg:-1009");
        let verdict = of_delivery(Delivery::Moved { to }, again, &Terminal::default(), moment());
        assert!(matches!(verdict.outcome, Outcome::Refused { .. }));
    }

    proptest! {
        #[test]
        fn a_retry_never_comes_before_the_platform_asks(
            asked in 0u64..10_000, attempts in 0u32..100, unit in 0.0f64..1.0
        ) {
            let due = DuePart { attempts, ..testing::due(1) };
            let delivery = Delivery::Retry {
                after: Duration::from_secs(asked), why: String::new(), account: false,
            };
            let verdict =
                of_delivery(delivery, due, &Terminal::default(), Moment { unit, ..moment() });
            let Outcome::Retry { at, .. } = verdict.outcome else { panic!("no retry") };
            let wait = at - DateTime::UNIX_EPOCH;
            prop_assert!(wait >= TimeDelta::seconds(asked as i64).min(MAX_PENALTY));
            prop_assert!(wait >= TimeDelta::milliseconds(500));
            prop_assert!(wait <= TimeDelta::seconds(asked as i64).max(TimeDelta::seconds(450)));
            prop_assert_eq!(verdict.again.unwrap().not_before, Some(at));
        }

        #[test]
        fn what_is_proven_is_settled(note in prop::option::of(".{0,10}")) {
            let receipt = Receipt { message: None, note, ..Receipt::default() };
            let verdict = judge(Delivery::Sent(receipt.clone()));
            prop_assert_eq!(verdict.outcome, Outcome::Sent(receipt));
            prop_assert!(verdict.again.is_none());
        }
    }
}
