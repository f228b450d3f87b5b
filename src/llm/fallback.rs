//! Asks the next profile of a route when one cannot answer. One that had better be left alone is asked
//! last.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::profile::too_late;
use crate::{AskError, Card, Learnt, Model, ModelError, OnText, Reply, Request};
use selkie_domain::usage::Usage;

/// Profiles in the order they are asked. Each but the last gets at most half of the time that is left.
pub(super) struct Fallback {
    members: Vec<Arc<dyn Model>>,
}

impl Fallback {
    /// Asks these, first to last. Callers fit their requests to the smallest.
    pub fn new(first: Arc<dyn Model>, rest: Vec<Arc<dyn Model>>) -> Self {
        Self { members: std::iter::once(first).chain(rest).collect() }
    }

    /// All, with whether the next of them is ready: first those that are, then those that rest, by the
    /// end of their rest.
    fn candidates(&self) -> Vec<(&Arc<dyn Model>, bool)> {
        let mut all: Vec<_> = self.members.iter().map(|m| (m, m.rests_until())).collect();
        all.sort_by_key(|(_, rests)| *rests);
        let ready = all.iter().filter(|(_, rests)| rests.is_none()).count();
        let with = |(at, (model, _)): (usize, (_, _))| (model, at + 1 < ready);
        all.into_iter().enumerate().map(with).collect()
    }
}

#[async_trait]
impl Model for Fallback {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let end = Instant::now() + request.deadline;
        let mut request = request.clone();
        let candidates = self.candidates();
        let mut spent = Usage::default();
        let mut worst: Option<ModelError> = None;
        let mut too_small = 0;
        for (at, (model, has_next)) in candidates.iter().enumerate() {
            let card = model.card();
            if card.context <= too_small {
                // It would be refused for the same reason, which is told at the end.
                continue;
            }
            let left = end.saturating_duration_since(Instant::now());
            request.deadline = if at + 1 < candidates.len() { left / 2 } else { left };
            request.has_next = *has_next;
            let error = match model.ask(&request, heard).await {
                Ok(mut reply) => {
                    reply.usage.add(spent);
                    return Ok(reply);
                }
                Err(AskError { error, usage }) => {
                    spent.add(usage);
                    error
                }
            };
            // Of the last one's failure its caller tells.
            if at + 1 < candidates.len() {
                tracing::warn!(
                    model = card.name,
                    "cannot answer; asking the next profile: {error}"
                );
            }
            if matches!(error, ModelError::TooLong { .. }) {
                too_small = too_small.max(card.context);
            }
            worst = Some(more_hopeful(worst, error));
        }
        let late = || too_late(request.deadline).error;
        Err(AskError { error: worst.unwrap_or_else(late), usage: spent })
    }

    fn learnt(&self) -> Learnt {
        self.members.first().map(|first| first.learnt()).unwrap_or_default()
    }

    fn card(&self) -> Card {
        // `new` takes a first one, so there is one; the empty card only satisfies the type.
        let first = self.members.first().map_or_else(
            || Card { name: String::new(), context: 0, sees_images: false },
            |m| m.card(),
        );
        // A request goes to whoever answers: it has to fit all of them.
        let smallest = self.members.iter().map(|m| m.card().context).min();
        Card { context: smallest.unwrap_or(first.context), ..first }
    }
}

/// Of two errors keeps the one with which the caller can do more; of equals the first.
fn more_hopeful(kept: Option<ModelError>, new: ModelError) -> ModelError {
    let rank = |error: &ModelError| match error {
        ModelError::TooLong { .. } => 0,
        ModelError::Transient { .. } => 1,
        ModelError::NoRoom { .. } => 2,
        ModelError::Rejected { .. } => 3,
        ModelError::Withheld { .. } => 4,
        ModelError::Unusable { .. } => 5,
    };
    match kept {
        Some(kept) if rank(&kept) <= rank(&new) => kept,
        _ => new,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::retry::Retry;
    use crate::tests::scripted::{
        Scripted, rejected, request, too_long, transient, unusable, withheld,
    };
    use selkie_domain::chance::FixedChance;
    use selkie_domain::clock::ManualClock;

    struct Pair {
        a: Arc<Scripted>,
        b: Arc<Scripted>,
        both: Fallback,
        clock: Arc<ManualClock>,
    }

    /// Two profiles with their retries.
    fn pair(first: Scripted, second: Scripted) -> Pair {
        let (a, b) = (Arc::new(first), Arc::new(second));
        let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
        let retried = |model: &Arc<Scripted>| -> Arc<dyn Model> {
            let chance = Arc::new(FixedChance(0.999_999));
            Arc::new(Retry::new(Arc::clone(model) as _, chance, clock.clone()))
        };
        let both = Fallback::new(retried(&a), vec![retried(&b)]);
        Pair { a, b, both, clock }
    }

    fn good() -> Scripted {
        Scripted::failing(vec![])
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_is_asked_for_every_error_that_it_may_not_share() {
        for error in [transient("x", None), rejected("x"), unusable("x"), withheld("x")] {
            let label = format!("{error:?}");
            let Pair { b, both, .. } = pair(Scripted::failing(vec![error; 2]), good());
            assert!(both.ask(&request(60), &|_| {}).await.is_ok(), "{label}");
            assert_eq!(b.asked(), 1, "{label}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_limited_or_broken_provider_costs_the_person_no_second_more_than_one() {
        for (error, asked, least) in [
            (transient("429", Some(Duration::from_secs(30))), 1, 0),
            (transient("429", Some(Duration::from_secs(5000))), 1, 0),
            (transient("500", None), 2, 1),
        ] {
            let begun = Instant::now();
            let Pair { a, both, .. } = pair(Scripted::failing(vec![error; 9]), good());
            assert!(both.ask(&request(600), &|_| {}).await.is_ok());
            assert_eq!((a.asked(), begun.elapsed().as_secs_f64().round() as u64), (asked, least));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_conversation_goes_only_to_a_larger_context() {
        for (context, asked) in [(8_000, 0), (1_000, 0), (9_000, 1)] {
            let first = Scripted::failing(vec![too_long("x")]).with_context(8_000);
            let Pair { b, both, .. } = pair(first, good().with_context(context));
            let got = both.ask(&request(60), &|_| {}).await;
            assert_eq!((b.asked(), got.is_ok()), (asked, asked == 1), "{context}");
        }
    }

    #[test]
    fn requests_are_fitted_to_the_smallest() {
        let Pair { both, .. } = pair(good().with_context(9_000), good().with_context(4_096));
        assert_eq!(both.card().context, 4_096);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_failed_is_passed_over_for_a_minute_or_as_long_as_it_asked() {
        for (error, seconds) in
            [(unusable("no key"), 60), (transient("429", Some(Duration::from_secs(300))), 300)]
        {
            let Pair { a, b, both, clock } = pair(Scripted::failing(vec![error]), good());
            for _ in 0..3 {
                assert!(both.ask(&request(60), &|_| {}).await.is_ok());
                clock.advance(TimeDelta::seconds(seconds / 3 - 1));
            }
            assert_eq!((a.asked(), b.asked()), (1, 3));
            clock.advance(TimeDelta::seconds(3));
            assert!(both.ask(&request(60), &|_| {}).await.is_ok());
            assert_eq!((a.asked(), b.asked()), (2, 3));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_that_is_ready_is_asked_with_patience_and_one_that_rests_after_it() {
        let limited = Scripted::failing(vec![transient("429", Some(Duration::from_secs(30)))]);
        let Pair { a, b, both, .. } =
            pair(limited, Scripted::failing(vec![transient("x", None); 9]));
        let begun = Instant::now();
        // The first rests for 30 s; the second gets all its tries, then the first is waited for.
        assert!(both.ask(&request(600), &|_| {}).await.is_err());
        assert_eq!((a.asked(), b.asked()), (1, 5));
        assert!(both.ask(&request(600), &|_| {}).await.is_ok());
        assert_eq!((a.asked(), b.asked()), (2, 5));
        assert_eq!(begun.elapsed().as_secs_f64().round(), 15.0 + 30.0);
    }

    #[tokio::test(start_paused = true)]
    async fn when_nobody_answers_the_most_hopeful_error_is_told_with_all_that_was_spent() {
        let Pair { both, .. } = pair(
            Scripted::failing(vec![unusable("no key")]).spending(7),
            Scripted::failing(vec![transient("busy", None); 5]).spending(1),
        );
        let failed = both.ask(&request(60), &|_| {}).await.expect_err("nobody");
        assert_eq!((failed.to_string().as_str(), failed.usage.output), ("busy", 7 + 5));
    }
}
