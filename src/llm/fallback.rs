//! Asks the next profile of a route when one cannot answer, and leaves a dead one alone for a minute.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::llm::profile::too_late;
use crate::llm::{Card, Heard, Model, ModelError, Reply, Request};

/// How long a profile that failed is passed over, as long as there is another.
const DEAD_FOR: Duration = Duration::from_secs(60);

/// Profiles in the order they are asked. Each but the last gets at most half of the time that is left.
pub(super) struct Fallback {
    members: Vec<Member>,
}

struct Member {
    model: Arc<dyn Model>,
    dead_until: Mutex<Option<Instant>>,
}

impl Member {
    fn dead(&self) -> bool {
        let until = *self.dead_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|t| Instant::now() < t)
    }

    fn set_dead(&self) {
        let mut until = self.dead_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(Instant::now() + DEAD_FOR);
    }
}

impl Fallback {
    /// Asks these, first to last. `first` is what callers fit their requests to.
    pub fn new(first: Arc<dyn Model>, rest: Vec<Arc<dyn Model>>) -> Self {
        let member = |model| Member { model, dead_until: Mutex::new(None) };
        Self { members: std::iter::once(first).chain(rest).map(member).collect() }
    }

    /// Those alive, in order; all of them when all are dead.
    fn candidates(&self) -> Vec<&Member> {
        let alive: Vec<&Member> = self.members.iter().filter(|m| !m.dead()).collect();
        if alive.is_empty() { self.members.iter().collect() } else { alive }
    }
}

#[async_trait]
impl Model for Fallback {
    async fn ask(&self, request: &Request, heard: &Heard<'_>) -> Result<Reply, ModelError> {
        let end = Instant::now() + request.deadline;
        let mut request = request.clone();
        let candidates = self.candidates();
        let mut worst: Option<ModelError> = None;
        let mut too_small = 0;
        for (at, member) in candidates.iter().enumerate() {
            let card = member.model.card();
            if card.context <= too_small {
                continue;
            }
            let left = end.saturating_duration_since(Instant::now());
            request.deadline = if at + 1 < candidates.len() { left / 2 } else { left };
            let error = match member.model.ask(&request, heard).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            tracing::warn!(
                model = card.name,
                "cannot answer, the next profile is asked if there is one: {error}"
            );
            match &error {
                ModelError::TooLong { .. } => too_small = too_small.max(card.context),
                ModelError::Transient { .. } | ModelError::Unusable { .. } => member.set_dead(),
                // Refused as it stands: another provider may take it, and this one the next.
                ModelError::Rejected { .. } => {}
            }
            worst = Some(more_hopeful(worst, error));
        }
        Err(worst.unwrap_or_else(|| too_late(request.deadline)))
    }

    fn card(&self) -> Card {
        // `new` takes a first one, so there is one; the empty card only satisfies the type.
        self.members.first().map_or_else(
            || Card { name: String::new(), context: 0, sees_images: false },
            |m| m.model.card(),
        )
    }
}

/// Of two errors keeps the one with which the caller can do more; of equals the first.
fn more_hopeful(kept: Option<ModelError>, new: ModelError) -> ModelError {
    let rank = |error: &ModelError| match error {
        ModelError::TooLong { .. } => 0,
        ModelError::Transient { .. } => 1,
        ModelError::Rejected { .. } => 2,
        ModelError::Unusable { .. } => 3,
    };
    match kept {
        Some(kept) if rank(&kept) <= rank(&new) => kept,
        _ => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::tests::scripted::{Scripted, rejected, request, too_long, transient, unusable};

    fn pair(first: Scripted, second: Scripted) -> (Arc<Scripted>, Arc<Scripted>, Fallback) {
        let (a, b) = (Arc::new(first), Arc::new(second));
        let fallback = Fallback::new(a.clone(), vec![b.clone()]);
        (a, b, fallback)
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_is_asked_for_every_error_that_it_may_not_share() {
        for error in [transient("x", None), rejected("x"), unusable("x")] {
            let label = format!("{error:?}");
            let (_, b, both) = pair(Scripted::failing(vec![error]), Scripted::failing(vec![]));
            assert!(both.ask(&request(60), &|_| {}).await.is_ok(), "{label}");
            assert_eq!(b.asked(), 1, "{label}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_conversation_goes_only_to_a_larger_context() {
        for (context, asked) in [(8_000, 0), (1_000, 0), (9_000, 1)] {
            let first = Scripted::failing(vec![too_long("x")]).with_context(8_000);
            let (_, b, both) = pair(first, Scripted::failing(vec![]).with_context(context));
            let got = both.ask(&request(60), &|_| {}).await;
            assert_eq!((b.asked(), got.is_ok()), (asked, asked == 1), "{context}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_one_is_passed_over_for_a_minute() {
        let (a, b, both) =
            pair(Scripted::failing(vec![unusable("no key")]), Scripted::failing(vec![]));
        for _ in 0..3 {
            assert!(both.ask(&request(60), &|_| {}).await.is_ok());
        }
        assert_eq!((a.asked(), b.asked()), (1, 3));
        tokio::time::advance(DEAD_FOR).await;
        assert!(both.ask(&request(60), &|_| {}).await.is_ok());
        assert_eq!((a.asked(), b.asked()), (2, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_are_dead_all_are_asked_and_the_most_hopeful_error_is_told() {
        let (a, b, both) = pair(
            Scripted::failing(vec![unusable("no key"), unusable("no key")]),
            Scripted::failing(vec![transient("busy", None), transient("busy", None)]),
        );
        for times in 1..=2 {
            let error = both.ask(&request(60), &|_| {}).await.map_err(|e| e.to_string());
            assert_eq!(error, Err("busy".to_owned()));
            assert_eq!((a.asked(), b.asked()), (times, times));
        }
    }
}
